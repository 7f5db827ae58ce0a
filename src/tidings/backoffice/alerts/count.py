"""How many alerts are open, for badges: remembered by each process until one changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.backoffice.alerts import store
from tidings.backoffice.alerts.model import Mute, OpenCount
from tidings.backoffice.properties.access import PropertyReach
from tidings.kernel.announced_changes import AnnouncedChanges, announced_cache
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId

_LASTS: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTally:
    """How many alerts are open that somebody may see; those of muted categories are counted apart."""

    open: int = 0
    #: Of those, the ones that nobody has acknowledged.
    unacknowledged: int = 0
    critical: int = 0
    warning: int = 0
    info: int = 0
    muted: int = 0


@dataclass(frozen=True, slots=True)
class _Known:
    counts: Sequence[OpenCount]
    mutes: Sequence[Mute]


class AlertCounter:
    """Counts open alerts of a tenant, or of the platform."""

    def __init__(self, db: Database, clock: Clock, changes: AnnouncedChanges | None = None) -> None:
        self._db = db
        self._clock = clock
        self._memory = announced_cache(
            changes, "bff_backoffice.alerts", "bff_backoffice.alert_mutes", clock=clock, ttl=_LASTS
        )

    async def of(self, tenant_id: TenantId | None, reach: PropertyReach) -> AlertTally:
        """How many there are for somebody who may see these properties."""
        known: _Known = await self._memory.get_or_fetch(tenant_id, self._count)
        now = self._clock.now()
        muted = {mute.category for mute in known.mutes if now < mute.muted_until}
        seen = [one for one in known.counts if reach.holds(one.property_id)]
        heard = [one for one in seen if one.category not in muted]
        by_severity = {
            severity: sum(one.alerts for one in heard if one.severity == severity)
            for severity in ("critical", "warning", "info")
        }
        return AlertTally(
            open=sum(by_severity.values()),
            unacknowledged=sum(one.alerts for one in heard if one.status == "raised"),
            muted=sum(one.alerts for one in seen if one.category in muted),
            **by_severity,
        )

    def forget(self, tenant_id: TenantId | None) -> None:
        """This process just changed one: nobody who did something sees the number of before."""
        self._memory.forget(tenant_id)

    async def _count(self, tenant_id: TenantId | None) -> _Known:
        async with self._db.scoped(tenant_id) as tx:
            return _Known(await store.count_open(tx), await store.list_mutes(tx, now=self._clock.now()))
