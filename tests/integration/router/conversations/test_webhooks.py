"""A tenant's webhook is told what people write: signed, again and again for a day, and by hand."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta

import pytest

from tests.integration.router.conversations.conftest import LAILA, OURS, SECRET, ConversationWorld
from tests.support.played_http import CLOSE, answer, played_http
from tidings.kernel.durable.claims import ClaimingJob, ClaimSettings
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.ids import TenantId
from tidings.kernel.signed_webhooks.signature import sign
from tidings.router.inbound_routes.delivery_store import DELIVERY_CLAIMS

OK = answer("204 No Content")
DOWN = answer("503 Service Unavailable")


def _headers(head: str) -> dict[str, str]:
    return {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:] if line)
    }


async def test_a_message_is_told_and_signed(world: ConversationWorld, tenant_id: TenantId) -> None:
    async with played_http(OK) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, OURS, port=webhook.port)
        await world.route(tenant_id, "*", port=9)
        recipient_id = await world.recipient(tenant_id)
        await world.write(account, "Is it on?")
        await world.job().drain()

        assert await world.deliveries().drain() == 1
        assert await world.deliveries().drain() == 0

        [(head, body)] = webhook.heard
    headers = _headers(head)
    [line] = await world.lines(tenant_id)
    [delivery] = await world.rows(tenant_id, "inbound_deliveries")
    told = json.loads(body)
    assert told.pop("received_at").startswith(f"{world.clock.now():%Y-%m-%dT%H:%M}")
    assert told == {
        "type": "message.received",
        "id": line["id"],
        "conversation_id": line["conversation_id"],
        "channel": "sms",
        "from": LAILA,
        "to": OURS,
        "text": "Is it on?",
        "kind": "text",
        "keyword": None,
        "occurred_at": None,
        "recipient_id": recipient_id,
        "sender_name": "Laila",
    }
    assert headers["webhook-id"] == delivery["id"]
    assert headers["webhook-signature"] == sign(
        SECRET, webhook_id=delivery["id"], timestamp=headers["webhook-timestamp"], body=body
    )
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("delivered", 1, 204)


async def test_what_no_route_takes_goes_to_the_default_one(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    async with played_http(OK) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, "*", port=webhook.port)
        await world.route(other_tenant, "*", port=9)
        await world.write(account, "STOP", to="12345")
        await world.job().drain()
        await world.deliveries().drain()

        [(_, body)] = webhook.heard
    assert (json.loads(body)["to"], json.loads(body)["keyword"]) == ("12345", "stop")


async def test_two_secrets_sign_while_one_takes_the_place_of_the_other(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(OK) as webhook:
        route_id = await world.route(tenant_id, "*", port=webhook.port)
        world.secret(tenant_id, "inbound", "the-old-secret-01 the-new-secret-02")
        async with world.client(tenant_id) as client:
            tried = await client.post(f"/inbound-routes/{route_id}/test")

        assert tried.json() == {"delivered": True, "status": 204, "reason": None}
        [(head, body)] = webhook.heard
    headers = _headers(head)
    expected = [
        sign(
            secret,
            webhook_id=headers["webhook-id"],
            timestamp=headers["webhook-timestamp"],
            body=body,
        )
        for secret in ("the-old-secret-01", "the-new-secret-02")
    ]
    assert headers["webhook-signature"].split() == expected
    assert json.loads(body)["type"] == "test"


async def test_one_that_is_down_is_told_later_and_later_and_then_given_up(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(DOWN) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, "*", port=webhook.port)
        await world.write(account, "hello")
        await world.job().drain()
        began, pauses = world.clock.now(), []
        while True:
            await world.deliveries().drain()
            [delivery] = await world.rows(tenant_id, "inbound_deliveries")
            if delivery["status"] != "pending":
                break
            pauses.append(delivery["next_attempt_at"] - world.clock.now())
            await world.clock.advance(pauses[-1])

        assert len(webhook.heard) == delivery["attempts"] == len(pauses) + 1
        async with world.client(tenant_id) as client:
            listed = await client.get("/inbound-routes/deliveries", params={"status": "dead"})
        assert [(one["id"], one["last_status"]) for one in listed.json()["items"]] == [(delivery["id"], 503)]
    assert delivery["status"] == "dead"
    assert pauses == sorted(pauses)
    assert timedelta(hours=24) <= world.clock.now() - began < timedelta(hours=30)


async def test_what_was_given_up_is_told_again_by_hand(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    async with played_http(answer("410 Gone"), OK) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, "*", port=webhook.port)
        await world.write(account, "hello")
        await world.job().drain()
        await world.deliveries().drain()
        [dead] = await world.rows(tenant_id, "inbound_deliveries")
        assert (dead["status"], dead["last_reason"]) == ("dead", "gone")

        async with world.client(other_tenant) as client:
            unseen = await client.post(f"/inbound-routes/deliveries/{dead['id']}/redeliver")
        async with world.client(tenant_id) as client:
            again = await client.post(f"/inbound-routes/deliveries/{dead['id']}/redeliver")
        await world.deliveries().drain()

        assert (unseen.status_code, unseen.json()["code"]) == (404, "inbound_delivery_not_found")
        assert (again.status_code, again.json()["status"]) == (202, "pending")
        assert [_headers(head)["webhook-id"] for head, _ in webhook.heard] == [dead["id"]] * 2
    [delivery] = await world.rows(tenant_id, "inbound_deliveries")
    assert (delivery["status"], delivery["attempts"]) == ("delivered", 1)


async def test_a_webhook_that_asks_for_a_pause_gets_it(world: ConversationWorld, tenant_id: TenantId) -> None:
    asked = answer("429 Too Many Requests", headers="Retry-After: 3600\r\n")
    async with played_http(asked) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, "*", port=webhook.port)
        await world.write(account, "hello")
        await world.job().drain()
        await world.deliveries().drain()

    [delivery] = await world.rows(tenant_id, "inbound_deliveries")
    assert delivery["next_attempt_at"] - world.clock.now() == timedelta(hours=1)


@pytest.mark.parametrize(
    ("part", "reason"), [(CLOSE, "unanswered"), (b"nonsense\r\n\r\n" + CLOSE, "unanswered")]
)
async def test_whatever_a_webhook_does_it_is_only_told_again(
    world: ConversationWorld, tenant_id: TenantId, part: bytes, reason: str
) -> None:
    async with played_http(part) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, "*", port=webhook.port)
        await world.write(account, "hello")
        await world.job().drain()
        await world.deliveries().drain()

    [delivery] = await world.rows(tenant_id, "inbound_deliveries")
    assert (delivery["status"], delivery["last_reason"]) == ("pending", reason)


async def test_no_webhook_leads_into_our_own_network(world: ConversationWorld, tenant_id: TenantId) -> None:
    outside = ConversationWorld(world.db, world.folder, networks="")
    async with played_http(OK) as webhook:
        route_id = await world.route(tenant_id, "*", port=webhook.port)
        async with outside.client(tenant_id) as client:
            tried = await client.post(f"/inbound-routes/{route_id}/test")

        assert tried.json() == {"delivered": False, "status": None, "reason": "address"}
        assert webhook.heard == []
    await outside.close()


async def test_what_a_dead_worker_had_in_hand_is_told_by_another(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(OK) as webhook:
        account = await world.account(tenant_id)
        await world.route(tenant_id, "*", port=webhook.port)
        await world.write(account, "hello")
        await world.job().drain()
        async with world.db.tenant(tenant_id) as tx:
            await tx.connection.execute("UPDATE chan.inbound_deliveries SET claimed_by = 'wrk_dead'")
        deliveries = world.deliveries()
        assert await deliveries.drain() == 0

        async with world.db.worker() as worker_tx:
            assert await deliveries.free_orphans(worker_tx) == 1
        assert await deliveries.drain() == 1

        assert len(webhook.heard) == 1


async def test_one_whose_webhook_hangs_keeps_nobody_waiting(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    told: list[TenantId] = []
    hangs = asyncio.Event()

    async def tell(tenant: TenantId, worker: str, ids: Sequence[str]) -> None:
        told.extend([tenant] * len(ids))
        if tenant == tenant_id:
            await hangs.wait()

    for tenant, count in ((tenant_id, 30), (other_tenant, 1)):
        account = await world.account(tenant)
        await world.route(tenant, "*")
        for n in range(count):
            await world.write(account, "hello", sender=f"+9370123{n:04d}")
        await world.job().drain()
        await world.later(seconds=1)
    work = ClaimingJob(
        world.db,
        DELIVERY_CLAIMS,
        tell,
        name="inbound_deliveries",
        due_timer=DueTimer(world.wakeups.deliveries),
        worker_id=lambda: "wrk_1",
        clock=world.clock,
        settings=ClaimSettings(limit=4, most_in_hand=12, most_of_a_tenant=4),
    )
    stop = asyncio.Event()
    running = asyncio.create_task(work.run(stop))
    async with asyncio.timeout(4):
        while other_tenant not in told:
            await asyncio.sleep(0.01)
    assert told.count(tenant_id) < 12
    hangs.set()
    async with asyncio.timeout(4):
        while len(told) < 31:
            await asyncio.sleep(0.01)
    stop.set()
    await running


async def test_a_route_that_was_removed_is_told_nothing_more(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """Somebody else may have the webhook by now. By hand it is told where the number is served instead."""
    async with played_http(OK) as before, played_http(OK) as after:
        account = await world.account(tenant_id)
        route_id = await world.route(tenant_id, OURS, port=before.port)
        await world.write(account, "hello")
        await world.job().drain()
        async with world.client(tenant_id) as client:
            await client.delete(
                f"/inbound-routes/{route_id}", params={"grace_seconds": 0}, headers={"If-Match": "*"}
            )
        await world.deliveries().drain()
        [dead] = await world.rows(tenant_id, "inbound_deliveries")
        await world.route(tenant_id, "*", port=after.port)
        async with world.client(tenant_id) as client:
            await client.post(f"/inbound-routes/deliveries/{dead['id']}/redeliver")
        await world.deliveries().drain()

        assert (len(before.heard), len(after.heard)) == (0, 1)
    assert (dead["status"], dead["last_reason"]) == ("dead", "route_gone")
