"""Ports that go to whoever counts, and on to the other when Redis fails."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Cache, Presence, Take, Taken
from tidings.kernel.hot_state_takeover.hand import Hand
from tidings.kernel.hot_state_takeover.hands import Hands
from tidings.kernel.hot_state_takeover.ledger import Ledger
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import State, to_micros
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.redis_hot_state import RedisHotState, RedisServer
from tidings.kernel.redis_hot_state.errors import RedisLostError
from tidings.kernel.redis_hot_state.limits import MissingStatesError

T = TypeVar("T")


class Follower:
    """Finds who counts, for all the ports."""

    def __init__(
        self,
        hands: Hands,
        server: RedisServer,
        local: LocalHotState,
        clock: Clock,
        wake_up: Callable[[], None],
    ) -> None:
        self._hands = hands
        self._server = server
        self._clock = clock
        self._wake_up = wake_up
        self.local = local
        self._redis: tuple[int, RedisHotState] | None = None

    async def do(
        self,
        in_redis: Callable[[RedisHotState, Hand], Awaitable[T]],
        in_postgres: Callable[[LocalHotState], Awaitable[T]],
    ) -> T:
        """One or the other; whoever was failed by Redis asks again, and is sent to Postgres then."""
        self._wake_up()
        failed = 0
        while True:
            hand = await self._hands.ready()
            if hand.closed:
                continue
            with hand.in_use():
                if not hand.is_redis:
                    return await in_postgres(self.local)
                try:
                    return await in_redis(self._of(hand), hand)
                except RedisLostError as error:
                    lost = error
            failed += 1
            # Slow a second time: whatever it is, this call has waited long enough.
            await self._hands.doubt(hand, lost if failed == 1 else RedisLostError(lost.reason))

    def _of(self, hand: Hand) -> RedisHotState:
        if self._redis is None or self._redis[0] != hand.fence:
            self._redis = (hand.fence, RedisHotState(self._server, self._clock, epoch=hand.fence))
        return self._redis[1]


class FollowingLimits:
    """Counts exactly, wherever that is; each take in Redis is noted for Postgres."""

    def __init__(self, follower: Follower, ledger: Ledger, clock: Clock) -> None:
        self._follower = follower
        self._ledger = ledger
        self._clock = clock

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole."""

        async def in_redis(redis: RedisHotState, hand: Hand) -> list[Taken]:
            now = self._clock.now()
            elsewhere: dict[str, State] | None = {} if hand.filling else None
            while True:
                try:
                    answer = await redis.limits.take_at(now, tenant_id, groups, elsewhere=elsewhere)
                except MissingStatesError as missing:
                    known = await self._follower.local.limits.read(tenant_id, missing.keys)
                    elsewhere = (elsewhere or {}) | {
                        key: known[key][0] if key in known else State() for key in missing.keys
                    }
                    continue
                self._ledger.note(tenant_id, groups, answer, to_micros(now))
                return answer.taken

        return await self._follower.do(in_redis, lambda local: local.limits.take(tenant_id, groups))


class FollowingPresence:
    """Knows who is here; after a change it learns it anew, as members repeat themselves."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    async def touch(
        self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]], ttl: timedelta
    ) -> None:
        """Each (key, member) is here for that long from now."""
        here = list(members)
        await self._do(lambda presence: presence.touch(tenant_id, here, ttl))

    async def leave(self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]]) -> None:
        """Each (key, member) is gone."""
        gone = list(members)
        await self._do(lambda presence: presence.leave(tenant_id, gone))

    async def present(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, set[str]]:
        """Who is here, for every key asked."""
        wanted = list(keys)
        return await self._do(lambda presence: presence.present(tenant_id, wanted))

    async def _do(self, ask: Callable[[Presence], Awaitable[T]]) -> T:
        return await self._follower.do(
            lambda redis, _: ask(redis.presence), lambda local: ask(local.presence)
        )


class FollowingCache:
    """Remembers bytes for a while; without Redis, in this process."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    async def get(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, bytes]:
        """Those that are known."""
        wanted = list(keys)
        return await self._do(lambda cache: cache.get(tenant_id, wanted))

    async def set(self, tenant_id: TenantId | None, values: Mapping[str, bytes], ttl: timedelta) -> None:
        """Remember them for at most that long."""
        await self._do(lambda cache: cache.set(tenant_id, values, ttl))

    async def delete(self, tenant_id: TenantId | None, keys: Iterable[str]) -> None:
        """Forget them."""
        gone = list(keys)
        await self._do(lambda cache: cache.delete(tenant_id, gone))

    async def _do(self, ask: Callable[[Cache], Awaitable[T]]) -> T:
        return await self._follower.do(lambda redis, _: ask(redis.cache), lambda local: ask(local.cache))
