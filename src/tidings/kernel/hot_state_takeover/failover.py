"""Failover of limits: each call goes to the leader of the epoch, and on to Postgres when Redis fails."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Take, Taken, TenantTakes, take_side_by_side
from tidings.kernel.hot_state_takeover.epoch import Epoch
from tidings.kernel.hot_state_takeover.leader_agreement import LeaderAgreement
from tidings.kernel.hot_state_takeover.ledger import TakeLedger
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import LimitState, to_micros
from tidings.kernel.local_hot_state.limits import PostgresLimits
from tidings.kernel.redis_hot_state.errors import RedisLostError
from tidings.kernel.redis_hot_state.limits import MissingStatesError, RedisLimits
from tidings.kernel.redis_hot_state.server import RedisServer


@dataclass(slots=True, eq=False, repr=False)
class FailoverLimits:
    """Counts exactly, wherever that is; each take in Redis is noted in the ledger.

    `start` starts the background tasks, unless they run.
    """

    agreement: LeaderAgreement
    _: KW_ONLY
    server: RedisServer
    postgres: PostgresLimits
    ledger: TakeLedger
    clock: Clock
    start: Callable[[], None]
    _redis: tuple[int, RedisLimits] | None = field(default=None, init=False)

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole.

        A call that Redis failed asks for the leader again, and gets Postgres then.
        """
        self.start()
        failed = 0
        while True:
            epoch = await self.agreement.current()
            if epoch.closed:
                continue
            with epoch.in_use():
                if not epoch.is_redis:
                    return await self.postgres.take(tenant_id, groups)
                try:
                    return await self._take_in_redis(epoch, tenant_id, groups)
                except RedisLostError as error:
                    lost = error
            failed += 1
            # Slow a second time: whatever it is, this call has waited long enough.
            await self.agreement.report_failure(epoch, lost if failed == 1 else RedisLostError(lost.reason))

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        """The same for groups of several tenants."""
        self.start()
        epoch = await self.agreement.current()
        if epoch.closed or epoch.is_redis:
            return await take_side_by_side(self, wishes)
        with epoch.in_use():
            return await self.postgres.take_of(wishes)

    async def _take_in_redis(
        self, epoch: Epoch, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]
    ) -> list[Taken]:
        redis = self._limits_of(epoch)
        now = self.clock.now()
        elsewhere: dict[str, LimitState] | None = {} if epoch.filling else None
        while True:
            try:
                answer = await redis.take_at(now, tenant_id, groups, elsewhere=elsewhere)
            except MissingStatesError as missing:
                known = await self.postgres.read(tenant_id, missing.keys)
                elsewhere = (elsewhere or {}) | {
                    key: known[key][0] if key in known else LimitState() for key in missing.keys
                }
                continue
            self.ledger.note(tenant_id, groups, answer, to_micros(now))
            return answer.taken

    def _limits_of(self, epoch: Epoch) -> RedisLimits:
        if self._redis is None or self._redis[0] != epoch.fence:
            self._redis = (epoch.fence, RedisLimits(self.server, self.clock, epoch=epoch.fence))
        return self._redis[1]
