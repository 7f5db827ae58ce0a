"""Silence ends conversations, time removes them, an erasure leaves nothing to read, and a person may ask for all of it."""

from datetime import timedelta

from tests.integration.router.conversations.conftest import LAILA, OMAR, OURS, ConversationWorld
from tidings.kernel.ids import TenantId
from tidings.router.conversations import sweep
from tidings.router.conversations.forget import ConversationForgetter
from tidings.router.conversations.subject_access import StoredConversations
from tidings.router.inbound_routes.sweep import sweep_deliveries


async def test_silence_ends_a_conversation(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(None)
    await world.send(tenant_id, account, ttl_seconds=60)
    await world.send(other_tenant, account, ttl_seconds=60)
    await world.later(seconds=1)
    await world.send(tenant_id, account, to=OMAR, ttl_seconds=600)
    await world.later(seconds=60)

    assert await sweep.close_idle(world.db, world.outbox, world.clock, limit=10) == 2
    assert await sweep.close_idle(world.db, world.outbox, world.clock, limit=10) == 0

    assert [row["status"] for row in await world.conversations(tenant_id)] == ["CLOSED_IDLE", "OPEN"]
    [*_, last] = await world.told(other_tenant)
    assert (last.subject, last.data["status"]) == ("conversation.closed.v1", "CLOSED_IDLE")


async def test_what_was_closed_long_ago_is_gone_with_all_that_was_said(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.route(tenant_id, "*")
    await world.write(account, "stop")
    await world.write(account, "hello", sender=OMAR)
    await world.job().drain()
    await world.later(days=89)
    assert await sweep.sweep_conversations(world.db, world.clock, limit=10) == 0
    await world.later(days=2)

    assert await sweep.sweep_conversations(world.db, world.clock, limit=10) == 1

    assert [row["status"] for row in await world.conversations(tenant_id)] == ["OPEN"]
    assert [line["kind"] for line in await world.lines(tenant_id)] == ["text"]
    assert len(await world.rows(tenant_id, "inbound_deliveries")) == 1


async def test_what_is_done_does_not_stay_in_the_queue(world: ConversationWorld, tenant_id: TenantId) -> None:
    await world.write(await world.account(tenant_id), "mine")
    await world.write(await world.account(None), "nobody's", to="12345")
    for _ in range(10):
        await world.job().drain()
        await world.later(minutes=2)
    assert sorted(row["status"] for row in await world.inbound()) == ["applied", "unmatched"]

    await world.later(days=8)
    assert await sweep.sweep_inbound(world.db, world.clock, limit=10) == 2
    assert [row["status"] for row in await world.inbound()] == ["applied"]
    await world.later(days=30)
    assert await sweep.sweep_inbound(world.db, world.clock, limit=10) == 1


async def test_old_deliveries_are_removed_and_those_that_wait_are_not(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.route(tenant_id, "*")
    await world.write(account, "one")
    await world.write(account, "two")
    await world.job().drain()
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_deliveries SET status = 'dead', next_attempt_at = NULL "
            "WHERE id = (SELECT min(id) FROM chan.inbound_deliveries)"
        )
    await world.later(days=31)

    assert await sweep_deliveries(world.db, world.clock, limit=10) == 1
    assert [row["status"] for row in await world.rows(tenant_id, "inbound_deliveries")] == ["pending"]


async def test_an_erasure_leaves_nothing_to_read_or_find(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(None)
    recipient_id = await world.recipient(tenant_id)
    await world.send(tenant_id, account, recipient_id=recipient_id)
    await world.route(tenant_id, "*")
    await world.later(seconds=1)
    await world.write(account, "help")
    await world.later(seconds=1)
    await world.send(tenant_id, account, to=OMAR)
    await world.send(other_tenant, account, to=OMAR)
    await world.job().drain()

    async with world.db.tenant(tenant_id) as tx:
        await world.keyring.destroy(tx, [recipient_id])
        forgetter = ConversationForgetter(outbox=world.outbox, clock=world.clock)
        assert await forgetter.forget(tx, [recipient_id]) == 1
        assert await StoredConversations(world.keyring).tell(tx, recipient_id) != []

    erased, kept = await world.conversations(tenant_id)
    assert (erased["status"], erased["close_reason"]) == ("CLOSED_MANUAL", "recipient_erased")
    assert (erased["address_hash"], erased["platform_hash"], erased["address_ciphertext"]) == (
        None,
        None,
        None,
    )
    assert kept["status"] == "OPEN"
    assert [line["text_ciphertext"] for line in await world.lines(tenant_id)] == [None] * 4
    assert {line["status"] for line in await world.lines(tenant_id)} == {"sent", "received", "failed"}
    [delivery] = await world.rows(tenant_id, "inbound_deliveries")
    assert (delivery["status"], delivery["last_reason"]) == ("dead", "erased")
    assert await world.replies().drain() == 0
    [*_, last] = await world.told(tenant_id)
    assert (last.subject, last.data["conversation_id"]) == ("conversation.closed.v1", erased["id"])

    # What comes afterwards over the shared account is nobody's.
    await world.write(account, "hello?")
    await world.job().drain()
    assert len(await world.lines(tenant_id)) == 4


async def test_an_erasure_reaches_what_they_said_before_anybody_knew_them(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "my own words")
    await world.write(account, "of somebody else", sender=OMAR)
    await world.job().drain()
    await world.later(days=2)
    assert await sweep.close_idle(world.db, world.outbox, world.clock, limit=10) == 2
    recipient_id = await world.recipient(tenant_id)
    await world.send(tenant_id, account, recipient_id=recipient_id)

    async with world.db.tenant(tenant_id) as tx:
        forgetter = ConversationForgetter(outbox=world.outbox, clock=world.clock)
        assert await forgetter.forget(tx, [recipient_id]) == 2

    assert [row["address_hash"] is None for row in await world.conversations(tenant_id)].count(True) == 2
    texts = [line["text_ciphertext"] for line in await world.lines(tenant_id) if line["direction"] == "in"]
    assert [text is None for text in texts].count(False) == 1


async def test_a_person_may_ask_for_all_of_it(world: ConversationWorld, tenant_id: TenantId) -> None:
    account = await world.account(tenant_id)
    recipient_id = await world.recipient(tenant_id)
    turn = await world.send(tenant_id, account, recipient_id=recipient_id)
    await world.later(seconds=1)
    await world.write(account, "stop")
    await world.write(account, "of somebody else", sender=OMAR)
    await world.job().drain()

    async with world.db.tenant(tenant_id) as tx:
        [told] = await StoredConversations(world.keyring).tell(tx, recipient_id)

    assert (told.address, told.sender_id, told.status) == (LAILA, OURS, "CLOSED_STOP")
    assert [line.direction for line in told.messages] == ["out", "in", "out"]
    assert [line.text for line in told.messages][:2] == [None, "stop"]
    assert told.messages[0].notification_id == turn.notification_id
    assert "The Clinic" in (told.messages[2].text or "")
    assert told.closed_at is not None
    assert told.closed_at - told.opened_at == timedelta(seconds=1)
