"""Whether a notification goes, when and to whom: the gates in their order, and the trace that they leave.

Pure: the same facts, request and moment give the same decision. `simulate` calls exactly this.
"""

from datetime import datetime

from msgspec.structs import replace

from tidings.contracts.enums import NotificationStatus
from tidings.kernel.hot_state import Taken
from tidings.notify.decide import gates, step_gates
from tidings.notify.decide.limits import judge
from tidings.notify.decide.model import (
    PASS,
    Decision,
    DecisionRequest,
    Defer,
    Gate,
    Pass,
    StepDecision,
    StepRequest,
    Stop,
    TraceLine,
    Verdict,
)
from tidings.notify.decide.reasons import GateReason
from tidings.notify.decide.trace import line_of
from tidings.notify.facts.model import Facts, PersonFacts


def decide(facts: Facts, request: DecisionRequest, now: datetime) -> Decision:
    """Everything that is decided once, but for the limits: `limited` adds those."""
    trace: list[TraceLine] = []
    verdict = _note(trace, Gate.TENANT, gates.tenant_active(facts.tenant, now))
    if isinstance(verdict, Pass):
        verdict = _note(trace, Gate.EXPIRY, gates.not_expired(request, now))
    if not isinstance(verdict, Pass):
        return Decision(verdict=verdict, trace=tuple(trace), recipient_id=request.recipient_id)
    known, person, copy = gates.recipient_known(facts, request)
    verdict = _note(trace, Gate.RECIPIENT, known)
    if person is None:
        return Decision(verdict=verdict, trace=tuple(trace), recipient_id=request.recipient_id)
    verdict = _note(trace, Gate.CATEGORY, gates.category_allowed(facts, request, person))
    if isinstance(verdict, Pass) and not isinstance(gates.channel_set_up(facts.tenant, request), Pass):
        # Only where it stands in the way: a step asks again, and leaves its line then.
        verdict = _note(trace, Gate.CHANNEL, gates.channel_set_up(facts.tenant, request))
    if isinstance(verdict, Pass):
        verdict = _note(trace, Gate.QUIET_HOURS, gates.quiet_hours(facts, request, person, now))
    if isinstance(verdict, Pass) and (gathered := gates.digest(facts, request, person, now)) is not None:
        # Only where there is a schedule: most messages are never gathered.
        verdict = _note(trace, Gate.DIGEST, gathered)
    return Decision(
        verdict=PASS if isinstance(verdict, Pass) else verdict,
        trace=tuple(trace),
        recipient_id=person.id,
        copies=(copy.id,) if copy is not None else (),
        locale=person.locale,
        timezone=person.timezone,
        preferences_version=person.preferences_version,
    )


def limited(decision: Decision, request: DecisionRequest, taken: Taken | None, now: datetime) -> Decision:
    """A decision that passed, after its limits were asked; `taken` None where there are none."""
    verdict = judge(taken, expires_at=request.expires_at, now=now)
    return replace(decision, verdict=verdict, trace=(*decision.trace, line_of(Gate.LIMITS, verdict)))


def paced(decision: Decision, request: DecisionRequest, until: datetime) -> Decision:
    """A decision that passed, and whose batch has to wait before more of it goes through the account."""
    verdict: Verdict = Defer(until, GateReason.BATCH_PACE)
    if until >= request.expires_at:
        verdict = Stop(NotificationStatus.EXPIRED, GateReason.EXPIRES_BEFORE_LIMIT_FREES)
    return replace(decision, verdict=verdict, trace=(*decision.trace, line_of(Gate.LIMITS, verdict)))


def decide_step(facts: Facts, request: StepRequest, now: datetime) -> StepDecision:
    """Everything that is decided at the moment of sending, but for the channel's limit: `step_limited` adds that."""
    trace: list[TraceLine] = []
    step = request.step
    verdict = _note(trace, Gate.STATE, step_gates.still_wanted(request), step)
    if isinstance(verdict, Pass):
        verdict = _note(trace, Gate.EXPIRY, gates.not_expired(request, now), step)
    if isinstance(verdict, Stop):
        return StepDecision(verdict=verdict, trace=tuple(trace), ends_notification=True)
    verdict = _note(trace, Gate.TENANT, gates.tenant_active(facts.tenant, now), step)
    if not isinstance(verdict, Pass):
        return StepDecision(verdict=verdict, trace=tuple(trace), ends_notification=isinstance(verdict, Stop))
    person = facts.people.get(request.recipient_id)
    verdict = _note(trace, Gate.RECIPIENT, step_gates.recipient_still_known(person), step)
    if person is None or not isinstance(verdict, Pass):
        return StepDecision(verdict=verdict, trace=tuple(trace), ends_notification=True)
    return _of_channel(facts, request, person, trace, now)


def step_limited(
    decision: StepDecision, request: StepRequest, taken: Taken | None, now: datetime
) -> StepDecision:
    """A step that passed, after its channel's limits were asked; `taken` None where there are none.

    They are this channel's alone: where it has no room before the notification expires, another channel may.
    """
    verdict = judge(taken, expires_at=request.expires_at, now=now)
    line = line_of(Gate.CHANNEL_LIMIT, verdict, step=request.step)
    return replace(decision, verdict=verdict, trace=(*decision.trace, line))


def _of_channel(
    facts: Facts, request: StepRequest, person: PersonFacts, trace: list[TraceLine], now: datetime
) -> StepDecision:
    step = request.step
    verdict = _note(trace, Gate.CHANNEL, step_gates.channel_allowed(facts, request, person), step)
    config = facts.tenant.config_of(request.channel)
    if config is None or not isinstance(verdict, Pass):
        return StepDecision(verdict=verdict, trace=tuple(trace))
    usable, addresses = step_gates.address_usable(request.channel, person, only=request.address_id)
    verdict = _note(trace, Gate.ADDRESS, usable, step)
    if isinstance(verdict, Pass):
        free, addresses = step_gates.not_suppressed(addresses, facts.categories.get(request.category))
        verdict = _note(trace, Gate.SUPPRESSION, free, step)
    if isinstance(verdict, Pass):
        verdict = _note(trace, Gate.SENDER, step_gates.sender_may(facts.tenant, config), step)
    if isinstance(verdict, Pass):
        verdict = _note(trace, Gate.QUIET_HOURS, gates.quiet_hours(facts, request, person, now), step)
        if isinstance(verdict, Stop):
            return StepDecision(verdict=verdict, trace=tuple(trace), ends_notification=True)
    if not isinstance(verdict, Pass):
        return StepDecision(verdict=verdict, trace=tuple(trace))
    return StepDecision(verdict=PASS, trace=tuple(trace), addresses=addresses, channel=config)


def _note(trace: list[TraceLine], gate: Gate, verdict: Verdict, step: int = 0) -> Verdict:
    trace.append(line_of(gate, verdict, step=step))
    return verdict
