"""The feed on Postgres: a tenant reads the stream in its own transactions, where row-level security shows it no other's events.

A cursor is a place on the stream and a time. All events up to the place are behind it, and none behind the time has a higher
place, give or take a day: the time says which days of the stream have to be looked at, and whether one of them is gone.
Readers who wait are woken by one look for all of them, and not by one look each.
"""

import asyncio
import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tidings.kernel.bus import CursorError, CursorExpiredError, FeedPage, FeedStart, SubjectFilter
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError
from tidings.kernel.events import from_row
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus.event_stream import Cursor
from tidings.kernel.postgres_bus.wakeups import BUS_CHANNEL, Wakeups
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
#: Days that the stream is kept, from midnight to midnight.
_KEPT: Final = timedelta(days=7)
#: Places looked at by one statement, and statements for one page at most: the page is then empty, and not the last.
_STRETCH: Final = 10_000
_MOST_STRETCHES: Final = 20
_CURSOR: Final = re.compile(r"p([0-9]{1,18})\.([0-9]{1,15})")


def write_cursor(at: Cursor) -> str:
    """A place as readers keep it."""
    text = f"p{at.position}.{int(at.published_at.timestamp() * 1000)}"
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def read_cursor(cursor: str) -> Cursor:
    """The place that a reader names; a `CursorError` where it is none."""
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
        found = _CURSOR.fullmatch(text) if len(cursor) <= 100 else None
        if found is None:
            raise CursorError
        return Cursor(
            position=int(found[1]), published_at=datetime.fromtimestamp(int(found[2]) / 1000, tz=UTC)
        )
    except (ValueError, OverflowError):
        raise CursorError from None


@dataclass(slots=True, eq=False)
class _Waiting:
    tenant_id: TenantId
    wanted: SubjectFilter
    called: asyncio.Event


def _kept_since(edge: Cursor) -> datetime:
    """By the server's clock, which says when the days of the stream are over."""
    return edge.published_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - _KEPT


def _check(named: Cursor, edge: Cursor, issued: int) -> None:
    if named.position > issued:
        raise CursorError
    if named.published_at < _kept_since(edge):
        raise CursorExpiredError


class PostgresFeed:
    """Reads for those outside, and wakes those who wait."""

    def __init__(self, db: Database, wakeups: Wakeups) -> None:
        self._db = db
        self._wakeups = wakeups
        self._waiting: set[_Waiting] = set()
        self._moved = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        wakeups.hear(BUS_CHANNEL, lambda _: self._moved.set())

    async def cursor(self, start: FeedStart) -> str:
        """Where a reader without a cursor begins."""
        edge = await self._edge()
        return write_cursor(await self._beginning(edge) if start == "beginning" else edge)

    async def read(self, tenant_id: TenantId, wanted: SubjectFilter, *, after: str, limit: int) -> FeedPage:
        """The next events behind the cursor."""
        named = read_cursor(after)
        edge, issued = await self._find_edge()
        _check(named, edge, issued)
        position, since = named.position, named.published_at
        for _ in range(_MOST_STRETCHES):
            if position >= edge.position:
                break
            until = min(position + _STRETCH, edge.position)
            async with self._db.tenant(tenant_id) as tx:
                rows = await tx.fetch(
                    _QUERIES.read_feed,
                    position=position,
                    until=until,
                    published_at=since,
                    expression=wanted.expression,
                    limit=limit,
                )
            full = len(rows) >= limit
            position = rows[-1]["position"] if full else until
            if rows:
                end = position >= edge.position
                next_ = edge if end else Cursor(position=position, published_at=rows[-1]["published_at"])
                return FeedPage(
                    events=tuple(from_row(row) for row in rows),
                    cursors=tuple(
                        write_cursor(Cursor(position=row["position"], published_at=row["published_at"]))
                        for row in rows
                    ),
                    next_cursor=write_cursor(next_),
                    at_end=end,
                )
        end = position >= edge.position
        # At the end all is read that was there at this time: whoever goes on from here has missed nothing before it.
        next_ = (
            Cursor(position=max(position, edge.position), published_at=edge.published_at)
            if end
            else Cursor(position=position, published_at=since)
        )
        return FeedPage(events=(), cursors=(), next_cursor=write_cursor(next_), at_end=end)

    @contextmanager
    def listen(self, tenant_id: TenantId, wanted: SubjectFilter) -> Iterator[asyncio.Event]:
        """An event that is set whenever there may be more to read."""
        waiting = _Waiting(tenant_id, wanted, asyncio.Event())
        self._waiting.add(waiting)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._look_for_news())
        try:
            with self._wakeups.awaiting_events():
                yield waiting.called
        finally:
            self._waiting.discard(waiting)
            if not self._waiting and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    async def _look_for_news(self) -> None:
        """For as long as somebody waits: one look after each move of a relay, for all of them."""
        seen: Cursor | None = None
        while self._waiting:
            self._moved.clear()
            try:
                edge = await self._edge()
                if seen is None:
                    # Something may have come before we knew where the stream ends.
                    self._call({(waiting.tenant_id, None) for waiting in self._waiting})
                elif edge.position > seen.position:
                    self._call(await self._news(seen, edge))
                seen = edge
            except DatabaseError:
                seen = None
            try:
                async with asyncio.timeout(self._wakeups.poll_seconds):
                    await self._moved.wait()
            except TimeoutError:
                continue

    async def _news(self, seen: Cursor, edge: Cursor) -> set[tuple[TenantId, str | None]]:
        tenants = sorted({waiting.tenant_id for waiting in self._waiting})
        async with self._db.worker() as tx:
            rows = await tx.fetch(
                _QUERIES.find_news,
                position=seen.position,
                until=edge.position,
                published_at=seen.published_at,
                tenant_ids=tenants,
            )
        return {(TenantId(row["tenant_id"]), row["subject"]) for row in rows}

    def _call(self, news: set[tuple[TenantId, str | None]]) -> None:
        """Wake those for whom there is something; None stands for any subject."""
        subjects: dict[TenantId, set[str | None]] = {}
        for tenant_id, subject in news:
            subjects.setdefault(tenant_id, set()).add(subject)
        for waiting in self._waiting:
            for subject in subjects.get(waiting.tenant_id, ()):
                if subject is None or waiting.wanted.takes(subject):
                    waiting.called.set()

    async def _edge(self) -> Cursor:
        return (await self._find_edge())[0]

    async def _find_edge(self) -> tuple[Cursor, int]:
        """Where the stream ends, and the highest place that was ever given."""
        async with self._db.worker() as tx:
            row = await tx.fetch_one(_QUERIES.find_edge)
        assert row is not None  # noqa: S101  # an aggregate always has one row
        return Cursor(position=row["position"], published_at=row["at"]), row["issued"]

    async def _beginning(self, edge: Cursor) -> Cursor:
        async with self._db.worker() as tx:
            row = await tx.fetch_one(_QUERIES.find_beginning)
        if row is None:
            return edge
        # A day that is over may be there still: what is left of it may be read, and goes without notice.
        since = max(row["published_at"], _kept_since(edge))
        return Cursor(position=row["position"], published_at=since)
