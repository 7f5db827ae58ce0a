"""How the installation is, for whoever looks after it: every source looks at once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.conditions import (
    ConditionSource,
    HealthReport,
    LateTurn,
    Look,
    ProcessHealth,
)
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.processes import ProcessRecord, list_processes
from tidings.kernel.errors import TidingsError
from tidings.kernel.logs import get_logger, why
from tidings.kernel.ttl_cache import TtlCache
from tidings.operations.conditions.processes import is_alive

_log = get_logger("health")
#: A page that many look at asks as often as one.
_REMEMBERED: Final = timedelta(seconds=5)
#: What stopped or died is shown for so long.
_SHOWN: Final = timedelta(hours=1)


class StoredHealth:
    """The sources of this process, and the register of processes."""

    def __init__(self, sources: Sequence[ConditionSource], db: Database, clock: Clock) -> None:
        self._sources = sources
        self._db = db
        self._clock = clock
        self._memory: TtlCache[None, HealthReport] = TtlCache(clock=clock, ttl=_REMEMBERED, size=1)

    async def report(self) -> HealthReport:
        """A source that can't look is named, and hides no other."""
        return await self._memory.get_or_fetch(None, self._look)

    async def _look(self, _: None) -> HealthReport:
        looks: list[Look] = []
        blind: list[str] = []
        for source in self._sources:
            try:
                looks.append(await source.look())
            except TidingsError as error:
                blind.append(source.name)
                _log.warning("health_not_seen", source=source.name, **why(error))
        async with self._db.worker() as tx:
            known = await list_processes(tx)
        now = self._clock.now()
        return HealthReport(
            looked_at=now,
            processes=[_shown(one, now) for one in known if is_alive(one, now) or now - one.seen_at < _SHOWN],
            figures=[figure for look in looks for figure in look.figures],
            conditions=[one for look in looks for one in look.conditions if not one.is_fading],
            blind=blind,
        )


def _shown(process: ProcessRecord, now: datetime) -> ProcessHealth:
    return ProcessHealth(
        id=process.id,
        role=process.role,
        services=process.services,
        version=process.version,
        host=process.host,
        pid=process.pid,
        state="stopped" if process.stopped_at else "running" if is_alive(process, now) else "gone",
        started_at=process.started_at,
        seen_at=process.seen_at,
        jobs=process.jobs,
        late_jobs=[LateTurn(job=one.job, seconds=one.seconds) for one in process.late_jobs],
    )
