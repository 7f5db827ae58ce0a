"""A test key reads settings and test messages, writes test messages, and does nothing else: asked of the whole API."""

import re
from typing import Any

import httpx2

from tests.support.http import HttpWorld
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, RECIPIENT_ADDRESS
from tidings.kernel.clock import SystemClock
from tidings.notify.ids import API_KEY, SUPPRESSION

_METHODS = ("get", "post", "put", "patch", "delete")
#: All that a test key may do: a new route is not among it unless it says so and stands here.
ALLOWED = {
    # Settings, read.
    "GET /api/v1/tenant",
    "GET /api/v1/settings",
    "GET /api/v1/branding",
    "GET /api/v1/categories",
    "GET /api/v1/categories/{category}",
    "GET /api/v1/channels",
    "GET /api/v1/channels/{channel}",
    "GET /api/v1/channels/{channel}/dns",
    "GET /api/v1/layouts",
    "GET /api/v1/layouts/{name}",
    "GET /api/v1/router/adapters",
    "GET /api/v1/router/adapters/kinds",
    "GET /api/v1/router/adapters/{adapter_id}",
    "GET /api/v1/router/circuits",
    "GET /api/v1/router/circuits/{account_id}",
    "GET /api/v1/router/inbound-routes",
    "GET /api/v1/router/inbound-routes/{route_id}",
    "GET /api/v1/router/policies",
    "GET /api/v1/router/policies/{policy_id}",
    "GET /api/v1/router/policies/{policy_id}/versions",
    "GET /api/v1/router/policies/{policy_id}/versions/{version}",
    "GET /api/v1/router/status-map",
    "GET /api/v1/router/status-map/{adapter}/{code}",
    "GET /api/v1/router/weights",
    "GET /api/v1/router/weights/{channel}",
    "GET /api/v1/templates",
    "GET /api/v1/templates/export",
    "GET /api/v1/templates/{key}/{channel}",
    "GET /api/v1/templates/{key}/{channel}/diff",
    "GET /api/v1/templates/{key}/{channel}/versions",
    "GET /api/v1/templates/{key}/{channel}/versions/{semver}",
    "GET /api/v1/templates/{key}/{channel}/versions/{semver}/assets/{name}",
    "POST /api/v1/router/policies/simulate",
    "POST /api/v1/templates/{key}/{channel}/versions/{semver}/preview",
    "POST /api/v1/templates/{key}/{channel}/versions/{semver}/validate",
    # Test messages, written and read; the live ones are not there.
    "POST /api/v1/notifications",
    "POST /api/v1/notifications/bulk",
    "POST /api/v1/notifications/simulate",
    "POST /api/v1/notifications/lookup",
    "GET /api/v1/notifications",
    "GET /api/v1/notifications/{notification_id}",
    "GET /api/v1/notifications/{notification_id}/attempts",
    "GET /api/v1/notifications/{notification_id}/body",
    "GET /api/v1/notifications/{notification_id}/explain",
    "POST /api/v1/notifications/{notification_id}/cancel",
    "POST /api/v1/notifications/{notification_id}/release",
    "POST /api/v1/notifications/{notification_id}/resend",
    # Test events, and what they plan; those of the live world are not there.
    "POST /api/v1/events",
    "POST /api/v1/events/batch",
    "GET /api/v1/events",
    "GET /api/v1/events/stream",
    "GET /api/v1/events/received",
    "GET /api/v1/events/received/{event_id}",
    "GET /api/v1/events/readers",
    "GET /api/v1/events/readers/{name}",
    "PUT /api/v1/events/readers/{name}",
    "DELETE /api/v1/events/readers/{name}",
    # Inboxes of tests, which are others than those of the live world.
    "GET /api/v1/recipients/{recipient_id}/inbox",
    "GET /api/v1/recipients/{recipient_id}/inbox/counts",
    "POST /api/v1/recipients/{recipient_id}/inbox/read-all",
    "GET /api/v1/recipients/{recipient_id}/inbox/{item_id}",
    "DELETE /api/v1/recipients/{recipient_id}/inbox/{item_id}",
    "POST /api/v1/recipients/{recipient_id}/inbox-tokens",
    "DELETE /api/v1/recipients/{recipient_id}/inbox-tokens",
    "GET /api/v1/recipients/{recipient_id}/presence",
    "POST /api/v1/recipients/{recipient_id}/inbox/{item_id}/read",
    "POST /api/v1/recipients/{recipient_id}/inbox/{item_id}/unread",
    "POST /api/v1/recipients/{recipient_id}/inbox/{item_id}/archive",
    "POST /api/v1/recipients/{recipient_id}/inbox/{item_id}/unarchive",
    "POST /api/v1/recipients/{recipient_id}/inbox/{item_id}/snooze",
    "POST /api/v1/recipients/{recipient_id}/inbox/{item_id}/unsnooze",
    "POST /api/v1/triggers/test",
    "GET /api/v1/scheduled",
    "GET /api/v1/scheduled/{scheduled_id}",
    "POST /api/v1/scheduled/{scheduled_id}/cancel",
    "POST /api/v1/scheduled/{scheduled_id}/retry",
    "GET /api/v1/digests",
    "GET /api/v1/digests/{digest_id}",
    "POST /api/v1/digests/{digest_id}/flush",
    # Webhooks that are told of tests; those that are told of what is real are not there.
    "POST /api/v1/webhooks",
    "GET /api/v1/webhooks",
    "GET /api/v1/webhooks/{webhook_id}",
    "PATCH /api/v1/webhooks/{webhook_id}",
    "DELETE /api/v1/webhooks/{webhook_id}",
    "POST /api/v1/webhooks/{webhook_id}/pause",
    "POST /api/v1/webhooks/{webhook_id}/portal-links",
    "DELETE /api/v1/webhooks/{webhook_id}/portal-links",
    "POST /api/v1/webhooks/{webhook_id}/resume",
    "POST /api/v1/webhooks/{webhook_id}/rotate-secret",
    "POST /api/v1/webhooks/{webhook_id}/test",
    "GET /api/v1/webhooks/{webhook_id}/deliveries",
    "GET /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}",
    "POST /api/v1/webhooks/{webhook_id}/redeliver",
    "POST /api/v1/webhooks/{webhook_id}/recover",
    # Plays the vendor.
    "POST /api/v1/channels/{channel}/test",
}

#: What people do with an inbox token, of tests or live; no key opens it.
OF_PEOPLE = {
    "GET /api/v1/inbox",
    "GET /api/v1/inbox/counts",
    "GET /api/v1/inbox/stream",
    "POST /api/v1/inbox/read-all",
    "POST /api/v1/inbox/see-all",
    "GET /api/v1/inbox/{item_id}",
    "DELETE /api/v1/inbox/{item_id}",
    "POST /api/v1/inbox/{item_id}/read",
    "POST /api/v1/inbox/{item_id}/unread",
    "POST /api/v1/inbox/{item_id}/seen",
    "POST /api/v1/inbox/{item_id}/archive",
    "POST /api/v1/inbox/{item_id}/unarchive",
    "POST /api/v1/inbox/{item_id}/snooze",
    "POST /api/v1/inbox/{item_id}/unsnooze",
    "POST /api/v1/inbox/{item_id}/actions/{action}",
}

#: The same, with a live token alone: they hold for live messages.
OF_PEOPLE_LIVE = {"GET /api/v1/inbox/preferences", "PATCH /api/v1/inbox/preferences"}


def _operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": found[method]
        for path, found in document["paths"].items()
        for method in _METHODS
        if method in found and path.startswith("/api/")
    }


def _filled(path: str) -> str:
    now = SystemClock().now()
    known = {
        "key_id": API_KEY.new(now),
        "notification_id": NOTIFICATION.new(now),
        "recipient_id": RECIPIENT.new(now),
        "suppression_id": SUPPRESSION.new(now),
        "address_id": RECIPIENT_ADDRESS.new(now),
        "channel": "email",
        "version": "1",
        "semver": "1.0.0",
    }
    return re.sub(r"\{(\w+)\}", lambda match: str(known.get(match[1], "x")), path)


async def _called(client: httpx2.AsyncClient, operation: str) -> httpx2.Response:
    method, _, path = operation.partition(" ")
    if path.endswith("/stream"):
        # A cursor that is none: the stream ends before it begins.
        path += "?after=nowhere"
    return await client.request(method, _filled(path), json=None if method in ("GET", "DELETE") else {})


async def test_a_test_key_at_every_route(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id, environment="test") as client:
        declared = _operations((await client.get("/openapi.json")).json())
        answers = {one: await _called(client, one) for one in declared}

    told = {one: answer for one, answer in answers.items() if answer.status_code == 403}
    refused = {one for one, answer in told.items() if answer.json()["code"] == "test_key"}
    assert {one for one, found in declared.items() if found["x-test-keys"]} == ALLOWED | OF_PEOPLE
    assert refused == set(declared) - ALLOWED - OF_PEOPLE - OF_PEOPLE_LIVE
    assert {told[one].json()["code"] for one in OF_PEOPLE | OF_PEOPLE_LIVE} == {"not_allowed"}
    assert {
        one: answers[one].status_code for one in ALLOWED if answers[one].status_code in (401, 403, 500)
    } == {}


async def test_a_refusal_says_what_to_do(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id, environment="test") as client:
        answer = await client.get("/api/v1/recipients")

    assert (answer.status_code, answer.json()["code"]) == (403, "test_key")
    assert answer.json()["detail"].endswith("use a live key.")


async def test_a_limited_key_ends_no_stronger_one(world: HttpWorld) -> None:
    """Leaked, it could lock its owners out."""
    tenant = await world.tenant()
    strong, carried = await world.key(tenant.id)
    weak, _ = await world.key(tenant.id, scopes=["api_keys:read", "api_keys:write"])
    _, limited = await world.key(tenant.id, scopes=["api_keys:read", "api_keys:write"])
    async with world.client(limited) as client:
        refused = await client.delete(f"/api/v1/api-keys/{strong.id}")
        ended = await client.delete(f"/api/v1/api-keys/{weak.id}")
    async with world.client(carried) as client:
        still = await client.get("/api/v1/tenant")

    assert (refused.status_code, refused.json()["code"]) == (403, "escalation")
    assert refused.json()["errors"][0]["field"] == "key_id"
    assert (ended.status_code, still.status_code) == (200, 200)


async def test_routes_of_the_platform_take_no_tenants_key(world: HttpWorld) -> None:
    tenant = await world.tenant()
    header = {"Content-Type": "text/csv"}
    async with world.as_tenant(tenant.id) as client:
        mine = [
            await client.get("/internal/v1/suppressions/stats"),
            await client.post("/internal/v1/suppressions/import", content=b"a@b.test\n", headers=header),
        ]
    async with world.as_platform() as client:
        unnamed = await client.get("/internal/v1/suppressions/stats")
        named = await client.get("/internal/v1/suppressions/stats", headers={"X-Tenant-Id": tenant.id})

    assert [(one.status_code, one.json()["code"]) for one in mine] == [(403, "not_allowed")] * 2
    assert (unnamed.status_code, named.status_code) == (400, 200)


async def test_a_suppression_names_no_foreign_notification(world: HttpWorld) -> None:
    tenant = await world.tenant()
    wish = {"channel": "email", "address": "laila@example.test"}
    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(
            "/api/v1/suppressions",
            json=wish | {"source_notification_id": NOTIFICATION.new(SystemClock().now())},
        )
        there = await client.get("/api/v1/suppressions")
        exported = await client.get("/api/v1/suppressions/export")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "source_notification_id"
    assert there.json()["items"] == []
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
