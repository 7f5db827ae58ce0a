"""The pace of the dispatcher: when it claims, how much, and how ordinary batches give way to urgent ones.

A slot is kept for what is critical or high, so that it never waits for a batch of ordinary ones to end. What is being
sent is bounded, for each tenant and in all: a vendor that hangs keeps up the messages that it was given, and no more.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.ids import TenantId
from tidings.notify.dispatch.claim import LOWEST, ClaimedBatches
from tidings.notify.dispatch.store import OwnedId

#: Critical and high.
_EXPRESS: Final = 1
#: Seconds until the next look while something is under way that will wake the dispatcher, as a rule.
MOMENT: Final = 0.05
#: Seconds that an ordinary batch waits for urgent ones at most, between two of its stages.
_COURTESY: Final = 0.1
_LONG_AGO: Final = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchSettings:
    """How much is done at once."""

    #: Notifications of one claim.
    most: int = 100
    #: Batches at once; one more is kept for what is critical or high.
    turns: int = 3
    #: Notifications of one ordinary claim, and batches at once, while something critical or high was about in the last
    #: `wary` seconds: the next of that kind should find no long batch under way, and processors that are idle
    #: now and then. After each such batch there is a pause as long as the batch took, times `idle_beside_urgent`.
    most_beside_urgent: int = 10
    turns_beside_urgent: int = 1
    idle_beside_urgent: float = 3.0
    wary: float = 1.0
    #: Seconds between the beginnings of two ordinary claims at least, for each notification of the first, and at most; none after
    #: one that was full or of a single one. Under load batches grow, after a rest there is no wait. What is critical or high never waits for it.
    #: Both are multiplied by the number of workers: each of them gets its part of what comes, and would be content with smaller batches.
    gather_each: float = 0.003
    gather: float = 0.07
    #: Notifications that may be on their way to vendors, in all and for each tenant; each is held in memory. While half of the
    #: room or more is taken, a tenant that has `fair_share` gets no more: the vendors of a few tenants may hang, the others go on.
    most_on_the_way: int = 800
    most_of_a_tenant: int = 250
    fair_share: int = 40


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """What the next claim asks for."""

    at: float
    most: int
    #: Only what is critical or high.
    express: bool
    #: Tenants of which nothing more is claimed now.
    full: Sequence[TenantId]

    @property
    def to_rank(self) -> int:
        """The lowest priority that is claimed."""
        return _EXPRESS if self.express else LOWEST

    @property
    def passes_over(self) -> bool:
        """Whether it leaves some of what is in the queue, however little there is."""
        return self.express or bool(self.full)


@dataclass(frozen=True, slots=True, eq=False)
class DispatchBatch:
    """What is dispatched together: all of a claim, but for tenants that others should not wait for."""

    by_tenant: Mapping[TenantId, Sequence[NotificationId]]
    #: Claimed into the slot that is kept for what is critical or high.
    express: bool
    #: Critical or high.
    urgent: bool
    began: float
    #: How many of each tenant have no answer yet.
    on_the_way: dict[TenantId, int]

    @property
    def owned(self) -> list[OwnedId]:
        """Its notifications, each with its tenant."""
        return [(tenant_id, id_) for tenant_id, ids in self.by_tenant.items() for id_ in ids]


class DispatchPace:
    """Counts what is under way, and says what may be claimed next."""

    def __init__(
        self,
        settings: DispatchSettings,
        *,
        held_up: Callable[[], Collection[str]] = frozenset,
        apart: Callable[[TenantId], bool] = lambda _: False,
        workers: Callable[[], int] = lambda: 1,
    ) -> None:
        """`held_up`: the tenants whose messages take long to render just now, or wait for a lock; no other tenant waits for them.

        `apart`: whether a tenant has batches of its own, because its messages took long lately or wait for a lock.
        `workers`: how many share the queue.
        """
        self._apart = apart
        self._workers = workers
        self._settings = settings
        self._held_up = held_up
        #: Batches that are being dispatched.
        self._busy: set[DispatchBatch] = set()
        self._express_busy: set[DispatchBatch] = set()
        #: Notifications until their batch is sent, by tenant.
        self._on_the_way: Counter[TenantId] = Counter()
        #: Urgent batches until they are sent, and the event that is set when there is none any more.
        self._urgent = 0
        self._urgent_at = _LONG_AGO
        self._calm = asyncio.Event()
        #: Until when ordinary batches pause while something urgent is about.
        self._idle_until = _LONG_AGO
        #: When the next ordinary claim may begin.
        self._next_at = _LONG_AGO

    @property
    def busy(self) -> bool:
        """Whether a batch is being dispatched."""
        return bool(self._busy or self._express_busy)

    def hurry(self) -> None:
        """Wait for nothing: neither for more to come together nor beside what is urgent."""
        self._next_at = self._idle_until = _LONG_AGO

    def pause_before(self, now: float, *, express_called: bool, when_full: float) -> float:
        """How long to wait before the next claim; 0 for none, `when_full` while no more may be on its way."""
        settings = self._settings
        if self._on_the_way.total() >= settings.most_on_the_way:
            return when_full
        if self._may_claim_all(now) or (express_called and not self._in_the_way(self._express_busy)):
            return 0.0
        # A batch that ends wakes the dispatcher, and so does whatever is critical or high.
        early = max(self._next_at, self._idle_until) - now
        return min(early, MOMENT) if early > 0 else MOMENT

    def plan(self, now: float) -> ClaimPlan:
        """What to claim now."""
        settings, held_up = self._settings, self._held_up()
        scarce = self._on_the_way.total() >= settings.most_on_the_way / 2
        most = settings.fair_share if scarce else settings.most_of_a_tenant
        return ClaimPlan(
            at=now,
            most=settings.most_beside_urgent if self._wary(now) else settings.most,
            express=not self._may_claim_all(now),
            # Of those that are held up one batch is enough until it is through.
            full=[t for t, n in self._on_the_way.items() if n >= most or t in held_up],
        )

    def claimed(self, plan: ClaimPlan, claimed: ClaimedBatches) -> list[DispatchBatch]:
        """The batches of a claim, which are on their way from now on."""
        if not plan.express:
            # One by itself is no load.
            some = 1 < len(claimed) < plan.most
            pause = min(len(claimed) * self._settings.gather_each, self._settings.gather) * self._workers()
            self._next_at = plan.at + pause if some else _LONG_AGO
        urgent = bool(claimed) and claimed.rank <= _EXPRESS
        if urgent:
            self._urgent_at = plan.at
        for tenant_id, ids in claimed.by_tenant.items():
            self._on_the_way[tenant_id] += len(ids)
        began = time.monotonic()
        alone = {t for t in claimed.by_tenant if self._apart(t)}
        together = {t: ids for t, ids in claimed.by_tenant.items() if t not in alone}
        apart = [{t: ids} for t, ids in claimed.by_tenant.items() if t in alone]
        batches = [
            DispatchBatch(some, plan.express, urgent, began, {t: len(ids) for t, ids in some.items()})
            for some in (together, *apart)
            if some
        ]
        self._slots(express=plan.express).update(batches)
        self._urgent += len(batches) if urgent else 0
        return batches

    def dispatched(self, batch: DispatchBatch) -> None:
        """The batch is handed over, or has failed: its slot is free."""
        self._slots(express=batch.express).discard(batch)
        if not batch.urgent:
            ended = time.monotonic()
            self._idle_until = ended + (ended - batch.began) * self._settings.idle_beside_urgent

    def answered(self, batch: DispatchBatch, tenant_id: TenantId, count: int) -> None:
        """Vendors have answered for so many of a tenant, while others of the batch still wait."""
        left = batch.on_the_way
        count = min(count, left.get(tenant_id, 0))
        if count:
            left[tenant_id] -= count
            _take_off(self._on_the_way, tenant_id, count)

    def sent(self, batch: DispatchBatch) -> None:
        """The vendors have answered for all of the batch."""
        self._urgent -= batch.urgent
        if not self._urgent:
            self._calm.set()
            self._calm = asyncio.Event()
        for tenant_id in batch.by_tenant:
            self.answered(batch, tenant_id, batch.on_the_way[tenant_id])

    async def give_way(self) -> None:
        """Let what is critical or high by; not for long, because a vendor of theirs may hang."""
        if self._urgent:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_COURTESY):
                    await self._calm.wait()

    def _slots(self, *, express: bool) -> set[DispatchBatch]:
        return self._express_busy if express else self._busy

    def _in_the_way(self, slots: Collection[DispatchBatch]) -> int:
        """Batches that others wait for; not those that wait in the slow lane of rendering, or for a lock."""
        held_up = self._held_up()
        return sum(any(tenant not in held_up for tenant in batch.by_tenant) for batch in slots)

    def _may_claim_all(self, now: float) -> bool:
        settings, busy = self._settings, self._in_the_way(self._busy)
        if self._wary(now):
            return busy < settings.turns_beside_urgent and now >= self._idle_until
        return busy < settings.turns and now >= self._next_at

    def _wary(self, now: float) -> bool:
        return now < self._urgent_at + self._settings.wary


def _take_off(counts: Counter[TenantId], tenant_id: TenantId, count: int) -> None:
    counts[tenant_id] -= count
    if not counts[tenant_id]:
        del counts[tenant_id]
