"""De-duplication in Postgres: the unique key decides, so that of two who come at once one is first."""

from collections.abc import Iterable
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.scope import checked_key, scope_of
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class PostgresDedupe:
    """Lets every key through once."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def first_time(self, tenant_id: TenantId | None, keys: Iterable[str], ttl: timedelta) -> set[str]:
        """Those never seen, or not within the time that was said then."""
        wanted = sorted({checked_key(key) for key in keys})
        if not wanted:
            return set()
        async with scope_of(self._db, tenant_id) as tx:
            now = self._clock.now()
            rows = await tx.fetch(
                _QUERIES.see_keys, tenant_id=tenant_id, keys=wanted, now=now, expires_at=now + ttl
            )
        return {row["key"] for row in rows}
