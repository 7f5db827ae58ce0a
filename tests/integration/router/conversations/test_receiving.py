"""What people write finds its tenant and its conversation, once."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from tests.integration.router.conversations.conftest import LAILA, OMAR, OURS, ConversationWorld
from tests.support.kms import MemoryKms
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.kms import KmsError
from tidings.kernel.mapping import by_name
from tidings.router.conversations.jobs import ConversationSettings
from tidings.router.conversations.receive import Receiver, ReceiveResult
from tidings.router.conversations.resolve import ResolvedMessage
from tidings.router.conversations.store import line_of
from tidings.router.conversations.transcript import words_of


async def test_a_message_to_a_tenants_own_account_opens_a_conversation(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "Is my appointment still on?")

    assert await world.job().drain() == 1

    [conversation] = await world.conversations(tenant_id)
    assert (conversation["status"], conversation["sender_id"]) == ("OPEN", OURS)
    assert (conversation["turn_count"], conversation["opened_by"]) == (1, "in")
    assert conversation["recipient_id"] is None
    [line] = await world.lines(tenant_id)
    assert (line["direction"], line["status"], line["conversation_id"]) == (
        "in",
        "received",
        conversation["id"],
    )
    async with world.db.tenant(tenant_id) as tx:
        words = await words_of(tx, world.keyring, [line_of(line)])
    assert words[line["id"]].text == "Is my appointment still on?"
    [kept] = await world.inbound()
    assert (kept["id"], kept["status"], kept["tenant_id"]) == (line["id"], "applied", tenant_id)
    assert await world.subjects(tenant_id) == ["opened.v1", "message_received.v1"]
    assert await world.conversations(other_tenant) == []
    assert await world.lines(other_tenant) == []


async def test_nothing_that_is_announced_or_kept_in_the_open_says_who_or_what(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "my secret words")

    await world.job().drain()

    everything = [str(told.data) for told in await world.told(tenant_id)]
    everything += [str(dict(row)) for row in await world.conversations(tenant_id)]
    everything += [str(dict(row)) for row in await world.lines(tenant_id)]
    for row in everything:
        assert "secret words" not in row
        assert LAILA not in row
        assert "Laila" not in row
    async with world.db.tenant(tenant_id) as tx:
        assert await tx.connection.fetchval("SELECT payload_ciphertext FROM chan.inbound_messages") is None


async def test_an_answer_joins_the_conversation_that_our_message_began(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    turn = await world.send(tenant_id, account, ttl_seconds=600)
    [before] = await world.conversations(tenant_id)
    await world.later(seconds=300)
    await world.write(account, "yes", sender=LAILA.removeprefix("+"), to=OURS.removeprefix("+"))

    await world.job().drain()

    [after] = await world.conversations(tenant_id)
    assert after["id"] == before["id"]
    assert (after["turn_count"], after["recipient_id"]) == (2, turn.recipient_id)
    # It ends ten minutes after the last word.
    assert (after["expires_at"] - before["expires_at"]).total_seconds() == pytest.approx(300, abs=0.01)
    assert [(line["direction"], line["notification_id"]) for line in await world.lines(tenant_id)] == [
        ("out", turn.notification_id),
        ("in", None),
    ]
    assert await world.subjects(tenant_id) == ["opened.v1", "message_received.v1"]


async def test_somebody_whom_the_tenant_knows_is_recognised(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    recipient_id = await world.recipient(tenant_id)
    await world.write(account, "hello")

    await world.job().drain()

    [conversation] = await world.conversations(tenant_id)
    [line] = await world.lines(tenant_id)
    assert conversation["recipient_id"] == recipient_id
    assert line["key_subject"] == recipient_id


async def test_over_a_shared_account_the_last_one_who_wrote_to_them_is_answered(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(None)
    await world.send(tenant_id, account)
    await world.later(seconds=10)
    await world.send(other_tenant, account)
    await world.send(tenant_id, account, to=OMAR)
    await world.later(seconds=10)
    await world.write(account, "to the last one")
    await world.write(account, "to the only one", sender=OMAR)

    await world.job().drain()

    assert [row["direction"] for row in await world.lines(other_tenant)] == ["out", "in"]
    assert [row["direction"] for row in await world.lines(tenant_id)] == ["out", "out", "in"]


async def test_nobody_gets_what_came_over_a_shared_account_by_what_its_own_account_says(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """A tenant's own vendor can say that anybody wrote to any number, and that any number was written from."""
    shared, own = await world.account(None), await world.account(other_tenant)
    await world.send(tenant_id, shared)
    await world.later(seconds=10)
    await world.send(other_tenant, own)
    await world.write(own, "made up", to=OURS)
    await world.job().drain()
    await world.later(seconds=10)
    await world.write(shared, "for the first one")
    await world.job().drain()
    await world.later(days=2)
    await world.write(own, "made up again", to=OURS)
    await world.job().drain()
    await world.write(shared, "STOP")

    await world.job().drain()

    assert [row["direction"] for row in await world.lines(tenant_id)] == ["out", "in", "in", "out"]
    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]
    assert await world.suppressed(other_tenant) == []
    assert [row["account_id"] for row in await world.lines(other_tenant)] == [own] * 3


async def test_over_a_shared_account_a_route_takes_what_is_in_no_conversation(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Only one that an operator has granted: a number that all share is not anybody's to claim."""
    account = await world.account(None)
    await world.route(tenant_id, "12345", platform=True)
    await world.route(other_tenant, "54321", platform=False)
    await world.write(account, "hello", to="12345")
    await world.write(account, "hello", to="54321")
    job = world.job()

    await job.drain()

    assert len(await world.conversations(tenant_id)) == 1
    assert await world.conversations(other_tenant) == []
    assert sorted(row["status"] for row in await world.inbound()) == ["applied", "queued"]


async def test_what_is_nobodys_is_counted_and_forgotten(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """Not at the first look: an answer may overtake the note of the very message that it answers, which is written when the
    vendor has answered for the whole set."""
    account = await world.account(None)
    await world.write(account, "who are you?", to="12345")
    await world.write(account, "early", to=OURS)
    job = world.job()
    for _ in range(9):
        await job.drain()
        await world.later(seconds=10)
    assert {row["status"] for row in await world.inbound()} == {"queued"}
    await world.send(tenant_id, account)

    for _ in range(5):
        await world.later(minutes=2)
        await job.drain()

    assert sorted(row["status"] for row in await world.inbound()) == ["applied", "unmatched"]
    assert len(await world.lines(tenant_id)) == 2
    async with world.db.platform() as tx:
        kept = await tx.connection.fetch("SELECT payload_ciphertext FROM chan.inbound_messages")
    assert [row["payload_ciphertext"] for row in kept] == [None]
    async with world.client("admin", "/internal/v1") as client:
        [counted] = (await client.get("/inbound-unmatched")).json()["items"]
    async with world.client(tenant_id, "/internal/v1") as client:
        refused = await client.get("/inbound-unmatched")
    assert (counted["destination"], counted["messages"]) == ("12345", 1)
    assert refused.status_code == 403


async def test_what_is_told_twice_is_taken_once(world: ConversationWorld, tenant_id: TenantId) -> None:
    account = await world.account(tenant_id)

    first = await world.write(account, "once", message_id="in-1")
    again = await world.write(account, "once", message_id="in-1")
    await world.job().drain()
    later = await world.write(account, "once", message_id="in-1")
    await world.job().drain()

    assert (first, again, later) == (True, False, False)
    assert len(await world.lines(tenant_id)) == 1


async def test_the_same_id_at_another_account_is_another_message(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """SMPP counts from 1."""
    await world.write(await world.account(tenant_id), "one", message_id="1")
    await world.write(await world.account(other_tenant), "two", message_id="1")

    await world.job().drain()

    assert len(await world.lines(tenant_id)) == len(await world.lines(other_tenant)) == 1


async def test_two_workers_take_each_message_once(world: ConversationWorld, tenant_id: TenantId) -> None:
    account = await world.account(tenant_id)
    people = [f"+9370123{n:04d}" for n in range(40)]
    for sender in people:
        await world.write(account, "hello", sender=sender)
        await world.write(account, "again", sender=sender)

    taken = await asyncio.gather(*(world.job().drain() for _ in range(3)))

    assert sum(taken) == 80
    assert len(await world.conversations(tenant_id)) == 40
    assert len(await world.lines(tenant_id)) == 80
    assert (await world.subjects(tenant_id)).count("message_received.v1") == 80


class _Dies(Receiver):
    """Does its work, and then the process is gone before anything is marked."""

    async def receive(
        self, tx: TenantTx, messages: Sequence[ResolvedMessage], *, now: datetime
    ) -> ReceiveResult:
        await super().receive(tx, messages, now=now)
        # As if this one had committed, and the worker had died in the next moment.
        await tx.connection.execute("COMMIT; BEGIN")
        raise DatabaseUnavailableError("gone")


async def test_a_worker_that_dies_before_it_marks_does_nothing_twice(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "STOP")
    dying = world.process()
    dying.router.parts.add(Receiver, by_name(_Dies, dying.router.parts.get(Receiver)))
    with pytest.raises(DatabaseUnavailableError):
        await dying.conversations.job.turn()
    assert [row["status"] for row in await world.inbound()] == ["queued"]

    async with asyncio.timeout(30):
        # Its message stays locked until the server notices that the session is gone.
        while not await world.job().drain():
            await asyncio.sleep(0.01)

    assert [row["status"] for row in await world.inbound()] == ["applied"]
    assert [line["kind"] for line in await world.lines(tenant_id)] == ["text", "stop_confirmation"]
    assert await world.subjects(tenant_id) == ["opened.v1", "message_received.v1", "closed.v1"]
    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]


async def test_one_that_ended_in_silence_is_not_gone_on_with(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.send(tenant_id, account, ttl_seconds=60)
    await world.later(seconds=120)
    await world.write(account, "hello?")

    await world.job().drain()

    before, after = await world.conversations(tenant_id)
    assert (before["status"], after["status"]) == ("CLOSED_IDLE", "OPEN")
    assert await world.subjects(tenant_id) == ["opened.v1", "closed.v1", "opened.v1", "message_received.v1"]


async def test_what_was_held_up_does_not_lead_answers_back_to_where_it_came_from(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """They have written over another vendor since: that is the way back to them."""
    old, new = await world.account(tenant_id), await world.account(tenant_id, vendor="http_new")
    await world.write(old, "first", message_id="first")
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_messages SET next_attempt_at = next_attempt_at + INTERVAL '1 minute'"
        )
    await world.later(seconds=1)
    await world.write(new, "second", vendor="http_new")
    await world.job().drain()
    await world.later(minutes=1)

    assert await world.job().drain() == 1

    [conversation] = await world.conversations(tenant_id)
    assert (conversation["vendor"], conversation["account_id"]) == ("http_new", new)
    lines = await world.lines(tenant_id)
    assert [line["account_id"] for line in lines] == [old, new]
    assert conversation["last_mo_message_id"] == lines[-1]["id"]


async def test_a_set_to_the_same_person_is_one_conversation(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    first = await world.send(tenant_id, account)
    async with world.db.tenant(tenant_id) as tx:
        await world.sent.note_sent(tx, [first, first], world.clock.now())

    [conversation] = await world.conversations(tenant_id)
    assert conversation["turn_count"] == 3
    assert len(await world.lines(tenant_id)) == 3
    assert await world.subjects(tenant_id) == ["opened.v1"]


async def test_a_worker_hears_the_bell(world: ConversationWorld, tenant_id: TenantId) -> None:
    account = await world.account(tenant_id)
    stop, job = asyncio.Event(), world.job()
    running = asyncio.create_task(job.run(stop))
    while not world.wakeups.inbound.attended:
        await asyncio.sleep(0)

    await world.write(account, "hello")
    world.wakeups.inbound.set()
    async with asyncio.timeout(4):
        while not await world.lines(tenant_id):
            await asyncio.sleep(0.01)
    stop.set()
    await running

    assert not world.wakeups.inbound.attended


async def test_words_of_somebody_whose_key_is_gone_are_sealed_for_the_conversation(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """Erased between two messages: what comes afterwards is not theirs by that name any more."""
    account = await world.account(tenant_id)
    turn = await world.send(tenant_id, account)
    async with world.db.tenant(tenant_id) as tx:
        await world.keyring.data_keys(tx, [turn.recipient_id or ""])
        await world.keyring.destroy(tx, [turn.recipient_id or ""])
    await world.later(seconds=1)
    await world.write(account, "still here")

    assert await world.job().drain() == 1

    _, line = await world.lines(tenant_id)
    assert line["key_subject"] == line["conversation_id"]


async def test_letters_that_no_column_takes_hold_nothing_up(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "nul\x00 inside", to="12\x00345", message_id="a\x00b")

    assert await world.job().drain() == 1

    [conversation] = await world.conversations(tenant_id)
    assert conversation["sender_id"] == "12345"


class _AwayKms(MemoryKms):
    """Does not answer."""

    async def unwrap(self, token: bytes, aad: bytes) -> bytes:
        raise KmsError

    async def wrap(self, plaintext: bytes, aad: bytes) -> bytes:
        raise KmsError


async def test_without_keys_nothing_is_noted_and_the_attempt_is_recorded_all_the_same(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    turn = await world.send(tenant_id, await world.account(tenant_id), to=OMAR)

    async with world.db.tenant(tenant_id) as tx:
        await world.process(_AwayKms()).conversations.sent_notes.note_sent(tx, [turn], world.clock.now())
        # The transaction goes on.
        assert await tx.connection.fetchval("SELECT 1") == 1

    assert len(await world.lines(tenant_id)) == 1


async def test_one_to_whom_many_write_keeps_nobody_waiting(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    many, one = await world.account(tenant_id), await world.account(other_tenant)
    for n in range(30):
        await world.write(many, "hello", sender=f"+9370123{n:04d}")
    await world.later(seconds=1)
    await world.write(one, "STOP")
    world.system.router.parts.add(ConversationSettings, ConversationSettings(limit=10, least=2))
    job = world.job()

    first = await job.turn()

    assert await world.suppressed(other_tenant) == [("sms", "opt_out")]
    assert first.done == 6
    assert await job.drain() == 25


async def test_while_nobody_has_the_keys_a_stop_waits_and_does_not_age(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "STOP")
    away, without_keys = world.process(), world.process(_AwayKms())
    away.router.parts.add(Receiver, without_keys.router.parts.get(Receiver))
    await world.system.conversations.hashes.platform_pepper()
    for _ in range(12):
        turn = await away.conversations.job.turn()
        assert (turn.done, turn.again) == (0, 1)
        await world.later(seconds=5)
    assert [row["attempts"] for row in await world.inbound()] == [0]

    assert await world.job().drain() == 1

    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]
