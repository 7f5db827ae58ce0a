"""Leases in Postgres: one row per key, and a fence that rises with every holder."""

from dataclasses import replace
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Lease
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.scope import checked_key, scope_of
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class PostgresLeases:
    """Gives each key to one holder at a time."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def acquire(
        self, tenant_id: TenantId | None, key: str, holder: str, ttl: timedelta
    ) -> Lease | None:
        """The lease; None while another holds it."""
        async with scope_of(self._db, tenant_id) as tx:
            now = self._clock.now()
            fence = await tx.fetch_value(
                _QUERIES.acquire_lease,
                tenant_id=tenant_id,
                key=checked_key(key),
                holder=checked_key(holder),
                now=now,
                expires_at=now + ttl,
            )
        if fence is None:
            return None
        return Lease(tenant_id=tenant_id, key=key, holder=holder, fence=fence, expires_at=now + ttl)

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        """The same lease for longer; None if it ran out."""
        async with scope_of(self._db, lease.tenant_id) as tx:
            now = self._clock.now()
            renewed = await tx.execute(
                _QUERIES.renew_lease,
                tenant_id=lease.tenant_id,
                key=lease.key,
                holder=lease.holder,
                fence=lease.fence,
                now=now,
                expires_at=now + ttl,
            )
        return replace(lease, expires_at=now + ttl) if renewed else None

    async def release(self, lease: Lease) -> None:
        """Give it back."""
        async with scope_of(self._db, lease.tenant_id) as tx:
            await tx.execute(
                _QUERIES.release_lease,
                tenant_id=lease.tenant_id,
                key=lease.key,
                holder=lease.holder,
                fence=lease.fence,
            )
