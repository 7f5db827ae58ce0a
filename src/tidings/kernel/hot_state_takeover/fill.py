"""Copies what Postgres knows of limits to a Redis that counts again.

A call that misses a state in Redis meanwhile looks for it in Postgres, so that none waits for the copy. A state that is in
Redis already is newer and stays.
"""

from dataclasses import dataclass
from itertools import groupby

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.limits import PostgresLimits
from tidings.kernel.redis_hot_state.limits import RedisLimits
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_PAGE = 500


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Filler:
    """Copies page by page."""

    db: Database
    postgres: PostgresLimits
    clock: Clock

    async def fill(self, redis: RedisLimits) -> int:
        """All of it; how many states there were."""
        return await self._platform(redis) + await self._tenants(redis)

    async def _platform(self, redis: RedisLimits) -> int:
        count, after = 0, ""
        while True:
            async with self.db.platform() as tx:
                rows = await tx.fetch(
                    _QUERIES.list_platform_limits, after=after, now=self.clock.now(), limit=_PAGE
                )
            if not rows:
                return count
            after = rows[-1]["key"]
            count += await self._copy(redis, None, [row["key"] for row in rows])

    async def _tenants(self, redis: RedisLimits) -> int:
        count, last = 0, ("", "")
        while True:
            async with self.db.worker() as tx:
                rows = await tx.fetch(
                    _QUERIES.list_tenant_limits,
                    tenant_id=last[0],
                    after=last[1],
                    now=self.clock.now(),
                    limit=_PAGE,
                )
            if not rows:
                return count
            last = (rows[-1]["tenant_id"], rows[-1]["key"])
            for tenant_id, own in groupby(rows, key=lambda row: row["tenant_id"]):
                count += await self._copy(redis, TenantId(tenant_id), [row["key"] for row in own])

    async def _copy(self, redis: RedisLimits, tenant_id: TenantId | None, keys: list[str]) -> int:
        known = await self.postgres.read(tenant_id, keys)
        if known:
            await redis.fill(
                tenant_id, [(key, state, expires_at) for key, (state, expires_at) in known.items()]
            )
        return len(known)
