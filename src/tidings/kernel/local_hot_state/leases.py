"""Leases in Postgres: one row per key, and a fence that rises with every holder."""

from dataclasses import replace
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.hot_state import Lease
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_LONGEST_KEY = 500


def checked_key(key: str) -> str:
    """The key, if an index can hold it."""
    if not 1 <= len(key) <= _LONGEST_KEY or "\x00" in key:
        raise BadValueError("key", f"must have 1 to {_LONGEST_KEY} characters, none of them null")
    return key


class PostgresLeases:
    """Gives each key to one holder at a time."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def acquire(
        self, tenant_id: TenantId | None, key: str, holder: str, ttl: timedelta
    ) -> Lease | None:
        """The lease; None while another holds it."""
        async with self._db.scoped(tenant_id) as tx:
            now = self._clock.now()
            fence = await tx.fetch_value(
                _QUERIES.acquire_lease,
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
        async with self._db.scoped(lease.tenant_id) as tx:
            now = self._clock.now()
            renewed = await tx.execute(_QUERIES.renew_lease, lease, now=now, expires_at=now + ttl)
        return replace(lease, expires_at=now + ttl) if renewed else None

    async def release(self, lease: Lease) -> None:
        """Give it back."""
        async with self._db.scoped(lease.tenant_id) as tx:
            await tx.execute(_QUERIES.release_lease, lease)
