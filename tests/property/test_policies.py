"""Every policy that is accepted can be rehearsed: the walk ends, keeps to the cap, to the budgets and to the clocks."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.delivery import SkipStep, WaitStep
from tidings.contracts.ladder import LadderStep
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.policies.check import AvailableAdapters, wrong_with
from tidings.router.policies.model import PolicyStep, PolicyTerms
from tidings.router.policies.simulated_ladder import SimulatedRun, SimulatedStepCost, walk
from tidings.router.policies.step_deadlines import beginnings
from tidings.router.policies.wire import TermsInput
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import StepBarred, StepBlocked

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ADAPTERS_HERE = AvailableAdapters(kinds=ADAPTERS, find=kind_of)

hours = st.sampled_from(
    [
        None,
        {"start": "08:00", "end": "20:00", "timezone": "Asia/Kabul"},
        {"start": "22:00", "end": "06:00", "timezone": "UTC"},
    ]
)
steps = st.fixed_dictionaries(
    {
        "channel": st.sampled_from(["sms", "email", "whatsapp", "voice", "inapp"]),
        "deadline_seconds": st.integers(1, 604_800),
        "retry_budget": st.integers(0, 20),
        "success": st.sampled_from(["accepted", "sent", "delivered", "read"]),
    },
    optional={
        "vendor": st.sampled_from(["http", "http_acme", "smtp", "pigeon"]),
        "conditions": st.fixed_dictionaries({}, optional={"hours": hours, "min_score": st.floats(0, 1)}),
    },
)
policies = st.fixed_dictionaries(
    {"ladder": st.lists(steps, min_size=1, max_size=6)},
    optional={
        "strategy": st.sampled_from(["SEQUENTIAL", "PARALLEL", "FAILOVER"]),
        "cost_cap_micros": st.none() | st.integers(0, 500),
    },
)
answers = st.sampled_from(
    [
        Accepted(),
        Unlearned(reason="x"),
        Refused(reason="no", code="busy", permanent=False),
        Refused(reason="no", code="5.7.1", permanent=True),
        TryLater(reason="later", code="busy", after=timedelta(seconds=9)),
    ]
)
before_a_call = st.sampled_from(
    [
        None,
        SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL"),
        WaitStep(until=NOW + timedelta(hours=2), reason="quiet_hours"),
        StepBlocked(step=0, reason="circuit_open", until=NOW + timedelta(seconds=40)),
    ]
)


def frozen(step: PolicyStep) -> LadderStep:
    return LadderStep(
        channel=step.channel,
        vendors=(step.vendor or "http",),
        success=step.success,
        deadline=step.deadline_seconds,
        retries=step.retry_budget,
        hours=step.conditions.hours if step.conditions is not None else None,
    )


def rehearsed(
    terms: PolicyTerms, answer: Outcome, barred: list[Any], costs: list[int], *, life: timedelta
) -> SimulatedRun:
    def ask(place: int, at: datetime, purse: CostBudget) -> SimulatedStepCost | StepBarred | StepBlocked:
        by, cost = barred[place % len(barred)], costs[place % len(costs)]
        if isinstance(by, StepBlocked) and at < by.until:
            return StepBlocked(step=place, reason=by.reason, until=by.until)
        if isinstance(by, SkipStep) or (isinstance(by, WaitStep) and at < by.until):
            return StepBarred(step=place, by=by)
        if not purse.allows(cost):
            return StepBarred(step=place, by=SkipStep(reason="cost_cap", result="REFUSED_COST_CAP"))
        return SimulatedStepCost(vendor="http", account_id=None, cost=cost, receipts=True)

    ladder = ExecutionStateMachine()
    start = ladder.start(
        tuple(frozen(step) for step in terms.ladder),
        use_case="txn",
        expires_at=NOW + life,
        strategy=terms.strategy,
        now=NOW,
        cap=terms.cost_cap_micros,
    )
    return walk(ladder, start, now=NOW, ask=ask, answer=answer)


@given(
    policies,
    answers,
    st.lists(before_a_call, min_size=1, max_size=4),
    st.lists(st.integers(0, 200), min_size=1, max_size=3),
    st.timedeltas(timedelta(seconds=1), timedelta(days=60)),
)
def test_every_rehearsal_ends_within_its_bounds(
    policy: dict[str, Any], answer: Outcome, barred: list[Any], costs: list[int], life: timedelta
) -> None:
    terms = msgspec.convert(policy, TermsInput).terms()
    if wrong_with(terms, ADAPTERS_HERE):
        return

    way = rehearsed(terms, answer, barred, costs, life=life)

    assert way.end is not None
    assert terms.cost_cap_micros is None or way.spent <= terms.cost_cap_micros
    assert way.spent == sum(one.cost for one in way.footprints)
    calls = [one for one in way.footprints if one.what == "called"]
    for place, step in enumerate(terms.ladder, 1):
        assert sum(one.step == place for one in calls) <= step.retry_budget + 1
    assert all(one.at < NOW + life for one in calls)
    assert [one.at for one in way.footprints] == sorted(one.at for one in way.footprints)


@given(policies)
def test_what_is_said_of_a_policy_does_not_depend_on_how_often_it_is_asked(policy: dict[str, Any]) -> None:
    """And a field that is named is one that the sender has."""
    terms = msgspec.convert(policy, TermsInput).terms()

    found = wrong_with(terms, ADAPTERS_HERE)

    assert found == wrong_with(msgspec.convert(msgspec.to_builtins(terms), PolicyTerms), ADAPTERS_HERE)
    assert all(error.field.startswith("ladder") and error.remedy for error in found)


@given(policies)
def test_steps_begin_one_after_the_other(policy: dict[str, Any]) -> None:
    terms = msgspec.convert(policy, TermsInput).terms()

    begins = beginnings(terms)

    assert len(begins) == len(terms.ladder)
    assert begins == sorted(begins)
    assert begins[0] == timedelta()
