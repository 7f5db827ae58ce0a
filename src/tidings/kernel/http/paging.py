"""Cursor paging: newest first, by the time and id of the last row shown.

A cursor is opaque and checked: it names the listing it came from and carries a checksum, so that a
mangled, made-up or borrowed one gets a clear answer. It opens no door; row-level security guards rows.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Generic, TypeVar

import msgspec

from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import time_of

DEFAULT_SIZE = 50
_CHECK = 8
_REMEDY = "is not a cursor of this listing; take next_cursor from the answer before, or leave it out"

T = TypeVar("T")
R = TypeVar("R")


class PageQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which page is wanted."""

    #: How many items at most.
    limit: Annotated[int, msgspec.Meta(ge=1, le=200, description="How many items at most.")] = DEFAULT_SIZE
    #: `next_cursor` of the page before.
    cursor: Annotated[
        str | None,
        msgspec.Meta(description="`next_cursor` of the page before; leave it out for the first page."),
    ] = None


class Page(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Some items, and how to get the next ones."""

    items: list[T]
    #: Null on the last page.
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """The last row that was shown; the next page begins after it."""

    created_at: datetime
    id: str


def read_cursor(cursor: str | None, *, listing: str) -> After | None:
    """The place a cursor stands for; a `BadValueError` naming `cursor` where it is none of this listing."""
    if cursor is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        check, last_id = raw[:_CHECK], raw[_CHECK:].decode("ascii")
        if len(cursor) > 200 or check != _checksum(listing, last_id) or len(last_id) < 26:
            raise BadValueError("cursor", _REMEDY)
        return After(created_at=time_of(last_id), id=last_id)
    except (ValueError, OverflowError):
        raise BadValueError("cursor", _REMEDY) from None


def write_cursor(last_id: str, *, listing: str) -> str:
    """The cursor for the page after the row with this id."""
    return (
        base64.urlsafe_b64encode(_checksum(listing, last_id) + last_id.encode("ascii")).rstrip(b"=").decode()
    )


def page_of(
    rows: Sequence[R], *, limit: int, listing: str, id_of: Callable[[R], str], render: Callable[[R], T]
) -> Page[T]:
    """A page out of up to `limit + 1` rows: the one too many says that there is another page."""
    shown = rows[:limit]
    more = len(rows) > limit
    return Page(
        items=[render(row) for row in shown],
        next_cursor=write_cursor(id_of(shown[-1]), listing=listing) if more and shown else None,
    )


class Paging:
    """The page that a request asks for, of one listing."""

    __slots__ = ("_listing", "_query")

    def __init__(self, query: PageQuery, listing: str) -> None:
        self._query = query
        self._listing = listing

    @property
    def after(self) -> After | None:
        """The last row of the page before."""
        return read_cursor(self._query.cursor, listing=self._listing)

    @property
    def after_id(self) -> str | None:
        """Its id alone."""
        after = self.after
        return after.id if after else None

    @property
    def fetch(self) -> int:
        """How many rows to read: one more than the page shows says whether there is another page."""
        return self._query.limit + 1

    def page(
        self,
        rows: Sequence[R],
        render: Callable[[R], T],
        *,
        id_of: Callable[[R], str] = attrgetter("id"),
    ) -> Page[T]:
        """The page out of what was read."""
        return page_of(rows, limit=self._query.limit, listing=self._listing, id_of=id_of, render=render)

    def page_until(self, last_id: str | None, items: list[T]) -> Page[T]:
        """A page after which the listing goes on from `last_id`; None on the last page. It may show fewer than it saw."""
        cursor = None if last_id is None else write_cursor(last_id, listing=self._listing)
        return Page(items=items, next_cursor=cursor)


def _checksum(listing: str, last_id: str) -> bytes:
    return hashlib.blake2s(last_id.encode(), digest_size=_CHECK, person=_person(listing)).digest()


def _person(listing: str) -> bytes:
    return hashlib.blake2s(listing.encode(), digest_size=8).digest()
