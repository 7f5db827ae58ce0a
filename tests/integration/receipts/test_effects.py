"""What vendors say of addresses suppresses them: the right one, for the right time, once."""

from datetime import timedelta
from random import Random

from tests.integration.receipts.world import ReceiptsWorld, Sent
from tests.support.people import rows, told, unused
from tidings.contracts.ids import RecipientId
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId
from tidings.notify.receipts.soft_bounces import LASTS
from tidings.notify.receipts.sweep import sweep_receipts
from tidings.notify.recipients.recipient_input import AddressInput, RecipientInput, spec_of


async def _moved(world: ReceiptsWorld, tenant_id: TenantId, person: RecipientId) -> None:
    """They have another address from now on; the old one stays, as the second."""
    fresh = AddressInput(channel="email", address=f"{unused()}@example.test", primary=True)
    async with world.db.tenant(tenant_id) as tx:
        await world.upserter.upsert(tx, [spec_of(RecipientInput(id=person, addresses=[fresh]))])


async def _hash_held(world: ReceiptsWorld, tenant_id: TenantId) -> list[str]:
    query = "SELECT address_hash FROM notification.suppressions WHERE released_at IS NULL"
    return [row["address_hash"] for row in await rows(world.db, tenant_id, query)]


async def test_a_refusal_at_the_moment_of_sending_suppresses_too(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id, "sms"), channel="sms")
    refused = world.attempted(sent, status="rejected_by_recipient", effect="invalid_address", vendor="http")

    await world.hear(
        tenant.id, [world.outcome(sent, refused, result="FAILED", evidence=None, final_channel=None)]
    )

    assert await world.suppressed(tenant.id) == [("sms", "invalid_address", sent.id, None)]
    [(_, event)] = await told(world.db, tenant.id, "suppression.added")
    assert (event["channel"], event["reason"]) == ("sms", "invalid_address")
    audited = "SELECT actor FROM notification.audit WHERE entity_type = 'suppression'"
    assert [row["actor"] for row in await rows(world.db, tenant.id, audited)] == ["system:receipts"]


async def test_the_address_of_then_is_meant_and_no_other(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    old = await world.address_of(tenant.id, person)
    sent = await world.sent(tenant.id, person)
    await world.clock.advance(timedelta(hours=1))
    await _moved(world, tenant.id, person)

    await world.hear(tenant.id, [world.receipt(sent, "bounced", "hard_bounce")])

    assert await _hash_held(world, tenant.id) == [old["address_hash"]]


async def test_an_address_that_was_removed_since_leaves_the_others_alone(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.recipient(
        tenant.id, ("email", f"{unused()}@example.test"), ("email", f"{unused()}@example.test")
    )
    first = await world.address_of(tenant.id, person)
    sent = await world.sent(tenant.id, person)
    async with world.db.tenant(tenant.id) as tx:
        await tx.connection.execute(
            "DELETE FROM notification.recipient_addresses WHERE tenant_id = $1 AND id = $2",
            tenant.id,
            first["id"],
        )

    await world.hear(tenant.id, [world.receipt(sent, "bounced", "hard_bounce")])

    assert await world.suppressed(tenant.id) == []


async def test_where_nothing_is_kept_only_the_one_address_there_is_can_be_meant(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    alone, moved = await world.somebody(tenant.id), await world.somebody(tenant.id)
    sure = await world.sent(tenant.id, alone, to=None)
    unsure = await world.sent(tenant.id, moved, to=None)
    await world.clock.advance(timedelta(hours=1))
    await _moved(world, tenant.id, moved)

    await world.hear_set(
        tenant.id,
        [
            world.receipt(sure, "bounced", "hard_bounce"),
            world.receipt(unsure, "bounced", "hard_bounce"),
        ],
    )

    assert [source for _, _, source, _ in await world.suppressed(tenant.id)] == [sure.id]


async def test_a_test_says_nothing_about_anybody(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    sent = await world.sent(tenant.id, await world.somebody(tenant.id), is_test=True)

    await world.hear(tenant.id, [world.outcome(sent), world.receipt(sent, "bounced", "hard_bounce")])

    assert await world.status(sent) == "bounced"
    assert await world.suppressed(tenant.id) == []


async def test_what_was_released_afterwards_is_not_suppressed_by_an_older_message(
    world: ReceiptsWorld,
) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    before, between = await world.sent(tenant.id, person), await world.sent(tenant.id, person)
    await world.hear(tenant.id, [world.receipt(before, "bounced", "hard_bounce")])
    await world.clock.advance(timedelta(hours=1))
    [held] = await rows(world.db, tenant.id, "SELECT id FROM notification.suppressions")
    async with world.db.tenant(tenant.id) as tx:
        await world.suppressor.release(tx, held["id"], actor="key:support", reason="it works again")

    await world.clock.advance(timedelta(hours=1))
    await world.hear(tenant.id, [world.receipt(between, "bounced", "hard_bounce")])
    assert await world.suppressed(tenant.id) == []

    later = await world.sent(tenant.id, person)
    await world.hear(tenant.id, [world.receipt(later, "bounced", "hard_bounce")])
    assert [source for _, _, source, _ in await world.suppressed(tenant.id)] == [later.id]


async def _three_soft(world: ReceiptsWorld, tenant_id: TenantId) -> tuple[list[Sent], list[Event]]:
    """Three messages to one address within three days; each comes back softly, and its vendor says so twice."""
    person = await world.somebody(tenant_id)
    sents, events = [], []
    for _ in range(3):
        sents.append(await world.sent(tenant_id, person))
        events += [world.receipt(sents[-1], "bounced", "soft_bounce") for _ in range(2)]
        await world.clock.advance(timedelta(days=1))
    return sents, events


async def test_soft_bounces_suppress_after_the_third_message_and_for_a_while(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    sents, events = await _three_soft(world, tenant.id)

    await world.hear(tenant.id, events[:4])
    assert await world.suppressed(tenant.id) == []

    await world.hear(tenant.id, events[4:])
    last = world.clock.now() - timedelta(days=1)
    assert await world.suppressed(tenant.id) == [("email", "soft_bounce", sents[-1].id, last + LASTS)]


async def test_the_order_of_soft_bounces_does_not_matter(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    sents, events = await _three_soft(world, tenant.id)
    shuffled = [*events, *events]
    Random(6).shuffle(shuffled)

    await world.hear(tenant.id, shuffled)

    last = world.clock.now() - timedelta(days=1)
    assert await world.suppressed(tenant.id) == [("email", "soft_bounce", sents[-1].id, last + LASTS)]
    [counted] = await rows(world.db, tenant.id, "SELECT count(*) AS n FROM notification.soft_bounces")
    assert counted["n"] == 3


async def test_soft_bounces_that_are_far_apart_suppress_nobody_and_are_swept(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    for _ in range(3):
        sent = await world.sent(tenant.id, person)
        await world.hear(tenant.id, [world.receipt(sent, "bounced", "soft_bounce")])
        await world.clock.advance(timedelta(days=16))

    assert await world.suppressed(tenant.id) == []
    await sweep_receipts(world.db, world.clock, limit=1000)
    left = await rows(world.db, tenant.id, "SELECT notification_id FROM notification.soft_bounces")
    assert [row["notification_id"] for row in left] == [sent.id]


async def test_an_address_takes_its_soft_bounces_along(world: ReceiptsWorld) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    sent = await world.sent(tenant.id, person)
    await world.hear(tenant.id, [world.receipt(sent, "bounced", "soft_bounce")])

    async with world.db.tenant(tenant.id, by_index=True) as tx:
        await world.system.notify.eraser.erase(tx, person, actor="test")

    assert await rows(world.db, tenant.id, "SELECT * FROM notification.soft_bounces") == []
