"""A walk goes the way that the ladder itself would go."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidings.contracts.delivery import SkipStep, WaitStep
from tidings.contracts.ladder import LadderStep
from tidings.contracts.messages import Accepted, Outcome, Refused, Unlearned
from tidings.router.policies.simulated_ladder import SimulatedRun, SimulatedStepCost, walk
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import StepBarred, StepBlocked

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LADDER = ExecutionStateMachine()


def step(channel: Any = "sms", **more: Any) -> LadderStep:
    return LadderStep(
        channel=channel,
        **{"vendors": ("http",), "success": "delivered", "deadline": 30, "retries": 1, **more},
    )


def walked(
    *steps: LadderStep,
    answer: Outcome | None = None,
    barred: dict[int, Any] | None = None,
    cost: int = 0,
    receipts: bool = True,
    **more: Any,
) -> SimulatedRun:
    cap = more.pop("cap", None)
    strategy = more.pop("strategy", "SEQUENTIAL")
    life = more.pop("life", timedelta(hours=1))

    def ask(place: int, at: datetime, purse: CostBudget) -> SimulatedStepCost | StepBarred | StepBlocked:
        by = (barred or {}).get(place)
        if isinstance(by, StepBlocked):
            return (
                by
                if at < by.until
                else SimulatedStepCost(vendor="http", account_id=None, cost=cost, receipts=receipts)
            )
        if by is not None and not (isinstance(by, WaitStep) and at >= by.until):
            return StepBarred(step=place, by=by)
        if not purse.allows(cost):
            return StepBarred(step=place, by=SkipStep(reason="cost_cap", result="REFUSED_COST_CAP"))
        return SimulatedStepCost(vendor="http", account_id=None, cost=cost, receipts=receipts)

    start = LADDER.start(steps, use_case="txn", expires_at=NOW + life, strategy=strategy, now=NOW, cap=cap)
    return walk(LADDER, start, now=NOW, ask=ask, answer=answer or Accepted())


def told(way: SimulatedRun) -> list[tuple[int, str, int]]:
    """Step, what happened, seconds from the beginning."""
    return [(one.step, one.what, int((one.at - NOW).total_seconds())) for one in way.footprints]


def test_silence_goes_from_clock_to_clock() -> None:
    way = walked(step("whatsapp", deadline=20), step("sms"))

    assert told(way) == [(1, "called", 0), (1, "gave_up", 20), (2, "called", 20), (2, "gave_up", 50)]
    assert way.end is not None
    assert (way.end.result, way.end.reason) == ("FAILED", "not_in_time")
    assert way.ended_at == NOW + timedelta(seconds=50)


def test_it_ends_where_acceptance_is_enough() -> None:
    way = walked(step("sms", success="accepted"), step("email"))

    assert told(way) == [(1, "called", 0)]
    assert way.end is not None
    assert (way.end.result, way.end.evidence) == ("DELIVERED", "accepted")


def test_parallel_begins_all_at_once() -> None:
    way = walked(step("sms"), step("email", deadline=60), strategy="PARALLEL", cost=5)

    assert told(way) == [(1, "called", 0), (2, "called", 0), (1, "gave_up", 30), (2, "gave_up", 60)]
    assert way.spent == 10


@pytest.mark.parametrize(("cap", "spent"), [(None, 20), (15, 15), (14, 10), (4, 0)])
def test_answers_that_are_never_learned_cost_most_and_never_more_than_the_cap(
    cap: int | None, spent: int
) -> None:
    way = walked(step(retries=3, deadline=600), cost=5, cap=cap, answer=Unlearned(reason="x"))

    assert way.spent == spent


def test_what_is_skipped_and_what_waits() -> None:
    skip = SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL")
    wait = WaitStep(until=NOW + timedelta(minutes=10), reason="quiet_hours")

    way = walked(step("whatsapp"), step("sms"), barred={1: skip, 2: wait})

    assert told(way) == [(1, "skipped", 0), (2, "called", 600), (2, "gave_up", 630)]
    assert way.footprints[0].reason == "no_address"


def test_an_open_circuit_is_passed_by_where_there_is_another_way() -> None:
    blocked = StepBlocked(step=1, reason="circuit_open", until=NOW + timedelta(minutes=1))

    way = walked(step("whatsapp"), step("sms"), barred={1: blocked})

    assert told(way)[:2] == [(1, "skipped", 0), (2, "called", 0)]


def test_nothing_goes_on_after_the_message_has_expired() -> None:
    way = walked(step(deadline=30), step("email"), life=timedelta(seconds=10))

    assert [one for one in told(way) if one[1] == "called"] == [(1, "called", 0)]
    assert way.end is not None
    assert way.end.reason == "expired"


def test_every_walk_ends() -> None:
    """Also where every vendor refuses for now, at every try."""
    way = walked(
        *(step(channel, retries=20) for channel in ("sms", "email", "viber")),
        answer=Refused(reason="no", code="busy", permanent=False),
    )

    assert way.end is not None
    assert way.end.result == "FAILED"


def test_no_step_at_all() -> None:
    way = walked()

    assert way.end is not None
    assert (way.end.result, way.footprints) == ("REFUSED_NO_CHANNEL", [])
