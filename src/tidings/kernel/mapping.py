"""Mapping by name: a row becomes an object, and an object a view, without a line for every field.

Only what is not copied under its own name is written out. A `RowMapper` says which queries it reads: preparing all
queries, as a test does, proves that their columns fit the type.
"""

import dataclasses
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from tidings.kernel.sql import Query, sparse

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
        of_row: Mapping[str, Read] | None = None,
        omit: str = "",
    ) -> None:
        """`columns`: where a column has another name than the field; `read`: what else makes a field of its column.

        `of_row`: what makes a field of the whole row, such as another mapper; `omit`: fields that the call hands in, or
        that keep their defaults.
        """
        self._kind = kind
        columns, read, self._of_row = columns or {}, read or {}, of_row or {}
        names = _field_names(kind)
        unknown = (columns.keys() | read.keys() | self._of_row.keys() | set(omit.split())) - set(names)
        if unknown:
            raise TypeError(f"{kind.__name__} has no fields {sorted(unknown)}")
        apart = {*self._of_row, *omit.split()}
        self._columns = {name: columns.get(name, name) for name in names if name not in apart}
        more = ", **given" if omit else ""
        self._make = _compiled(kind, self._columns, {**_conversions(kind), **read}, self._of_row, more)
        for query in queries:
            _MAPPERS.setdefault(query, []).append(self)

    def __call__(self, row: Mapping[str, Any], **given: Any) -> T:
        """The object of one row, with what is given of the fields that are omitted."""
        return self._make(row, **given)

    def missing(self, columns: Collection[str]) -> set[str]:
        """The columns that it needs beyond those."""
        inner = (part for part in self._of_row.values() if isinstance(part, RowMapper))
        return (set(self._columns.values()) - set(columns)).union(*(part.missing(columns) for part in inner))

    def __repr__(self) -> str:
        return f"RowMapper({self._kind.__name__})"


_MAPPERS: dict[Query, list[RowMapper[Any]]] = {}


def check_columns(query: Query, columns: Collection[str]) -> None:
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


def columns(items: Collection[object], names: str = "", /, **others: str) -> dict[str, list[Any]]:
    """The columns of a set of items, as a query takes them: of `"id read.status"` the lists `ids` and `statuses`.

    `others`: columns with other names, each with the attribute that it holds, such as `hashes="target.address_hash"`.
    """
    made: dict[str, list[Any]] = _columns(names, tuple(others.items()))(items)
    return made


@cache
def _columns(
    names: str, others: tuple[tuple[str, str], ...]
) -> Callable[[Collection[object]], dict[str, list[Any]]]:
    # Compiled, as dataclasses are: as fast as the same written by hand. All names are our own.
    attributes = {_plural(name): name for name in names.split()} | dict(others)
    lists = ", ".join(f"{column!r}: [one.{name} for one in items]" for column, name in attributes.items())
    make: Callable[[Collection[object]], dict[str, list[Any]]] = eval(f"lambda items: {{{lists}}}")  # noqa: S307
    return make


@cache
def _plural(path: str) -> str:
    name = path.rpartition(".")[2]
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    if name.endswith(("ss", "us", "sh", "x")):
        return f"{name}es"
    return name if name.endswith("s") else f"{name}s"


def tuple_columns(rows: Collection[tuple[Any, ...]], names: str) -> dict[str, list[Any]]:
    """The columns of a set of tuples, under these names in their order."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names.split())}


def attributes(item: object, names: str) -> dict[str, Any]:
    """Some attributes of one item by their names, as a query or a constructor takes them."""
    return {name: getattr(item, name) for name in names.split()}


def sparse_columns(items: Collection[object], names: str = "", /, **others: str) -> dict[str, list[Any]]:
    """The same, for columns that are often null throughout: such a column is not sent at all."""
    return {column: sparse(values) for column, values in columns(items, names, **others).items()}


def optional(read: Read) -> Read:
    """The same function, which leaves null alone."""
    return lambda value: None if value is None else read(value)


@cache
def _copier(kind: Any, given: tuple[str, ...]) -> Callable[[object, Mapping[str, Any]], Any]:
    copied = "".join(f"{name}=source.{name}, " for name in _field_names(kind) if name not in given)
    copy: Callable[[object, Mapping[str, Any]], Any] = eval(  # noqa: S307
        f"lambda source, given: kind({copied}**given)", {"kind": kind}
    )
    return copy


def _compiled(
    kind: type[T], columns: Mapping[str, str], read: Mapping[str, Read], of_row: Mapping[str, Read], more: str
) -> Callable[..., T]:
    # Compiled, as dataclasses are: as fast as the same written by hand. All names are our own.
    fields = [
        f"{name}=read_{name}(row[{column!r}])" if name in read else f"{name}=row[{column!r}]"
        for name, column in columns.items()
    ]
    fields += [f"{name}=read_{name}(row)" for name in of_row]
    names = {"kind": kind, **{f"read_{name}": function for name, function in {**read, **of_row}.items()}}
    make: Callable[..., T] = eval(f"lambda row{more}: kind({', '.join(fields)}{more})", names)  # noqa: S307
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
        return None if convert is None else optional(convert)
    made_of_lists: dict[Any, Read] = {tuple: tuple, frozenset: frozenset}
    if origin in made_of_lists:
        return made_of_lists[origin]
    return hint if isinstance(hint, type) and issubclass(hint, Enum) else None
