"""The use case "dispatch a batch", of whatever tenants: load, decide, render, hand over to the router; two transactions for all."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias

from msgspec import Struct, structs

from tidings.contracts.delivery import (
    BATCH_PACE,
    Answered,
    DeliveryRoute,
    HandOff,
    InProcessRouter,
    PlannedDelivery,
    ReadyStep,
    SendFirstSteps,
)
from tidings.contracts.enums import AUTO, CHANNELS, NotificationStatus
from tidings.contracts.ids import NOTIFICATION
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.presence import WorkerId
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.events import Event
from tidings.kernel.hot_state import Limits
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.mapping import by_name
from tidings.kernel.tracing import span_of_set, started
from tidings.notify.accept import store as accept_store
from tidings.notify.accept.events import accepted_event, moved_event
from tidings.notify.accept.row import LEFT_DIGEST, NotificationRow
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.decide import trace
from tidings.notify.decide.decide import decide, limited, paced
from tidings.notify.decide.limits import takes_once
from tidings.notify.decide.model import Decision, DecisionRequest, Defer, Gate, JoinDigest, Pass, TraceLine
from tidings.notify.decide.reasons import GateReason
from tidings.notify.digest_windows.join import Joining, OpenWindow, WindowKey, join_windows, leave_windows
from tidings.notify.dispatch import store
from tidings.notify.dispatch.compose import encode_snapshot
from tidings.notify.dispatch.gathering import without_digest
from tidings.notify.dispatch.message import StepWork
from tidings.notify.dispatch.steps import StepMade, StepMaker, is_counted
from tidings.notify.dispatch.store import Move, OwnedId
from tidings.notify.dispatch.taken_limits import TakenLimits
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts
from tidings.notify.templates.resolve import TemplateResolver

#: Deferrals of the past that a trace still tells of.
_REMEMBERED: Final = 10
#: What a guardian's copy is known by, from the moment that it is made.
_COPIED: Final = trace.line_of(Gate.RECIPIENT, Pass(GateReason.COPY_FOR_GUARDIAN))
#: Lines that say something of the notification for good.
_MARKS: Final = (_COPIED, trace.RELEASED)
#: The reason of those that could not be decided or rendered, again and again, through a fault of ours.
GAVE_UP: Final = "internal_error"
#: Tenants that are written side by side, where a set of them found a locked row: connections are few.
_AT_ONCE: Final = 4


GiveWay: TypeAlias = Callable[[], Awaitable[None]]


class _Case(Struct, kw_only=True):
    """One notification of the batch."""

    pending: NotificationRow
    #: Of its tenant.
    facts: Facts
    decision: Decision
    delivery: PlannedDelivery | None = None
    made: StepMade | None = None
    #: What is held against its limits.
    request: DecisionRequest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Dispatcher:
    """Decides about batches of notifications, and hands over to the router what may go."""

    db: Database
    loader: FactsLoader
    keyring: Keyring
    limits: Limits
    steps: StepMaker
    templates: TemplateResolver
    router: InProcessRouter
    clock: Clock
    #: Which of the counts this process adds to.
    stripe: int = 0
    #: Tenants that wait for a lock of their own.
    _waiting: Counter[TenantId] = field(default_factory=Counter, init=False)
    #: For parts that are written one tenant at a time: as they come, and those that wait for a lock.
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False)
    _waiting_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE), init=False)

    @property
    def waiting(self) -> frozenset[TenantId]:
        """The tenants whose notifications wait for a lock: the next ones should keep no other tenant waiting."""
        return frozenset(self._waiting)

    async def dispatch_batch(
        self,
        batch: Sequence[OwnedId],
        worker: WorkerId,
        *,
        taken: TakenLimits | None = None,
        give_way: GiveWay | None = None,
    ) -> SendFirstSteps | None:
        """Decide and hand over; what is returned is to be awaited next, None where nothing was handed over.

        `taken` remembers what was taken from limits: with the same one a batch that failed can be repeated in parts.
        `give_way` is awaited between the stages, where no transaction is open: an ordinary batch lets an urgent one by.
        """
        since = started()
        pending, facts, peppers = await self._load(batch)
        with span_of_set(
            "dispatch",
            "notifications dispatch",
            (row.traceparent for row in pending),
            since=since,
            tenant_ids=sorted(facts),
            notification_ids=[id_ for _, id_ in batch],
        ):
            return await self._go_on(
                pending, facts, peppers, worker=worker, taken=taken or TakenLimits(), give_way=give_way
            )

    async def _load(
        self, batch: Sequence[OwnedId]
    ) -> tuple[list[NotificationRow], dict[TenantId, Facts], dict[TenantId, Pepper]]:
        """All that is decided and sent from: two statements, where tenants and their keys are remembered."""
        shared = await self.loader.shared()
        named = {tenant_id for tenant_id, _ in batch}
        async with self.db.tenants(named, by_index=True, pipelined=True) as tx:
            loaded = await store.load_with_people(tx, batch)
            pending = [row for owned in batch if (row := loaded.notifications.get(owned)) is not None]
            tenant_ids = {row.tenant_id for row in pending}
            peppers = await self.keyring.peppers(tx, tenant_ids)
            facts = await self.loader.load_set(
                tx, shared, tenant_ids, loaded.people, channels=_channels_of(pending), last=True
            )
            return pending, facts, peppers

    async def _go_on(
        self,
        pending: Sequence[NotificationRow],
        facts: Mapping[TenantId, Facts],
        peppers: Mapping[TenantId, Pepper],
        *,
        worker: WorkerId,
        taken: TakenLimits,
        give_way: GiveWay | None,
    ) -> SendFirstSteps | None:
        """From the facts to the hand-over."""
        if give_way is not None:
            await give_way()
        cases = await self._decided(facts, pending)
        await self._take_limits(cases, taken)
        if give_way is not None:
            await give_way()
        await self._make_first_steps(facts, peppers, cases, taken)
        if give_way is not None:
            await give_way()
        # On their way to the blob store while the transaction runs, and there before a vendor is called.
        async with self.steps.keeping_bodies([case.made for case in cases]):
            return await self._write(cases, worker)

    async def give_up(self, batch: Sequence[OwnedId]) -> None:
        """End those whose batches keep failing through a fault of ours: they must not stand in the way for ever."""
        now = self.clock.now()
        async with self.db.tenants({tenant_id for tenant_id, _ in batch}, by_index=True) as tx:
            found = await store.load_pending_of(tx, batch)
            moves = [
                Move(pending=row, status=NotificationStatus.FAILED, reason=GAVE_UP, trace=row.trace or "")
                for row in found.values()
            ]
            if not moves:
                return
            events = [self._event(m) for m in moves]
            await store.move(tx, moves, events, worker=None, now=now, stripe=self.stripe)

    async def _decided(
        self, facts: Mapping[TenantId, Facts], pending: Sequence[NotificationRow]
    ) -> list[_Case]:
        now = self.clock.now()
        cases: list[_Case] = []
        for row in pending:
            is_copy = row.trace is not None and GateReason.COPY_FOR_GUARDIAN in row.trace
            request = by_name(DecisionRequest, row, is_copy=is_copy, has_no_digest=False)
            its = facts[row.tenant_id]
            cases.append(_Case(pending=row, facts=its, decision=decide(its, request, now), request=request))
        joining = [case for case in cases if isinstance(case.decision.verdict, JoinDigest)]
        if joining:
            apart = await without_digest(self.templates, [(case.pending, case.facts) for case in joining])
            for case, goes_apart in zip(joining, apart, strict=True):
                if goes_apart:
                    case.request = structs.replace(case.request, has_no_digest=True)
                    case.decision = decide(case.facts, case.request, now)
        return cases

    async def _take_limits(self, cases: Sequence[_Case], taken: TakenLimits) -> None:
        passed = [case for case in cases if isinstance(case.decision.verdict, Pass)]
        wishes = [
            (
                (case.pending.tenant_id, case.pending.id),
                case.decision.recipient_id,
                takes_once(
                    case.facts.tenant,
                    case.decision.recipient_id,
                    case.pending.channel,
                    is_test=case.pending.is_test,
                )
                if not case.pending.was_paced
                else (),
            )
            for case in passed
        ]
        answers = await taken.take(self.limits, wishes)
        now = self.clock.now()
        for case, answer in zip(passed, answers, strict=True):
            case.decision = limited(case.decision, case.request, answer, now)

    async def _make_first_steps(
        self,
        facts: Mapping[TenantId, Facts],
        peppers: Mapping[TenantId, Pepper],
        cases: Sequence[_Case],
        taken: TakenLimits,
    ) -> None:
        passed = [case for case in cases if isinstance(case.decision.verdict, Pass)]
        if not passed:
            return
        hand_offs = [hand_off_of(case.pending, case.decision, case.facts) for case in passed]
        plans = await self.router.plan(hand_offs)
        ready: list[tuple[_Case, StepWork]] = []
        for case, hand_off, plan in zip(passed, hand_offs, plans, strict=True):
            case.delivery = PlannedDelivery(hand_off=hand_off, plan=plan)
            if plan.first is not None:
                work = StepWork(
                    pending=case.pending,
                    recipient_id=case.decision.recipient_id,
                    channel=plan.first,
                    step=1,
                )
                ready.append((case, work))
        made = await self.steps.make(facts, peppers, [work for _, work in ready], taken)
        for (case, _), step in zip(ready, made, strict=True):
            case.made = step
            if case.delivery is not None and isinstance(step.prepared, ReadyStep):
                case.delivery = structs.replace(case.delivery, first=step.prepared)
        planned = [case.delivery for case in passed if case.delivery is not None]
        for case, delivery in zip(passed, await self.router.reserve(planned), strict=True):
            if delivery.waits_for == BATCH_PACE and delivery.not_before is not None:
                # It stays notify's: it can be cancelled, and a batch knows how many of its messages wait.
                case.decision = paced(case.decision, case.request, delivery.not_before)
                case.delivery = case.made = None
            else:
                case.delivery = delivery

    async def _write(self, cases: Sequence[_Case], worker: WorkerId) -> SendFirstSteps | None:
        if not cases:
            return None
        # In one order everywhere, so that two sets never wait for each other crosswise.
        ordered = sorted(cases, key=lambda case: (case.pending.tenant_id, case.pending.id))
        try:
            return await self._write_set(ordered, worker, briefly=True)
        except DatabaseBusyError:
            # A row of some tenant is locked. Each waits for its own locks alone, and is sent as soon as it is written.
            by_tenant = [list(some) for _, some in groupby(ordered, key=lambda case: case.pending.tenant_id)]
            return partial(self._write_apart, by_tenant, worker)

    async def _write_apart(
        self,
        by_tenant: Sequence[Sequence[_Case]],
        worker: WorkerId,
        answered: Answered | None = None,
    ) -> None:
        async def write_and_send(cases: Sequence[_Case]) -> None:
            if len(by_tenant) == 1:
                send = await self._write_when_free(cases, worker)
            else:
                try:
                    async with self._slots:
                        send = await self._write_set(cases, worker, briefly=True)
                except DatabaseBusyError:
                    send = await self._write_when_free(cases, worker)
            if send is not None:
                await send(answered)

        results = await asyncio.gather(*map(write_and_send, by_tenant), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _write_when_free(self, cases: Sequence[_Case], worker: WorkerId) -> SendFirstSteps | None:
        """Write one tenant's, and wait for its locks."""
        tenant_id = cases[0].pending.tenant_id
        self._waiting[tenant_id] += 1
        try:
            async with self._waiting_slots:
                return await self._write_set(cases, worker)
        finally:
            self._waiting[tenant_id] -= 1
            if not self._waiting[tenant_id]:
                del self._waiting[tenant_id]

    async def _write_set(
        self, cases: Sequence[_Case], worker: WorkerId, *, briefly: bool = False
    ) -> SendFirstSteps | None:
        now = self.clock.now()
        tenants = {case.pending.tenant_id for case in cases}
        async with self.db.tenants(tenants, by_index=True, briefly=briefly, pipelined=True) as tx:
            windows = await _join(tx, cases, now)
            moves = [_move(case, windows) for case in cases]
            events = [self._event(move) for move in moves]
            await self.steps.keep_links(tx, [case.made for case in cases])
            moved = await store.move(tx, moves, events, worker=worker, now=now, stripe=self.stripe)
            if windows and len(moved) < len(moves):
                await _leave(tx, moves, moved)
            gone = [case for case in cases if (case.pending.tenant_id, case.pending.id) in moved]
            copies = [copy for case in gone for copy in _copies(case, now)]
            if copies:
                told_of = [accepted_event(copy, clock=self.clock) for copy in copies]
                await accept_store.insert_notifications(tx, copies, told_of, now=now, stripe=self.stripe)
                await store.mark_copies(tx, copies, trace=trace.encode([_COPIED]))
            deliveries = [case.delivery for case in gone if case.delivery is not None]
            return await self.router.start_in(tx, deliveries, last=True) if deliveries else None

    def _event(self, move: Move) -> Event:
        row = move.pending
        return moved_event(
            row.tenant_id,
            row,
            move.status.value,
            reason=move.reason,
            until=move.until,
            clock=self.clock,
            traceparent=row.traceparent,
        )


def hand_off_of(pending: NotificationRow, decision: Decision, facts: Facts) -> HandOff:
    """What the router gets to know: who, until when, and the ways that the tenant wants tried."""
    return by_name(
        HandOff,
        pending,
        notification_id=pending.id,
        recipient_id=decision.recipient_id,
        routes=routes_of(pending, facts),
    )


def routes_of(pending: NotificationRow, facts: Facts) -> tuple[DeliveryRoute, ...]:
    """The channel's vendor, then the one to fall back to; for `auto`, every channel that there are words for."""
    asked = CHANNELS if pending.channel == AUTO else (pending.channel,)
    routes: list[DeliveryRoute] = []
    for channel in asked:
        config = facts.tenant.config_of(channel)
        if config is not None and pending.version_for(channel) is not None:
            routes += [DeliveryRoute(channel=channel, vendor=vendor) for vendor in _vendors(pending, config)]
    return tuple(routes)


def _vendors(pending: NotificationRow, config: ChannelConfig) -> tuple[str, ...]:
    """The channel's; of an answer the one over which the person wrote, for as long as the channel has it."""
    pin = pending.pin
    if pin is None or pin.vendor is None or pin.vendor not in config.vendors:
        return config.vendors
    return (pin.vendor,)


def merged_trace(before: str | None, lines: Sequence[TraceLine]) -> str:
    """The trace of this decision, after the deferrals of earlier ones."""
    if not before:
        return trace.encode(lines)
    earlier = trace.decode(before)
    waited = [line for line in earlier if line.verdict == "defer"][-_REMEMBERED:]
    waited[:0] = [mark for mark in _MARKS if mark in earlier and mark not in lines]
    waited += [line for line in earlier if line.verdict == "pass" and line.reason in LEFT_DIGEST]
    return trace.encode((*waited, *lines))


def _channels_of(pending: Sequence[NotificationRow]) -> set[Channel]:
    wanted: set[Channel] = set()
    for row in pending:
        wanted.update(row.template_versions or ())
        if row.channel != AUTO:
            wanted.add(row.channel)
    return wanted


def _goes_out(case: _Case) -> bool:
    """Whether its first step is sent with the hand-off; otherwise the router asks for it, and hears why not."""
    return case.delivery is not None and case.delivery.reservation is not None


def _window_key(case: _Case) -> WindowKey:
    """The window that it joins is that of who is written to."""
    row = case.pending
    return WindowKey(
        row.tenant_id,
        case.decision.recipient_id,
        row.category,
        row.channel,
        row.digest_key or "",
        row.is_test,
    )


async def _join(tx: TenantsTx, cases: Sequence[_Case], now: datetime) -> Mapping[WindowKey, OpenWindow]:
    """The windows of those that are gathered."""
    joining = [
        Joining(
            key=_window_key(case),
            flush_at=verdict.until,
            window_end=verdict.window_end,
            slides=verdict.slides,
            flush_by=verdict.flush_by,
            created_at=case.pending.created_at,
        )
        for case in cases
        if isinstance(verdict := case.decision.verdict, JoinDigest)
    ]
    return await join_windows(tx, joining, now=now) if joining else {}


async def _leave(tx: TenantsTx, moves: Sequence[Move], moved: set[OwnedId]) -> None:
    """Those that were cancelled meanwhile have joined nothing."""
    left = [
        (move.pending.tenant_id, move.window_id)
        for move in moves
        if move.window_id is not None and (move.pending.tenant_id, move.pending.id) not in moved
    ]
    if left:
        await leave_windows(tx, left)


def _move(case: _Case, windows: Mapping[WindowKey, OpenWindow]) -> Move:
    decision, verdict, made = case.decision, case.decision.verdict, case.made
    if isinstance(verdict, JoinDigest):
        window = windows[_window_key(case)]
        *before, line = decision.trace
        return Move(
            pending=case.pending,
            status=NotificationStatus.SCHEDULED,
            trace=merged_trace(
                case.pending.trace, [*before, line._replace(until=window.flush_at, by=window.id)]
            ),
            reason=verdict.reason,
            until=window.flush_at,
            preferences_version=decision.preferences_version,
            window_id=window.id,
        )
    if isinstance(verdict, Pass):
        # What a step that can't be sent now was told, it is told again when the router asks for it.
        lines = decision.trace
        if made is not None:
            # But for its limits: what it has taken from those of the recipient it does not take again.
            lines += made.lines if _goes_out(case) else tuple(filter(is_counted, made.lines))
        composed = made.composed if made is not None else None
        return Move(
            pending=case.pending,
            status=NotificationStatus.DISPATCHED,
            trace=merged_trace(case.pending.trace, lines),
            locale=composed.locale if composed is not None else None,
            snapshot=encode_snapshot(composed.snapshot) if composed is not None else None,
            record=made.record if made is not None else None,
            body_ref=made.body_ref if made is not None else None,
            preferences_version=decision.preferences_version,
        )
    return Move(
        pending=case.pending,
        status=NotificationStatus.SCHEDULED if isinstance(verdict, Defer) else verdict.status,
        trace=merged_trace(case.pending.trace, decision.trace),
        reason=verdict.reason,
        until=verdict.until if isinstance(verdict, Defer) else None,
        preferences_version=decision.preferences_version,
    )


def _copies(case: _Case, now: datetime) -> list[NotificationRow]:
    """A guardian's copy: a notification of its own, under the guardian's own preferences and language."""
    copies, row = case.decision.copies, case.pending
    if not copies or not isinstance(case.decision.verdict, Pass | JoinDigest) or row.left_digest:
        # One that came out of a digest had its copy when it joined.
        return []
    facts = case.facts
    owner = facts.people[row.recipient_id].key
    keys = [(guardian_id, facts.people[guardian_id].key) for guardian_id in copies]
    return [
        row.derive(NOTIFICATION.new(now), guardian_id, unseal=owner, seal=key)
        for guardian_id, key in keys
        if owner is not None and key is not None
    ]
