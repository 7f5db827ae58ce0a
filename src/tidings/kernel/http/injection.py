"""Reads from a handler's signature what it needs. It may name:

- `body`, a struct: the JSON body, decoded strictly; with a default it may be left out.
- `query`, a struct: the query parameters.
- a value of the path by its name, as an id (`tenant_id: TenantId`), as text, or `Annotated[…, Parsed(function)]`.
- several values of the path as one object: `Annotated[…, ParsedTogether(class, name=function, …)]`.
- `tx`, a `TenantTx`, `PlatformTx`, or either: a transaction around the whole handler, under the caller's role.
- an `OpenTx`: the same, opened by the handler itself, where one around all of it would be open for too long.
- a `Caller`, a `StillAllowed`, a `TenantId`, an `IfMatch`, a `Paging`, a `Once`, an `GivenKey | None`, the `Request`, an
  `AfterCommit`.
- any part of the system, by its type.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller, StillAllowed
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.once import GivenKey, Once
from tidings.kernel.http.paging import PageQuery, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.routing import names_in
from tidings.kernel.ids import IdKind, TenantId, kind_of

#: A tenant's transaction, or the platform's.
OwnerTx = TenantTx | PlatformTx
#: Calls what it is given when the transaction has committed.
AfterCommit = Callable[[Callable[[], object]], None]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_TRANSACTIONS = (TenantTx, PlatformTx)


@dataclass(frozen=True, slots=True)
class Parsed:
    """How a value in the path is read; it raises a `BadValueError` for one that is none."""

    parse: Callable[[str], Any]


class ParsedTogether:
    """How several values in the path are read as one object: each by its own function, under its own name."""

    def __init__(self, kind: Callable[..., Any], **parse: Callable[[str], Any]) -> None:
        self._kind = kind
        self._parse = parse

    def __call__(self, values: Mapping[str, str]) -> Any:
        """The object of a path's values."""
        return self._kind(**{name: parse(values[name]) for name, parse in self._parse.items()})


class OpenTx(Generic[T_co]):
    """Opens transactions of the tenant or platform that a request is about: `async with open_tx() as tx`."""

    __slots__ = ("_caller", "_db")

    def __init__(self, db: Database, caller: Caller) -> None:
        self._db = db
        self._caller = caller

    def __call__(self) -> AbstractAsyncContextManager[T_co]:
        """A transaction under the caller's role: the database too lets one that may only read do no more."""
        opened: Any = self._db.scoped(self._caller.tenant_id, caller_role=self._caller.role)
        return opened  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a handler needs, and what it gives."""

    body: Any
    body_optional: bool
    body_default: Any
    query: Any
    #: Whether the handler names it; paging alone needs it too.
    names_query: bool
    #: The values of the path that it names, and how each is read.
    path: Mapping[str, Callable[[str], Any]]
    #: Parameters that are made of several values of the path.
    together: Mapping[str, ParsedTogether]
    id_kinds: Mapping[str, IdKind[Any]]
    #: The parameter that takes a transaction.
    tx: str | None
    #: Which transactions each parameter takes that is one, or opens one.
    transactions: Mapping[str, frozenset[Any]]
    #: Parameters by what the request gives them.
    special: Mapping[str, Any]
    #: Parameters that are parts of the system, by their types.
    parts: Mapping[str, Any]
    headers: tuple[str, ...]
    #: The type of the struct it answers with; None where it gives something else.
    answer: Any
    gives_nothing: bool


#: The key of a request, where its handler heeds it in its own way.
GIVEN_KEY = GivenKey | None

_SPECIAL = (Caller, StillAllowed, TenantId, IfMatch, Paging, Once, GIVEN_KEY, Request, AfterCommit)


def signature_of(handler: Callable[..., Any], path: str) -> Signature:
    """What a handler at this path needs; a `TypeError` where its signature can't be met."""
    hints = get_type_hints(handler, include_extras=True)
    gives = hints.pop("return", None)
    in_path = names_in(path)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(handler).parameters.items()
        if parameter.default is not parameter.empty
    }
    readers: dict[str, Callable[[str], Any]] = {}
    together: dict[str, ParsedTogether] = {}
    kinds: dict[str, IdKind[Any]] = {}
    special: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    tx: str | None = None
    transactions: dict[str, frozenset[Any]] = {}
    for name, wanted in hints.items():
        if name in ("body", "query"):
            continue
        if name in in_path:
            kind = kind_of(wanted)
            if kind is not None:
                kinds[name] = kind
            readers[name] = _reader(name, wanted, kind)
        elif parsed := _noted(wanted, ParsedTogether):
            together[name] = parsed
        elif _alternatives(wanted) <= set(_TRANSACTIONS):
            tx = name
            transactions[name] = frozenset(_alternatives(wanted))
        elif wanted in _SPECIAL:
            special[name] = wanted
        elif OpenTx in (wanted, get_origin(wanted)):
            special[name] = OpenTx
            for opened in get_args(wanted):
                transactions[name] = frozenset(_alternatives(opened))
        else:
            parts[name] = wanted
    headers = [
        header
        for header, kind in (("Idempotency-Key", Once), ("Idempotency-Key", GIVEN_KEY), ("If-Match", IfMatch))
        if kind in special.values()
    ]
    return Signature(
        body=hints.get("body"),
        body_optional="body" in defaults,
        body_default=defaults.get("body"),
        query=hints.get("query", PageQuery if Paging in special.values() else None),
        names_query="query" in hints,
        path=readers,
        together=together,
        # In the order of the path.
        id_kinds={name: kinds[name] for name in in_path if name in kinds},
        tx=tx,
        transactions=transactions,
        special=special,
        parts=parts,
        headers=tuple(headers),
        answer=_answer_in(gives),
        gives_nothing=gives is NoneType or gives is None,
    )


def _reader(name: str, wanted: Any, kind: IdKind[Any] | None) -> Callable[[str], Any]:
    if kind is not None:
        known = kind
        return lambda text: known.parse(text, field=name)
    if parsed := _noted(wanted, Parsed):
        return parsed.parse
    if wanted is not str:
        raise TypeError(f"{name} is read from the path: it must be an id, a str, or Annotated with Parsed(…)")
    return str


def _noted(wanted: Any, kind: type[T]) -> T | None:
    """What an annotation notes of that kind."""
    notes = get_args(wanted)[1:] if get_origin(wanted) is Annotated else ()
    return next((note for note in notes if isinstance(note, kind)), None)


def _alternatives(wanted: Any) -> set[Any]:
    if get_origin(wanted) in (Union, UnionType):
        return set(get_args(wanted))
    return {wanted}


def _answer_in(gives: Any) -> Any:
    """The struct in `T`, `Answer[T]`, or either beside a `Reply`."""
    structs = [part for part in _alternatives(gives) if part not in (None, NoneType, Reply)]
    if len(structs) > 1:
        raise TypeError(f"a handler gives one kind of answer, not {gives}")
    if not structs:
        return None
    return get_args(structs[0])[0] if get_origin(structs[0]) is Answer else structs[0]
