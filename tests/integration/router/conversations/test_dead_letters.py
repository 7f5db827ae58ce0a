"""What was given up is listed and taken up again: messages by operators, calls of webhooks by their tenants."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.integration.router.conversations.conftest import LAILA, OURS, ConversationWorld
from tests.support.played_http import answer, played_http
from tests.support.postgres import TestDatabase
from tidings.cli import callbacks
from tidings.kernel.ids import TenantId
from tidings.router.conversations.sweep import close_idle

HOME = "/internal/v1/callbacks/messages"
UNKNOWN = "mo_01JCQ8ZK6T9Y4M2V7N5B3D1F0G"


async def _dead(world: ConversationWorld, account: str, *texts: str) -> list[str]:
    """Messages that nobody could take on, the oldest first."""
    for text in texts:
        await world.write(account, text)
        await world.later(seconds=1)
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_messages SET status = 'dead', attempts = 40 WHERE status = 'queued'"
        )
    return [row["id"] for row in await world.inbound()]


async def test_operators_list_dead_messages_and_see_nothing_of_who_wrote_what(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    first, second = await _dead(world, account, "one", "two")
    async with world.client("admin", HOME) as client:
        page = await client.get("/", params={"limit": 1})
        rest = await client.get("/", params={"limit": 1, "cursor": page.json()["next_cursor"]})
        queued = await client.get("/", params={"status": "queued"})
        others = await client.get("/", params={"vendor": "twilio"})
        shown = await client.get(f"/{first}")
        nobody = await client.get(f"/{UNKNOWN}")
    async with world.client(tenant_id, HOME) as client:
        forbidden = [await client.get("/"), await client.post("/requeue", json={"ids": [first]})]

    assert [one["id"] for one in page.json()["items"] + rest.json()["items"]] == [second, first]
    assert queued.json()["items"] == others.json()["items"] == []
    told = shown.json()
    assert (told["status"], told["looks"], told["destination"], told["next_look_at"]) == (
        "dead",
        40,
        OURS,
        None,
    )
    assert LAILA not in page.text + rest.text + shown.text
    assert (nobody.status_code, nobody.json()["code"]) == (404, "inbound_message_not_found")
    assert {one.status_code for one in forbidden} == {403}


async def test_requeued_they_are_taken_on_and_it_is_on_record(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    first, second = await _dead(world, account, "one", "two")
    async with world.client("admin", HOME) as client:
        by_id = await client.post("/requeue", json={"ids": [first]})
        again = await client.post("/requeue", json={"ids": [first]})
        later = (world.clock.now() + timedelta(hours=1)).isoformat()
        too_late = await client.post("/requeue", json={"vendor": "http", "since": later})
        rest = await client.post("/requeue", json={"vendor": "http"})
        wrong = await client.post("/requeue", json={"ids": [first], "vendor": "http"})
    await world.later(seconds=1)
    await world.job().drain()

    assert by_id.json() == {"requeued": 1, "more": False}
    assert again.json() == too_late.json() == {"requeued": 0, "more": False}
    assert rest.json()["requeued"] == 1
    assert wrong.json()["errors"][0]["field"] == "vendor"
    assert [line["id"] for line in await world.lines(tenant_id)] == [first, second]
    async with world.db.platform() as tx:
        audited = await tx.connection.fetch(
            "SELECT entity_type, entity_id, action, actor FROM chan.audit WHERE entity_id = ANY($1) ORDER BY entity_id",
            [first, second],
        )
    operator = (await world.http.key_of("admin"))[0].id
    assert [tuple(row.values()) for row in audited] == [
        ("inbound_message", one, "requeued", operator) for one in (first, second)
    ]


async def test_what_was_held_up_belongs_to_the_conversation_of_then(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """Over an account that all share: it was an answer, and the conversation has ended in silence since."""
    account = await world.account(None)
    await world.send(tenant_id, account)
    await world.later(seconds=1)
    [held_up] = await _dead(world, account, "yes, please")
    await world.later(days=3)
    await close_idle(world.db, world.outbox, world.clock, limit=10)
    async with world.client("admin", HOME) as client:
        await client.post("/requeue", json={"ids": [held_up]})
    await world.later(seconds=1)

    assert await world.job().drain() == 1

    assert held_up in [line["id"] for line in await world.lines(tenant_id)]
    assert await close_idle(world.db, world.outbox, world.clock, limit=10) == 0
    # And it can be answered.
    assert [row["status"] for row in await world.conversations(tenant_id)] == ["CLOSED_IDLE", "OPEN"]


async def test_the_same_by_command(
    world: ConversationWorld, tenant_id: TenantId, fresh_database: TestDatabase, tmp_path: Path
) -> None:
    environment = {
        "TIDINGS_DATA_DIR": str(tmp_path / "data"),
        "TIDINGS_DATABASE_URL": fresh_database.runtime_url,
    }

    async def command(*words: str) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, callbacks.app, list(words), env=environment)

    account = await world.account(tenant_id)
    first, second = await _dead(world, account, "one", "two")
    listed = await command("messages")
    by_id = await command("requeue", first, UNKNOWN)
    again = await command("requeue", first)
    mixed = await command("requeue", first, "whe_01JCQ000000000000000000000")
    rest = await command("requeue", "--vendor", "http", "--messages")
    none = await command("requeue", "--vendor", "http", "--messages")

    assert [line.split("  ")[0] for line in listed.stdout.splitlines()] == [second, first]
    assert LAILA not in listed.stdout
    assert (
        by_id.stdout
        == f"{UNKNOWN}: there is no such message, or it has found its conversation\nrequeued: 1\n"
    )
    assert again.stdout == f"{first}: it is not dead, and is tried again\nrequeued: 0\n"
    assert "and not both at once" in str(mixed.exception)
    assert rest.stdout == "requeued: 1\n"
    assert none.stdout.startswith("there are no dead ones of http; `tidings callbacks messages` shows")
    assert {row["status"] for row in await world.inbound()} == {"queued"}


async def _undelivered(world: ConversationWorld, tenant_id: TenantId, account: str, *texts: str) -> list[str]:
    """Calls that were given up, the oldest first."""
    for text in texts:
        await world.write(account, text)
        await world.later(seconds=1)
        await world.job().drain()
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_deliveries SET status = 'dead', next_attempt_at = NULL, last_reason = 'timeout' "
            "WHERE status = 'pending'"
        )
    return [row["id"] for row in await world.rows(tenant_id, "inbound_deliveries")]


async def test_dead_calls_of_a_route_are_told_again(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(tenant_id)
    route = await world.route(tenant_id, OURS)
    await _undelivered(world, tenant_id, account, "one", "two")
    moment = world.clock.now().isoformat()
    [_, _, third] = await _undelivered(world, tenant_id, account, "three")
    path = "/inbound-routes/deliveries/redeliver"
    async with world.client(other_tenant) as client:
        not_theirs = await client.post(path, json={"route": route})
        none = await client.post(path)
    async with world.client(tenant_id) as client:
        newest = await client.post(path, json={"route": route, "since": moment})
        rest = await client.post(path)
        over = await client.post(path)

    assert (not_theirs.status_code, not_theirs.json()["code"]) == (404, "inbound_route_not_found")
    assert none.json()["redelivered"] == over.json()["redelivered"] == 0
    assert (newest.status_code, newest.json()) == (202, {"redelivered": 1, "more": False})
    assert rest.json() == {"redelivered": 2, "more": False}
    found = await world.rows(tenant_id, "inbound_deliveries")
    assert {(row["status"], row["attempts"]) for row in found} == {("pending", 0)}
    async with world.db.tenant(tenant_id) as tx:
        audited = [row for row in await world.audit.read_recent(tx) if row.action == "redelivered"]
    assert len(audited) == 3
    assert {row.entity_id for row in audited} == {route}
    assert third in {json.loads(row.after or "{}")["delivery_id"] for row in audited}


async def test_a_dead_call_whose_route_is_gone_goes_to_the_one_that_serves_now(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(answer("204 No Content")) as webhook:
        account = await world.account(tenant_id)
        gone = await world.route(tenant_id, OURS)
        await _undelivered(world, tenant_id, account, "one")
        async with world.client(tenant_id) as client:
            await client.delete(
                f"/inbound-routes/{gone}", params={"grace_seconds": 0}, headers={"If-Match": "*"}
            )
            nowhere = await client.post("/inbound-routes/deliveries/redeliver")
            await world.route(tenant_id, "*", port=webhook.port)
            there = await client.post("/inbound-routes/deliveries/redeliver", json={"route": gone})
        await world.deliveries().drain()

        assert len(webhook.heard) == 1
    assert (nowhere.json()["redelivered"], there.json()["redelivered"]) == (0, 1)


@pytest.mark.parametrize("wish", [{"route": "rt_1"}, {"since": "yesterday"}, {"vendor": "http"}])
async def test_a_wrong_wish_is_refused(
    world: ConversationWorld, tenant_id: TenantId, wish: dict[str, str]
) -> None:
    async with world.client(tenant_id) as client:
        refused = await client.post("/inbound-routes/deliveries/redeliver", json=wish)

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, next(iter(wish)))
