"""Looks at every source now and then, in one process at a time, and has alerts begin and end."""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.system_alerts import store
from tidings.backoffice.system_alerts.decide import AlertMemory, decide
from tidings.backoffice.system_alerts.webhook_letters import QUIET, SOURCE
from tidings.contracts.conditions import ConditionSource
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.hot_state import Leases
from tidings.kernel.logs import get_logger, why
from tidings.kernel.metrics import Metrics

#: Seconds between two turns; each source says itself how often it is worth a look.
TURN_SECONDS: Final = 20.0
#: Longer than a turn: who looks goes on to look, so that it knows how often in a row it saw what.
_LEASE: Final = timedelta(seconds=75)

_log = get_logger("system_alerts")


class SystemAlerts:
    """A job of any number of processes; each source is looked at by one of them."""

    def __init__(
        self,
        sources: Sequence[ConditionSource],
        *,
        alerts: Alerts,
        leases: Leases,
        db: Database,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._sources = sources
        self._alerts = alerts
        self._leases = leases
        self._db = db
        self._clock = clock
        self._metrics = metrics
        self._holder = secrets.token_hex(8)
        self._memories: dict[str, AlertMemory] = {}
        self._looked_at: dict[str, datetime] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop."""
        while not stop.is_set():
            await self.run_once()
            await wait_for_stop(stop, TURN_SECONDS)

    async def run_once(self) -> None:
        """Look at what is due; a source that fails keeps its alerts as they are, and no other from its turn."""
        for source in self._sources:
            now, last = self._clock.now(), self._looked_at.get(source.name)
            if last is not None and now - last < source.every:
                continue
            try:
                await self._turn(source, now)
            except TidingsError as error:
                self._metrics.job_failures.labels(f"conditions_{source.name}").inc()
                _log.warning("conditions_not_seen", source=source.name, **why(error))
        try:
            await self._end_quiet()
        except TidingsError as error:
            _log.warning("quiet_alerts_not_ended", **why(error))

    async def look_at(self, source: ConditionSource) -> None:
        """One look, whoever else looks."""
        now = self._clock.now()
        found = await source.look()
        async with self._db.worker() as tx:
            known = await store.open_of_source(tx, source.name)
        memory = self._memories.setdefault(source.name, AlertMemory())
        for tenant_id, decision in decide(source.name, found.conditions, known, memory, now=now).items():
            async with self._db.scoped(tenant_id) as tx:
                await self._alerts.raise_(tx, decision.to_raise)
                await self._alerts.resolve(tx, decision.to_end)

    async def _turn(self, source: ConditionSource, now: datetime) -> None:
        lease = await self._leases.acquire(
            None, f"system_alerts:{source.name}", self._holder, _LEASE + source.every
        )
        if lease is None:
            # What this process once saw in a row is another's to count by now.
            self._memories.pop(source.name, None)
            return
        self._looked_at[source.name] = now
        await self.look_at(source)

    async def _end_quiet(self) -> None:
        async with self._db.worker() as tx:
            quiet = await store.quiet_of_source(tx, SOURCE, before=self._clock.now() - QUIET)
        for tenant_id in dict.fromkeys(tenant_id for tenant_id, _ in quiet):
            async with self._db.scoped(tenant_id) as tx:
                await self._alerts.resolve(tx, [key for whose, key in quiet if whose == tenant_id])
