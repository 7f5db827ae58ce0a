"""Bounces: a notification is `bounced` if it was that message that delivered it, in whatever order things are heard."""

from datetime import timedelta
from itertools import permutations

import pytest

from tests.integration.receipts.world import ReceiptsWorld, again
from tests.support.people import rows, told
from tidings.kernel.ids import time_of
from tidings.router.state_machine.model import ATTEMPT

COUNTED = "SELECT name, sum(n)::int AS n FROM notification.counters GROUP BY name ORDER BY name"
LOG = (
    "SELECT outcome, error_code, router_attempt_id FROM notification.delivery_attempts "
    "WHERE notification_id = $1 ORDER BY outcome"
)
MOMENTS = (
    "SELECT failure_reason, bounced_at, delivered_at FROM notification.notifications "
    "WHERE created_at = $1 AND id = $2"
)
EARLY = "SELECT notification_id FROM notification.early_bounces"


async def test_every_order_leads_to_the_same(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    for order in permutations(range(3)):
        sent = await world.sent(tenant.id, person)
        bounce = world.receipt(sent, "bounced", "hard_bounce")
        events = [world.outcome(sent), bounce, again(bounce)]

        await world.hear(tenant.id, [events[place] for place in order])

        assert await world.status(sent) == "bounced"
        moved = [
            subject
            for subject, event in await told(world.db, tenant.id, "notification.")
            if event["notification_id"] == sent.id
        ]
        assert sorted(moved) == ["notification.bounced.v1", "notification.delivered.v1"]
        log = [tuple(row.values()) for row in await rows(world.db, tenant.id, LOG, sent.id)]
        assert log == [("bounced", "5.1.1", sent.attempt_id)]
        [row] = await rows(world.db, tenant.id, MOMENTS, time_of(sent.id), sent.id)
        assert (row["failure_reason"], row["bounced_at"]) == ("hard_bounce", world.clock.now())
        assert row["delivered_at"] is not None

    assert [tuple(row.values()) for row in await rows(world.db, tenant.id, COUNTED)] == [
        ("bounced", 6),
        ("delivered", 6),
    ]
    assert await rows(world.db, tenant.id, EARLY) == []
    assert [reason for _, reason, _, _ in await world.suppressed(tenant.id)] == ["hard_bounce"]


@pytest.mark.parametrize(("number", "becomes"), [(1, "delivered"), (2, "bounced")])
async def test_a_row_of_before_finds_what_delivered_it_in_the_log(
    world: ReceiptsWorld, number: int, becomes: str
) -> None:
    """It does not name the attempt; its calls were logged, and the last one that a vendor took is the one."""
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    await world.hear(tenant.id, [world.outcome(sent)])
    other = ATTEMPT.new(world.clock.now())
    async with world.db.tenant(tenant.id) as tx:
        await tx.connection.execute(
            "UPDATE notification.notifications SET delivering_attempt_id = NULL WHERE id = $1", sent.id
        )
        for attempt, place in ((sent.attempt_id, number), (other, 3 - number)):
            await tx.connection.execute(
                "INSERT INTO notification.delivery_attempts (tenant_id, id, started_at, attempt_number, notification_id, "
                "router_attempt_id, channel, vendor, outcome) VALUES ($1, $2, $3, $4, $5, $6, 'email', 'smtp', 'accepted')",
                *(tenant.id, f"dat_{attempt[-26:]}", time_of(attempt), place, sent.id, attempt),
            )

    await world.hear(tenant.id, [world.receipt(sent, "bounced", "hard_bounce")])

    assert await world.status(sent) == becomes


@pytest.mark.parametrize(
    "status", ["failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient"]
)
@pytest.mark.parametrize("evidence", ["accepted", "sent"])
async def test_what_was_only_taken_over_and_then_failed_does_not_stand_as_delivered(
    world: ReceiptsWorld, status: str, evidence: str
) -> None:
    """In every order, however often it is told, and announced once."""
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    for order in permutations(range(3)):
        sent = await world.sent(tenant.id, person)
        failure = world.receipt(sent, status)
        events = [world.outcome(sent, evidence=evidence), failure, again(failure)]

        await world.hear(tenant.id, [events[place] for place in order])

        assert await world.status(sent) == "bounced"
        [row] = await rows(world.db, tenant.id, MOMENTS, time_of(sent.id), sent.id)
        assert (row["failure_reason"], row["bounced_at"]) == (status, world.clock.now())
        assert row["delivered_at"] is not None
    moved = [subject for subject, _ in await told(world.db, tenant.id, "notification.")]
    assert sorted(moved) == ["notification.bounced.v1"] * 6 + ["notification.delivered.v1"] * 6
    assert await rows(world.db, tenant.id, EARLY) == []
    assert await world.suppressed(tenant.id) == []


@pytest.mark.parametrize("failure_first", [True, False])
@pytest.mark.parametrize("evidence", ["delivered", "read"])
async def test_what_a_vendor_said_to_have_arrived_is_believed(
    world: ReceiptsWorld, evidence: str, failure_first: bool
) -> None:
    """A failure that is told beside it is kept, and changes nothing; a bounce would."""
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    done = world.outcome(sent, world.attempted(sent, status="delivered"), evidence=evidence)
    failure = world.receipt(sent, "failed_perm")

    await world.hear(tenant.id, [failure, done] if failure_first else [done, failure])

    assert await world.status(sent) == "delivered"
    log = [row["outcome"] for row in await rows(world.db, tenant.id, LOG, sent.id)]
    assert log == ["rejected_terminal"]
    assert await rows(world.db, tenant.id, EARLY) == []

    await world.hear(tenant.id, [world.receipt(sent, "bounced")])

    assert await world.status(sent) == "bounced"


@pytest.mark.parametrize("how", ["said before", "read before", "read at once", "read while it waits"])
async def test_what_arrived_after_all_was_over_is_believed_too(world: ReceiptsWorld, how: str) -> None:
    """It counts as delivered because a vendor took it; what the vendor says afterwards is no part of the outcome."""
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    done, read = world.outcome(sent), world.receipt(sent, "delivered_read")
    failure = world.receipt(sent, "failed_perm", "invalid_address", arrived=how == "said before")

    if how == "read at once":
        await world.hear(tenant.id, [done])
        await world.hear_set(tenant.id, [failure, read])
    else:
        early = how == "read while it waits"
        await world.hear(tenant.id, [failure, read, done] if early else [done])
        await world.hear(tenant.id, {"read before": [read, failure], "said before": [failure]}.get(how, []))

    assert await world.status(sent) == "delivered"
    assert await rows(world.db, tenant.id, EARLY) == []
    # What it says of the address holds all the same.
    assert [reason for _, reason, _, _ in await world.suppressed(tenant.id)] == ["invalid_address"]


@pytest.mark.parametrize("failure_first", [True, False])
async def test_of_a_failure_and_a_bounce_that_wait_the_bounce_is_told(
    world: ReceiptsWorld, failure_first: bool
) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    failure, bounce = world.receipt(sent, "failed_perm"), world.receipt(sent, "bounced", "soft_bounce")
    early = [failure, bounce] if failure_first else [bounce, failure]

    await world.hear(tenant.id, [*early, world.outcome(sent)])

    [row] = await rows(world.db, tenant.id, MOMENTS, time_of(sent.id), sent.id)
    assert (await world.status(sent), row["failure_reason"]) == ("bounced", "soft_bounce")


@pytest.mark.parametrize("bounce_first", [True, False])
async def test_a_bounce_of_another_attempt_changes_no_status(
    world: ReceiptsWorld, bounce_first: bool
) -> None:
    """The mail came back, and the text message had arrived by then."""
    tenant = await world.tenant()
    person = await world.recipient(tenant.id, ("email", "two@example.test"), ("sms", "+93701234567"))
    sent = await world.sent(tenant.id, person)
    by_sms = world.attempted(
        sent, id=ATTEMPT.new(time_of(sent.id)), step=2, channel="sms", vendor="http", status="delivered"
    )
    done = world.outcome(sent, world.attempted(sent), by_sms, final_channel="sms", evidence="delivered")
    bounce = world.receipt(sent, "bounced", "hard_bounce")

    await world.hear(tenant.id, [bounce, done] if bounce_first else [done, bounce])

    assert await world.status(sent) == "delivered"
    assert [channel for channel, *_ in await world.suppressed(tenant.id)] == ["email"]
    assert await rows(world.db, tenant.id, EARLY) == []


@pytest.mark.parametrize("bounce_first", [True, False])
async def test_what_failed_stays_failed(world: ReceiptsWorld, bounce_first: bool) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    failed = world.outcome(sent, result="FAILED", evidence=None, final_channel=None, reason="bounced")
    bounce = world.receipt(sent, "bounced")

    await world.hear(tenant.id, [bounce, failed] if bounce_first else [failed, bounce])

    assert await world.status(sent) == "failed"
    assert await rows(world.db, tenant.id, EARLY) == []
    assert await world.suppressed(tenant.id) == []


async def test_a_receipt_of_nothing_that_is_known_is_passed_over(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    sent = await world.sent(tenant.id, person)
    await world.clock.advance(timedelta(milliseconds=5))
    other = await world.sent(tenant.id, person)
    async with world.db.tenant(tenant.id) as tx:
        # Its month was dropped.
        await tx.connection.execute(
            "UPDATE notification.notifications SET tenant_id = tenant_id, id = 'ntf_' || repeat('0', 26) WHERE id = $1",
            other.id,
        )

    await world.hear_set(
        tenant.id, [world.receipt(other, "bounced", "hard_bounce"), world.receipt(sent, "opened")]
    )

    every = "SELECT notification_id, outcome FROM notification.delivery_attempts"
    log = [tuple(row.values()) for row in await rows(world.db, tenant.id, every)]
    assert log == [(sent.id, "opened")]
    assert await world.suppressed(tenant.id) == []
