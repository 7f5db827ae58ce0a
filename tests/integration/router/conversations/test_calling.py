"""Conversations and inbound routes over HTTP: seen, answered, closed, changed, and never a neighbour's."""

import asyncio
import json
from typing import Any

import pytest

from tests.integration.notifications.world import publish_replies
from tests.integration.router.conversations.conftest import LAILA, OURS, SECRET, ConversationWorld
from tests.support.channel_world import put_channel
from tidings.kernel.db import Row
from tidings.kernel.ids import TenantId
from tidings.notify.accept.row import VARIABLES_PURPOSE
from tidings.router.inbound_routes.sweep import release_numbers

#: Whatever its version is.
ANY = {"If-Match": "*"}


async def _audited(world: ConversationWorld, tenant_id: TenantId) -> list[tuple[str, str]]:
    async with world.db.tenant(tenant_id) as tx:
        rows = await world.audit.read_recent(tx)
    mine = sorted((row for row in rows if row.entity_type != "adapter_config"), key=lambda row: row.seq)
    return [(row.entity_type, row.action) for row in mine]


async def test_conversations_are_listed_shown_and_read(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(tenant_id)
    turn = await world.send(tenant_id, account)
    await world.later(seconds=1)
    await world.write(account, "yes please")
    await world.later(seconds=1)
    await world.write(account, "hello", sender="+93701230001")
    await world.job().drain()
    async with world.client(tenant_id) as client:
        first = await client.get("/conversations", params={"limit": 1})
        second = await client.get("/conversations", params={"cursor": first.json()["next_cursor"]})
        mine = await client.get("/conversations", params={"recipient": turn.recipient_id or ""})
        none = await client.get("/conversations", params={"status": "CLOSED_STOP"})
        [found] = mine.json()["items"]
        shown = await client.get(f"/conversations/{found['id']}")
        page = await client.get(f"/conversations/{found['id']}/messages", params={"limit": 1})
        rest = await client.get(
            f"/conversations/{found['id']}/messages", params={"cursor": page.json()["next_cursor"]}
        )
    async with world.client(other_tenant) as client:
        theirs = await client.get("/conversations")
        unseen = [
            await client.get(f"/conversations/{found['id']}"),
            await client.get(f"/conversations/{found['id']}/messages"),
            await client.post(f"/conversations/{found['id']}/messages", json={"text": "hi"}),
            await client.post(f"/conversations/{found['id']}/close"),
        ]

    assert len(first.json()["items"]) == len(second.json()["items"]) == 1
    assert none.json()["items"] == []
    assert (found["sender"], found["messages"], found["opened_by"]) == (OURS, 2, "tenant")
    assert shown.headers["etag"] == f'"v{found["version"]}"'
    [ours] = page.json()["items"]
    [line] = rest.json()["items"]
    assert (ours["direction"], ours["text"], ours["notification_id"]) == ("out", None, turn.notification_id)
    assert (line["direction"], line["text"]) == ("in", "yes please")
    assert LAILA not in first.text + second.text + page.text + rest.text
    assert theirs.json()["items"] == []
    assert {(one.status_code, one.json()["code"]) for one in unseen} == {(404, "conversation_not_found")}
    assert await _audited(world, tenant_id) == [("conversation", "transcript.read")] * 2


async def test_a_key_of_the_router_reads_conversations_as_before_they_had_a_scope(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "hello")
    await world.job().drain()
    [conversation] = await world.conversations(tenant_id)
    paths = ("", f"/{conversation['id']}/messages")
    home = "/api/v1/router/conversations"

    for scopes, expected in (
        (["router:write", "router:read"], [200, 200]),
        (["router:read"], [200, 403]),
        (["conversations:read"], [200, 403]),
        (["notifications:read"], [403, 403]),
    ):
        async with world.http.as_tenant(tenant_id, scopes=scopes) as client:
            assert [(await client.get(f"{home}{path}")).status_code for path in paths] == expected, scopes


async def test_those_who_wait_for_an_answer_are_listed_apart(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "hello", sender="+93701230001")
    await world.write(account, "hello")
    await world.job().drain()
    await world.later(seconds=1)
    await world.send(tenant_id, account)
    async with world.client(tenant_id) as client:
        every = (await client.get("/conversations")).json()["items"]
        waiting = (await client.get("/conversations", params={"unanswered": "true"})).json()["items"]

    assert len(every) == 2
    assert [one["last_sent_at"] for one in waiting] == [None]


async def _ordered(world: ConversationWorld, tenant_id: TenantId) -> list[Row]:
    """The notifications of the tenant, in the order in which they were accepted."""
    async with world.db.tenant(tenant_id) as tx:
        return list(await tx.connection.fetch("SELECT * FROM notification.notifications ORDER BY id"))


async def _may_answer(world: ConversationWorld, tenant_id: TenantId) -> str:
    """An account that people write to, with what an answer over it needs."""
    account = await world.account(tenant_id)
    async with world.client(tenant_id, "") as client:
        await put_channel(client, None, "sms", "http")
        await publish_replies(client)
    return account


async def test_an_answer_is_ordered_once_and_makes_a_stranger_known(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await _may_answer(world, tenant_id)
    await world.write(account, "hello")
    await world.job().drain()
    [conversation] = await world.conversations(tenant_id)
    path = f"/conversations/{conversation['id']}/messages"
    async with world.client(tenant_id) as client:
        key = {"Idempotency-Key": "order-1"}
        first = await client.post(path, json={"text": "Good morning"}, headers=key)
        again = await client.post(path, json={"text": "Good morning"}, headers=key)
        other = await client.post(path, json={"text": "Good morning"})

    assert first.status_code == 202
    assert first.json() | {"created": False} == again.json()
    assert other.json()["notification_id"] != first.json()["notification_id"]
    [reply, _] = await _ordered(world, tenant_id)
    [conversation] = await world.conversations(tenant_id)
    async with world.db.tenant(tenant_id) as tx:
        owner = await world.keyring.data_key(tx, reply["recipient_id"])
        audited = await world.audit.read_recent(tx, entity_type="conversation", entity_id=conversation["id"])
    said = json.loads(owner.unseal(reply["variables_ciphertext"], VARIABLES_PURPOSE))
    pinned = json.loads(reply["pinned"])
    assert reply["recipient_id"] == conversation["recipient_id"] == await world.recipient(tenant_id)
    assert (reply["channel"], reply["correlation_id"]) == ("sms", conversation["id"])
    assert said == {"text": "Good morning"}
    assert (pinned["vendor"], pinned["sender"]) == ("http", OURS)
    assert {row.actor for row in audited} == {(await world.http.key_of(tenant_id))[0].id}


async def test_closing_by_hand_ends_it(world: ConversationWorld, tenant_id: TenantId) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "hello")
    await world.job().drain()
    [conversation] = await world.conversations(tenant_id)
    home = f"/conversations/{conversation['id']}"
    async with world.client(tenant_id) as client:
        closed = await client.post(f"{home}/close", json={"reason": "dealt with"})
        again = await client.post(f"{home}/close")
        answered = await client.post(f"{home}/messages", json={"text": "late"})
    await world.later(seconds=1)
    await world.write(account, "one more thing")
    await world.job().drain()

    assert (closed.json()["status"], closed.json()["close_reason"]) == ("CLOSED_MANUAL", "by_hand")
    assert (again.status_code, again.json()["code"]) == (409, "conversation_closed")
    assert answered.json()["code"] == "conversation_closed"
    assert [row["status"] for row in await world.conversations(tenant_id)] == ["CLOSED_MANUAL", "OPEN"]
    assert await world.suppressed(tenant_id) == []
    assert await _audited(world, tenant_id) == [("conversation", "closed")]
    assert (await world.subjects(tenant_id))[2] == "closed.v1"


@pytest.mark.parametrize("since", ["the address is gone", "it is closed", "they have stopped it"])
async def test_an_order_that_is_given_again_hears_the_same_whatever_has_happened_since(
    world: ConversationWorld, tenant_id: TenantId, since: str
) -> None:
    account = await _may_answer(world, tenant_id)
    await world.write(account, "hello")
    await world.job().drain()
    [conversation] = await world.conversations(tenant_id)
    home = f"/conversations/{conversation['id']}"
    async with world.client(tenant_id) as client:
        key = {"Idempotency-Key": "order-1"}
        first = await client.post(f"{home}/messages", json={"text": "Good morning"}, headers=key)
        if since == "the address is gone":
            async with world.db.tenant(tenant_id) as tx:
                await tx.connection.execute("DELETE FROM notification.recipient_addresses")
        elif since == "it is closed":
            await client.post(f"{home}/close")
        else:
            await world.later(seconds=1)
            await world.write(account, "stop")
            await world.job().drain()
        again = await client.post(f"{home}/messages", json={"text": "Good morning"}, headers=key)
        other = await client.post(f"{home}/messages", json={"text": "Good evening"}, headers=key)
        new = await client.post(f"{home}/messages", json={"text": "Good morning"})

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json() | {"created": False}
    assert other.json()["code"] == "idempotency_key_reused"
    assert new.json()["code"] in ("conversation_address_gone", "conversation_closed")
    assert len(await _ordered(world, tenant_id)) == 1
    assert [action for _, action in await _audited(world, tenant_id)].count("answered") == 1


async def test_whoever_has_stopped_it_is_not_answered(world: ConversationWorld, tenant_id: TenantId) -> None:
    account = await world.account(tenant_id)
    await world.write(account, "STOP")
    await world.job().drain()
    [conversation] = await world.conversations(tenant_id)
    async with world.client(tenant_id) as client:
        answered = await client.post(f"/conversations/{conversation['id']}/messages", json={"text": "why?"})

    assert (answered.status_code, answered.json()["code"]) == (409, "conversation_closed")
    assert "until they write START" in answered.json()["detail"]


def _wish(**more: Any) -> dict[str, Any]:
    return {
        "inbound": "+1 500 555 0006",
        "webhook_url": "http://hooks.example/mo",
        "secret_ref": "file://inbound",
        **more,
    }


@pytest.mark.parametrize("secret", ["whsec_not-base64", "correct horse battery"])
async def test_a_secret_that_receivers_cant_verify_with_is_refused(
    world: ConversationWorld, tenant_id: TenantId, secret: str
) -> None:
    """By its field, before anything is signed with it."""
    world.secret(tenant_id, "inbound", secret)
    async with world.client(tenant_id) as client:
        refused = await client.post("/inbound-routes", json=_wish())

    assert refused.status_code == 400, refused.text
    assert [error["field"] for error in refused.json()["errors"]] == ["secret_ref"]
    assert "whsec_ and base64" in refused.text
    assert secret not in refused.text


async def test_a_route_is_made_changed_removed_and_restored(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    world.secret(tenant_id, "inbound", SECRET)
    async with world.client(tenant_id) as client:
        made = await client.post("/inbound-routes", json=_wish(), headers={"Idempotency-Key": "k"})
        again = await client.post("/inbound-routes", json=_wish(), headers={"Idempotency-Key": "k"})
        home = f"/inbound-routes/{made.json()['id']}"
        blind = await client.put(
            home, json={"webhook_url": "http://b.example/", "secret_ref": "file://inbound"}
        )
        changed = await client.put(
            home,
            json={"webhook_url": "http://b.example/", "secret_ref": "file://inbound"},
            headers={"If-Match": made.headers["etag"]},
        )
        unseen = await client.delete(home)
        stale = await client.delete(home, headers={"If-Match": made.headers["etag"]})
        seen = {"If-Match": changed.headers["etag"]}
        removed = await client.delete(home, params={"grace_seconds": 60}, headers=seen)
        twice = await client.delete(home, headers={"If-Match": removed.headers["etag"]})
        restored = await client.post(f"{home}/restore")
        nothing = await client.post(f"{home}/restore")
        seen = {"If-Match": restored.headers["etag"]}
        gone = await client.delete(home, params={"grace_seconds": 0}, headers=seen)
        over = await client.post(f"{home}/restore")
        listed = await client.get("/inbound-routes")
        shown = await client.get("/inbound-routes", params={"removed": "true"})

    assert (made.status_code, made.json()["inbound"]) == (201, OURS)
    assert again.json()["id"] == made.json()["id"]
    assert (blind.status_code, unseen.status_code, stale.status_code) == (428, 428, 412)
    assert changed.json()["webhook_url"] == "http://b.example/"
    assert removed.json()["active"] is True
    assert removed.json()["grace_period_ends_at"] is not None
    assert twice.json()["code"] == "inbound_route_removed"
    assert restored.json()["grace_period_ends_at"] is None
    assert nothing.json()["code"] == "inbound_route_in_force"
    assert gone.json()["active"] is False
    assert over.json()["code"] == "inbound_route_grace_over"
    assert (len(listed.json()["items"]), len(shown.json()["items"])) == (0, 1)
    actions = [action for _, action in await _audited(world, tenant_id)]
    assert actions == ["created", "updated", "removed", "restored", "removed"]


async def test_a_shared_number_of_another_tenant_is_refused_like_ones_own(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Nobody learns who has it; it is free when its grace is over, and not before."""
    route_id = await world.route(tenant_id, OURS, platform=True)
    for tenant in (tenant_id, other_tenant):
        world.secret(tenant, "inbound", SECRET)
    async with world.client("admin", **{"X-Tenant-Id": tenant_id}) as client:
        own = await client.post("/inbound-routes", json=_wish(platform=True))
        await client.delete(f"/inbound-routes/{route_id}", params={"grace_seconds": 60}, headers=ANY)
    async with world.client("admin", **{"X-Tenant-Id": other_tenant}) as client:
        taken = await client.post("/inbound-routes", json=_wish(platform=True))
        seen = await client.get(f"/inbound-routes/{route_id}")
        await world.later(seconds=61)
        assert await release_numbers(world.db, world.system.conversations.changer, world.clock, limit=10) == 1
        free = await client.post("/inbound-routes", json=_wish(platform=True))

    assert (own.status_code, taken.status_code, free.status_code) == (409, 409, 201)
    for name in ("code", "title", "detail", "type", "status"):
        assert own.json().get(name) == taken.json().get(name)
    assert seen.status_code == 404


async def test_a_removed_route_goes_on_working_until_its_grace_is_over(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    account = await world.account(tenant_id)
    route_id = await world.route(tenant_id, OURS)
    async with world.client(tenant_id) as client:
        await client.delete(f"/inbound-routes/{route_id}", params={"grace_seconds": 60}, headers=ANY)
    await world.write(account, "within")
    await world.job().drain()
    await world.later(seconds=61)
    await world.write(account, "after")
    await world.job().drain()

    assert len(await world.rows(tenant_id, "inbound_deliveries")) == 1


async def test_only_operators_give_a_tenant_a_number_that_all_share(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    world.secret(tenant_id, "inbound", SECRET)
    async with world.client(tenant_id) as client:
        refused = await client.post("/inbound-routes", json=_wish(platform=True))
    async with world.client("admin", **{"X-Tenant-Id": tenant_id}) as client:
        made = await client.post("/inbound-routes", json=_wish(platform=True))

    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")
    assert (made.status_code, made.json()["platform"]) == (201, True)


async def test_two_who_want_the_same_shared_number_at_once(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    async def want(tenant: TenantId) -> int:
        world.secret(tenant, "inbound", SECRET)
        async with world.client("admin", **{"X-Tenant-Id": tenant}) as client:
            return (await client.post("/inbound-routes", json=_wish(platform=True))).status_code

    assert sorted(await asyncio.gather(want(tenant_id), want(other_tenant))) == [201, 409]


async def test_a_shared_number_in_another_spelling_is_the_same_number(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """What is written to it would be the one's or the other's, as it happens."""
    await world.route(tenant_id, OURS, platform=True)
    world.secret(other_tenant, "inbound", SECRET)
    async with world.client("admin", **{"X-Tenant-Id": other_tenant}) as client:
        shared = await client.post("/inbound-routes", json=_wish(inbound=OURS[1:], platform=True))
        own = await client.post("/inbound-routes", json=_wish(inbound=OURS[1:]))

    assert (shared.status_code, shared.json()["code"]) == (409, "inbound_not_available")
    assert own.status_code == 201


async def test_whoever_writes_a_number_down_keeps_nobody_from_it(
    world: ConversationWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """A tenant's own word holds for its own accounts; the shared number is whose the operators say, and is given once."""
    own, shared = await world.account(other_tenant), await world.account(None, vendor="http_shared")
    squatter = await world.route(tenant_id, OURS)
    rightful = await world.route(other_tenant, OURS)
    put = {"webhook_url": "http://hooks.example/mo", "secret_ref": "file://inbound", "platform": True}
    async with world.client("admin", **{"X-Tenant-Id": other_tenant}) as client:
        given = await client.put(f"/inbound-routes/{rightful}", json=put, headers=ANY)
    async with world.client("admin", **{"X-Tenant-Id": tenant_id}) as client:
        too_late = await client.put(f"/inbound-routes/{squatter}", json=put, headers=ANY)
        made_anew = await client.post("/inbound-routes", json=_wish())
    await world.write(own, "over their own account")
    await world.write(shared, "over a shared one", vendor="http_shared", sender="+93701230001")
    await world.job().drain()

    assert (given.status_code, given.json()["platform"]) == (200, True)
    assert (too_late.status_code, too_late.json()["code"]) == (409, "inbound_not_available")
    assert (made_anew.status_code, made_anew.json()["code"]) == (409, "inbound_not_available")
    assert await world.rows(tenant_id, "inbound_deliveries") == []
    assert {row["route_id"] for row in await world.rows(other_tenant, "inbound_deliveries")} == {rightful}
    assert len(await world.rows(other_tenant, "inbound_deliveries")) == 2


async def test_a_reference_to_nothing_is_refused(world: ConversationWorld, tenant_id: TenantId) -> None:
    async with world.client(tenant_id) as client:
        lost = await client.post("/inbound-routes", json=_wish(secret_ref="file://nowhere"))
        strange = await client.post("/inbound-routes", json=_wish(secret_ref="tin://inbound"))
        odd = await client.post("/inbound-routes", json=_wish(webhook_url="ftp://a.example/"))

    for one in (lost, strange):
        assert (one.status_code, one.json()["errors"][0]["field"]) == (400, "secret_ref")
    assert (odd.status_code, odd.json()["errors"][0]["field"]) == (400, "webhook_url")
