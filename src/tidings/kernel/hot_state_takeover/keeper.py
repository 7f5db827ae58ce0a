"""What a process does beside its calls: signs of life, proofs of Redis, the ledger, the copy to Redis."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.hot_state import Leases
from tidings.kernel.hot_state_takeover.fill import Filler
from tidings.kernel.hot_state_takeover.hand import Hand
from tidings.kernel.hot_state_takeover.hands import Hands, HandSettings
from tidings.kernel.hot_state_takeover.ledger import Ledger
from tidings.kernel.logs import get_logger
from tidings.kernel.redis_hot_state import RedisHotState, RedisServer

_log = get_logger("hot_state")
_LEASE = "hot_state:filling"
_LAST_MOMENT = 2.0


class Keeper:
    """Runs from the first use to the end."""

    def __init__(
        self,
        hands: Hands,
        *,
        ledger: Ledger,
        filler: Filler,
        server: RedisServer,
        leases: Leases,
        clock: Clock,
        settings: HandSettings,
        wake: Wakeup,
    ) -> None:
        self._hands = hands
        self._ledger = ledger
        self._filler = filler
        self._server = server
        self._leases = leases
        self._clock = clock
        self._settings = settings
        self._wake = wake
        self._me = secrets.token_hex(8)
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin, unless it runs."""
        if not self._tasks:
            self._stop.clear()
            # Apart: however long the notes take, the signs of life go on.
            self._tasks = {
                asyncio.create_task(self._again_and_again(self._look, self._wake), name="hot state hands"),
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
            await wake.wait(self._stop, self._settings.beat)

    async def _note(self) -> None:
        await self._ledger.bring_home()

    async def _look(self) -> None:
        await self._hands.renew()
        await self._hands.prove_redis()
        hand = await self._hands.ready()
        if hand.is_redis and hand.filling:
            await self._fill(hand)

    async def _fill(self, hand: Hand) -> None:
        # One is enough; should it die, another begins anew.
        lease = await self._leases.acquire(None, _LEASE, self._me, timedelta(seconds=10))
        if lease is None:
            return
        redis = RedisHotState(self._server, self._clock, epoch=hand.fence)
        filling = asyncio.create_task(self._filler.fill(redis.limits))
        try:
            while not (await asyncio.wait({filling}, timeout=self._settings.beat))[0]:
                await self._hands.renew()
                await self._leases.renew(lease, timedelta(seconds=10))
                if hand.closed or self._stop.is_set():
                    return
            count = await filling
            await self._hands.filled(hand)
            _log.info("hot_state_filled", states=count, number=hand.fence)
            if await self._server.evicts():
                _log.warning("hot_state_may_forget", remedy="set maxmemory-policy of Redis to noeviction")
        finally:
            if not filling.done():
                filling.cancel()
            await asyncio.wait({filling})
            await self._leases.release(lease)
