"""Read, opened, clicked, as vendors tell it: no status, the first time of each is kept and told."""

from datetime import timedelta
from typing import Any

from tests.integration.receipts.world import ReceiptsWorld, Sent, again
from tests.support.people import rows, told
from tidings.kernel.ids import time_of

LOG = "SELECT outcome FROM notification.delivery_attempts WHERE attempt_number = 0 ORDER BY id"


async def _moments(world: ReceiptsWorld, sent: Sent) -> dict[str, Any]:
    query = "SELECT status, read_at, opened_at, clicked_at FROM notification.notifications WHERE id = $1 AND created_at = $2"
    return (await rows(world.db, sent.tenant_id, query, sent.id, time_of(sent.id)))[0]


async def test_the_first_of_each_is_kept_and_told(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))
    earlier = world.clock.now() + timedelta(minutes=1)
    await world.clock.advance(timedelta(hours=1))
    opened = world.receipt(sent, "opened")
    late = world.receipt(sent, "opened", occurred_at=earlier)
    ahead = world.receipt(sent, "clicked", occurred_at=world.clock.now() + timedelta(hours=5))
    read = world.receipt(sent, "delivered_read")

    # Opened before the outcome was heard, and told twice.
    await world.hear(tenant.id, [opened, world.outcome(sent), again(opened)])
    await world.hear_set(tenant.id, [late, ahead, read])
    await world.hear_set(tenant.id, [late, ahead, read, opened])

    assert await _moments(world, sent) == {
        "status": "delivered",
        "read_at": world.clock.now(),
        "opened_at": earlier,
        # A vendor's clock that is ahead counts no further than ours.
        "clicked_at": world.clock.now(),
    }
    events = [
        (subject, event)
        for subject, event in await told(world.db, tenant.id, "notification.")
        if subject != "notification.delivered.v1"
    ]
    assert sorted(subject for subject, _ in events) == [
        "notification.clicked.v1",
        "notification.opened.v1",
        "notification.read.v1",
    ]
    by_subject = dict(events)
    assert by_subject["notification.opened.v1"]["source"] == "vendor"
    assert by_subject["notification.opened.v1"]["attempt_id"] == sent.attempt_id
    counted = await rows(
        world.db,
        tenant.id,
        "SELECT name, n FROM notification.counters WHERE name NOT IN ('delivered') ORDER BY name",
    )
    assert [tuple(row.values()) for row in counted] == [("clicked", 1), ("opened", 1), ("read", 1)]
    log = [row["outcome"] for row in await rows(world.db, tenant.id, LOG)]
    assert sorted(log) == ["clicked", "delivered", "opened", "opened"]


async def test_of_somebody_who_was_erased_nothing_is_learned(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    sent = await world.sent(tenant.id, person)
    await world.hear(tenant.id, [world.outcome(sent)])
    async with world.db.tenant(tenant.id, by_index=True) as tx:
        await world.system.notify.eraser.erase(tx, person, actor="test")

    await world.hear_set(
        tenant.id, [world.receipt(sent, "opened"), world.receipt(sent, "bounced", "hard_bounce")]
    )

    found = await _moments(world, sent)
    # What became of the message is no secret of theirs; what they did with it is.
    assert (found["status"], found["opened_at"]) == ("bounced", None)
    assert [row["outcome"] for row in await rows(world.db, tenant.id, LOG)] == ["bounced"]
    assert await world.suppressed(tenant.id) == []


async def test_a_complaint_suppresses_and_is_counted(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id))

    await world.hear(tenant.id, [world.outcome(sent), world.receipt(sent, "complaint", "complaint")])

    assert (await _moments(world, sent))["status"] == "delivered"
    assert await world.suppressed(tenant.id) == [("email", "complaint", sent.id, None)]
    counted = "SELECT n FROM notification.counters WHERE name = 'complaint'"
    assert await rows(world.db, tenant.id, counted) == [{"n": 1}]
