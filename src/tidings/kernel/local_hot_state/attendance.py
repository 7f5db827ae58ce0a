"""Who is here: members of keys, each for a while unless it is renewed. Sets span tenants, and every call is one statement.

It is in Postgres also where limits are counted in Redis: a process renews all that it holds a few times a minute, in one go.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import NamedTuple

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import columns, tuple_columns
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
#: Rows of one statement.
_AT_ONCE = 1000


class Attendee(NamedTuple):
    """One member of a key."""

    tenant_id: TenantId
    key: str
    member: str


class AttendanceList:
    """Keeps the members of all processes."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def enter(self, attendees: Sequence[Attendee], ttl: timedelta) -> None:
        """They are here, from now on for so long."""
        now = self._clock.now()
        ordered = sorted(attendees)
        for start in range(0, len(ordered), _AT_ONCE):
            some = ordered[start : start + _AT_ONCE]
            async with self._db.tenants({one.tenant_id for one in some}, by_index=True) as tx:
                await tx.execute(
                    _QUERIES.enter_attendees, expires_at=now + ttl, **columns(some, "tenant_id key member")
                )

    async def leave(self, attendees: Sequence[Attendee]) -> None:
        """They are not here any more."""
        ordered = sorted(attendees)
        for start in range(0, len(ordered), _AT_ONCE):
            some = ordered[start : start + _AT_ONCE]
            async with self._db.tenants({one.tenant_id for one in some}, by_index=True) as tx:
                await tx.execute(_QUERIES.remove_attendees, **columns(some, "tenant_id key member"))

    async def find(
        self, wanted: Collection[tuple[TenantId, str]], within: TenantsTx | None = None
    ) -> dict[tuple[TenantId, str], list[str]]:
        """The members of these keys that are here now, by tenant and key; where a transaction is open, `within` it."""
        if not wanted:
            return {}
        if within is None:
            async with self._db.tenants({tenant_id for tenant_id, _ in wanted}, by_index=True) as tx:
                return await self.find(wanted, tx)
        rows = await within.fetch(
            _QUERIES.find_attendees, now=self._clock.now(), **tuple_columns(sorted(wanted), "tenant_ids keys")
        )
        found: dict[tuple[TenantId, str], list[str]] = {}
        for row in rows:
            found.setdefault((TenantId(row["tenant_id"]), row["key"]), []).append(row["member"])
        return found
