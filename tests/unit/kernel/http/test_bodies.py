"""Bodies and query strings are read strictly; what is wrong is said by name."""

from typing import Any

import msgspec
import pytest

from tidings.kernel.http.bodies import decode, decode_query, require_json
from tidings.kernel.http.errors import MalformedBodyError, WrongContentTypeError
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
