"""Jobs that lock a set of rows for as long as they work on it, in one transaction.

Two workers never have the same row, and what a killed worker had is free at once. It is the form for work without
calls to the outside: those take long, and belong to `claims.py`.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from tidings.kernel.clock import Clock
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup, run_on_wakeup
from tidings.kernel.errors import TidingsError
from tidings.kernel.ids import TenantId

T = TypeVar("T")
R = TypeVar("R")

#: Seconds of the shortest sleep: a row that is due and was passed over is locked by another worker.
_SHORTEST_SLEEP: Final = 0.05
#: Seconds after which no other tenant's part of a set is begun: the server ends a transaction that idles too long.
SET_TIMEOUT: Final = 20.0
#: Seconds that one tenant's part may take; the rows of the others stay locked meanwhile.
TENANT_TIMEOUT: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedSetSettings:
    """How such a job paces itself."""

    #: Rows of one set.
    limit: int = 500
    #: Tenants whose parts of a set are worked on side by side.
    tenants_at_once: int = 4
    #: Seconds of the longest sleep where notifications come through.
    longest_sleep: float = 5.0
    #: Seconds of the longest pause while the database, or the key service, does not answer.
    longest_outage_pause: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTurn:
    """What one set came to."""

    done: int = 0
    #: To be looked at again.
    again: int = 0
    dead: int = 0
    #: Seconds that the job may sleep.
    sleep: float = 0.0


class LockedSetJob(ABC):
    """Sleeps until it is woken or a row is due; any number of processes may run one."""

    def __init__(
        self,
        *,
        wakeup: Wakeup,
        clock: Clock,
        settings: LockedSetSettings,
        poll_seconds: Callable[[], float] | None = None,
    ) -> None:
        """`poll_seconds` says how long the job may sleep while notifications may be missed."""
        self._wakeup = wakeup
        self._clock = clock
        self._poll_seconds = poll_seconds or (lambda: settings.longest_sleep)
        self._longest_sleep = settings.longest_sleep
        self._backoff = Backoff(longest=settings.longest_outage_pause)

    @abstractmethod
    async def turn(self) -> SetTurn:
        """Lock one set, work on it and mark its rows; `sleep_until` the next is due where there is none."""

    @abstractmethod
    def failed(self, error: TidingsError, seconds: float) -> None:
        """Report a turn that failed, and in how many seconds it is tried again."""

    async def run(self, stop: asyncio.Event) -> None:
        """Take turns until `stop`."""
        await run_on_wakeup(
            self._wakeup, stop, turn=self._sleep_of_turn, failed=self.failed, backoff=self._backoff
        )

    async def drain(self) -> int:
        """Do all that can be done now; how many rows that were."""
        done = 0
        while True:
            turn = await self.turn()
            done += turn.done
            if turn.sleep > 0:
                return done

    def sleep_until(self, next_at: datetime | None) -> SetTurn:
        """A turn without a row, and the sleep until the next one is due."""
        longest = min(self._longest_sleep, self._poll_seconds())
        if next_at is None:
            return SetTurn(sleep=longest)
        seconds = (next_at - self._clock.now()).total_seconds()
        return SetTurn(sleep=min(max(seconds, _SHORTEST_SLEEP), longest))

    async def _sleep_of_turn(self) -> float:
        return (await self.turn()).sleep


async def for_each_tenant(
    by_tenant: Mapping[TenantId, Sequence[T]],
    work: Callable[[TenantId, Sequence[T]], Awaitable[R]],
    slots: asyncio.Semaphore,
) -> tuple[list[R], list[T]]:
    """Work on each tenant's part of a set, and wait for all of them: the rows are locked for as long as one runs.

    The results, and the items of tenants that were not begun within `SET_TIMEOUT`.
    """
    until = asyncio.get_running_loop().time() + SET_TIMEOUT
    left: list[T] = []

    async def one(tenant_id: TenantId, items: Sequence[T]) -> list[R]:
        async with slots:
            if asyncio.get_running_loop().time() > until:
                left.extend(items)
                return []
            return [await work(tenant_id, items)]

    parts = await asyncio.gather(
        *(one(tenant_id, items) for tenant_id, items in by_tenant.items()), return_exceptions=True
    )
    results: list[R] = []
    for part in parts:
        if isinstance(part, BaseException):
            raise part
        results += part
    return results, left
