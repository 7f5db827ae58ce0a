"""The register of processes: which ones run, in which role and version, where, and how their jobs are."""

import asyncio
import os
import re
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NewType

import msgspec

from tidings import __version__
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.durable.job_watch import JobWatch
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import IdKind
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

ProcessId = NewType("ProcessId", str)
PROCESS: Final = IdKind("prc", ProcessId)

QUERIES = Queries.beside(__file__)
#: Seconds between two reports, and without one after which a process counts as gone.
REPORT_SECONDS: Final = 15.0
GONE_SECONDS: Final = 60.0
#: So many late jobs are reported.
_MOST_LATE: Final = 20
_NOT_IN_A_HOST: Final = re.compile(r"[^A-Za-z0-9_.:-]")


class LateJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job whose turn is overdue, or that fell and waits for its restart."""

    job: str
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """A process as it last reported."""

    id: ProcessId
    #: `api`, `jobs`, or both with a plus between.
    role: str
    services: str
    version: str
    host: str
    pid: int
    jobs: int
    late_jobs: Sequence[LateJob]
    started_at: datetime
    seen_at: datetime
    #: When it was told to end; None: it was not.
    stopped_at: datetime | None


class ProcessRegister:
    """A job of every process, whatever its role: reports it until it is told to stop."""

    def __init__(
        self,
        db: Database,
        watch: JobWatch,
        *,
        clock: Clock,
        roles: Collection[str],
        services: Collection[str],
        late_after: float,
    ) -> None:
        """`late_after`: seconds that a turn of a job may be overdue before it is reported."""
        self._db = db
        self._watch = watch
        self._late_after = late_after
        self.id = PROCESS.new(clock.now())
        self._known = {
            "id": self.id,
            "role": "+".join(sorted(roles)),
            "services": "+".join(sorted(services)),
            "version": __version__,
            "host": _NOT_IN_A_HOST.sub("-", socket.gethostname())[:64] or "unknown",
            "pid": os.getpid(),
        }

    async def run(self, stop: asyncio.Event) -> None:
        """Report until `stop`, and say then that it ends; while the database is away there is nobody to tell."""
        while not stop.is_set():
            await self._report(stopped=False)
            await wait_for_stop(stop, REPORT_SECONDS)
        await self._report(stopped=True)

    async def report(self, *, stopped: bool = False) -> None:
        """One report."""
        late = [LateJob(job=name, seconds=int(self._watch.overdue(name))) for name in self._watch.names()]
        told = sorted((one for one in late if one.seconds > self._late_after), key=lambda one: -one.seconds)[
            :_MOST_LATE
        ]
        async with self._db.worker() as tx:
            await tx.execute(
                QUERIES.report,
                jobs=len(late),
                late_jobs=msgspec.json.encode(told).decode(),
                stopped=stopped,
                **self._known,
            )

    async def _report(self, *, stopped: bool) -> None:
        try:
            await self.report(stopped=stopped)
        except DatabaseError:
            return


async def list_processes(tx: WorkerTx) -> list[ProcessRecord]:
    """Those that reported within a day, the newest first."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.list_processes)]


async def sweep_processes(tx: WorkerTx, *, limit: int) -> int:
    """Remove those that have said nothing for a week."""
    return await tx.execute(QUERIES.sweep_processes, limit=limit)


_from_row = RowMapper(
    ProcessRecord,
    [QUERIES.list_processes],
    read={"late_jobs": lambda text: tuple(msgspec.json.decode(text, type=list[LateJob]))},
)
