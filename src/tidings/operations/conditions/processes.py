"""Whether processes run: one that died, none that works, a job that takes no turn."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.conditions import Condition, Figure, Look
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.job_watch import LATE
from tidings.kernel.durable.processes import GONE_SECONDS, ProcessRecord, list_processes

#: After an hour whoever watches over processes has decided that it stays away.
_REMEMBERED: Final = timedelta(hours=1)
_GONE: Final = timedelta(seconds=GONE_SECONDS)
_WORKS: Final = "jobs"


class ProcessConditions:
    """Judges the register of processes; any process may, so that somebody does when no worker is left."""

    name = "processes"
    every = timedelta(seconds=20)

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def look(self) -> Look:
        """One statement."""
        async with self._db.worker() as tx:
            known = await list_processes(tx)
        return judge_processes(known, self._clock.now())


def is_alive(process: ProcessRecord, now: datetime) -> bool:
    """Whether it runs, as far as anybody knows."""
    return process.stopped_at is None and now - process.seen_at <= _GONE


def judge_processes(known: Sequence[ProcessRecord], now: datetime) -> Look:
    """What is wrong with these."""
    alive = [one for one in known if is_alive(one, now)]
    workers = [one for one in alive if _WORKS in one.role]
    conditions = [*_died(known, alive, now), *_late(alive)]
    if not workers:
        # A worker that starts after an API has a minute for it.
        nobody = Condition(
            category="no_worker", about="all", severity="critical", tenant_id=None, after_looks=3
        )
        conditions.append(nobody)
    return Look(
        conditions=conditions,
        figures=[Figure(name="processes", value=len(alive)), Figure(name="workers", value=len(workers))],
    )


def _died(
    known: Sequence[ProcessRecord], alive: Sequence[ProcessRecord], now: datetime
) -> Iterator[Condition]:
    """Silent without having said that they end, and nobody has come in their place."""
    told: set[str] = set()
    for one in known:
        about = f"{one.role}:{one.services}:{one.host}"
        if one.stopped_at is not None or not _GONE < now - one.seen_at < _REMEMBERED or about in told:
            continue
        if any(_is_in_place_of(other, one) for other in alive):
            continue
        told.add(about)
        yield Condition(
            category="process_gone",
            about=about,
            severity="warning",
            tenant_id=None,
            facts={"process_id": one.id, "role": one.role, "host": one.host, "pid": one.pid},
        )


def _is_in_place_of(other: ProcessRecord, gone: ProcessRecord) -> bool:
    same = (other.role, other.services, other.host) == (gone.role, gone.services, gone.host)
    return same and other.started_at > gone.seen_at


def _late(alive: Sequence[ProcessRecord]) -> Iterator[Condition]:
    for process in alive:
        for late in process.late_jobs:
            yield Condition(
                category="job_overdue",
                about=f"{process.id}:{late.job}",
                severity="warning",
                tenant_id=None,
                facts={"job": late.job, "host": process.host, "seconds": late.seconds},
                is_fading=late.seconds <= LATE,
            )
