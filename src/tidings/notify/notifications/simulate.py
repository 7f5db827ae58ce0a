"""What would happen to a notification: the same checks, gates and rendering as in earnest, and nothing is written.

The recipient stands in memory, sealed with a key that is not kept, and the limits are not taken from. So what a
simulation shows is what the same code would do, not a second opinion about it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from msgspec import structs

from tidings.contracts.delivery import DeliveryRoute, PreparedStep, Router
from tidings.contracts.enums import AUTO, CHANNELS, NotificationStatus
from tidings.contracts.ladder import LadderStep
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.hot_state import Take, Taken, TenantTakes
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.attachments import Attachments
from tidings.notify.accept.order import Order
from tidings.notify.accept.row import AnyChannel
from tidings.notify.accept.validator import OrderValidator, ValidOrder
from tidings.notify.decide.decide import decide
from tidings.notify.decide.limits import takes_of_step, takes_once
from tidings.notify.decide.model import (
    Decision,
    DecisionRequest,
    Defer,
    Gate,
    JoinDigest,
    Pass,
    TraceLine,
)
from tidings.notify.dispatch.compose import Composer
from tidings.notify.dispatch.dispatch_batch import hand_off_of, routes_of
from tidings.notify.dispatch.files import left_out
from tidings.notify.dispatch.gathering import without_digest
from tidings.notify.dispatch.message import StepWork
from tidings.notify.dispatch.steps import StepMade, StepMaker
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import TenantFacts
from tidings.notify.notifications.hypothetical_recipient import HypotheticalRecipient, hypothetical_recipient
from tidings.notify.preference_center.links import ExampleLinks, UnsubscribeLinks
from tidings.notify.render.model import Rendered
from tidings.notify.templates.resolve import TemplateResolver

Would = Literal["send", "defer", "stop"]
#: What the router itself says about a step, before any gate.
_LADDER: Final = "ladder"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedStep:
    """What would become of one step of the ladder."""

    step: int
    channel: Channel
    #: None where the tenant has not set the channel up.
    vendor: str | None
    #: The last line of its gates: why it would be sent, skipped or put off.
    line: TraceLine
    lines: tuple[TraceLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What would happen."""

    would: Would
    #: The moment that was decided for: when it is scheduled for, or else now.
    at: datetime
    order: ValidOrder
    decision: Decision
    #: Whether there is such a recipient already.
    recipient_known: bool
    until: datetime | None = None
    #: Why, where it would not be sent now: a code.
    reason: str | None = None
    steps: tuple[TriedStep, ...] = ()
    #: Gates that were not asked, because asking uses something up.
    not_asked: tuple[Gate, ...] = ()
    channel: Channel | None = None
    message: Rendered | None = field(default=None, repr=False)
    #: The ways that it would be handed over with.
    routes: tuple[DeliveryRoute, ...] = ()
    #: What would be answered for a step over each of their channels; empty where it would not be handed over now.
    prepared: Mapping[Channel, PreparedStep] = field(default_factory=dict, repr=False)


class _TakesNothing:
    """Limits that always have room: a simulation must not use up what the performance needs."""

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:  # noqa: ARG002
        return [Taken(granted=True) for _ in groups]

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        return [Taken(granted=True) for _ in wishes]


@dataclass(frozen=True, slots=True)
class _FixedClock:
    """The moment that is decided for."""

    _at: datetime
    _clock: Clock

    def now(self) -> datetime:
        return self._at

    def monotonic(self) -> float:
        return self._clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Simulator:
    """Simulates sending."""

    db: Database
    _: KW_ONLY
    validator: OrderValidator
    loader: FactsLoader
    keyring: Keyring
    composer: Composer
    templates: TemplateResolver
    attachments: Attachments
    links: UnsubscribeLinks
    router: Router
    clock: Clock

    async def simulate(self, asked: Order) -> Simulation:
        """What would happen; refused wherever accepting would refuse it."""
        tenant_id, order = asked.by.tenant_id, await self.validator.validate(asked)
        shared = await self.loader.shared()
        async with self.db.tenant(tenant_id, caller_role=asked.by.role) as tx:
            person = await hypothetical_recipient(
                tx,
                order.recipient,
                channels=_channels(order),
                shared=shared,
                loader=self.loader,
                keyring=self.keyring,
                clock=self.clock,
            )
        at = order.scheduled_for or self.clock.now()
        request = _request(order, person)
        decision = decide(person.facts, request, at)
        row = order.as_row(person.recipient_id, person.key, person.pepper)
        pending = structs.replace(row, status=NotificationStatus.QUEUED)
        if isinstance(decision.verdict, JoinDigest):
            (apart,) = await without_digest(self.templates, [(pending, person.facts)])
            if apart:
                decision = decide(person.facts, structs.replace(request, has_no_digest=True), at)
        routes = routes_of(pending, person.facts)
        simulation = Simulation(
            would="stop",
            at=at,
            order=order,
            decision=decision,
            recipient_known=person.known,
            routes=routes,
        )
        if not isinstance(decision.verdict, Pass):
            return _not_now(simulation)
        channels = list(dict.fromkeys(route.channel for route in routes))
        maker = StepMaker(
            composer=self.composer,
            limits=_TakesNothing(),
            attachments=self.attachments,
            links=ExampleLinks(self.links.base_url, clock=self.clock),
            clock=_FixedClock(at, self.clock),
        )
        works = [
            StepWork(pending=pending, recipient_id=decision.recipient_id, channel=channel, step=place)
            for place, channel in enumerate(channels, 1)
        ]
        steps = await maker.make({tenant_id: person.facts}, {tenant_id: person.pepper}, works)
        made = {
            channel: _without_files(step, channel, place) if asked.attachments else step
            for place, (channel, step) in enumerate(zip(channels, steps, strict=True), 1)
        }
        (plan,) = await self.router.plan([hand_off_of(pending, decision, person.facts)])
        simulation = replace(
            simulation,
            steps=_steps(plan.ladder.steps, made),
            prepared={channel: step.prepared for channel, step in made.items()},
        )
        done = _concluded(simulation, made)
        return replace(done, not_asked=_not_asked(done, asked.channel, person.facts.tenant))


def _without_files(made: StepMade, channel: Channel, step: int) -> StepMade:
    """What the step would say of the files: they are checked with the order, and no part of what is simulated."""
    if made.composed is None:
        return made
    return structs.replace(made, lines=(*made.lines, *left_out(channel, step, files=True)))


def _channels(item: ValidOrder) -> list[Channel]:
    channel = item.order.channel
    return [channel] if channel != AUTO else list(item.versions or CHANNELS)


def _request(item: ValidOrder, person: HypotheticalRecipient) -> DecisionRequest:
    return DecisionRequest(
        recipient_id=person.recipient_id,
        category=item.category.category,
        channel=item.order.channel,
        priority=item.priority,
        expires_at=item.expires_at,
        use_case=item.use_case,
        is_whole=bool(item.order.attachments) or item.order.pin is not None,
    )


def _not_now(simulation: Simulation) -> Simulation:
    verdict = simulation.decision.verdict
    if isinstance(verdict, Defer):
        return replace(simulation, would="defer", until=verdict.until, reason=verdict.reason)
    return replace(simulation, reason=verdict.reason)


def _steps(planned: Sequence[LadderStep], made: dict[Channel, StepMade]) -> tuple[TriedStep, ...]:
    """The steps of the ladder that it would get; without one, what the gates say of the channel that was asked for."""
    tried = planned or [LadderStep(channel=channel) for channel in made]
    found: list[TriedStep] = []
    for place, way in enumerate(tried, 1):
        if way.barred is not None or way.channel not in made:
            lines: tuple[TraceLine, ...] = (
                TraceLine(_LADDER, "stop", way.barred or "no_route", None, place),
            )
        else:
            lines = tuple(line._replace(step=place) for line in made[way.channel].lines)
        found.append(
            TriedStep(
                step=place,
                channel=way.channel,
                vendor=next(iter(way.vendors), None),
                line=lines[-1],
                lines=lines,
            )
        )
    return tuple(found)


def _concluded(simulation: Simulation, made: dict[Channel, StepMade]) -> Simulation:
    """The first step that is not skipped says what would happen."""
    steps = simulation.steps
    first = next((step for step in steps if step.line.verdict != "stop"), None)
    if first is None:
        return replace(simulation, reason=steps[-1].line.reason if steps else "no_channel")
    if first.line.verdict == "defer":
        return replace(
            simulation,
            would="defer",
            until=first.line.until,
            reason=first.line.reason,
            channel=first.channel,
        )
    composed = made[first.channel].composed
    return replace(
        simulation,
        would="send",
        channel=first.channel,
        message=composed.rendered if composed is not None else None,
    )


def _not_asked(done: Simulation, asked: AnyChannel, tenant: TenantFacts) -> tuple[Gate, ...]:
    recipient_id = done.decision.recipient_id
    found = [Gate.LIMITS] if takes_once(tenant, recipient_id, asked) else []
    counted = recipient_id if asked == AUTO else None
    if any(takes_of_step(tenant, step.channel, counted) for step in done.steps):
        found.append(Gate.CHANNEL_LIMIT)
    return tuple(found)
