"""The ledger of what this process took from limits in Redis, until it is flushed to Postgres.

Should Redis be lost, nothing is lost with it but what a process that dies at the same moment had not yet flushed.
"""

import asyncio
from collections.abc import Iterator, Sequence

from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Take
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import FixedWindow, Limit, LimitState, micros, to_micros
from tidings.kernel.local_hot_state.limits import PostgresLimits, stored_key
from tidings.kernel.redis_hot_state.limits import LimitsReply

_MOST_AT_ONCE = 1000
_Sums = dict[str, tuple[Limit, dict[int, int]]]


class TakeLedger:
    """Adds up takes in memory, and flushes the sums to Postgres."""

    def __init__(self, postgres: PostgresLimits, clock: Clock) -> None:
        self._postgres = postgres
        self._clock = clock
        self._busy = asyncio.Lock()
        self._sums: dict[TenantId | None, _Sums] = {}

    def note(
        self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]], answer: LimitsReply, now: int
    ) -> None:
        """What was granted, at that moment unless the answer names another."""
        sums = self._sums.setdefault(tenant_id, {})
        for number, (group, taken) in enumerate(zip(groups, answer.taken, strict=True)):
            if taken.granted:
                moments = answer.moments.get(number)
                for place, take in enumerate(group):
                    _, amounts = sums.setdefault(stored_key(take), (take.limit, {}))
                    moment = moments[place] if moments else _mark(take.limit, now)
                    amounts[moment] = amounts.get(moment, 0) + take.amount

    async def flush(self) -> None:
        """Note all that was taken before this in Postgres; what can't be noted now is kept for the next time."""
        # One flush at a time: a change of leader has to know that the one under way has arrived, too.
        async with self._busy:
            found, self._sums = self._sums, {}
            try:
                while found:
                    tenant_id, sums = next(iter(found.items()))
                    await self._flush_tenant(tenant_id, sums)
                    del found[tenant_id]
            finally:
                for tenant_id, sums in found.items():
                    self._put_back(tenant_id, sums)

    async def _flush_tenant(self, tenant_id: TenantId | None, sums: _Sums) -> None:
        now = to_micros(self._clock.now())
        for key in [
            key for key, (limit, taken) in sums.items() if limit.absorb(LimitState(), taken, now) is None
        ]:
            del sums[key]  # its window is over
        for keys in _parts(sorted(sums)):
            await self._postgres.absorb(tenant_id, {key: sums[key] for key in keys})
            for key in keys:
                del sums[key]

    def _put_back(self, tenant_id: TenantId | None, sums: _Sums) -> None:
        present = self._sums.setdefault(tenant_id, {})
        for key, (limit, amounts) in sums.items():
            _, newer = present.setdefault(key, (limit, {}))
            for moment, amount in amounts.items():
                newer[moment] = newer.get(moment, 0) + amount


def _mark(limit: Limit, now: int) -> int:
    return now - now % micros(limit.window) if isinstance(limit, FixedWindow) else now


def _parts(keys: list[str]) -> Iterator[list[str]]:
    for first in range(0, len(keys), _MOST_AT_ONCE):
        yield keys[first : first + _MOST_AT_ONCE]
