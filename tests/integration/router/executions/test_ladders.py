"""Ladders of policies: receipts move them, clocks end their steps, and there is one outcome."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.support.ladders import LadderWorld, Wish, Worker
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.delivery import DeliveryOutcome, DeliveryRoute
from tidings.contracts.prices import PriceModel
from tidings.router.executions.jobs import DUE_EXECUTIONS
from tidings.router.executions.snapshot import state_of
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.policies.model import Conditions, PolicyStep
from tidings.router.profiles import store as profiles

WHATSAPP = DeliveryRoute(channel="whatsapp", vendor="http_whatsapp")
SMS = DeliveryRoute(channel="sms", vendor="http_sms")
VOICE = DeliveryRoute(channel="voice", vendor="http_voice")
MAIL = DeliveryRoute(channel="email", vendor="smtp")
ALL = (WHATSAPP, SMS, VOICE, MAIL)

ON_WHATSAPP = PolicyStep(channel="whatsapp", deadline_seconds=60)
BY_SMS = PolicyStep(channel="sms", deadline_seconds=30, retry_budget=0)
BY_MAIL = PolicyStep(channel="email", deadline_seconds=600)


@pytest.fixture
async def world(world: LadderWorld) -> LadderWorld:
    """With vendors that send receipts and charge for what they take."""
    for vendor, micros in (("http_whatsapp", 8_000), ("http_sms", 50_000), ("http_voice", 90_000)):
        await world.vendor(vendor, prices=PriceModel(currency="USD", base_micros=micros))
    return world


async def begun(world: LadderWorld, worker: Worker, **more: Any) -> Wish:
    """A message for `otp` under way; its first step is sent, where it can be."""
    wish = world.begin(*ALL, use_case="otp", to="+93700000001", **more)
    worker.preparer.number = "+93700000001"
    await worker.send(world.tenant_id, [wish])
    await worker.due.drain()
    return wish


async def attempts(world: LadderWorld) -> list[dict[str, Any]]:
    """Vendor calls that were answered, in order."""
    return await world.rows(
        "SELECT * FROM chan.delivery_attempts WHERE provider IS NOT NULL ORDER BY started_at, step_index, id"
    )


async def heard(world: LadderWorld, worker: Worker, channel: str, status: Canonical, **more: Any) -> None:
    """The newest attempt on that channel came to that; and what follows is done."""
    made = [one for one in await attempts(world) if one["channel"] == channel]
    await world.hear(worker, made[-1], status, **more)
    await worker.due.drain()


async def later(world: LadderWorld, worker: Worker, seconds: float) -> None:
    await world.manual.advance(timedelta(seconds=seconds))
    await worker.due.drain()


async def the_outcome(world: LadderWorld) -> DeliveryOutcome:
    (outcome,) = await world.outcomes()
    assert await world.live() == []
    return outcome


async def test_whatsapp_unreachable_sms_too_late_mail_delivers(world: LadderWorld, worker: Worker) -> None:
    policy = await world.policy("otp", ON_WHATSAPP, BY_SMS, BY_MAIL)
    wish = await begun(world, worker)
    await heard(world, worker, "whatsapp", "rejected_by_recipient", provider_code="131026")
    await later(world, worker, 30)

    outcome = await the_outcome(world)
    assert (outcome.result, outcome.final_channel, outcome.evidence) == ("DELIVERED", "email", "accepted")
    async with world.db.tenant(world.tenant_id) as tx:
        found = await world.history.of_notifications(tx, [wish.hand_off.notification_id])
    (ladder,) = found[wish.hand_off.notification_id]
    assert (ladder.policy_id, ladder.policy_version) == (policy.id, 1)
    assert [
        (a.channel, a.status, [r.status for r in a.receipts], a.cost_micros) for a in ladder.attempts
    ] == [
        ("whatsapp", "accepted", ["rejected_by_recipient"], 8_000),
        ("sms", "accepted", ["timed_out"], 50_000),
        ("email", "accepted", [], 0),
    ]
    assert (ladder.cost_spent_micros, ladder.cost_currency) == (58_000, "USD")


async def test_a_receipt_ends_it(world: LadderWorld, worker: Worker) -> None:
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    wish = await begun(world, worker)
    (waiting,) = await world.live()
    await heard(world, worker, "whatsapp", "sent")
    assert len(await world.live()) == 1
    async with world.db.tenant(world.tenant_id) as tx:
        found = await world.history.of_notifications(tx, [wish.hand_off.notification_id])
    assert [ladder.waits_for for ladder in found[wish.hand_off.notification_id]] == ["receipt"]
    await heard(world, worker, "whatsapp", "delivered")

    assert waiting["due_at"] == state_of(waiting["state"]).active_steps[0].deadline_at
    outcome = await the_outcome(world)
    assert (outcome.result, outcome.evidence) == ("DELIVERED", "delivered")
    assert [a.status for a in outcome.attempts] == ["delivered"]
    assert len(world.sandbox.store) == 1


async def test_a_late_delivery_stops_the_ladder_and_is_told_once(world: LadderWorld, worker: Worker) -> None:
    """While the next step waits for its own receipt; after the end it is kept and changes nothing."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS, BY_MAIL)
    await begun(world, worker)
    await later(world, worker, 60)
    assert [one["channel"] for one in await attempts(world)] == ["whatsapp", "sms"]
    await heard(world, worker, "whatsapp", "delivered")
    outcome = await the_outcome(world)
    await later(world, worker, 1)
    await heard(world, worker, "sms", "delivered")
    await later(world, worker, 1)
    await heard(world, worker, "sms", "bounced")

    assert (outcome.result, outcome.final_channel) == ("DELIVERED", "whatsapp")
    assert await world.outcomes() == [outcome]
    events = await world.rows(
        "SELECT status, late FROM chan.delivery_attempt_events ORDER BY recorded_at, id"
    )
    assert [(e["status"], e["late"]) for e in events] == [
        ("timed_out", False),
        ("delivered", True),
        ("delivered", True),
        ("bounced", True),
    ]


async def test_a_message_that_was_taken_in_vain_is_another_the_next_time(
    world: LadderWorld, worker: Worker
) -> None:
    """Or a vendor that drops repeats would answer from memory, and send nothing."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    await begun(world, worker)
    await heard(world, worker, "whatsapp", "failed_temp")
    await later(world, worker, 10)

    assert [(ask.step, ask.taken) for ask in worker.preparer.asked] == [(1, 1)]


async def test_the_same_receipt_twice(world: LadderWorld, worker: Worker) -> None:
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    await begun(world, worker)
    (attempt,) = await attempts(world)
    one = INBOUND_WEBHOOK_EVENT.new(world.clock.now())
    first = await world.hear(worker, attempt, "sent", id=one)
    second = await world.hear(worker, attempt, "sent", id=one)

    assert (set(first.fresh), first.woken) == ({str(one)}, True)
    assert (list(second.fresh), second.woken) == ([], False)
    (row,) = await world.live()
    assert row["receipts"] == 1


async def test_a_receipt_that_waited_for_the_row_wakes_its_ladder(world: LadderWorld, worker: Worker) -> None:
    """Somebody is writing the row when it comes."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    await begun(world, worker)
    (attempt,) = await attempts(world)
    (before,) = await world.live()
    async with world.db.tenant(world.tenant_id, by_index=True) as tx:
        await tx.connection.execute("UPDATE chan.executions_live SET version = version + 1")
        hearing = asyncio.create_task(world.hear(worker, attempt, "delivered"))
        while not await _somebody_waits(world):
            await asyncio.sleep(0.01)
    await hearing
    (after,) = await world.live()
    await worker.due.drain()

    assert (after["receipts"], after["version"]) == (1, before["version"] + 2)
    assert (await the_outcome(world)).result == "DELIVERED"


async def _somebody_waits(world: LadderWorld) -> bool:
    async with world.db.worker() as tx:
        return bool(await tx.connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))


async def test_a_receipt_during_the_next_call_is_heard_before_its_answer_is_written(
    world: LadderWorld, worker: Worker
) -> None:
    """The vendor of the second step refuses; meanwhile the first one has delivered."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    await begun(world, worker)
    (first,) = await attempts(world)
    send = worker.vendors.send_through

    async def send_and_hear(*args: Any, **more: Any) -> Any:
        await world.hear(worker, first, "delivered")
        return await send(*args, **more)

    worker.vendors.send_through = send_and_hear  # type: ignore[method-assign]
    await later(world, worker, 60)

    outcome = await the_outcome(world)
    assert (outcome.result, outcome.final_channel) == ("DELIVERED", "whatsapp")
    assert [(a.channel, a.status) for a in outcome.attempts] == [
        ("whatsapp", "delivered"),
        ("sms", "accepted"),
    ]


async def test_nothing_is_sent_after_a_known_delivery(world: LadderWorld, worker: Worker) -> None:
    """It comes while the next step is being prepared: the call is not made."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    await begun(world, worker)
    (first,) = await attempts(world)
    prepare = worker.preparer.prepare

    async def prepare_and_hear(*args: Any) -> Any:
        await world.hear(worker, first, "delivered")
        return await prepare(*args)

    worker.preparer.prepare = prepare_and_hear  # type: ignore[method-assign,assignment]
    await later(world, worker, 60)

    assert (await the_outcome(world)).final_channel == "whatsapp"
    assert len(world.sandbox.store) == 1


async def test_side_by_side_the_first_delivery_wins(world: LadderWorld, worker: Worker) -> None:
    await world.policy("otp", ON_WHATSAPP, BY_SMS, strategy="PARALLEL")
    await begun(world, worker)
    assert {one["channel"] for one in await attempts(world)} == {"whatsapp", "sms"}
    await heard(world, worker, "sms", "delivered")

    outcome = await the_outcome(world)
    assert (outcome.result, outcome.final_channel) == ("DELIVERED", "sms")
    (row,) = await world.rows("SELECT total_cost_micros, strategy FROM chan.fallback_executions")
    assert row == {"total_cost_micros": 58_000, "strategy": "PARALLEL"}


async def test_a_step_that_is_too_dear_is_skipped(world: LadderWorld, worker: Worker) -> None:
    """What was spent counts; a cheaper step behind it is taken."""
    by_voice = PolicyStep(channel="voice", deadline_seconds=30)
    await world.policy("otp", ON_WHATSAPP, by_voice, BY_SMS, cost_cap_micros=60_000)
    await begun(world, worker)
    await later(world, worker, 60)
    (row,) = await world.live()
    await later(world, worker, 30)

    assert (row["cost_spent_micros"], row["cost_reserved_micros"]) == (58_000, 0)
    outcome = await the_outcome(world)
    assert [(a.channel, a.status, a.reason) for a in outcome.attempts] == [
        ("whatsapp", "accepted", None),
        ("voice", "step_skipped", "cost_cap"),
        ("sms", "accepted", None),
    ]
    assert (outcome.result, outcome.reason) == ("FAILED", "not_in_time")


async def test_all_too_dear(world: LadderWorld, worker: Worker) -> None:
    await world.policy("otp", ON_WHATSAPP, BY_SMS, cost_cap_micros=7_999)
    await begun(world, worker)

    outcome = await the_outcome(world)
    assert (outcome.result, outcome.reason) == ("REFUSED_COST_CAP", "cost_cap")
    assert len(world.sandbox.store) == 0


async def test_a_price_that_cannot_be_put_into_the_currency_of_the_cap(
    world: LadderWorld, worker: Worker
) -> None:
    await world.policy("otp", ON_WHATSAPP, cost_cap_micros=1_000_000, cost_cap_currency="AFN")
    await begun(world, worker)

    assert (await the_outcome(world)).result == "REFUSED_COST_CAP"


async def test_conditions_are_looked_at_in_their_time(world: LadderWorld, worker: Worker) -> None:
    await world.policy(
        "otp",
        PolicyStep(channel="voice", deadline_seconds=30, conditions=Conditions(priorities=("critical",))),
        PolicyStep(channel="whatsapp", deadline_seconds=30, conditions=Conditions(prefixes=("+49",))),
        BY_MAIL,
    )
    await begun(world, worker)

    outcome = await the_outcome(world)
    assert [(a.channel, a.reason) for a in outcome.attempts] == [
        ("voice", "condition_priority"),
        ("whatsapp", "condition_prefix"),
        ("email", None),
    ]


async def test_a_channel_that_was_asked_for_is_not_the_policys_to_choose(
    world: LadderWorld, worker: Worker
) -> None:
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    wish = world.begin(SMS, use_case="otp", to="+93700000001", channel="sms")
    await worker.send(world.tenant_id, [wish])

    outcome = await the_outcome(world)
    assert (outcome.result, outcome.final_channel, outcome.evidence) == ("DELIVERED", "sms", "accepted")


async def test_a_changed_policy_does_not_touch_a_ladder_under_way(world: LadderWorld, worker: Worker) -> None:
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    await begun(world, worker)
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute("UPDATE chan.fallback_policies SET deleted_at = now()")
    await world.policy("otp", BY_MAIL)
    await later(world, worker, 60)

    assert [one["channel"] for one in await attempts(world)] == ["whatsapp", "sms"]


async def test_what_happened_is_learned(world: LadderWorld, worker: Worker) -> None:
    """From receipts in time, from their lack, and from those that come when all is over."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    wish = await begun(world, worker)
    await heard(world, worker, "whatsapp", "rejected_by_recipient")
    await later(world, worker, 30)
    await heard(world, worker, "sms", "delivered")
    async with world.db.tenant(world.tenant_id) as tx:
        profile = (await profiles.load(tx, [wish.hand_off.recipient_id]))[wish.hand_off.recipient_id]

    await later(world, worker, 1)
    await heard(world, worker, "sms", "delivered_read")
    async with world.db.tenant(world.tenant_id) as tx:
        same = (await profiles.load(tx, [wish.hand_off.recipient_id]))[wish.hand_off.recipient_id]

    assert profile.has_whatsapp_business == "KNOWN_NO"
    assert profile.score("whatsapp") < 0.5
    assert profile.channels["sms"].observations == 2
    # What was read had arrived already: that is not learned twice.
    assert same.channels["sms"].observations == 2


async def test_a_learned_order(world: LadderWorld, worker: Worker) -> None:
    """After WhatsApp has failed five times SMS comes first, and the ladder says why."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS, order="learned")
    recipient = world.hand_off().recipient_id
    for _ in range(6):
        wish = world.begin(*ALL, use_case="otp", to="+93700000001")
        hand_off = wish.hand_off
        object.__setattr__(hand_off, "recipient_id", recipient)
        await worker.send(world.tenant_id, [wish])
        await worker.due.drain()
        if [one["channel"] for one in await attempts(world)][-1] == "whatsapp":
            await heard(world, worker, "whatsapp", "rejected_by_recipient")
        await heard(world, worker, "sms", "delivered")
        await later(world, worker, 1)
    async with world.db.tenant(world.tenant_id) as tx:
        found = await world.history.of_notifications(tx, [wish.hand_off.notification_id])
    (ladder,) = found[wish.hand_off.notification_id]

    assert [step.channel for step in ladder.steps] == ["sms", "whatsapp"]
    assert ladder.order == "learned"
    assert all(step.index is not None for step in ladder.steps)
    frozen = await _value_of_a_second(world, wish.hand_off.notification_id)
    assert frozen == 1_000, "the default for codes, frozen with the ladder"


async def _value_of_a_second(world: LadderWorld, notification_id: str) -> int | None:
    async with world.db.tenant(world.tenant_id) as tx:
        value: int | None = await tx.connection.fetchval(
            "SELECT (snapshot ->> 'value_of_a_second')::int FROM ("
            "SELECT ladder_snapshot::jsonb AS snapshot FROM chan.fallback_executions WHERE notification_id = $1 UNION ALL "
            "SELECT ladder_snapshot::jsonb FROM chan.executions_live WHERE notification_id = $1) AS kept",
            notification_id,
        )
    return value


async def test_what_is_heard_of_a_call_is_learned(world: LadderWorld, worker: Worker) -> None:
    """A code that was read out, or a telephone that takes none, is known for certain from then on."""
    await world.policy("otp", PolicyStep(channel="voice", deadline_seconds=30))
    known = []
    for status in ("delivered", "rejected_by_recipient"):
        wish = await begun(world, worker)
        await heard(world, worker, "voice", status)
        await later(world, worker, 1)
        async with world.db.tenant(world.tenant_id) as tx:
            profile = (await profiles.load(tx, [wish.hand_off.recipient_id]))[wish.hand_off.recipient_id]
        known.append((profile.voice_otp_supported, profile.reachable("voice")))

    assert known == [("KNOWN_YES", "KNOWN_YES"), ("KNOWN_NO", "KNOWN_NO")]


async def test_several_ladders_with_one_statement_each(world: LadderWorld, worker: Worker) -> None:
    """Receipts of a set are one statement, whoever they are of."""
    await world.policy("otp", ON_WHATSAPP, BY_SMS)
    wishes = [world.begin(*ALL, use_case="otp", to="+93700000001") for _ in range(50)]
    await worker.send(world.tenant_id, wishes)
    for attempt in await attempts(world):
        await world.hear(worker, attempt, "delivered")
    await worker.due.drain()

    assert [o.result for o in await world.outcomes()] == ["DELIVERED"] * 50
    async with world.db.worker() as tx:
        assert await DUE_EXECUTIONS.next_due(tx, now=world.clock.now()) is None
