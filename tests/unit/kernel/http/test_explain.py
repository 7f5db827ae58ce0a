"""Wrong bodies are explained whole: every field by its path, with what it has to be."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from tidings.kernel.http.bodies import decode, decode_query
from tidings.kernel.http.errors import MalformedBodyError
from tidings.kernel.http.field_errors import MOST_ERRORS
from tidings.kernel.refusals import InvalidError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Leaf(Struct, forbid_unknown_fields=True, kw_only=True):
    size: Annotated[int, Meta(ge=1, le=9)]
    note: Annotated[str, Meta(min_length=2)] = "ok"


class Cat(Struct, tag="cat", forbid_unknown_fields=True):
    lives: int


class Dog(Struct, tag="dog", forbid_unknown_fields=True):
    tricks: list[str]


class Tree(Struct, forbid_unknown_fields=True, kw_only=True):
    name: str
    slug: Annotated[str, Meta(pattern="^[a-z]+$", description="must be lower-case letters")] = "a"
    kind: Literal["oak", "elm"] = "oak"
    colour: Colour | None = None
    leaves: list[Leaf] = []
    by_name: dict[str, Leaf] = {}
    by_slug: dict[
        Annotated[str, Meta(max_length=9, pattern="^[a-z]+$", description="must be lower-case letters")], Leaf
    ] = {}
    when: Annotated[datetime, Meta(tz=True)] | None = None
    pet: Cat | Dog | None = None
    flag: bool = False


def errors_of(body: Any) -> dict[str, str]:
    with pytest.raises(InvalidError) as refused:
        decode(msgspec.json.encode(body), Tree)
    return {error.field: error.remedy for error in refused.value.errors}


CASES: list[tuple[Any, dict[str, str]]] = [
    ({}, {"name": "is required"}),
    ({"name": 3}, {"name": "must be a text"}),
    ({"name": None}, {"name": "must be a text"}),
    ([], {"": "must be an object"}),
    ("x", {"": "must be an object"}),
    (None, {"": "must be an object"}),
    (
        {"name": "x", "by_slug": {"a.b": {"size": 1}, "ok": {"size": 0}, "abcdefghij": {"size": 1}}},
        {
            "by_slug.a.b": "must be lower-case letters",
            "by_slug.ok.size": "must be a whole number of at least 1",
            "by_slug.abcdefghij": "must be a text of at most 9 characters",
        },
    ),
    ({"name": "x", "nmae": 1}, {"nmae": "is not a known field; did you mean name?"}),
    ({"name": "x", "zzz": 1}, {"zzz": "is not a known field; leave it out"}),
    ({"name": "x", "slug": "A"}, {"slug": "must be lower-case letters"}),
    ({"name": "x", "kind": "fir"}, {"kind": "must be one of oak, elm"}),
    ({"name": "x", "colour": "green"}, {"colour": "must be one of red, blue"}),
    ({"name": "x", "flag": "true"}, {"flag": "must be true or false"}),
    ({"name": "x", "leaves": {}}, {"leaves": "must be a list"}),
    (
        {"name": "x", "leaves": [{"size": 1}, {"size": 10}, {"note": "x"}]},
        {
            "leaves[1].size": "must be a whole number of at most 9",
            "leaves[2].size": "is required",
            "leaves[2].note": "must be a text of at least 2 characters",
        },
    ),
    (
        {"name": "x", "by_name": {"a": {"size": "1"}}},
        {"by_name.a.size": "must be a whole number"},
    ),
    ({"name": "x", "when": "yesterday"}, {"when": "must be a time such as 2026-11-15T12:00:00Z"}),
    ({"name": "x", "pet": {"type": "cat"}}, {"pet.lives": "is required"}),
    ({"name": "x", "pet": {"type": "dog", "tricks": [1]}}, {"pet.tricks[0]": "must be a text"}),
    ({"name": 1, "kind": 2, "flag": 3}, {"name": "must be a text", "kind": "must be one of oak, elm", "flag": "must be true or false"}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_every_wrong_field_is_named_with_its_remedy(body: Any, expected: dict[str, str]) -> None:
    assert errors_of(body) == expected


def test_an_unknown_tag_names_the_tag() -> None:
    found = errors_of({"name": "x", "pet": {"type": "fish"}})

    assert list(found) == ["pet.type"]


def test_a_hostile_number_of_faults_is_cut() -> None:
    found = errors_of({"name": "x", **{f"unknown{i}": 1 for i in range(1000)}})

    assert len(found) == MOST_ERRORS


@pytest.mark.parametrize(
    "body",
    [b"", b"  ", b"{", b'{"name": }', b"\xff\xfe", b'{"name": "\\ud800"}', b"[" * 100_000, b"nul", b"{} {}"],
)
def test_what_is_not_json_is_called_so(body: bytes) -> None:
    with pytest.raises((MalformedBodyError, InvalidError)) as refused:
        decode(body, Tree)

    assert str(refused.value)


def test_a_zero_character_is_refused_by_its_path() -> None:
    with pytest.raises(InvalidError) as refused:
        decode(b'{"name": "x", "by_name": {}, "leaves": [{"size": 1, "note": "a\\u0000b"}]}', Tree)

    assert refused.value.errors[0].field == "leaves[0].note"


def test_an_escaped_backslash_before_u0000_is_fine() -> None:
    assert decode(b'{"name": "a\\\\u0000"}', Tree).name == "a\\u0000"


class Wanted(Struct, forbid_unknown_fields=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    status: Colour | None = None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        (b"limit=0", "limit"),
        (b"limit=abc", "limit"),
        (b"limit=1&limit=2", "limit"),
        (b"limit=", "limit"),
        (b"status=green", "status"),
        (b"offset=3", "offset"),
        (b"status=red%00", "status"),
        (b"limit=%ff", "query"),
        ("limit=ä".encode(), "query"),
    ],
)
def test_wrong_query_parameters_are_named(query: bytes, field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        decode_query(query, Wanted)

    assert refused.value.errors[0].field == field
    assert refused.value.errors[0].remedy


def test_good_query_parameters_are_read() -> None:
    assert decode_query(b"limit=7&status=red", Wanted) == Wanted(limit=7, status=Colour.RED)


class Planted(Struct, forbid_unknown_fields=True, kw_only=True):
    remedies: ClassVar[dict[str, str]] = {"colour": 'write "kind": "oak"'}

    kind: Literal["oak", "elm"] | Literal["any"] = "any"
    leaf: str | Leaf = "lf_1"


@pytest.mark.parametrize(
    ("body", "field", "remedy"),
    [
        ({"kind": "pine"}, "kind", "must be one of oak, elm, any"),
        ({"leaf": {"size": 0}}, "leaf.size", "must be a whole number of at least 1"),
        ({"leaf": {"size": 1, "sise": 2}}, "leaf.sise", "is not a known field; did you mean size?"),
        ({"colour": "red"}, "colour", 'is not a known field; write "kind": "oak"'),
    ],
)
def test_a_choice_of_several_kinds_is_explained_as_well(body: Any, field: str, remedy: str) -> None:
    with pytest.raises(InvalidError) as refused:
        decode(msgspec.json.encode(body), Planted)

    assert refused.value.errors == ((field, remedy),)
