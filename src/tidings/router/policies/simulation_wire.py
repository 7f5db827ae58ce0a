"""Simulations as JSON: what would happen to a message, step by step."""

from datetime import datetime, timedelta
from typing import Literal

import msgspec
from msgspec import Struct

from tidings.contracts.delivery import DeliveryResult, Evidence, PreparedStep, SkipStep, WaitStep
from tidings.contracts.enums import Priority, UseCase
from tidings.contracts.ladder import LadderStep, StepRank, Strategy, Success
from tidings.contracts.moments import Moment
from tidings.contracts.simulation import HypotheticalMessage
from tidings.kernel.mapping import by_name
from tidings.router.policies.policy_warnings import PolicyWarning
from tidings.router.policies.simulate import Draft, PolicySimulation
from tidings.router.policies.simulated_ladder import SimulatedEvent
from tidings.router.policies.wire import PutPolicy

_NOT_ASKED = "Rate limits are not taken from in a rehearsal: whether they have room is seen when it is sent."
_NOW = "Gates were asked as of now; a later step is asked again when its turn comes."
_SILENT = "The times are the latest: a vendor that refuses, or a receipt, ends a step sooner."


class SimulatePolicy(
    HypotheticalMessage, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A message that is not sent, and the policy that it would go by."""

    #: A draft. Left out: the policy in force for the message's use case.
    policy: PutPolicy | None = None

    def message(self) -> HypotheticalMessage:
        """The message alone."""
        plain = msgspec.structs.asdict(self)
        del plain["policy"]
        return HypotheticalMessage(**plain)

    def draft(self) -> Draft | None:
        """The policy alone."""
        return None if self.policy is None else Draft(terms=self.policy.terms())


class RehearsedGate(Struct, frozen=True, kw_only=True):
    """What the gates would say to a step now."""

    verdict: Literal["pass", "skip", "wait"]
    #: A code.
    reason: str | None = None
    until: Moment | None = None


class RehearsedStep(Struct, frozen=True, kw_only=True):
    """What would become of one step, in the order in which they would be taken."""

    #: Counts from 1.
    step: int
    channel: str
    #: Who may carry it, the first choice first.
    vendors: list[str]
    #: `not_reached`: the ladder would end before it.
    would: Literal["call", "skip", "not_reached"]
    #: Why it would be skipped: a code.
    reason: str | None
    #: Who would be called, where it would be.
    vendor: str | None
    #: When it would begin at the latest, and when it would be left.
    begins_at: Moment | None
    ends_at: Moment | None
    success: Success
    deadline_seconds: int | None
    retry_budget: int | None
    #: What one call would cost, in millionths; null where its price has no rate to the policy's currency.
    cost_micros: int | None
    #: The policy's currency where it has a cap, or else that of the account's prices; null where none is known.
    cost_currency: str | None
    #: Null where its channel is not set up, or has no words for this message.
    gate: RehearsedGate | None
    #: Where the order is learned or cheapest.
    chance: float | None
    index: float | None
    drawn: bool


class RehearsedEnd(Struct, frozen=True, kw_only=True):
    """How it would end if every vendor took the message and nothing were heard of it."""

    #: Null where it is not handed over.
    result: DeliveryResult | None
    reason: str | None
    evidence: Evidence | None
    at: Moment
    spent_micros: int


class PolicyRehearsal(Struct, frozen=True, kw_only=True):
    """What would happen; nothing was written and nothing was sent."""

    #: Whether it would be handed to the ladder at all, now, later or not.
    would: Literal["send", "defer", "stop"]
    reason: str | None
    until: Moment | None
    at: Moment
    expires_at: Moment
    use_case: UseCase
    priority: Priority
    #: Null where the recipient is not known yet.
    recipient_id: str | None
    #: `draft`, the policy in force, or none: the channels' vendors one after the other.
    by: Literal["draft", "policy", "none"]
    policy_id: str | None
    policy_version: int | None
    strategy: Strategy
    order: str | None
    steps: list[RehearsedStep]
    if_nothing_answers: RehearsedEnd
    currency: str | None
    cost_cap_micros: int | None
    #: Every vendor called as often as its budget allows, and charging each time; never above the cap.
    worst_case_micros: int
    warnings: list[PolicyWarning]
    #: What a rehearsal can't know.
    notes: list[str]

    @classmethod
    def of(cls, done: PolicySimulation) -> "PolicyRehearsal":
        """The simulation as it is shown."""
        told, plan = done.told, done.plan
        end = done.silence.end
        return by_name(
            cls,
            told,
            recipient_id=told.recipient_id if told.recipient_known else None,
            by="draft" if done.draft else "none" if plan.policy_id is None else "policy",
            policy_id=None if done.draft else plan.policy_id,
            policy_version=None if done.draft else plan.policy_version,
            strategy=plan.strategy,
            order=plan.ladder.order,
            steps=[_step(done, place, step) for place, step in enumerate(plan.ladder.steps, 1)],
            if_nothing_answers=RehearsedEnd(
                result=None if end is None else end.result,
                reason=told.reason if end is None else end.reason,
                evidence=None if end is None else end.evidence,
                at=done.silence.ended_at,
                spent_micros=done.silence.spent,
            ),
            currency=plan.currency,
            cost_cap_micros=plan.cap,
            worst_case_micros=done.worst_case,
            warnings=done.warnings,
            notes=[_NOW, _SILENT, *([_NOT_ASKED] if told.not_asked else [])],
        )


def _step(done: PolicySimulation, place: int, step: LadderStep) -> RehearsedStep:
    seen = [one for one in done.silence.footprints if one.step == place]
    call = next((one for one in seen if one.what == "called"), None)
    skip = next((one for one in seen if one.what == "skipped"), None)
    why = _why(done, place)
    prepared = done.told.steps.get(step.channel)
    return RehearsedStep(
        step=place,
        channel=step.channel,
        vendors=list(step.vendors),
        would="call" if call else "skip" if skip else "not_reached",
        reason=skip.reason if skip is not None and call is None else None,
        vendor=None if call is None else call.vendor,
        begins_at=seen[0].at if seen else None,
        ends_at=_ends_at(seen, call, step, over=done.silence.ended_at),
        success=step.success,
        deadline_seconds=step.deadline,
        retry_budget=step.retries,
        cost_micros=done.costs[place - 1],
        cost_currency=done.plan.currency or done.currencies[place - 1],
        gate=None if prepared is None else _gate(prepared),
        chance=None if why is None else why.p,
        index=None if why is None else why.index,
        drawn=False if why is None else why.drawn,
    )


def _ends_at(
    seen: list[SimulatedEvent], call: SimulatedEvent | None, step: LadderStep, *, over: datetime
) -> datetime | None:
    if not seen:
        return None
    gave_up = next((one.at for one in seen if one.what == "gave_up"), None)
    if gave_up is not None or call is None:
        return gave_up or seen[-1].at
    return over if step.deadline is None else min(over, call.at + timedelta(seconds=step.deadline))


def _gate(prepared: PreparedStep) -> RehearsedGate:
    if isinstance(prepared, SkipStep):
        return RehearsedGate(verdict="skip", reason=prepared.reason)
    if isinstance(prepared, WaitStep):
        return RehearsedGate(verdict="wait", reason=prepared.reason, until=prepared.until)
    return RehearsedGate(verdict="pass")


def _why(done: PolicySimulation, place: int) -> StepRank | None:
    found = done.plan.ladder.why
    return found[place - 1] if len(found) >= place else None
