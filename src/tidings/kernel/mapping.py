"""Mapping by name: a row becomes an object, and an object a view, without a line for every field.

Only what is not copied under its own name is written out. A `RowMapper` says which queries it reads: preparing all
queries, as a test does, proves that their columns fit the type.
"""

import dataclasses
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from tidings.kernel.sql import Query

T = TypeVar("T")

#: Makes the value of a field from the value of a column.
Read = Callable[[Any], Any]


class RowMapper(Generic[T]):
    """Makes objects of rows, each field from the column of its name.

    Enums, tuples and frozensets are made of what the driver gives.
    """

    def __init__(
        self,
        kind: type[T],
        queries: Iterable[Query],
        *,
        columns: Mapping[str, str] | None = None,
        read: Mapping[str, Read] | None = None,
    ) -> None:
        """`columns`: where a column has another name than the field; `read`: what else makes a field of its column."""
        self._kind = kind
        columns, read = columns or {}, read or {}
        names = _field_names(kind)
        unknown = (columns.keys() | read.keys()) - set(names)
        if unknown:
            raise TypeError(f"{kind.__name__} has no fields {sorted(unknown)}")
        self._columns = {name: columns.get(name, name) for name in names}
        self._make = _compiled(kind, self._columns, {**_conversions(kind), **read})
        for query in queries:
            _MAPPERS.setdefault(query, []).append(self)

    def __call__(self, row: Mapping[str, Any]) -> T:
        """The object of one row."""
        return self._make(row)

    def missing(self, columns: Iterable[str]) -> set[str]:
        """The columns that it needs beyond those."""
        return set(self._columns.values()) - set(columns)

    def __repr__(self) -> str:
        return f"RowMapper({self._kind.__name__})"


_MAPPERS: dict[Query, list[RowMapper[Any]]] = {}


def check_columns(query: Query, columns: Iterable[str]) -> None:
    """A `TypeError` where a query lacks a column that its mapper needs."""
    for mapper in _MAPPERS.get(query, ()):
        missing = mapper.missing(columns)
        if missing:
            raise TypeError(f"{query.name} lacks the columns {sorted(missing)} that {mapper!r} needs")


def by_name(kind: type[T], source: object, /, **given: Any) -> T:
    """An object of that kind: what is given, and every other field from the attribute of `source` with its name."""
    cached: Any = kind
    made: T = _copier(cached, tuple(given))(source, given)
    return made


def columns(items: Collection[object], names: str) -> dict[str, list[Any]]:
    """The columns of a set of items, as a query takes them: of `"id at"` the lists `ids` and `ats`."""
    return {f"{name}s": list(map(attrgetter(name), items)) for name in names.split()}


@cache
def _copier(kind: Any, given: tuple[str, ...]) -> Callable[[object, Mapping[str, Any]], Any]:
    copied = "".join(f"{name}=source.{name}, " for name in _field_names(kind) if name not in given)
    copy: Callable[[object, Mapping[str, Any]], Any] = eval(  # noqa: S307
        f"lambda source, given: kind({copied}**given)", {"kind": kind}
    )
    return copy


def _compiled(kind: type[T], columns: Mapping[str, str], read: Mapping[str, Read]) -> Callable[[Any], T]:
    # Compiled, as dataclasses are: as fast as the same written by hand. All names are our own.
    given = ", ".join(
        f"{name}=read_{name}(row[{column!r}])" if name in read else f"{name}=row[{column!r}]"
        for name, column in columns.items()
    )
    names = {"kind": kind, **{f"read_{name}": function for name, function in read.items()}}
    make: Callable[[Any], T] = eval(f"lambda row: kind({given})", names)  # noqa: S307
    return make


def _field_names(kind: type[Any]) -> tuple[str, ...]:
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    return tuple(field.name for field in dataclasses.fields(kind) if field.init)


def _conversions(kind: type[Any]) -> dict[str, Read]:
    hints = get_type_hints(kind)
    found = ((name, _conversion(hints[name])) for name in _field_names(kind))
    return {name: convert for name, convert in found if convert is not None}


def _conversion(hint: Any) -> Read | None:
    origin = get_origin(hint)
    if origin is Annotated:
        return _conversion(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        inner = [_conversion(each) for each in get_args(hint) if each is not type(None)]
        convert = inner[0] if len(inner) == 1 else None
        return None if convert is None else lambda value: None if value is None else convert(value)
    made_of_lists: dict[Any, Read] = {tuple: tuple, frozenset: frozenset}
    if origin in made_of_lists:
        return made_of_lists[origin]
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None
