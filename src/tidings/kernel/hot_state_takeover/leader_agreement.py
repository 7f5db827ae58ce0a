"""Leader agreement: all processes agree on one leader for limits, Redis or Postgres, and no two ever count at once.

The agreement is one row in Postgres: the leader and a fence, the number of its epoch. A process takes part in an epoch
only while its heartbeat for that epoch is in Postgres too. To change the leader, a process writes the other name and a
new fence. Each process that reads it stops, drains the calls under way, flushes its ledger to Postgres, and writes a
heartbeat for the new epoch. Only when no living process is left in an old epoch does any of them count again. A process
without a heartbeat is not waited for, and one that could not renew its heartbeat in time reads the leader before it
counts. So a change takes as long as the slowest living process needs to read, and a dead one costs `timeout` once.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from tidings.kernel.db import Database
from tidings.kernel.hot_state_takeover.epoch import POSTGRES, Epoch, redis_holder
from tidings.kernel.logs import get_logger
from tidings.kernel.redis_hot_state.errors import RedisLostError
from tidings.kernel.redis_hot_state.server import ANOTHER_SERVER, RedisServer
from tidings.kernel.single_flight import SingleFlight
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_log = get_logger("hot_state")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementSettings:
    """How fast changes are noticed, and how long a Redis that comes back is on trial."""

    #: Seconds between two heartbeats.
    heartbeat: float = 0.5
    #: Seconds without a heartbeat after which a process is not waited for.
    timeout: float = 2.0
    #: Seconds that Redis has to answer without a fault before it counts again; doubled when it falls again soon.
    steady: float = 5.0
    #: Seconds of the longest such wait.
    longest_steady: float = 300.0
    #: Seconds after which a Redis that fell again has not fallen soon.
    holds_well: float = 600.0


class LeaderObserver(Protocol):
    """Hears of changes of leader."""

    def changed(self, leader: str, reason: str) -> None:
        """`redis` or `postgres` counts from now on."""
        ...


class LeaderAgreement:
    """This process' part in the agreement."""

    def __init__(
        self,
        db: Database,
        server: RedisServer,
        *,
        flush: Callable[[], Awaitable[None]],
        settings: AgreementSettings,
        observer: LeaderObserver | None,
    ) -> None:
        self._db = db
        self._server = server
        self._flush = flush
        self._settings = settings
        self._observer = observer
        self._member = secrets.token_hex(8)
        self._timeout = timedelta(seconds=settings.timeout)
        self._flight = SingleFlight()
        self._epoch: Epoch | None = None
        self._open = False
        self._valid_until = 0.0
        self._lost: Epoch | None = None
        self._steady = settings.steady
        self._reachable_since: float | None = None
        self._reported_unreachable = False
        self._returned_at: float | None = None
        #: Why Postgres counts, in a word; None while Redis does.
        self.why_postgres: str | None = None

    @property
    def epoch(self) -> Epoch | None:
        """The epoch that this process takes part in, if it has read the leader."""
        return self._epoch

    async def current(self) -> Epoch:
        """The epoch to count in now; during a change of leader, wait until it is done."""
        epoch = self._epoch
        if epoch is not None and self._open and not epoch.closed and time.monotonic() < self._valid_until:
            return epoch
        return await self._flight.do("agree", self._agree)

    async def report_failure(self, epoch: Epoch, error: RedisLostError) -> None:
        """A call to Redis failed. A Redis that was only slow is asked once more; otherwise Postgres leads from now on."""
        if epoch.closed:
            return
        if error.slow:
            try:
                run_id = await self._flight.do("proof", self._server.prove)
            except RedisLostError as again:
                error = again
            else:
                if run_id == epoch.run_id:
                    return
                error = RedisLostError(ANOTHER_SERVER)
        if not epoch.closed:
            epoch.closed = True
            self._lost = epoch
            self.why_postgres = error.reason
            self._server.give_up()

    async def renew(self) -> None:
        """Write a heartbeat and read the leader; to be done every `heartbeat` seconds."""
        await self._flight.do("agree", self._agree)

    async def check_redis(self) -> None:
        """Health check: while Redis leads, notice that it fails; while Postgres leads, notice that Redis is back."""
        epoch = await self.current()
        try:
            run_id = await self._server.prove()
        except RedisLostError as error:
            await self._unreachable(epoch, error)
            return
        if epoch.is_redis:
            if run_id != epoch.run_id:
                await self.report_failure(epoch, RedisLostError(ANOTHER_SERVER))
            return
        await self._reachable(epoch, run_id)

    async def filled(self, epoch: Epoch) -> None:
        """Mark the epoch as filled: Redis has every state that Postgres had."""
        async with self._db.platform() as tx:
            await tx.execute(
                _QUERIES.mark_filled, holder=redis_holder(epoch.run_id, filling=False), fence=epoch.fence
            )

    async def leave(self) -> None:
        """Leave the agreement; the ledger is flushed first."""
        epoch = self._epoch
        if epoch is None:
            return
        epoch.closed = True
        try:
            await self._end(epoch)
        finally:
            # The next call begins anew.
            self._epoch, self._open = None, False
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.leave_other_epochs, fence=0, member=self._member)
            await tx.execute(_QUERIES.report_reachable, member=self._member)

    async def _agree(self) -> Epoch:
        while True:
            started = time.monotonic()
            if self._lost is not None:
                await self._propose(POSTGRES, self._lost.fence)
                self._lost = None
            epoch = self._epoch
            if epoch is not None and not epoch.closed:
                await self._write_heartbeat(epoch)
            seen = await self._read_leader()
            if seen is None:
                await self._begin()
            elif epoch is None or seen["fence"] != epoch.fence:
                await self._change_to(Epoch(seen["holder"], seen["fence"]))
            elif self._open or not seen["awaited"]:
                self._open = True
                epoch.filling = epoch.filling and Epoch(seen["holder"], seen["fence"]).filling
                self._valid_until = started + 0.75 * self._settings.timeout
                if not epoch.closed:
                    return epoch
            else:
                await asyncio.sleep(0.02)

    async def _change_to(self, epoch: Epoch) -> None:
        before = self._epoch
        if before is not None:
            before.closed = True
            if before.is_redis:
                self._server.give_up()
            await self._alive_while(before, self._end(before))
        if epoch.is_redis:
            await self._server.expect(epoch.run_id)
        self._open = False
        self._epoch = epoch
        await self._write_heartbeat(epoch)
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.leave_other_epochs, fence=epoch.fence, member=self._member)
        self._announce(before, epoch)

    async def _end(self, epoch: Epoch) -> None:
        await epoch.drained()
        await self._flush()

    async def _alive_while(self, epoch: Epoch, work: Awaitable[None]) -> None:
        # Processes in the new epoch must wait for this one, however long it takes.
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=self._settings.heartbeat))[0]:
                await self._write_heartbeat(epoch)
        finally:
            if not task.done():
                task.cancel()
        await task

    def _announce(self, before: Epoch | None, epoch: Epoch) -> None:
        now = time.monotonic()
        if epoch.is_redis:
            self.why_postgres = None
            self._returned_at = now if before is not None else None
            reason = "answers" if before is not None else "start"
        else:
            self._reachable_since = None
            if before is not None and before.is_redis:
                soon = self._returned_at is not None and now - self._returned_at < self._settings.holds_well
                longest = self._settings.longest_steady
                self._steady = min(self._steady * 2, longest) if soon else self._settings.steady
            reason = self.why_postgres = self.why_postgres or "another process can't use Redis"
        log = _log.warning if not epoch.is_redis else _log.info
        log("hot_state_changed_hands", hand=epoch.leader, number=epoch.fence, reason=reason)
        if self._observer is not None:
            self._observer.changed(epoch.leader, reason)

    async def _reachable(self, epoch: Epoch, run_id: str) -> None:
        now = time.monotonic()
        if self._reachable_since is None:
            self._reachable_since = now
        if self._reported_unreachable:
            async with self._db.platform() as tx:
                await tx.execute(_QUERIES.report_reachable, member=self._member)
            self._reported_unreachable = False
        if now - self._reachable_since >= self._steady:
            await self._propose(redis_holder(run_id, filling=True), epoch.fence)

    async def _unreachable(self, epoch: Epoch, error: RedisLostError) -> None:
        self._reachable_since = None
        if epoch.is_redis:
            await self.report_failure(epoch, error)
            return
        self.why_postgres = error.reason
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.report_unreachable, member=self._member)
        self._reported_unreachable = True

    async def _begin(self) -> None:
        try:
            holder = redis_holder(await self._server.prove(), filling=True)
        except RedisLostError as error:
            holder, self.why_postgres = POSTGRES, error.reason
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.insert_first_leader, holder=holder)

    # Heartbeat and reading are transactions of their own, in this order: either this process sees the new epoch, or the
    # process that wrote it sees the heartbeat.

    async def _write_heartbeat(self, epoch: Epoch) -> None:
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.write_heartbeat, fence=epoch.fence, member=self._member)

    async def _read_leader(self) -> Any:
        async with self._db.platform() as tx:
            return await tx.fetch_one(_QUERIES.read_leader, timeout=self._timeout)

    async def _propose(self, holder: str, fence: int) -> None:
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.propose_leader, holder=holder, fence=fence, timeout=self._timeout)
