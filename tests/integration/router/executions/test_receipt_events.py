"""Receipts that concern more than their ladder are announced, each once, with what they mean for the address."""

from tests.integration.router.executions.test_ladders import BY_SMS, attempts, begun, heard
from tests.support.ladders import LadderWorld, Worker
from tidings.router.ids import INBOUND_WEBHOOK_EVENT


async def test_what_was_heard_is_told_once(world: LadderWorld, worker: Worker) -> None:
    """While the ladder is under way and after its end; that it was sent or delivered is the outcome's to tell."""
    await world.policy("otp", BY_SMS)
    wish = await begun(world, worker)
    (made,) = await attempts(world)
    await heard(world, worker, "sms", "sent")
    await heard(world, worker, "sms", "delivered_read")
    await heard(world, worker, "sms", "complaint", effect="complaint", provider_code="spam")
    again = {"id": INBOUND_WEBHOOK_EVENT.new(world.clock.now()), "effect": "hard_bounce"}
    await heard(world, worker, "sms", "bounced", **again)
    await heard(world, worker, "sms", "bounced", **again)

    told = await world.told()

    assert [(one.status, one.effect, one.code) for one in told] == [
        ("delivered_read", None, None),
        ("complaint", "complaint", "spam"),
        ("bounced", "hard_bounce", None),
    ]
    assert {one.notification_id for one in told} == {wish.hand_off.notification_id}
    assert {one.recipient_id for one in told} == {wish.hand_off.recipient_id}
    assert {
        (one.attempt_id, one.execution_id, one.channel, one.vendor, one.attempted_at) for one in told
    } == {(made["id"], made["execution_id"], "sms", made["provider"], made["started_at"])}


async def test_an_effect_is_told_whatever_the_status(world: LadderWorld, worker: Worker) -> None:
    """A failure that says that nobody has this number."""
    await world.policy("otp", BY_SMS)
    await begun(world, worker)
    await heard(world, worker, "sms", "failed_perm", effect="invalid_address", provider_code="30003")

    (told,) = await world.told()

    assert (told.status, told.effect, told.code) == ("failed_perm", "invalid_address", "30003")
    (outcome,) = await world.outcomes()
    assert outcome.result == "FAILED"


async def test_a_failure_is_told_once_all_is_over(world: LadderWorld, worker: Worker) -> None:
    """The message counts as delivered, because a vendor took it that was not known to send receipts."""
    await world.policy("otp", BY_SMS)
    await begun(world, worker)
    await heard(world, worker, "sms", "rejected_by_provider", provider_code="30007")

    (told,) = await world.told()

    assert (told.status, told.effect, told.code) == ("rejected_by_provider", None, "30007")


async def test_of_a_failure_after_its_arrival_both_are_told(world: LadderWorld, worker: Worker) -> None:
    """That it arrived was said when all was over, and only the router knows."""
    await world.policy("otp", BY_SMS)
    await begun(world, worker)
    await heard(world, worker, "sms", "sent")
    await heard(world, worker, "sms", "failed_temp")
    await heard(world, worker, "sms", "delivered")
    await heard(world, worker, "sms", "failed_perm")

    told = await world.told()

    assert [(one.status, one.arrived) for one in told] == [("failed_temp", False), ("failed_perm", True)]


async def test_a_failure_that_a_ladder_waits_for_is_the_outcomes_to_tell(
    world: LadderWorld, worker: Worker
) -> None:
    await world.vendor("http_sms")
    await world.policy("otp", BY_SMS)
    await begun(world, worker)
    await heard(world, worker, "sms", "failed_perm", provider_code="30007")

    assert await world.told() == []
    (outcome,) = await world.outcomes()
    assert (outcome.result, outcome.reason) == ("FAILED", "failed_perm")
