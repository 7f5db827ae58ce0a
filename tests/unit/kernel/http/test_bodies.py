"""Bodies and query strings are read strictly; what is wrong is said by name."""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
import pytest

from tidings.kernel.http.bodies import decode, decode_query, require_json
from tidings.kernel.http.errors import MalformedBodyError, WrongContentTypeError
from tidings.kernel.moments import ANY_TIME
from tidings.kernel.refusals import InvalidError


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    a: int


class Thing(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    inner: list[Inner] = []
    extra: dict[str, Any] = {}


class Query(msgspec.Struct, forbid_unknown_fields=True):
    limit: int = 5
    kind: str | None = None
    size: int | None = None
    until: int | None = msgspec.field(default=None, name="to")


def said(*content_types: str, **more: str) -> dict[str, Any]:
    headers = [(b"content-type", kind.encode()) for kind in content_types]
    return {
        "headers": [*headers, *((name.replace("_", "-").encode(), v.encode()) for name, v in more.items())]
    }


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/cloudevents+json",
    ],
)
def test_json_goes_by_several_names(kind: str) -> None:
    require_json(said(kind))


@pytest.mark.parametrize(
    "scope",
    [
        said(),
        said(""),
        said("text/plain"),
        said("text/json"),
        said("application/x-www-form-urlencoded"),
        said("application/json", "text/plain"),
        said("application/json", content_encoding="gzip"),
    ],
)
def test_everything_else_is_refused(scope: dict[str, Any]) -> None:
    with pytest.raises(WrongContentTypeError):
        require_json(scope)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"name": "a", "name": "b"}', "name"),
        (b'{"name": "a", "inner": [{"a": 1}, {"a": 1, "a": 2}]}', "a"),
        (b'{"name": "a", "extra": {"x": {"y": 1, "y": 1}}}', "y"),
        (b'{"name": "a", "extra": {"": 1, "": 2}}', ""),
        (b'{"name": "a", "n\\u0061me": "b"}', "name"),
        # Colons that are spelt otherwise do not make up for the one that goes with a twin.
        (b'{"name": "\\u003a", "name": "\\u003a"}', "name"),
        (b'{"name": "\\u003A", "extra": {"a": 1, "a": "\\u003A"}}', "a"),
        (b'{"name":":", "name" : "a"}', "name"),
    ],
)
def test_a_field_that_is_given_twice_is_refused_by_name(body: bytes, field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        decode(body, Thing)

    assert refused.value.errors == ((field, "is given more than once"),)


def test_one_name_in_several_objects_is_no_twin() -> None:
    thing = decode(b'{"name": "a", "inner": [{"a": 1}, {"a": 2}], "extra": {"name": "name\\": "}}', Thing)

    assert [inner.a for inner in thing.inner] == [1, 2]


def test_numbers_of_any_length_are_read_or_refused_and_never_a_surprise() -> None:
    with pytest.raises((MalformedBodyError, InvalidError)):
        decode(b'{"name": "a", "inner": [{"a": ' + b"9" * 10_000 + b"}]}", Thing)
    decode(b'{"name": "a", "extra": {"n": 12345678901234567890123}}', Thing)


@pytest.mark.parametrize(
    ("query", "field", "remedy"),
    [
        (b"limit=x", "limit", "must be a whole number"),
        (b"limit=" + b"9" * 5000, "limit", "is too large a number"),
        (b"limit=1&limit=2", "limit", "is given more than once"),
        (b"kind=%00", "kind", "must not hold a zero character"),
        (b"size=null", "size", "must not be null; leave it out"),
        (b"to=null", "to", "must not be null; leave it out"),
        (b"limit=%ff", "query", "must be encoded as UTF-8"),
        (b"\xff", "query", "must be encoded as UTF-8"),
        (b"&".join(b"a%d=1" % n for n in range(101)), "query", "must have at most 100 parameters"),
        (b"other=1", "other", "is not a known field; leave it out"),
    ],
)
def test_a_query_that_is_not_acceptable(query: bytes, field: str, remedy: str) -> None:
    with pytest.raises(InvalidError) as refused:
        decode_query(query, Query)

    assert refused.value.errors == ((field, remedy),)


def test_the_word_null_is_a_text_like_any_other() -> None:
    assert decode_query(b"kind=null", Query).kind == "null"


_Aware = Annotated[datetime, msgspec.Meta(tz=True)]


class Plan(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    begins_at: _Aware | None = None
    steps: list["Plan"] = []
    by_name: dict[str, _Aware] = {}
    told_at: Annotated[datetime, msgspec.Meta(tz=True, extra=ANY_TIME)] | None = None


class Since(msgspec.Struct, forbid_unknown_fields=True):
    since: Annotated[_Aware | None, msgspec.Meta(description="Only later ones.")] = None


EDGES = [
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "1970-01-01T00:00:00+00:01",
    "9999-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
]


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(
    ("place", "body"),
    [
        ("beginsAt", '{"beginsAt": "%s"}'),
        ("steps[1].beginsAt", '{"steps": [{}, {"beginsAt": "%s"}]}'),
        ("byName.a", '{"byName": {"a": "%s"}}'),
    ],
)
def test_a_time_at_the_edge_of_the_calendar_is_refused_by_name(edge: str, place: str, body: str) -> None:
    """Turned into UTC, or with an hour added, it would leave the calendar: an answer with 500."""
    with pytest.raises(InvalidError) as refused:
        decode((body % edge).encode(), Plan)

    assert [(e.field, e.remedy) for e in refused.value.errors] == [
        (place, "must be a time from 1970-01-01 to 9998-12-31")
    ]


@pytest.mark.parametrize("edge", EDGES)
def test_a_time_at_the_edge_of_the_calendar_is_refused_in_a_query(edge: str) -> None:
    with pytest.raises(InvalidError) as refused:
        decode_query(urlencode({"since": edge}).encode(), Since)

    assert [e.field for e in refused.value.errors] == ["since"]


@pytest.mark.parametrize(
    "fine", ["1970-01-01T00:00:00Z", "9998-12-31T23:59:59Z", "2026-11-16T10:00:00+14:00"]
)
def test_every_other_time_is_taken(fine: str) -> None:
    assert decode(f'{{"beginsAt": "{fine}"}}'.encode(), Plan).begins_at == datetime.fromisoformat(fine)
    assert decode_query(urlencode({"since": fine}).encode(), Since).since == datetime.fromisoformat(fine)


def test_a_time_that_a_vendor_tells_is_taken_as_it_is() -> None:
    assert decode(b'{"toldAt": "9999-12-31T23:59:59-14:00"}', Plan).told_at is not None


@pytest.mark.parametrize("number", ["0", "0.5", "-1", "1e-5", "1763287200", "99999999999999999999"])
def test_a_bare_number_is_no_time(number: str) -> None:
    """One reader would take it for seconds, another for the milliseconds, a third for a year."""
    with pytest.raises(InvalidError) as refused:
        decode_query(b"since=" + number.encode(), Since)

    [error] = refused.value.errors
    assert (error.field, error.remedy[:14]) == ("since", "must be a time")
