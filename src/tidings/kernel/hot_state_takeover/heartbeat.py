"""The background tasks of a process: heartbeats, health checks of Redis, flushing the ledger, filling Redis."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.hot_state import Leases
from tidings.kernel.hot_state_takeover.epoch import Epoch
from tidings.kernel.hot_state_takeover.fill import Filler
from tidings.kernel.hot_state_takeover.leader_agreement import AgreementSettings, LeaderAgreement
from tidings.kernel.hot_state_takeover.ledger import TakeLedger
from tidings.kernel.logs import get_logger
from tidings.kernel.redis_hot_state.limits import RedisLimits
from tidings.kernel.redis_hot_state.server import RedisServer

_log = get_logger("hot_state")
_LEASE = "hot_state:filling"
_LAST_MOMENT = 2.0


@dataclass(slots=True, eq=False, repr=False)
class Heartbeat:
    """Runs from the first use to the end; two tasks, one for the heartbeat and one for the ledger."""

    agreement: LeaderAgreement
    _: KW_ONLY
    ledger: TakeLedger
    filler: Filler
    server: RedisServer
    leases: Leases
    clock: Clock
    settings: AgreementSettings
    wake: Wakeup
    _me: str = field(default_factory=lambda: secrets.token_hex(8), init=False)
    _stop: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    def start(self) -> None:
        """Begin, unless it runs."""
        if not self._tasks:
            self._stop.clear()
            # Apart: however long a flush takes, the heartbeats go on.
            self._tasks = {
                asyncio.create_task(
                    self._again_and_again(self._read_leader, self.wake), name="hot state heartbeat"
                ),
                asyncio.create_task(self._again_and_again(self._note, Wakeup()), name="hot state ledger"),
            }

    async def end(self) -> None:
        """Stop; what is under way gets a moment, also while the database hangs."""
        self._stop.set()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_LAST_MOMENT)
            for task in late:
                task.cancel()
            await asyncio.wait(self._tasks)
            self._tasks = set()

    async def _again_and_again(self, round_: Callable[[], Awaitable[None]], wake: Wakeup) -> None:
        while not self._stop.is_set():
            wake.clear()
            try:
                await round_()
            except TidingsError as error:
                # The database is away, and with it everything else; nothing is lost, and the next round tries again.
                _log.warning("hot_state_round_failed", error=type(error).__name__)
            except Exception as error:  # noqa: BLE001  # without it the process would count alone
                _log.exception("hot_state_round_failed", error=type(error).__name__)
            await wake.wait(self._stop, self.settings.heartbeat)

    async def _note(self) -> None:
        await self.ledger.flush()

    async def _read_leader(self) -> None:
        await self.agreement.renew()
        await self.agreement.check_redis()
        epoch = await self.agreement.current()
        if epoch.is_redis and epoch.filling:
            await self._fill(epoch)

    async def _fill(self, epoch: Epoch) -> None:
        # One is enough; should it die, another begins anew.
        lease = await self.leases.acquire(None, _LEASE, self._me, timedelta(seconds=10))
        if lease is None:
            return
        redis = RedisLimits(self.server, self.clock, epoch=epoch.fence)
        filling = asyncio.create_task(self.filler.fill(redis))
        try:
            while not (await asyncio.wait({filling}, timeout=self.settings.heartbeat))[0]:
                await self.agreement.renew()
                await self.leases.renew(lease, timedelta(seconds=10))
                if epoch.closed or self._stop.is_set():
                    return
            count = await filling
            await self.agreement.filled(epoch)
            _log.info("hot_state_filled", states=count, number=epoch.fence)
            if await self.server.evicts():
                _log.warning("hot_state_may_forget", remedy="set maxmemory-policy of Redis to noeviction")
        finally:
            if not filling.done():
                filling.cancel()
            await asyncio.wait({filling})
            await self.leases.release(lease)
