"""Feature flags: declared in code, switched in the database, audited, and read from memory.

A tenant's own switch wins over the platform's, and that one over the declared default. The platform may
switch a flag on for a share of the tenants; which ones is decided by a hash of flag and tenant, so it stays
the same everywhere and grows without changing sides. A change reaches every process within a moment by
NOTIFY, and within `max_age` where that is lost.
"""

import asyncio
import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError, DatabaseError
from tidings.kernel.flags.registry import FLAGS, Flag
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_log = get_logger("flags")

#: Where a change is announced, and the one thing that is said there.
FLAGS_CHANNEL: Final = "tidings_flags"
FLAGS_PAYLOAD: Final = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A flag as an operator has set it."""

    key: str
    #: None: for all tenants.
    tenant_id: TenantId | None
    enabled: bool
    #: On for this share of the tenants; None means all.
    percentage: int | None
    reason: str
    updated_by: str
    updated_at: datetime


class Flags:
    """Answers whether a flag is on, and switches it."""

    def __init__(
        self,
        db: Database,
        audit: AuditLog,
        clock: Clock,
        *,
        registry: Mapping[str, Flag] = FLAGS,
        max_age: timedelta = timedelta(seconds=10),
    ) -> None:
        self._db = db
        self._audit = audit
        self._clock = clock
        self._registry = registry
        self._max_age = max_age.total_seconds()
        self._switches: dict[tuple[str, TenantId | None], Switch] | None = None
        self._read_at = 0.0
        self._stale = True
        self._reading = asyncio.Lock()

    async def enabled(self, flag: Flag, tenant_id: TenantId | None = None) -> bool:
        """Whether it is on, for this tenant or for work that belongs to none."""
        switches = await self._known()
        own = switches.get((flag.key, tenant_id)) if tenant_id is not None else None
        if own is not None:
            return own.enabled
        general = switches.get((flag.key, None))
        if general is None:
            return flag.default
        return general.enabled and (
            general.percentage is None or in_share(flag.key, tenant_id, general.percentage)
        )

    async def all_of(self, tenant_id: TenantId | None) -> dict[str, bool]:
        """Which of all flags are on, for this tenant or for work that belongs to none."""
        return {key: await self.enabled(flag, tenant_id) for key, flag in self._registry.items()}

    async def switches(self) -> list[Switch]:
        """Everything that is set, read anew."""
        self.invalidate()
        return list((await self._known()).values())

    async def set(
        self,
        key: str,
        *,
        enabled: bool,
        percentage: int | None = None,
        tenant_id: TenantId | None = None,
        actor: str,
        reason: str,
    ) -> None:
        """Switch it; the change and its audit row commit together."""
        flag = self._declared(key)
        if percentage is not None and not 0 <= percentage <= 100:
            raise BadValueError("percentage", "must be between 0 and 100")
        if percentage is not None and (tenant_id is not None or not enabled):
            raise BadValueError("percentage", "is for a flag that is on for a share of all tenants")
        if not reason.strip():
            raise BadValueError("reason", "must say why")
        async with self._db.scoped(tenant_id) as tx:
            before = await tx.fetch_one(_QUERIES.lock_flag, key=flag.key)
            await tx.execute(
                _QUERIES.put_flag,
                key=flag.key,
                enabled=enabled,
                percentage=percentage,
                reason=reason,
                updated_by=actor,
                updated_at=self._clock.now(),
            )
            await tx.fetch_value(_QUERIES.announce_change)
            entry = Entry(
                entity_type="feature_flag",
                entity_id=flag.key,
                action="set",
                actor=actor,
                before=dict(before) if before else None,
                after={"enabled": enabled, "percentage": percentage},
                reason=reason,
            )
            await self._audit.append(tx, [entry])
        self.invalidate()

    async def unset(self, key: str, *, tenant_id: TenantId | None = None, actor: str, reason: str) -> bool:
        """Take a switch away, also one of a flag that is no longer declared; whether there was one."""
        async with self._db.scoped(tenant_id) as tx:
            before = await tx.fetch_one(_QUERIES.lock_flag, key=key)
            if before is None:
                return False
            await tx.execute(_QUERIES.remove_flag, key=key)
            await tx.fetch_value(_QUERIES.announce_change)
            entry = Entry(
                entity_type="feature_flag",
                entity_id=key,
                action="unset",
                actor=actor,
                before=dict(before),
                reason=reason,
            )
            await self._audit.append(tx, [entry])
        self.invalidate()
        return True

    def invalidate(self) -> None:
        """Read anew at the next question."""
        self._stale = True

    def _declared(self, key: str) -> Flag:
        try:
            return self._registry[key]
        except KeyError:
            near = difflib.get_close_matches(key, self._registry, n=1)
            hint = f"; did you mean {near[0]}?" if near else "; see `tidings flags list`"
            raise BadValueError("key", f"{key!r} is not a declared flag{hint}") from None

    async def _known(self) -> dict[tuple[str, TenantId | None], Switch]:
        if self._switches is not None and not self._due():
            return self._switches
        async with self._reading:
            if self._switches is None or self._due():
                self._switches = await self._read()
            return self._switches

    def _due(self) -> bool:
        return self._stale or self._clock.monotonic() - self._read_at >= self._max_age

    async def _read(self) -> dict[tuple[str, TenantId | None], Switch]:
        # A change that is announced while we read must make us read once more.
        self._stale = False
        self._read_at = self._clock.monotonic()
        try:
            async with self._db.worker() as tx:
                rows = await tx.fetch(_QUERIES.read_flags)
        except DatabaseError as error:
            if self._switches is None:
                self._stale = True
                raise
            # What we knew a moment ago is better than no answer; the next try comes after `max_age`.
            _log.warning("flags_not_read", error=type(error).__name__)
            return self._switches
        return {(row["key"], row["tenant_id"]): Switch(**dict(row)) for row in rows}


def in_share(key: str, tenant_id: TenantId | None, percentage: int) -> bool:
    """Whether a tenant is among the first `percentage` of a flag; work without a tenant comes last."""
    if tenant_id is None:
        return percentage == 100
    digest = hashlib.sha256(f"{key}:{tenant_id}".encode()).digest()
    return int.from_bytes(digest[:8]) % 100 < percentage
