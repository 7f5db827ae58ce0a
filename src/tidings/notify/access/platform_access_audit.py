"""Audits that the platform acts for a tenant, before it does, in the tenant's own audit.

Changes are audited one by one where they are made, with their actor. This row says that a person of the
platform was there at all, also when they only read: once a minute for the same caller and operation.
"""

from datetime import timedelta

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId
from tidings.kernel.ttl_cache import TtlCache

_REPEATED_AFTER_SECONDS = 60.0


class AuditingWitness:
    """Writes `platform.acted` rows."""

    def __init__(self, db: Database, *, audit: AuditLog, clock: Clock) -> None:
        self._db = db
        self._audit = audit
        self._memory: TtlCache[tuple[TenantId, Caller, str], bool] = TtlCache(
            clock=clock, ttl=timedelta(seconds=_REPEATED_AFTER_SECONDS)
        )

    async def acting(self, caller: Caller, operation: str) -> None:
        """Write it down; when that fails, the act does not happen."""
        if caller.acting_for is not None:
            await self._memory.get_or_fetch((caller.acting_for, caller, operation), self._write)

    async def _write(self, act: tuple[TenantId, Caller, str]) -> bool:
        tenant_id, caller, operation = act
        entry = Entry(
            entity_type="platform_access",
            entity_id=tenant_id,
            action="platform.acted",
            actor=caller.actor,
            after={"operation": operation, "role": caller.role},
        )
        async with self._db.tenant(tenant_id) as tx:
            await self._audit.append(tx, [entry])
        return True
