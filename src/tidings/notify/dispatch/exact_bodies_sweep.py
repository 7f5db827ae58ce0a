"""Removes exact bodies when their seven years are over, and objects that no notification names."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.blobs.days import DaySweeper
from tidings.kernel.blobs.keys import BlobKey
from tidings.kernel.blobs.store import BlobNotFoundError, BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.sql import Queries
from tidings.notify.dispatch.exact_bodies import contents_of

QUERIES = Queries.beside(__file__)

#: How long exact bodies are kept.
BODIES_KEPT: Final = timedelta(days=7 * 365 + 2)
#: What was stored this long ago and is named by no row belongs to a set that was never handed over.
_NAMED_BY_THEN: Final = timedelta(days=2)
_DAY: Final = timedelta(days=1)


class BodySweeper:
    """Goes from tenant to tenant."""

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
        #: The last day whose objects were looked at, by tenant.
        self._looked: dict[TenantId, date] = {}

    async def sweep(self, limit: int) -> int:
        """Remove at most so many objects whose time is over; how many went."""
        last = (self._clock.now() - self._kept).date() - _DAY
        removed = 0
        for tenant_id in await self._tenants():
            first = time_of(tenant_id).date() - _DAY
            if first > last or removed >= limit:
                continue
            removed += await self._days.sweep(
                f"{tenant_id}/rendered", first=first, last=last, limit=limit - removed
            )
        return removed

    async def sweep_orphans(self, limit: int) -> int:
        """Remove at most so many objects that no notification names; how many went. Each day is looked at once."""
        day = (self._clock.now() - _NAMED_BY_THEN).date()
        removed = 0
        for tenant_id in await self._tenants():
            if self._looked.get(tenant_id) == day or removed >= limit:
                continue
            found = [key async for key in self._blobs().list(f"{tenant_id}/rendered/{day:%Y/%m/%d}")]
            for key in await self._unnamed(tenant_id, found):
                await self._blobs().delete(key)
                removed += 1
            self._looked[tenant_id] = day
        return removed

    async def _tenants(self) -> list[TenantId]:
        async with self._db.worker() as tx:
            return [row["tenant_id"] for row in await tx.fetch(QUERIES.find_tenants)]

    async def _unnamed(self, tenant_id: TenantId, keys: Sequence[BlobKey]) -> list[BlobKey]:
        """Those of these objects that no row names: asked of the first body's row, and of all where that one has gone on."""
        firsts = {key: NotificationId(key.rpartition("/")[2].partition(".")[0]) for key in keys}
        named = await self._named(tenant_id, list(firsts.values()))
        doubtful = [key for key in keys if not _names(named.get(firsts[key]), key)]
        unnamed: list[BlobKey] = []
        for key in doubtful:
            try:
                inside = [one for one, _ in contents_of((await self._blobs().get(key)).content)]
            except BlobNotFoundError:
                continue
            theirs = await self._named(tenant_id, inside)
            if not any(_names(text, key) for text in theirs.values()):
                unnamed.append(key)
        return unnamed

    async def _named(
        self, tenant_id: TenantId, ids: Sequence[NotificationId]
    ) -> dict[NotificationId, str | None]:
        if not ids:
            return {}
        created_ats = [time_of(one) for one in ids]
        async with self._db.tenant(tenant_id, by_index=True) as tx:
            rows = await tx.fetch(
                QUERIES.find_body_refs,
                ids=list(ids),
                created_ats=created_ats,
                oldest=min(created_ats),
                newest=max(created_ats),
            )
        return {row["id"]: row["body_ref"] for row in rows}


def _names(text: str | None, key: BlobKey) -> bool:
    return text is not None and f'"{key}#' in text
