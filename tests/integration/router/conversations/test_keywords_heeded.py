"""STOP ends it, suppresses and is confirmed once; START and HELP are answered."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.router.conversations.conftest import LAILA, OURS, ConversationWorld
from tests.support.played_http import CLOSE, answer, played_http
from tidings.contracts.callback_forms import ReadInbound
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.ids import TenantId
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.conversations.jobs import ConversationSettings
from tidings.router.conversations.keep_inbound import insert_inbound
from tidings.router.executions.model import moment
from tidings.router.policies.change import PolicyChanger
from tidings.router.policies.check import AvailableAdapters
from tidings.router.policies.model import PolicyStep, PolicyTerms
from tidings.router.prices.rates import Rates

OTHER = "+15005550007"
TAKEN = answer("200 OK", b'{"id": "v-1"}')


async def test_stop_in_hausa_ends_it_suppresses_and_is_confirmed_once(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(TAKEN) as vendor:
        account = await world.account(None, port=vendor.port)
        await world.send(tenant_id, account, channel="whatsapp")
        await world.later(seconds=1)
        await world.write(account, "Dakata!", channel="whatsapp")
        await world.job().drain()

        assert await world.replies().drain() == 1
        await world.later(seconds=1)
        await world.write(account, "DAKATA", channel="whatsapp")
        await world.job().drain()
        assert await world.replies().drain() == 0

        [(_, body)] = vendor.heard
    sent = json.loads(body)
    assert (sent["to"], sent["from"], sent["channel"]) == (LAILA, OURS, "whatsapp")
    assert "FARA" in sent["text"]
    assert "The Clinic" in sent["text"]
    [conversation] = await world.conversations(tenant_id)
    assert (conversation["status"], conversation["close_reason"]) == ("CLOSED_STOP", "stop")
    assert await world.suppressed(tenant_id) == [("whatsapp", "opt_out")]
    assert [(line["kind"], line["status"]) for line in await world.lines(tenant_id)] == [
        ("notification", "sent"),
        ("text", "received"),
        ("stop_confirmation", "sent"),
        ("text", "received"),
    ]
    assert await world.subjects(tenant_id) == [
        "opened.v1",
        "message_received.v1",
        "closed.v1",
        "message_received.v1",
    ]


async def test_start_releases_and_stop_can_be_said_again(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(TAKEN) as vendor:
        account = await world.account(None, port=vendor.port)
        await world.send(tenant_id, account)
        for text in ("stop", "start", "stop"):
            await world.later(seconds=1)
            await world.write(account, text)
        await world.job().drain()
        await world.replies().drain()

        assert len(vendor.heard) == 3
    assert [row["status"] for row in await world.conversations(tenant_id)] == ["CLOSED_STOP", "CLOSED_STOP"]
    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]
    assert [line["kind"] for line in await world.lines(tenant_id)].count("start_confirmation") == 1


async def test_help_says_who_it_is_and_changes_nothing(world: ConversationWorld, tenant_id: TenantId) -> None:
    async with played_http(TAKEN) as vendor:
        account = await world.account(tenant_id, port=vendor.port)
        await world.write(account, "aide")
        await world.job().drain()
        await world.replies().drain()

        [(_, body)] = vendor.heard
    assert json.loads(body)["text"].startswith("The Clinic vous envoie")
    assert [row["status"] for row in await world.conversations(tenant_id)] == ["OPEN"]
    assert await world.suppressed(tenant_id) == []


async def test_who_asks_again_and_again_is_answered_once_a_minute(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """Each answer is paid for."""
    account = await world.account(tenant_id)
    for text in ("help", "help", "start", "help", "start"):
        await world.write(account, text)
        await world.job().drain()
        await world.later(seconds=1)
    await world.later(minutes=1)
    await world.write(account, "help")
    await world.job().drain()

    kinds = [line["kind"] for line in await world.lines(tenant_id)]
    assert (kinds.count("text"), kinds.count("help"), kinds.count("start_confirmation")) == (6, 2, 1)


async def test_a_policys_words_count_for_what_it_began(world: ConversationWorld, tenant_id: TenantId) -> None:
    changer = PolicyChanger(
        adapters=AvailableAdapters(kinds=ADAPTERS, find=kind_of),
        accounts=world.system.vendors.accounts,
        rates=Rates(),
        audit=world.audit,
        clock=world.clock,
        grace=timedelta(days=1),
    )
    terms = PolicyTerms(ladder=(PolicyStep(channel="sms", deadline_seconds=60),), stop_keywords=("BASTA",))
    async with world.db.tenant(tenant_id) as tx:
        await changer.create(tx, "txn", terms, actor="test")
    account = await world.account(tenant_id)
    await world.send(tenant_id, account, use_case="txn")
    await world.write(account, "cancel")
    await world.job().drain()
    assert await world.suppressed(tenant_id) == []

    await world.write(account, "basta")
    await world.job().drain()

    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]


@pytest.mark.parametrize(
    ("parts", "status", "calls"),
    [
        ([answer("400 Bad Request")], "failed", 1),
        ([CLOSE], "unlearned", 1),
        ([answer("429 Too Many Requests"), TAKEN], "sent", 2),
    ],
    ids=["refused", "unanswered", "later"],
)
async def test_a_confirmation_never_goes_twice(
    world: ConversationWorld, tenant_id: TenantId, parts: list[bytes], status: str, calls: int
) -> None:
    """Only what the vendor certainly has not taken is tried again."""
    async with played_http(*parts) as vendor:
        account = await world.account(tenant_id, port=vendor.port)
        await world.write(account, "stop")
        await world.job().drain()
        for _ in range(4):
            await world.replies().drain()
            await world.later(minutes=1)

        assert len(vendor.heard) == calls
    confirmation = (await world.lines(tenant_id))[-1]
    assert (confirmation["kind"], confirmation["status"]) == ("stop_confirmation", status)


async def test_what_a_dead_worker_was_sending_is_never_sent_again(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """What it had only claimed is anybody's."""
    async with played_http(TAKEN) as vendor:
        account = await world.account(tenant_id, port=vendor.port)
        for sender in ("+93701230001", "+93701230002"):
            await world.write(account, "stop", sender=sender)
        await world.job().drain()
        dead = WORKER.new(world.clock.now())
        async with world.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE chan.conversation_messages SET claimed_by = $1 WHERE status = 'queued'", dead
            )
            await tx.connection.execute(
                "UPDATE chan.conversation_messages SET status = 'sending', next_attempt_at = NULL WHERE id = "
                "(SELECT min(id) FROM chan.conversation_messages WHERE claimed_by = $1)",
                dead,
            )
        replies = world.replies()
        assert await replies.drain() == 0

        async with world.db.worker() as tx:
            assert await replies.free_orphans(tx) == 2
        assert await replies.drain() == 1

        assert len(vendor.heard) == 1
    found = [line["status"] for line in await world.lines(tenant_id) if line["direction"] == "out"]
    assert sorted(found) == ["sent", "unlearned"]


async def test_two_workers_send_each_confirmation_once(world: ConversationWorld, tenant_id: TenantId) -> None:
    async with played_http(TAKEN) as vendor:
        account = await world.account(tenant_id, port=vendor.port)
        for n in range(20):
            await world.write(account, "stop", sender=f"+9370123{n:04d}")
        await world.job().drain()

        await asyncio.gather(*(world.process().conversations.replies.drain() for _ in range(3)))

        assert len({json.loads(body)["to"] for _, body in vendor.heard}) == 20
        assert len(vendor.heard) == 20


async def test_a_stop_from_what_is_no_address_closes_and_is_not_answered(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "stop", sender="AcmeBank")

    await world.job().drain()

    assert [row["status"] for row in await world.conversations(tenant_id)] == ["CLOSED_STOP"]
    assert [line["direction"] for line in await world.lines(tenant_id)] == ["in"]


async def test_a_start_that_a_later_stop_has_overtaken_releases_nothing(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "start", message_id="first")
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_messages SET next_attempt_at = next_attempt_at + INTERVAL '1 minute'"
        )
    await world.later(seconds=1)
    await world.write(account, "stop")
    await world.job().drain()
    await world.later(minutes=1)

    assert await world.job().drain() == 1

    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]
    kinds = [line["kind"] for line in await world.lines(tenant_id)]
    assert sorted(kinds) == ["stop_confirmation", "text", "text"]


async def _held_up(world: ConversationWorld, account: str, text: str, **more: Any) -> None:
    """Somebody writes, and nobody can take it on: it waits for an operator."""
    await world.write(account, text, **more)
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_messages SET status = 'dead' WHERE status = 'queued'"
        )
    await world.later(seconds=1)


async def _requeue(world: ConversationWorld) -> None:
    async with world.client("admin", "/internal/v1/callbacks/messages") as client:
        again = await client.post("/requeue", json={"vendor": "http"})
        assert again.json()["requeued"] == 1
    await world.later(seconds=1)
    assert await world.job().drain() == 1


@pytest.mark.parametrize("elsewhere", [OURS, OTHER], ids=["the same number", "another number"])
async def test_a_stop_that_a_later_start_has_overtaken_stops_nothing(
    world: ConversationWorld, tenant_id: TenantId, elsewhere: str
) -> None:
    """It stands in the transcript; the last word counts, to whichever number of the tenant's it was said."""
    account = await world.account(tenant_id)
    await _held_up(world, account, "stop")
    await world.write(account, "start", to=elsewhere)
    await world.job().drain()

    await _requeue(world)

    assert await world.suppressed(tenant_id) == []
    assert {row["status"] for row in await world.conversations(tenant_id)} == {"OPEN"}
    lines = [(line["kind"], line["keyword_action"]) for line in await world.lines(tenant_id)]
    assert sorted(lines, key=str) == [("start_confirmation", None), ("text", "start"), ("text", "stop")]
    assert "closed.v1" not in await world.subjects(tenant_id)

    await world.write(account, "stop")
    await world.job().drain()
    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]


@pytest.mark.parametrize("elsewhere", [OURS, OTHER], ids=["the same number", "another number"])
async def test_a_start_is_overtaken_by_a_stop_whatever_was_said_after_it(
    world: ConversationWorld, tenant_id: TenantId, elsewhere: str
) -> None:
    account = await world.account(tenant_id)
    await _held_up(world, account, "start")
    await world.write(account, "stop", to=elsewhere)
    await world.job().drain()
    await world.later(seconds=1)
    await world.write(account, "why do you still write?")
    await world.job().drain()

    await _requeue(world)

    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]
    assert "start_confirmation" not in [line["kind"] for line in await world.lines(tenant_id)]


async def test_of_what_is_said_to_two_numbers_at_once_the_last_word_counts(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "stop")
    await world.later(seconds=1)
    await world.write(account, "start", to=OTHER)

    assert await world.job().drain() == 2

    assert await world.suppressed(tenant_id) == []


async def test_a_stop_that_was_held_up_is_whose_it_was_then(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """Over an account that all share: another tenant has written to them since."""
    account, other = await world.account(None), await world.tenant("Another")
    await world.send(tenant_id, account)
    await world.later(seconds=1)
    await _held_up(world, account, "stop")
    await world.later(hours=1)
    await world.send(other, account)

    await _requeue(world)

    assert await world.suppressed(tenant_id) == [("sms", "opt_out")]
    assert await world.suppressed(other) == []


async def test_who_says_stop_again_and_again_holds_nobody_up(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """What follows a STOP belongs to another conversation, and each of these takes its time: some at once, the rest in turns."""
    account = await world.account(tenant_id)
    for n in range(30):
        await world.later(milliseconds=1)
        await world.write(account, "stop" if n % 2 else "hello")
    for _ in range(10):
        await world.write(account, "stop", sender="+93701230009")
    await world.write(account, "hello", sender="+93701230010")
    job = world.job()

    first = await job.turn()
    await job.drain()

    # The last two people are done with at once.
    assert 11 < first.done < 41
    assert {row["status"] for row in await world.inbound()} == {"applied"}
    assert {row["attempts"] for row in await world.inbound()} == {1}
    lines = await world.lines(tenant_id)
    assert [line["direction"] for line in lines].count("in") == 41
    # Fifteen of the first, one of the second.
    assert [line["kind"] for line in lines].count("stop_confirmation") == 16
    assert len(await world.conversations(tenant_id)) == 17


@pytest.mark.parametrize("known", [True, False], ids=["answering", "beginning"])
async def test_two_workers_that_hear_stop_at_once_confirm_once(
    world: ConversationWorld, tenant_id: TenantId, known: bool
) -> None:
    account = await world.account(tenant_id)
    people = [f"+9370123{n:04d}" for n in range(10)]
    for sender in people if known else ():
        await world.send(tenant_id, account, to=sender)
    for _ in range(2):
        await world.later(seconds=1)
        for sender in people:
            await world.write(account, "stop", sender=sender)
    systems = [world.process() for _ in range(2)]
    for system in systems:
        system.router.parts.add(ConversationSettings, ConversationSettings(limit=10, least=1))

    await asyncio.gather(*(system.conversations.job.drain() for system in systems))
    await world.later(minutes=1)
    await world.job().drain()

    assert len(await world.conversations(tenant_id)) == 10
    kinds = [line["kind"] for line in await world.lines(tenant_id)]
    assert (kinds.count("text"), kinds.count("stop_confirmation")) == (20, 10)


async def test_what_one_request_tells_is_heard_in_its_order(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """All of it came in the same millisecond."""
    account = await world.account(tenant_id)
    said = [
        ReadInbound(
            vendor_message_id=f"{n}-{place}",
            channel="sms",
            sender=f"+9370123{n:04d}",
            to=OURS,
            text=text,
            occurred_at=None,
        )
        for n in range(8)
        for place, text in enumerate(("stop", "start", "hello", "stop"))
    ]
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
        await insert_inbound(tx, "http", [(account, one) for one in said], key, moment(world.clock))

    await world.job().drain()

    assert await world.suppressed(tenant_id) == [("sms", "opt_out")] * 8
