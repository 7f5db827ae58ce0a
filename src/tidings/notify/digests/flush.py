"""Flushes windows that are due: claim, render without a transaction, and write; a set of whatever tenants at once.

A claimed window takes no more items. In one transaction the digest is accepted, its items are superseded and the window is
closed: whoever dies before it leaves a window that another worker flushes, and whoever dies after it has sent one digest.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.claims import Claim, ClaimSettings, SetAnswered
from tidings.kernel.durable.halving import SetDone, halve, is_of_an_item
from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError, TidingsError
from tidings.kernel.logs import get_logger, where
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.events import moved_event
from tidings.notify.accept.group_commit import Wake
from tidings.notify.accept.order import AcceptedOrder, Outcome
from tidings.notify.digests import flush_store as store
from tidings.notify.digests.astray import find_astray
from tidings.notify.digests.drafts import DigestDrafter, DraftedWindow
from tidings.notify.digests.flush_store import ClosedWindow, FlushResult
from tidings.notify.digests.plan import FlushPlan, planned
from tidings.notify.ids import DigestWindowId
from tidings.notify.render.errors import RenderInterruptedError

#: What another process has opened, or an operator wants flushed, is found within the longest sleep.
FLUSH_SETTINGS: Final = ClaimSettings(limit=50, most_in_hand=100, most_of_a_tenant=None, longest_sleep=1.0)

_log = get_logger("digests")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DigestFlusher:
    """Flushes sets of windows."""

    db: Database
    drafter: DigestDrafter
    acceptor: Acceptor
    wake: Wake
    clock: Clock
    #: Which of the counts this process adds to.
    stripe: int = 0
    #: Hears how many windows ended how.
    flushed: Callable[[FlushResult, int], object] = lambda _, __: None

    async def flush(
        self, worker: str, claims: Sequence[Claim[DigestWindowId]], answered: SetAnswered
    ) -> None:
        """Flush what was claimed; a window that can't be flushed fails alone, and is tried again."""
        async for part in halve(claims, partial(self._flush_set, worker), blames_item=_is_apart):
            if not isinstance(part, SetDone):
                await self._failed(worker, part.items, part.error)
            answered(len(part.items))

    async def _flush_set(self, worker: str, claims: Sequence[Claim[DigestWindowId]]) -> None:
        drafts = await self.drafter.draft(worker, claims)
        if drafts:
            await self._write(worker, drafts)

    async def _write(self, worker: str, drafts: Sequence[DraftedWindow]) -> None:
        now = self.clock.now()
        async with self.db.tenants({d.window.tenant_id for d in drafts}, by_index=True) as tx:
            mine = await store.lock_windows(tx, [d.window for d in drafts], worker=worker)
            drafts = [draft for draft in drafts if draft.window.id in mine]
            if not drafts:
                return
            items = await store.lock_items(tx, [draft.window for draft in drafts])
            astray = await find_astray(tx, [(d.window, items[d.window.id]) for d in drafts])
            plans = [planned(draft, items[draft.window.id], astray, now) for draft in drafts]
            accepted = await self._accept(tx, plans)
            closed = await self._settle(tx, plans, accepted, now)
        for result, count in Counter(window.result for window in closed).items():
            self.flushed(result, count)
        self.wake(express=False)

    async def _accept(
        self, tx: TenantsTx, plans: Sequence[FlushPlan]
    ) -> dict[DigestWindowId, NotificationId]:
        """The digests that were made; where one is refused, its items go by themselves."""
        made: dict[DigestWindowId, NotificationId] = {}
        for is_test in (False, True):
            # A set is of one environment.
            ordered = [
                (plan.draft.window, plan.order)
                for plan in plans
                if plan.order is not None and plan.draft.window.is_test is is_test
            ]
            if not ordered:
                continue
            outcomes: Sequence[Outcome] = await self.acceptor.accept_within(
                tx, [order for _, order in ordered]
            )
            for (window, _), outcome in zip(ordered, outcomes, strict=True):
                if isinstance(outcome, AcceptedOrder):
                    made[window.id] = outcome.id
                else:
                    _log.warning("digest_refused", window_id=window.id, error=_code(outcome.error))
        return made

    async def _settle(
        self,
        tx: TenantsTx,
        plans: Sequence[FlushPlan],
        accepted: Mapping[DigestWindowId, NotificationId],
        now: datetime,
    ) -> list[ClosedWindow]:
        made = [(plan, accepted.get(plan.draft.window.id)) for plan in plans]
        settled = [one for plan, digest_id in made for one in plan.settled(digest_id)]
        if settled:
            settled.sort(key=lambda one: (one.item.tenant_id, one.item.id))
            events = [
                moved_event(
                    one.item.tenant_id,
                    one.item,
                    one.status.value,
                    reason=one.reason,
                    clock=self.clock,
                    traceparent=one.item.traceparent,
                    digest_notification_id=accepted.get(one.item.window_id)
                    if one.status is NotificationStatus.SUPERSEDED
                    else None,
                )
                for one in settled
            ]
            await store.settle_items(tx, settled, events, now=now, stripe=self.stripe)
        marks = [
            (plan.draft.window.tenant_id, digest_id, plan.mark)
            for plan, digest_id in made
            if digest_id is not None
        ]
        if marks:
            await store.mark_digests(tx, marks)
        closed = [
            ClosedWindow(
                tenant_id=plan.draft.window.tenant_id,
                id=plan.draft.window.id,
                result=plan.result(digest_id),
                digest_notification_id=digest_id,
            )
            for plan, digest_id in made
        ]
        await store.close_windows(tx, closed, now=now)
        return closed

    async def _failed(self, worker: str, claims: Sequence[Claim[DigestWindowId]], error: Exception) -> None:
        if isinstance(error, DatabaseUnavailableError):
            # Nobody has it in hand any more: it is freed as what is ours by name only.
            raise error
        to_blame = is_of_an_item(error) and not isinstance(error, RenderInterruptedError)
        code = _code(error)
        if to_blame:
            _log.error(
                "flush_failed", count=len(claims), error=code, window_id=claims[0].id, where=where(error)
            )
        else:
            _log.warning("flush_interrupted", count=len(claims), error=code)
        now = self.clock.now()
        async with self.db.tenants({claim.tenant_id for claim in claims}) as tx:
            await store.give_back(
                tx,
                claims,
                worker=worker,
                error=code,
                to_blame=to_blame,
                now=now,
            )


def _is_apart(error: Exception) -> bool:
    """A set that holds one to blame, or whose tenants wait for somebody's lock, goes on in halves."""
    return is_of_an_item(error) or isinstance(error, DatabaseBusyError)


def _code(error: Exception) -> str:
    return error.code if isinstance(error, TidingsError) else type(error).__name__
