"""Presence in Postgres, in a table that does not survive a crash and need not."""

from collections.abc import Iterable
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.local_hot_state.scope import checked_key, scope_of
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class PostgresPresence:
    """Knows who is here."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def touch(
        self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]], ttl: timedelta
    ) -> None:
        """Each (key, member) is here for that long from now."""
        here = _distinct(members)
        if not here:
            return
        async with scope_of(self._db, tenant_id) as tx:
            await tx.execute(
                _QUERIES.touch_members,
                tenant_id=tenant_id,
                keys=[key for key, _ in here],
                members=[member for _, member in here],
                expires_at=self._clock.now() + ttl,
            )

    async def leave(self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]]) -> None:
        """Each (key, member) is gone."""
        gone = _distinct(members)
        if not gone:
            return
        async with scope_of(self._db, tenant_id) as tx:
            await tx.execute(
                _QUERIES.remove_members,
                keys=[key for key, _ in gone],
                members=[member for _, member in gone],
            )

    async def present(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, set[str]]:
        """Who is here, for every key asked."""
        found: dict[str, set[str]] = {checked_key(key): set() for key in keys}
        if not found:
            return found
        async with scope_of(self._db, tenant_id) as tx:
            rows = await tx.fetch(_QUERIES.read_members, keys=list(found), now=self._clock.now())
        for row in rows:
            found[row["key"]].add(row["member"])
        return found


def _distinct(members: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted({(checked_key(key), checked_key(member)) for key, member in members})
