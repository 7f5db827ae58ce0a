"""A hand-off becomes a message at a vendor, and one outcome."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.ladders import EMAIL, EMAIL_ELSEWHERE, SMS, LadderWorld, Wish, Worker
from tidings.contracts.delivery import DeliveryOutcome, DeliveryRoute, SkipStep, WaitStep
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT, time_of
from tidings.router.executions.snapshot import state_of
from tidings.sandbox.faults import FaultSpec


def strike(world: LadderWorld, adapter: str, mode: str, **more: Any) -> None:
    """A fault in the sandbox."""
    world.sandbox.faults.set(FaultSpec(adapter=adapter, mode=mode, **more))  # type: ignore[arg-type]


async def one(world: LadderWorld) -> DeliveryOutcome:
    """The only outcome, with nothing left under way."""
    (outcome,) = await world.outcomes()
    assert await world.live() == []
    return outcome


async def test_what_is_handed_over_is_delivered_and_told_once(world: LadderWorld, worker: Worker) -> None:
    begin = world.begin()
    await worker.send(world.tenant_id, [begin])

    outcome = await one(world)
    ids = begin.hand_off
    assert (outcome.notification_id, outcome.recipient_id) == (ids.notification_id, ids.recipient_id)
    assert (outcome.result, outcome.evidence, outcome.final_channel) == ("DELIVERED", "accepted", "email")
    (attempt,) = outcome.attempts
    (mail,) = world.sandbox.store.find()
    assert (attempt.step, attempt.vendor, attempt.status) == (1, "smtp", "accepted")
    assert attempt.provider_message_id == mail.id
    (proof,) = await world.rows("SELECT * FROM chan.delivery_outbox")
    assert (proof["execution_id"], proof["notification_id"]) == (outcome.execution_id, ids.notification_id)
    (row,) = await world.rows("SELECT * FROM chan.delivery_attempts")
    assert row["adapter_config_id"].startswith("adcfg_")
    assert row["started_at"] == time_of(row["id"])


async def test_a_ladder_is_known_while_it_waits_and_when_it_is_over(
    world: LadderWorld, worker: Worker
) -> None:
    strike(world, "smtp", "reject_temporary", count=1)
    begin = world.begin(EMAIL, EMAIL_ELSEWHERE)
    ids = begin.hand_off
    await worker.send(world.tenant_id, [begin])
    async with world.db.tenant(world.tenant_id) as tx:
        (waiting,) = (await world.history.of_notifications(tx, [ids.notification_id]))[ids.notification_id]
    await world.manual.advance(timedelta(seconds=10))
    await worker.due.drain()
    async with world.db.tenant(world.tenant_id) as tx:
        (over,) = (await world.history.of_notifications(tx, [ids.notification_id]))[ids.notification_id]
    async with world.db.tenant(TENANT.new(SystemClock().now())) as tx:
        strangers = await world.history.of_notifications(tx, [ids.notification_id])

    assert (waiting.strategy, waiting.routes) == ("FAILOVER", (EMAIL, EMAIL_ELSEWHERE))
    assert (waiting.result, waiting.ended_at) == (None, None)
    assert waiting.due_at is not None
    assert waiting.due_at > waiting.started_at
    assert [(a.status, a.reason) for a in waiting.attempts] == [("failed_temp", "4.3.0")]
    assert (over.result, over.due_at) == ("DELIVERED", None)
    assert [(a.step, a.vendor, a.status) for a in over.attempts] == [
        (1, "smtp", "failed_temp"),
        (1, "smtp", "accepted"),
    ]
    assert strangers == {}
    assert [a.status for a in (await one(world)).attempts] == ["failed_temp", "accepted"]


async def test_a_refusal_leads_to_the_next_vendor(world: LadderWorld, worker: Worker) -> None:
    """A vendor that says no for good is not asked again."""
    strike(world, "http", "reject_permanent")
    begin = world.begin(EMAIL_ELSEWHERE, EMAIL)
    await worker.send(world.tenant_id, [begin])
    await worker.due.drain()

    outcome = await one(world)
    assert [(a.vendor, a.status, a.reason) for a in outcome.attempts] == [
        ("http", "rejected_by_provider", "invalid_recipient"),
        ("smtp", "accepted", None),
    ]
    assert outcome.result == "DELIVERED"
    (ask,) = worker.preparer.asked
    assert (ask.step, ask.channel) == (2, "email")


async def test_a_wrong_address_is_wrong_at_every_vendor(world: LadderWorld, worker: Worker) -> None:
    """5.1.1: the fallback vendor of the same channel is not tried; another channel is."""
    strike(world, "smtp", "reject_permanent")
    await worker.send(world.tenant_id, [world.begin(EMAIL, EMAIL_ELSEWHERE)])
    await worker.due.drain()
    ended = await one(world)
    await worker.send(world.tenant_id, [world.begin(EMAIL, EMAIL_ELSEWHERE, SMS)])
    await worker.due.drain()

    assert (ended.result, ended.reason) == ("FAILED", "5.1.1")
    assert [(a.step, a.status, a.reason) for a in ended.attempts] == [
        (1, "failed_perm", "5.1.1"),
        (2, "step_skipped", "address_refused"),
    ]
    _, other = await world.outcomes()
    assert [(a.step, a.channel, a.status) for a in other.attempts] == [
        (1, "email", "failed_perm"),
        (2, "email", "step_skipped"),
        (3, "sms", "accepted"),
    ]
    assert (other.result, other.final_channel) == ("DELIVERED", "sms")


async def test_a_step_ends_when_its_budget_is_spent(world: LadderWorld, worker: Worker) -> None:
    strike(world, "smtp", "reject_temporary")
    begin = world.begin(EMAIL, EMAIL_ELSEWHERE, use_case="otp")
    await worker.send(world.tenant_id, [begin])
    for _ in range(10):
        await world.manual.advance(timedelta(seconds=8))
        await worker.due.drain()

    outcome = await one(world)
    assert [a.vendor for a in outcome.attempts] == ["smtp"] * 3 + ["http"]
    assert outcome.result == "DELIVERED"


async def test_a_vendor_that_asks_for_time_gets_it(world: LadderWorld, worker: Worker) -> None:
    strike(world, "http", "throttle", count=1, seconds=120)
    await worker.send(world.tenant_id, [world.begin(EMAIL_ELSEWHERE)])
    started = world.clock.now()

    (waiting,) = await world.live()
    assert timedelta(seconds=118) < waiting["due_at"] - started < timedelta(seconds=135)
    (leg,) = state_of(waiting["state"]).active_steps
    assert (waiting["claimed_by"], leg.open_attempt, leg.tries) == (None, None, 1)


async def test_nothing_is_sent_when_its_time_is_over(world: LadderWorld, worker: Worker) -> None:
    """Neither at once nor after a wait."""
    late = world.begin(expires_at=world.clock.now() - timedelta(seconds=1))
    strike(world, "smtp", "reject_temporary", count=1)
    waits = world.begin(expires_at=world.clock.now() + timedelta(minutes=1))
    await worker.send(world.tenant_id, [late, waits])
    await world.manual.advance(timedelta(minutes=2))
    await worker.due.drain()

    outcomes = await world.outcomes()
    assert [(o.result, o.reason, len(o.attempts)) for o in outcomes] == [
        ("FAILED", "expired", 0),
        ("FAILED", "expired", 1),
    ]
    assert len(world.sandbox.store) == 0
    assert worker.preparer.asked == []


async def test_no_way_at_all(world: LadderWorld, worker: Worker) -> None:
    hand_off = world.hand_off()
    (plan,) = await worker.router.plan([hand_off])
    assert plan.first is None
    await worker.send(world.tenant_id, [Wish(hand_off=hand_off)])

    outcome = await one(world)
    assert (outcome.result, outcome.reason, outcome.attempts) == ("REFUSED_NO_CHANNEL", "no_route", ())


async def test_steps_that_cannot_be_taken_are_told(world: LadderWorld, worker: Worker) -> None:
    """Each with its reason; the most telling one is the result."""
    hand_off = world.hand_off(SMS, EMAIL)
    consent = SkipStep(reason="consent_missing", result="REFUSED_CONSENT")
    worker.preparer.answers = {
        (hand_off.notification_id, 1): consent,
        (hand_off.notification_id, 2): SkipStep(reason="no_address", result="REFUSED_NO_CHANNEL"),
    }
    await worker.send(world.tenant_id, [Wish(hand_off=hand_off)])
    await worker.due.drain()

    outcome = await one(world)
    assert (outcome.result, outcome.reason) == ("REFUSED_CONSENT", "consent_missing")
    assert [(a.step, a.status, a.reason) for a in outcome.attempts] == [
        (1, "step_skipped", "consent_missing"),
        (2, "step_skipped", "no_address"),
    ]


async def test_a_skip_can_end_it_all(world: LadderWorld, worker: Worker) -> None:
    hand_off = world.hand_off(EMAIL, SMS)
    worker.preparer.answers[hand_off.notification_id, 1] = SkipStep(
        reason="cancelled", result="FAILED", ends=True
    )
    await worker.send(world.tenant_id, [Wish(hand_off=hand_off)])
    await worker.due.drain()

    outcome = await one(world)
    assert (outcome.result, outcome.reason, len(outcome.attempts)) == ("FAILED", "cancelled", 1)


async def test_a_step_can_wait(world: LadderWorld, worker: Worker) -> None:
    """Hours, without an attempt, and without its clock running."""
    hand_off = world.hand_off(EMAIL)
    until = world.clock.now() + timedelta(hours=8)
    worker.preparer.answers[hand_off.notification_id, 1] = WaitStep(until=until, reason="quiet_hours")
    await worker.send(world.tenant_id, [Wish(hand_off=hand_off)])
    await worker.due.drain()
    (waiting,) = await world.live()
    worker.preparer.answers.clear()
    await world.manual.advance(timedelta(hours=8))
    await worker.due.drain()

    (leg,) = state_of(waiting["state"]).active_steps
    assert (waiting["due_at"], leg.tries, leg.deadline_at) == (until, 0, None)
    outcome = await one(world)
    assert [a.status for a in outcome.attempts] == ["accepted"]


async def test_one_ladder_for_each_notification_and_recipient(world: LadderWorld, worker: Worker) -> None:
    strike(world, "smtp", "reject_temporary", count=1)
    begin = world.begin()
    await worker.send(world.tenant_id, [begin])
    await worker.send(world.tenant_id, [begin])

    assert len(await world.live()) == 1
    assert await world.attempts_of(begin.hand_off.notification_id) == [(1, "failed_temp", "4.3.0")]


async def test_what_could_not_be_prepared_is_tried_again(world: LadderWorld, worker: Worker) -> None:
    worker.preparer.fails = RuntimeError("notify has stumbled")
    await worker.send(world.tenant_id, [Wish(hand_off=world.hand_off(EMAIL))])
    await worker.due.drain()
    (waiting,) = await world.live()
    worker.preparer.fails = None
    await world.manual.advance(timedelta(seconds=6))
    await worker.due.drain()

    (leg,) = state_of(waiting["state"]).active_steps
    assert (waiting["claimed_by"], leg.tries) == (None, 0)
    assert (await one(world)).result == "DELIVERED"


@pytest.mark.parametrize(
    ("route", "to", "result_and_status"),
    [
        (EMAIL, "delivered@simulator.tidings.test", ("DELIVERED", "accepted")),
        (EMAIL, "bounce+tag@simulator.tidings.test", ("FAILED", "failed_perm")),
        (EMAIL, "refused@simulator.tidings.test", ("FAILED", "rejected_by_provider")),
        (EMAIL, "later@simulator.tidings.test", (None, "failed_temp")),
        (EMAIL, "unlearned@simulator.tidings.test", (None, "timed_out")),
        (SMS, "+15005550001", ("DELIVERED", "accepted")),
        (SMS, "+15005550002", ("FAILED", "failed_perm")),
        (SMS, "+15005550003", ("FAILED", "rejected_by_provider")),
        (SMS, "+15005550004", (None, "failed_temp")),
        (SMS, "+15005550005", (None, "timed_out")),
    ],
)
async def test_simulated_addresses(
    world: LadderWorld,
    worker: Worker,
    route: DeliveryRoute,
    to: str,
    result_and_status: tuple[str | None, str],
) -> None:
    """Fixed outcomes that reach no vendor."""
    result, status = result_and_status
    begin = world.begin(route, to=to)
    await worker.send(world.tenant_id, [begin])

    outcomes = await world.outcomes()
    assert [outcome.result for outcome in outcomes] == ([result] if result else [])
    assert [a[1] for a in await world.attempts_of(begin.hand_off.notification_id)] == [status]
    (row,) = await world.rows("SELECT provider, adapter_config_id FROM chan.delivery_attempts")
    assert row == {"provider": "simulated", "adapter_config_id": None}
    assert len(world.sandbox.store) == 0


async def test_test_messages_reach_no_vendor(world: LadderWorld, worker: Worker) -> None:
    """Whatever the address; beside them the others do."""
    await worker.send(world.tenant_id, [world.begin(is_test=True), world.begin()])

    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"] * 2
    assert len(world.sandbox.store) == 1
