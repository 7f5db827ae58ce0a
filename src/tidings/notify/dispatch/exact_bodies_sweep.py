"""Removes exact bodies when their seven years are over, and objects that no notification names."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final, TypeAlias

from tidings.contracts.ids import NotificationId
from tidings.kernel.blobs.days import DaySweeper
from tidings.kernel.blobs.keys import PLATFORM, BlobKey
from tidings.kernel.blobs.store import BlobNotFoundError, BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.sql import Queries, created_columns
from tidings.notify.blob_keys import first_of
from tidings.notify.dispatch.exact_bodies import contents_of

QUERIES = Queries.beside(__file__)

#: How long exact bodies are kept.
BODIES_KEPT: Final = timedelta(days=7 * 365 + 2)
#: What was stored this long ago and is named by no row belongs to a set that was never handed over.
_NAMED_BY_THEN: Final = timedelta(days=2)
_DAY: Final = timedelta(days=1)
#: No body is older.
_FIRST_DAY: Final = date(2026, 1, 1)
_FOLDER: Final = f"{PLATFORM}/rendered"
#: Objects that are asked about at once.
_AT_ONCE: Final = 100

_Named: TypeAlias = tuple[TenantId, NotificationId]


class BodySweeper:
    """Goes day by day."""

    def __init__(
        self,
        db: Database,
        blobs: Callable[[], BlobStore],
        clock: Clock,
        *,
        kept: timedelta = BODIES_KEPT,
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._days = DaySweeper(blobs)
        self._clock = clock
        self._kept = kept
        #: The last day whose objects were looked at.
        self._looked: date | None = None

    async def sweep(self, limit: int) -> int:
        """Remove at most so many objects whose time is over; how many went."""
        last = (self._clock.now() - self._kept).date() - _DAY
        return await self._days.sweep(_FOLDER, first=_FIRST_DAY, last=last, limit=limit)

    async def sweep_orphans(self, limit: int) -> int:
        """Remove at most so many objects that no notification names; how many went. Each day is looked at once."""
        day = (self._clock.now() - _NAMED_BY_THEN).date()
        if self._looked == day:
            return 0
        removed = 0
        found = [key async for key in self._blobs().list(f"{_FOLDER}/{day:%Y/%m/%d}")]
        for place in range(0, len(found), _AT_ONCE):
            for key in await self._unnamed(found[place : place + _AT_ONCE]):
                if removed >= limit:
                    return removed
                await self._blobs().delete(key)
                removed += 1
        self._looked = day
        return removed

    async def _unnamed(self, keys: Sequence[BlobKey]) -> list[BlobKey]:
        """Those of these objects that no row names: asked of the first body's row, and of all where that one has gone on."""
        firsts = {key: first_of(key) for key in keys}
        named = await self._named(list(firsts.values()))
        doubtful = [key for key in keys if not _names(named.get(firsts[key]), key)]
        unnamed: list[BlobKey] = []
        for key in doubtful:
            try:
                bodies = contents_of((await self._blobs().get(key)).content)
            except BlobNotFoundError:
                continue
            theirs = await self._named(
                [(body.tenant_id, body.notification_id) for body in bodies if body.tenant_id is not None]
            )
            if not any(_names(text, key) for text in theirs.values()):
                unnamed.append(key)
        return unnamed

    async def _named(self, wanted: Sequence[_Named]) -> dict[_Named, str | None]:
        """What these notifications name."""
        if not wanted:
            return {}
        tenant_ids, ids = zip(*wanted, strict=True)
        async with self._db.tenants(tenant_ids, by_index=True) as tx:
            rows = await tx.fetch(
                QUERIES.find_body_refs,
                tenant_ids=list(tenant_ids),
                ids=list(ids),
                **created_columns([time_of(one) for one in ids]),
            )
        return {(row["tenant_id"], row["id"]): row["body_ref"] for row in rows}


def _names(text: str | None, key: BlobKey) -> bool:
    return text is not None and f'"{key}#' in text
