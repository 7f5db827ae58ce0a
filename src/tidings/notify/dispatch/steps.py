"""One step, at the moment of sending: its gates, its channel's limits, its words. The first step and every later one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from msgspec import Struct, structs

from tidings.contracts.delivery import (
    DeliveryResult,
    MessagePace,
    PreparedStep,
    ReadyStep,
    SkipStep,
    WaitStep,
)
from tidings.contracts.enums import AUTO
from tidings.contracts.ids import RecipientId
from tidings.contracts.inbox import IN_APP
from tidings.contracts.messages import SentRecord
from tidings.contracts.tenants import Channel
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.hot_state import Limits
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.mapping import by_name
from tidings.notify.accept.attachments import Attachments
from tidings.notify.decide import trace
from tidings.notify.decide.decide import decide_step, step_limited
from tidings.notify.decide.limits import counts_recipients_on, takes_of_step
from tidings.notify.decide.model import Defer, Gate, Pass, StepDecision, StepRequest, Stop, TraceLine
from tidings.notify.decide.reasons import GateReason
from tidings.notify.dispatch.batch_paces import BatchPaces
from tidings.notify.dispatch.compose import (
    ComposeAsk,
    Composed,
    Composer,
    Composition,
    letterhead_of,
    with_address,
    with_reader,
)
from tidings.notify.dispatch.exact_bodies import (
    KEPT_CLASS,
    BodyToKeep,
    KeptBody,
    PackedBodies,
    pack,
    put,
    refs_text,
)
from tidings.notify.dispatch.files import files_of, left_out, without_files
from tidings.notify.dispatch.in_app import item_text
from tidings.notify.dispatch.message import StepWork, message_of
from tidings.notify.dispatch.taken_limits import TakenLimits
from tidings.notify.facts.model import AddressFacts, Facts, TenantFacts
from tidings.notify.ids import BatchId
from tidings.notify.preference_center.links import MessageLinks, UnsubscribeLinks
from tidings.notify.tracking.tracker import MailTracking, Tracker

_NO_BATCH: Final = BatchId("")
_RESULTS: Final[dict[str, DeliveryResult]] = {
    GateReason.SENDER_UNAUTHORISED: "REFUSED_SENDER_UNAUTHORIZED",
    GateReason.CHANNEL_NOT_SET_UP: "REFUSED_NO_CHANNEL",
    GateReason.CHANNEL_DISABLED: "REFUSED_NO_CHANNEL",
    GateReason.NO_ADDRESS: "REFUSED_NO_CHANNEL",
    GateReason.ADDRESS_GONE: "REFUSED_NO_CHANNEL",
    GateReason.CONSENT_MISSING: "REFUSED_CONSENT",
    GateReason.UNSUBSCRIBED_FROM_ALL: "REFUSED_CONSENT",
    GateReason.CATEGORY_DECLINED: "REFUSED_CONSENT",
    GateReason.CHANNEL_DECLINED: "REFUSED_CONSENT",
    GateReason.OFF_BY_DEFAULT: "REFUSED_CONSENT",
    GateReason.SUPPRESSED_BY_TENANT: "REFUSED_CONSENT",
    GateReason.SUPPRESSED_BY_PLATFORM: "REFUSED_CONSENT",
    GateReason.SUPPRESSED_BY_DOMAIN: "REFUSED_CONSENT",
    GateReason.ADDRESS_UNSUBSCRIBED: "REFUSED_CONSENT",
}


class StepMade(Struct, frozen=True, kw_only=True):
    """What came of it."""

    prepared: PreparedStep
    lines: tuple[TraceLine, ...]
    composed: Composed | None = None
    #: Those that its words hold; to be stored with what is written of it.
    links: MessageLinks | None = None
    #: What is kept of where it goes and who it comes from.
    record: SentRecord | None = None
    #: The object that its exact words will be in, and their place there; None where they are not kept.
    bodies: PackedBodies | None = None
    body_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StepMaker:
    """Makes sets of steps ready, of one tenant or of several."""

    composer: Composer
    limits: Limits
    attachments: Attachments
    links: UnsubscribeLinks
    clock: Clock
    #: None: nothing is ever watched.
    tracker: Tracker | None = None
    #: None: no batch has a pace.
    paces: BatchPaces | None = None
    #: None: no exact words are kept.
    blobs: Callable[[], BlobStore] | None = None
    #: Hears of a set whose words could not be kept.
    missed: Callable[[], object] | None = None

    async def make(
        self,
        facts: Mapping[TenantId, Facts],
        peppers: Mapping[TenantId, Pepper],
        works: Sequence[StepWork],
        taken: TakenLimits | None = None,
    ) -> list[StepMade]:
        """One answer each, in the same order. No transaction may be open: limits are taken, files are read.

        `taken`: what was taken from limits when the same steps were made before, and could not be written.
        """
        now = self.clock.now()
        requests = [_request(work) for work in works]
        decisions = [
            decide_step(facts[work.tenant_id], request, now)
            for work, request in zip(works, requests, strict=True)
        ]
        decisions = await self._limited(facts, works, requests, decisions, taken or TakenLimits())
        passed = [place for place, d in enumerate(decisions) if isinstance(d.verdict, Pass)]
        links = {
            place: self._links_of(
                work := works[place],
                facts[work.tenant_id],
                peppers[work.tenant_id],
                decisions[place].addresses,
            )
            for place in passed
        }
        channels: dict[TenantId, set[Channel]] = {}
        for place in passed:
            channels.setdefault(works[place].tenant_id, set()).add(works[place].channel)
        composed = await self.composer.compose(
            [_ask(work := works[place], facts[work.tenant_id], links[place]) for place in passed],
            {
                tenant_id: letterhead_of(facts[tenant_id], peppers[tenant_id], used)
                for tenant_id, used in channels.items()
            },
        )
        words = dict(zip(passed, composed, strict=True))
        paces = await self._paces_of([works[place] for place in passed])
        items = _items(facts, works, words)
        watched = await self._watched_by({tenant_id: facts[tenant_id] for tenant_id in channels})
        files = await files_of(
            self.attachments,
            self.clock,
            facts,
            {place: works[place] for place, one in words.items() if isinstance(one, Composed)},
        )
        made: list[StepMade] = []
        for place, (work, decision) in enumerate(zip(works, decisions, strict=True)):
            tenant_id = work.tenant_id
            composition, attached = words.get(place), files.get(place, ())
            if composition is None:
                made.append(StepMade(prepared=_refused(decision), lines=decision.trace))
            elif not isinstance(attached, tuple):
                line = without_files(work, attached)
                made.append(StepMade(prepared=attached, lines=(*decision.trace, line)))
            elif isinstance(composition, Composed):
                dropped = left_out(work.channel, work.step, files=work.pending.attachments is not None)
                composition = _addressed(work, decision, composition)
                message = message_of(
                    work,
                    facts[tenant_id],
                    decision=decision,
                    composed=composition,
                    files=attached,
                    links=links[place],
                    tracking=watched.get(tenant_id),
                    pepper=peppers[tenant_id],
                )
                if place in items:
                    message = replace(message, subject=None, html=None, text=items[place])
                made.append(
                    StepMade(
                        prepared=ReadyStep(
                            message=message, pace=paces.get(work.pending.batch_id or _NO_BATCH)
                        ),
                        lines=(*decision.trace, *dropped),
                        composed=composition,
                        links=links[place],
                        record=message.record,
                    )
                )
            else:
                skip = SkipStep(reason=composition.reason, result="FAILED")
                line = TraceLine("render", "stop", composition.reason, None, work.step, composition.where)
                made.append(StepMade(prepared=skip, lines=(*decision.trace, line)))
        return made if self.blobs is None else _with_bodies(facts, works, made, now)

    @asynccontextmanager
    async def keeping_bodies(self, made: Iterable[StepMade | None]) -> AsyncIterator[None]:
        """Store the exact words of these steps beside the block, which does not wait for it; over when this is left."""
        task = asyncio.create_task(self._keep_bodies(made))
        try:
            yield
        finally:
            await asyncio.wait({task})

    async def _keep_bodies(self, made: Iterable[StepMade | None]) -> None:
        """It never fails: see `exact_bodies`."""
        packed = {
            step.bodies.key: step.bodies for step in made if step is not None and step.bodies is not None
        }
        for one in packed.values():
            if self.blobs is not None and not await put(self.blobs(), one) and self.missed is not None:
                self.missed()

    async def keep_links(self, tx: TenantTx | TenantsTx, made: Iterable[StepMade | None]) -> None:
        """Have the links of these steps work; first in its transaction, before it holds locks."""
        await self.links.store(
            tx, [step.links for step in made if step is not None and step.links is not None]
        )

    async def _paces_of(self, works: Sequence[StepWork]) -> Mapping[BatchId, MessagePace]:
        """The paces of their batches; nothing is asked where they are in none."""
        batches = {
            (work.tenant_id, work.pending.batch_id) for work in works if work.pending.batch_id is not None
        }
        return await self.paces.of(batches) if batches and self.paces is not None else {}

    async def _watched_by(self, facts: Mapping[TenantId, Facts]) -> dict[TenantId, MailTracking]:
        """Of those tenants who have their mails watched."""
        if self.tracker is None:
            return {}
        found = {tenant_id: await self.tracker.watch(tenant_id, its) for tenant_id, its in facts.items()}
        return {tenant_id: tracking for tenant_id, tracking in found.items() if tracking is not None}

    def _links_of(
        self,
        work: StepWork,
        facts: Facts,
        pepper: Pepper,
        addresses: Sequence[AddressFacts],
    ) -> MessageLinks | None:
        # Of a step to several devices it is not known which of them followed the link.
        only = addresses[0] if len(addresses) == 1 else None
        return self.links.of_message(
            work.tenant_id,
            policy=facts.categories.get(work.pending.category),
            recipient_id=work.recipient_id,
            channel=work.channel,
            pepper=pepper,
            at=work.pending.created_at,
            address_id=only.id if only is not None else None,
            address_hash=only.address_hash if only is not None else None,
        )

    async def _limited(
        self,
        facts: Mapping[TenantId, Facts],
        works: Sequence[StepWork],
        requests: Sequence[StepRequest],
        decisions: Sequence[StepDecision],
        taken: TakenLimits,
    ) -> list[StepDecision]:
        groups = [
            takes_of_step(
                tenant := facts[work.tenant_id].tenant,
                work.channel,
                _uncounted(work, tenant),
                is_test=work.pending.is_test,
            )
            if isinstance(decision.verdict, Pass) and not (work.pending.was_paced and work.step == 1)
            else ()
            for work, decision in zip(works, decisions, strict=True)
        ]
        answers = await taken.take(
            self.limits,
            [
                ((work.tenant_id, work.pending.id), (work.recipient_id, work.step, work.channel), group)
                for work, group in zip(works, groups, strict=True)
            ],
        )
        now = self.clock.now()
        return [
            step_limited(decision, requests[place], answers[place], now)
            if isinstance(decision.verdict, Pass)
            else decision
            for place, decision in enumerate(decisions)
        ]


def _items(
    facts: Mapping[TenantId, Facts], works: Sequence[StepWork], words: dict[int, Composition]
) -> dict[int, str]:
    """Those that go to the in-app inbox, as they are handed on; what is no item counts as not composed in `words`."""
    items: dict[int, str] = {}
    for place, one in list(words.items()):
        if works[place].channel == IN_APP and isinstance(one, Composed):
            item = item_text(one, facts[works[place].tenant_id].tenant)
            if isinstance(item, str):
                items[place] = item
            else:
                words[place] = item
    return items


def _with_bodies(
    facts: Mapping[TenantId, Facts], works: Sequence[StepWork], made: list[StepMade], now: datetime
) -> list[StepMade]:
    """The same, with the object for the exact words of those that are kept."""
    kept: dict[int, BodyToKeep] = {}
    for place, (work, step) in enumerate(zip(works, made, strict=True)):
        composed = step.composed
        if composed is None:
            continue
        key = facts[work.tenant_id].people[work.recipient_id].key
        if key is None or key.destroyed:
            continue
        if work.pending.retention_class == KEPT_CLASS and not work.pending.is_test:
            kept[place] = BodyToKeep(
                tenant_id=work.tenant_id,
                notification_id=work.pending.id,
                step=work.step,
                key=key,
                body=_body(composed),
            )
    if not kept:
        return made
    packed = pack(list(kept.values()), now=now)
    for index, place in enumerate(kept):
        work = works[place]
        ref = refs_text(work.pending.body_ref, work.channel, f"{packed.key}#{index}")
        made[place] = structs.replace(made[place], bodies=packed, body_ref=ref)
    return made


def _body(composed: Composed) -> KeptBody:
    pictures = tuple(picture.filename for picture in composed.pictures)
    return by_name(KeptBody, composed.rendered, pictures=pictures)


def is_counted(line: TraceLine) -> bool:
    """Whether a line says that a step has taken from its limits."""
    return line.gate == Gate.CHANNEL_LIMIT and line.verdict == "pass"


def _uncounted(work: StepWork, tenant: TenantFacts) -> RecipientId | None:
    """Whose limit on the channel the step takes from; None where that was done before."""
    pending = work.pending
    if pending.channel != AUTO or not counts_recipients_on(tenant, work.channel):
        return None
    before = trace.decode(pending.trace) if pending.trace else ()
    counted = any(is_counted(line) and line.step == work.step for line in before)
    return None if counted else work.recipient_id


def _request(work: StepWork) -> StepRequest:
    pin = work.pending.pin_for(work.recipient_id)
    return by_name(
        StepRequest,
        work.pending,
        recipient_id=work.recipient_id,
        channel=work.channel,
        step=work.step,
        address_id=None if pin is None else pin.address_id,
    )


def _ask(work: StepWork, facts: Facts, links: MessageLinks | None) -> ComposeAsk:
    return ComposeAsk(
        pending=work.pending,
        channel=work.channel,
        owner=facts.people[work.pending.recipient_id].key,
        reader=facts.people[work.recipient_id],
        links=links,
    )


def _refused(decision: StepDecision) -> PreparedStep:
    verdict = decision.verdict
    if isinstance(verdict, Defer):
        return WaitStep(until=verdict.until, reason=verdict.reason)
    if isinstance(verdict, Stop):
        result = _RESULTS.get(verdict.reason, "FAILED")
        return SkipStep(reason=verdict.reason, result=result, ends=decision.ends_notification)
    raise TypeError("a step that passed has words")


def _addressed(work: StepWork, decision: StepDecision, composed: Composed) -> Composed:
    """With the address in what is kept of it; without for a step to several devices, where any of them may be meant."""
    kept = composed.snapshot
    if len(decision.addresses) == 1:
        kept = with_address(kept, channel=work.channel, address_id=decision.addresses[0].id)
    if work.recipient_id != work.pending.recipient_id:
        kept = with_reader(kept, work.recipient_id)
    return structs.replace(composed, snapshot=kept)
