"""Rows become objects, and objects views, by the names of their fields."""

from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace
from typing import NewType

import msgspec
import pytest

from tidings.kernel.mapping import (
    RowMapper,
    attributes,
    by_name,
    check_columns,
    columns,
    optional,
    sparse_columns,
    tuple_columns,
)
from tidings.kernel.sql import Query

CupId = NewType("CupId", str)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cup:
    id: CupId
    colour: Colour
    before: Colour | None
    marks: tuple[str, ...]
    owners: frozenset[str]
    volume: int
    size: int = 1


class CupView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    colour: Colour
    large: bool


def _query(name: str) -> Query:
    return Query(name=name, why="For a test.", text="SELECT 1", parameters=())


ROW = {
    "id": "a",
    "colour": "red",
    "before": None,
    "marks": ["x"],
    "owners": ["o", "o"],
    "ml": "250",
    "size": 2,
}
CUP = Cup(
    id=CupId("a"), colour=Colour.RED, before=None, marks=("x",), owners=frozenset({"o"}), volume=250, size=2
)


def test_a_row_becomes_an_object() -> None:
    """Enums and sets are made; only what has another name or form is said."""
    cup_of = RowMapper(Cup, [], columns={"volume": "ml"}, read={"volume": int})

    assert cup_of(ROW) == CUP
    assert isinstance(cup_of(ROW).colour, Colour)
    assert cup_of(ROW | {"before": "red"}).before is Colour.RED


def test_a_query_without_a_column_is_named() -> None:
    """Also without one that has a default: a row says all of it."""
    query, other = _query("find_cup"), _query("other")
    RowMapper(Cup, [query], columns={"volume": "ml"})

    check_columns(query, [*ROW, "more"])
    check_columns(other, [])
    with pytest.raises(
        TypeError, match=r"find_cup lacks the columns \['ml', 'size'\] that RowMapper\(Cup\) needs"
    ):
        check_columns(query, ["id", "colour", "before", "marks", "owners", "volume"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    name: str
    cup: Cup
    length: int | None
    full: bool = False


def test_a_field_is_made_of_the_whole_row() -> None:
    """By another mapper, whose columns the query needs too; a field that is omitted keeps its default."""
    query = _query("find_shelf")
    cup_of = RowMapper(Cup, [], columns={"volume": "ml"}, read={"volume": int})
    shelf_of = RowMapper(Shelf, [query], read={"length": optional(int)}, of_row={"cup": cup_of}, omit="full")

    assert shelf_of({**ROW, "name": "top", "length": None}) == Shelf(name="top", cup=CUP, length=None)
    assert shelf_of({**ROW, "name": "top", "length": "3"}).length == 3
    check_columns(query, [*ROW, "name", "length"])
    with pytest.raises(TypeError, match=r"lacks the columns \['ml', 'name'\]"):
        check_columns(query, [*(ROW.keys() - {"ml"}), "length"])
    with pytest.raises(TypeError, match="empty"):
        RowMapper(Shelf, [], omit="empty")


def test_a_call_hands_in_a_field_that_is_omitted() -> None:
    query = _query("find_some")
    cup_of = RowMapper(Cup, [query], omit="volume size")
    row = {name: value for name, value in ROW.items() if name not in ("ml", "size")}

    assert cup_of(row, volume=250, size=2) == CUP
    assert cup_of(row, volume=250).size == 1
    check_columns(query, row)


def test_a_field_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="weight"):
        RowMapper(Cup, [], read={"weight": int})


def test_a_view_takes_what_it_is_given_and_the_rest_from_its_source() -> None:
    assert by_name(CupView, CUP, large=True) == CupView(id="a", colour=Colour.RED, large=True)
    with pytest.raises(AttributeError, match="large"):
        by_name(CupView, CUP)


def test_the_columns_of_a_set_are_lists_under_the_plural_of_their_names() -> None:
    points = [complex(1, 2), complex(3, 4)]

    assert columns(points, "real imag") == {"reals": [1, 3], "imags": [2, 4]}
    assert columns([], "real imag") == {"reals": [], "imags": []}
    assert columns([CUP], "volume", sizes="size", colours="colour.value") == {
        "volumes": [250],
        "sizes": [2],
        "colours": ["red"],
    }


def test_the_plural_of_a_column_is_as_english_has_it() -> None:
    item = SimpleNamespace(status="sent", currency="EUR", key="k", turns=2, inner=SimpleNamespace(hash="h"))

    found = columns([item], "status currency key turns inner.hash")

    assert list(found) == ["statuses", "currencies", "keys", "turns", "hashes"]


def test_a_column_that_is_null_throughout_is_not_sent() -> None:
    assert sparse_columns([CUP, CUP], "volume", earlier="before") == {"volumes": [250, 250], "earlier": []}


def test_attributes_are_picked_by_their_names() -> None:
    assert attributes(CUP, "id size") == {"id": "a", "size": 2}


def test_tuples_become_columns() -> None:
    assert tuple_columns([(1, "a"), (2, "b")], "ns letters") == {"ns": [1, 2], "letters": ["a", "b"]}
    assert tuple_columns([], "ns letters") == {"ns": [], "letters": []}
