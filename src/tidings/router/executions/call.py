"""The use case "these steps are ready": hand whole sets to vendors, learn what became of each, write it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace as with_field
from datetime import datetime
from typing import TypeAlias

from msgspec.structs import replace
from opentelemetry.trace import SpanKind

from tidings.contracts.delivery import AddressTold
from tidings.contracts.enums import UseCase
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.tracing import span_of_set
from tidings.router.executions.answerable import can_be_answered, turns_of
from tidings.router.executions.answers import PackedAnswers, pack, put
from tidings.router.executions.call_off import call_off
from tidings.router.executions.model import (
    ExecutionChange,
    ExecutionObserver,
    OutgoingExecution,
    ReservedAttempt,
)
from tidings.router.executions.record import Recorder
from tidings.router.policies.model import Policy
from tidings.router.policies.policies import Policies
from tidings.router.state_machine.model import CallSkipped, VendorAnswered
from tidings.router.state_machine.statuses import told_as
from tidings.router.status_map.meanings import Meanings, codes_of, read_by
from tidings.router.traffic.board import Traffic
from tidings.router.vendors.vendors import Sent, Vendors

#: Stores the answers of a set, by and by.
Keep: TypeAlias = Callable[[PackedAnswers], object]


class VendorCaller:
    """Calls vendors for ladders whose calls are noted; no transaction is open meanwhile."""

    def __init__(
        self,
        vendors: Vendors,
        recorder: Recorder,
        *,
        traffic: Traffic,
        meanings: Meanings,
        policies: Policies,
        clock: Clock,
        observer: ExecutionObserver,
        blobs: Callable[[], BlobStore] | None = None,
    ) -> None:
        """Without `blobs` what vendors answer is not kept word for word."""
        self._blobs = blobs
        self.recorder = recorder
        self._vendors = vendors
        self._traffic = traffic
        self._meanings = meanings
        self._policies = policies
        self._clock = clock
        self._observer = observer

    async def call(self, tenant_id: TenantId, worker: str, ladders: Sequence[OutgoingExecution]) -> None:
        """Each vendor gets its set at once; a slow one keeps no other waiting, but for steps of one ladder."""
        single = [ladder for ladder in ladders if len(ladder.calls) == 1]
        several = [ladder for ladder in ladders if len(ladder.calls) > 1]
        sets = [self._call_singles(tenant_id, worker, some) for some in _by_vendor(single)]
        if several:
            sets.append(self._call_several(tenant_id, worker, several))
        if len(sets) == 1:
            await sets[0]
            return
        # Whatever becomes of one, the others end before anybody thinks that these ladders are in no hands.
        for ended in await asyncio.gather(*sets, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended

    async def _call_singles(
        self, tenant_id: TenantId, worker: str, ladders: Sequence[OutgoingExecution]
    ) -> None:
        async with self._keeping() as keep:
            answers = await self._send(tenant_id, [(ladder, ladder.calls[0]) for ladder in ladders], keep)
            await self._record(tenant_id, worker, ladders, [[answer] for answer in answers])

    async def _call_several(
        self, tenant_id: TenantId, worker: str, ladders: Sequence[OutgoingExecution]
    ) -> None:
        """Steps of one ladder, side by side: what became of them is written together."""
        answers: list[list[VendorAnswered | CallSkipped]] = [[] for _ in ladders]
        places = {ladder.execution.id: place for place, ladder in enumerate(ladders)}

        async def send(some: Sequence[tuple[OutgoingExecution, ReservedAttempt]]) -> None:
            for (ladder, _), answer in zip(some, await self._send(tenant_id, some, keep), strict=True):
                answers[places[ladder.execution.id]].append(answer)

        by_vendor: dict[tuple[str, float | None], list[tuple[OutgoingExecution, ReservedAttempt]]] = {}
        for ladder in ladders:
            for call in ladder.calls:
                by_vendor.setdefault((call.vendor, call.within), []).append((ladder, call))
        async with self._keeping() as keep:
            await asyncio.gather(*map(send, by_vendor.values()))
            await self._record(tenant_id, worker, ladders, answers)

    @asynccontextmanager
    async def _keeping(self) -> AsyncIterator[Keep]:
        """Stores what vendors answered beside all else: nothing waits for it, and it ends with the set."""
        tasks: set[asyncio.Task[None]] = set()

        async def keep(packed: PackedAnswers) -> None:
            if self._blobs is not None and not await put(self._blobs(), packed):
                self._observer.failed("answers")

        try:
            yield lambda packed: tasks.add(asyncio.create_task(keep(packed)))
        finally:
            if tasks:
                await asyncio.wait(tasks)

    async def _send(
        self, tenant_id: TenantId, calls: Sequence[tuple[OutgoingExecution, ReservedAttempt]], keep: Keep
    ) -> list[VendorAnswered | CallSkipped]:
        """One answer each; all of them go to one vendor."""
        now = self._clock.now()
        answers: list[VendorAnswered | CallSkipped] = [
            CallSkipped(step=call.step, attempt_id=call.attempt_id) for _, call in calls
        ]
        going = [place for place, (ladder, _) in enumerate(calls) if now < ladder.execution.state.expires_at]
        if not going:
            return answers
        first = calls[going[0]][1]
        messages = [_message(calls[place][1]) for place in going]
        started = self._clock.monotonic()
        with span_of_set(
            "vendors",
            "vendor send",
            (calls[place][0].execution.traceparent for place in going),
            kind=SpanKind.CLIENT,
            tenant_id=tenant_id,
            vendor=first.vendor,
            attempt_ids=[calls[place][1].attempt_id for place in going],
        ):
            sent = await self._vendors.send(tenant_id, first.vendor, messages, within=first.within)
        took = self._clock.monotonic() - started
        outcomes = await self._meant(tenant_id, sent)
        refs = self._packed(tenant_id, [calls[place][1] for place in going], outcomes, keep)
        for place, outcome in zip(going, outcomes, strict=True):
            call = calls[place][1]
            answers[place] = VendorAnswered(
                step=call.step,
                outcome=outcome,
                receipts=sent.receipts,
                idempotent=sent.idempotent,
                attempt_id=call.attempt_id,
                account=sent.account_id,
                others=_others(call.message, outcome),
                answer_ref=refs.get(call.attempt_id),
            )
        if sent.account_id is not None:
            self._traffic.observe_set(
                sent.account_id,
                list(zip((message.to for message in messages), outcomes, strict=True)),
                seconds=took,
                tried_since=[_tried_since(calls[place][0], sent.account_id) for place in going],
            )
        for status, count in Counter(told_as(outcome)[0] for outcome in outcomes).items():
            self._observer.called(sent.vendor, status, count, took)
        return answers

    def _packed(
        self, tenant_id: TenantId, calls: Sequence[ReservedAttempt], outcomes: Sequence[Outcome], keep: Keep
    ) -> Mapping[str, str]:
        """Have the vendor's answers kept; by call, where each will be."""
        if self._blobs is None:
            return {}
        packed, refs = pack(
            tenant_id,
            [(call.attempt_id, call.message, outcome) for call, outcome in zip(calls, outcomes, strict=True)],
        )
        if packed is not None:
            keep(packed)
        return refs

    async def _meant(self, tenant_id: TenantId, sent: Sent) -> Sequence[Outcome]:
        """The answers as the status map reads their codes."""
        if not any(map(codes_of, sent.outcomes)):
            return sent.outcomes
        known = await self._meanings.known(tenant_id)
        return [read_by(known, sent.vendor, outcome) for outcome in sent.outcomes]

    async def _record(
        self,
        tenant_id: TenantId,
        worker: str,
        ladders: Sequence[OutgoingExecution],
        answers: Sequence[Sequence[VendorAnswered | CallSkipped]],
    ) -> None:
        policies: Mapping[UseCase, Policy] = {}
        if any(can_be_answered(answer) for answered in answers for answer in answered):
            # Who can't be asked just now leaves conversations their usual length: what was learned has to be written.
            with suppress(DatabaseError):
                policies = await self._policies.of(tenant_id)
        changes = [
            replace(
                self.recorder.after(ladder.execution, answered),
                currency=_currency(ladder),
                answerable=turns_of(ladder, answered, policies),
            )
            for ladder, answered in zip(ladders, answers, strict=True)
        ]
        written = await self.recorder.record(tenant_id, worker, changes)
        await self.call_off(tenant_id, written.values())

    async def call_off(self, tenant_id: TenantId, changes: Iterable[ExecutionChange]) -> None:
        """Have vendors forget what nobody needs any more, where they can."""
        needless = [
            (change.execution.id, attempt) for change in changes for attempt in change.transition.needless
        ]
        if needless:
            await call_off(self.recorder.db, self._vendors, tenant_id, needless, clock=self._clock)


def _tried_since(ladder: OutgoingExecution, account_id: str) -> datetime | None:
    """When this message was first handed to the account; None: it was not yet."""
    return next(
        (attempt.started_at for attempt in ladder.execution.state.attempts if attempt.account == account_id),
        None,
    )


def _message(call: ReservedAttempt) -> OutboundMessage:
    """What the vendor is given; a mail knows which attempt it is, because its return path names it."""
    return (
        with_field(call.message, attempt_id=call.attempt_id)
        if call.message.channel == "email"
        else call.message
    )


def _others(message: OutboundMessage, outcome: Outcome) -> tuple[AddressTold, ...]:
    """What the vendor's refusals mean for single addresses of several, by the names that their owner gave them."""
    if not isinstance(outcome, Accepted | Refused) or not outcome.others:
        return ()
    ids = message.address_ids
    return tuple(
        AddressTold(address_id=ids[other.place], effect=other.refused.effect)
        for other in outcome.others
        if other.refused.effect is not None and other.place < len(ids)
    )


def _by_vendor(ladders: Sequence[OutgoingExecution]) -> list[list[OutgoingExecution]]:
    sets: dict[tuple[str, float | None], list[OutgoingExecution]] = {}
    for ladder in ladders:
        call = ladder.calls[0]
        sets.setdefault((call.vendor, call.within), []).append(ladder)
    return list(sets.values())


def _currency(ladder: OutgoingExecution) -> str | None:
    return next((call.currency for call in ladder.calls if call.currency is not None), None)
