"""Presence of workers (heartbeat and advisory lock), and the rescue of what dead workers had claimed.

A worker beats every second and holds an advisory lock for as long as it is connected. Claims name their worker and have
no time limit: a slow vendor or a paused machine costs no worker its claims. A process that was killed loses its
connection at once, and what it had claimed is free a few seconds later. Only a worker that is silent *and* has lost its
lock is dead, and none is while the server itself has only just started.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NewType

import asyncpg

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Tx, WorkerTx, translated
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import DatabaseBusyError, DatabaseError
from tidings.kernel.ids import IdKind
from tidings.kernel.logs import get_logger, why
from tidings.kernel.sql import Queries

WorkerId = NewType("WorkerId", str)
WORKER: Final = IdKind("wrk", WorkerId)

QUERIES = Queries.beside(__file__)
_log = get_logger("workers")


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenceSettings:
    """How fast a death is noticed."""

    #: Seconds between two signs of life.
    beat: float = 1.0
    #: How long a worker may be silent before the others look whether it is dead.
    silence: timedelta = timedelta(seconds=3)
    #: Seconds between two searches for claims whose worker is not known any more.
    orphans_every: float = 15.0
    #: Seconds after a connection was made in which every sign of life is such a search: the end of the last one may have
    #: left claims behind that no worker knows of.
    searches_for: float = 6.0
    #: Seconds without a database after which a worker comes back under another name: by then its own tasks have given
    #: up, and what they had claimed has to be free for all.
    forgets_after: float = 900.0


#: Frees what workers had claimed that are not among the living; how much that was.
FreeOrphans = Callable[[WorkerTx], Awaitable[int]]


class Presence:
    """This process among the workers: its name, its signs of life, and the search for the dead."""

    def __init__(
        self,
        url: str,
        db: Database,
        *,
        clock: Clock,
        settings: PresenceSettings | None = None,
    ) -> None:
        self._url = url
        self._db = db
        self._clock = clock
        self._free_orphans: Sequence[FreeOrphans] = ()
        self._on_rescue: Callable[[int], None] = lambda _: None
        self._settings = settings or PresenceSettings()
        #: What claims are marked with. A worker that was taken for dead gets another one.
        self.id: WorkerId = WORKER.new(clock.now())
        self._announced = False
        self._last_beat = 0.0
        #: How many workers there are, this one among them, as of its last sign of life.
        self.workers = 1
        #: Set while the others know that we are here; no worker claims before.
        self.known = asyncio.Event()

    def rescue(self, free_orphans: Sequence[FreeOrphans], on_rescue: Callable[[int], None]) -> None:
        """Before it runs: what frees claims of dead workers. Those parts are made later, and need the name of this one."""
        self._free_orphans, self._on_rescue = free_orphans, on_rescue

    async def run(self, stop: asyncio.Event) -> None:
        """Be there until `stop`."""
        backoff = Backoff(longest=2.0)
        while not stop.is_set():
            try:
                await self._live(stop, backoff)
            except Exception as error:  # noqa: BLE001  # without it all claims of this process stand still
                self.known.clear()
                pause = backoff.after_failure()
                _log.warning("presence_lost", retry_seconds=pause, **why(error))
                await wait_for_stop(stop, pause)

    async def _live(self, stop: asyncio.Event, backoff: Backoff) -> None:
        with translated():
            connection = await asyncpg.connect(
                self._url,
                timeout=5,
                command_timeout=10,
                server_settings={
                    "application_name": "tidings worker",
                    "default_transaction_read_only": "off",
                    # A machine that vanishes without a word is noticed within seconds too.
                    "tcp_keepalives_idle": "5",
                    "tcp_keepalives_interval": "2",
                    "tcp_keepalives_count": "3",
                },
            )
        session = Tx.on(connection)
        try:
            with translated():
                await connection.execute("SET ROLE tidings_worker; SET synchronous_commit = off")
            await self._announce(session)
            backoff.after_success()
            looked = 0.0
            searches_until = self._clock.monotonic() + self._settings.searches_for
            while not stop.is_set():
                await self._beat(session)
                dead = await self._bury()
                now = self._clock.monotonic()
                if dead or now < searches_until or now - looked >= self._settings.orphans_every:
                    looked = now
                    await self._free()
                await wait_for_stop(stop, self._settings.beat)
            await session.execute(QUERIES.leave, id=self.id)
            await self._free()
        finally:
            self.known.clear()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(connection.close(), 1)

    async def _announce(self, tx: Tx) -> None:
        key = secrets.randbits(62)
        await tx.fetch_value(QUERIES.hold, lock_key=key)
        if self._announced and self._clock.monotonic() - self._last_beat > self._settings.forgets_after:
            await tx.execute(QUERIES.leave, id=self.id)
        if not self._announced or not await tx.execute(QUERIES.come_back, id=self.id, lock_key=key):
            if self._announced:
                # Another worker took us for dead meanwhile, and what we had is another's.
                self.id = WORKER.new(self._clock.now())
            await tx.execute(QUERIES.announce, id=self.id, lock_key=key)
            self._announced = True
        self.known.set()

    async def _beat(self, tx: Tx) -> None:
        workers = await tx.fetch_value(QUERIES.beat, id=self.id)
        if workers is None:
            raise DatabaseError("this worker was taken for dead")
        self.workers = max(workers, 1)
        self._last_beat = self._clock.monotonic()

    async def _bury(self) -> int:
        async with self._db.worker() as tx:
            dead = await tx.fetch(QUERIES.bury_dead, silence=self._settings.silence)
        for row in dead:
            _log.warning("worker_died", worker=row["id"])
        return len(dead)

    async def _free(self) -> None:
        for free in self._free_orphans:
            try:
                async with self._db.worker() as tx:
                    count = await free(tx)
            except DatabaseBusyError as error:
                # A row is locked: the next search finds it, and the signs of life go on.
                _log.warning("claims_not_freed", **why(error))
                continue
            if count:
                _log.warning("claims_freed", count=count)
                self._on_rescue(count)
