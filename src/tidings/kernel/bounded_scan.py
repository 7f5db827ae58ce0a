"""Bounded scan: keyset pagination over rows that no index sorts by the filter.

Such an index would be rewritten with every change of a hot row. So a list walks back through rows in their own order
and gathers those that fit, some thousands in a request; where few of them fit it answers with those and a cursor to go
on from.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Generic, Protocol, TypeVar

from tidings.kernel.db import Row
from tidings.kernel.ids import time_of

#: Rows that one statement looks at, and one request at most.
CHUNK: Final = 2_000
MOST_LOOKED_AT: Final = 20_000

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Clocks of two machines differ; nothing is newer than this, and later months need not be opened.
AHEAD: Final = timedelta(hours=1)

I = TypeVar("I", bound=str)  # noqa: E741  # an id
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance(Generic[I]):
    """What one statement found."""

    #: Those that fit, the newest first.
    ids: Sequence[I]
    looked_at: int
    #: The last row that was looked at, whether it fits or not.
    last_id: I | None

    @classmethod
    def of(cls, row: Row | None) -> "Glance[I]":
        """From the one row of a statement that looks back."""
        if row is None:
            return cls(ids=[], looked_at=0, last_id=None)
        return cls(ids=row["ids"], looked_at=row["looked_at"], last_id=row["last_id"])


class LookBack(Protocol[I]):
    """A statement that looks at up to `most` rows older than a place."""

    async def __call__(self, *, before_at: datetime, before_id: str, most: int) -> Glance[I]:
        """The rows among them that fit."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedPage(Generic[I, T]):
    """Some that fit, the newest first."""

    items: Sequence[T]
    #: Where to go on; None where there is nothing more.
    next_id: I | None


async def scan_back(
    look: LookBack[I],
    find: Callable[[Sequence[I]], Awaitable[Mapping[I, T]]],
    *,
    start: tuple[datetime, str],
    limit: int,
    filtered: bool,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> ScannedPage[I, T]:
    """Up to `limit` that are older than `start`; not `filtered`: the first rows are the page."""
    step = chunk if filtered else limit + 1
    before_at, before_id = start
    ids: list[I] = []
    looked_at, next_id = 0, None
    while True:
        asked = min(step, most - looked_at)
        glance = await look(before_at=before_at, before_id=before_id, most=asked)
        looked_at += glance.looked_at
        ids += glance.ids
        if len(ids) > limit:
            ids = ids[:limit]
            next_id = ids[-1]
            break
        if glance.last_id is None or glance.looked_at < asked:
            break
        if looked_at >= most:
            next_id = glance.last_id
            break
        before_at, before_id = time_of(glance.last_id), glance.last_id
    found = await find(ids)
    return ScannedPage(items=[found[one] for one in ids if one in found], next_id=next_id)
