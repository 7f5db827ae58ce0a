"""One notification: shown, followed, taken back, counted; and what is refused."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.notifications.world import HOME, SentWorld, order, publish
from tests.support.migration_files import until
from tests.support.people import counted, rows, told
from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.notify.notifications.trace import load_brief_trace, load_trace

NOW = SystemClock().now()
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
_GUEST = {"identity": {"type": "guest", "id": "g-once"}}
LATER = (NOW + timedelta(hours=2)).isoformat()


async def test_an_accepted_one_is_shown_as_it_stands(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send(correlation_id="order-7", metadata={"shop": 3}, locale="fa-AF")
        shown = await sender.get(f"/{id_}")

    found = shown.json()
    assert shown.status_code == 200
    assert (found["id"], found["status"], found["phase"]) == (id_, "queued", "queued")
    assert (found["channel"], found["category"], found["priority"]) == ("email", "transactional", "normal")
    assert (found["template"]["key"], found["template"]["version"]) == ("welcome", "1.0.0")
    assert (found["correlation_id"], found["metadata"], found["locale"]) == ("order-7", {"shop": 3}, "fa-AF")
    assert found["links"]["explain"] == f"{HOME}/{id_}/explain"
    assert (found["dispatched_at"], found["reason"], found["is_test"]) == (None, None, False)
    assert "Laila" not in shown.text
    assert "example.test" not in shown.text


async def test_a_suppression_names_a_notification_of_its_own_tenant_only(world: SentWorld) -> None:
    wish = {"channel": "email", "address": "laila@example.test"}
    async with world.sender() as sender:
        wish["source_notification_id"] = await sender.send()
        other = await world.tenant()
        async with world.http.as_tenant(other.id) as client:
            foreign = await client.post("/api/v1/suppressions", json=wish)
        own = await sender.client.post("/api/v1/suppressions", json=wish)

    assert (foreign.status_code, own.status_code) == (400, 201)
    assert foreign.json()["errors"][0]["field"] == "source_notification_id"
    assert own.json()["source_notification_id"] == wish["source_notification_id"]


async def test_a_test_keys_notification_says_that_it_is_one(world: SentWorld) -> None:
    async with world.sender(environment="test") as sender:
        shown = await sender.get(f"/{await sender.send()}")

    assert shown.json()["is_test"] is True


async def test_a_worker_that_has_it_in_hand_shows_as_a_phase(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        async with world.db.tenant(sender.tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE notification.dispatch_queue SET claimed_by = 'wrk_1' WHERE notification_id = $1", id_
            )
        claimed = await sender.get(f"/{id_}")
        scheduled = await sender.get(f"/{await sender.send(scheduled_for=LATER)}")

    assert (claimed.json()["status"], claimed.json()["phase"]) == ("queued", "sending")
    assert (scheduled.json()["status"], scheduled.json()["phase"]) == ("scheduled", "waiting")


@pytest.mark.parametrize("path", ["", "/attempts", "/explain", "/body"])
async def test_an_unknown_foreign_or_bad_id_is_refused(world: SentWorld, path: str) -> None:
    async with world.sender() as other:
        foreign = await other.send()
    async with world.sender() as sender:
        answers = [
            await sender.get(f"/{id_}{path}")
            for id_ in (NOTIFICATION.new(NOW), foreign, "ntf_x", "rcp_" + "0" * 26)
        ]

    assert [a.status_code for a in answers] == [404, 404, 400, 400]
    assert [a.json()["code"] for a in answers[:2]] == ["notification_not_found"] * 2
    assert answers[2].json()["errors"][0]["field"] == "notification_id"


async def test_what_waits_is_cancelled_once_and_for_all(world: SentWorld) -> None:
    async with world.sender() as sender:
        queued, scheduled = await sender.send(), await sender.send(scheduled_for=LATER)
        answers = [await sender.client.post(f"{HOME}/{id_}/cancel") for id_ in (queued, scheduled)]
        again = await sender.client.post(f"{HOME}/{queued}/cancel")
        counters = await sender.get("/counters")
        audit = await sender.client.get("/api/v1/audit", params={"entity_type": "notification"})
        explained = await sender.get(f"/{queued}/explain")

    assert [(a.status_code, a.json()["status"], a.json()["phase"]) for a in answers] == [
        (200, "cancelled", None)
    ] * 2
    assert again.json() == answers[0].json()
    assert answers[0].json()["cancelled_at"] is not None
    left = "SELECT 1 FROM notification.dispatch_queue WHERE tenant_id = $1"
    assert await rows(world.db, sender.tenant_id, left, sender.tenant_id) == []
    waits = await rows(
        world.db,
        sender.tenant_id,
        "SELECT obsolete, processed_at IS NOT NULL AS over FROM notification.notification_scheduled WHERE tenant_id = $1",
        sender.tenant_id,
    )
    assert waits == [{"obsolete": True, "over": True}]
    events = await told(world.db, sender.tenant_id, "notification.cancelled")
    assert [payload["notification_id"] for _, payload in events] == [queued, scheduled]
    assert counters.json()["totals"] == {"accepted": 2, "cancelled": 2}
    noted = [(row["action"], row["entity_id"]) for row in audit.json()["items"]]
    assert noted == [("cancelled", scheduled), ("cancelled", queued)]
    assert explained.json()["summary"].startswith("Cancelled on ")


@pytest.mark.parametrize("status", ["dispatched", "delivered", "failed", "suppressed", "expired", "bounced"])
async def test_what_was_handed_over_is_not_taken_back(world: SentWorld, status: str) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        await world.arrange(sender.tenant_id, id_, status=status)
        refused = await sender.client.post(f"{HOME}/{id_}/cancel")
        unknown = await sender.client.post(f"{HOME}/{NOTIFICATION.new(NOW)}/cancel")

    assert (refused.status_code, refused.json()["code"]) == (409, "too_late_to_cancel")
    assert f"is {status}" in refused.json()["detail"]
    assert unknown.status_code == 404
    assert await told(world.db, sender.tenant_id, "notification.cancelled") == []


async def test_of_many_who_cancel_at_once_one_does(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        answers = await asyncio.gather(*(sender.client.post(f"{HOME}/{id_}/cancel") for _ in range(8)))

    assert {a.status_code for a in answers} == {200}
    assert len(await told(world.db, sender.tenant_id, "notification.cancelled")) == 1


async def _waits_for_a_lock(world: SentWorld, tenant_id: TenantId) -> bool:
    # In a transaction of its own: what others do is remembered for as long as one lasts.
    async with world.db.tenant(tenant_id) as tx:
        return bool(
            await tx.connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        )


async def test_a_hand_over_and_a_cancel_never_both_win(world: SentWorld) -> None:
    """A turn that takes the queue's row first makes the cancel wait, and then come too late."""
    async with world.sender() as sender:
        id_ = await sender.send()
        async with world.db.tenant(sender.tenant_id) as tx:
            await tx.connection.execute(
                "DELETE FROM notification.dispatch_queue WHERE notification_id = $1", id_
            )
            cancelling = asyncio.create_task(sender.client.post(f"{HOME}/{id_}/cancel"))
            await until(lambda: _waits_for_a_lock(world, sender.tenant_id))
            await tx.connection.execute(
                "UPDATE notification.notifications SET status = 'dispatched' WHERE id = $1", id_
            )
        answer = await cancelling

    assert answer.json()["code"] == "too_late_to_cancel"


async def test_a_reader_can_not_cancel(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        async with world.http.as_tenant(sender.tenant_id, role="tenant.viewer") as viewer:
            refused = await viewer.post(f"{HOME}/{id_}/cancel")
            seen = await viewer.get(f"{HOME}/{id_}/explain")

    assert (refused.status_code, seen.status_code) == (403, 200)


async def test_counters_are_by_day_channel_and_category(world: SentWorld) -> None:
    async with world.sender() as sender:
        for _ in range(3):
            await sender.send()
        await sender.send(category="security")
        found = (await sender.get("/counters")).json()
        earlier = await sender.get("/counters", **{"from": "2026-01-01", "to": "2026-01-31"})

    lines = found["days"][0]["counts"]
    assert found["totals"] == {"accepted": 4}
    assert {(line["name"], line["channel"], line["category"]): line["n"] for line in lines} == {
        ("accepted", "email", "transactional"): 3,
        ("accepted", "email", "security"): 1,
    }
    assert earlier.json() == {"days": [], "totals": {}}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "2026-02-30"}, "from"),
        ({"from": "2026-02-02", "to": "2026-02-01"}, "from"),
        ({"from": "2025-01-01", "to": "2026-01-01"}, "from"),
        ({"since": "2026-01-01"}, "since"),
    ],
)
async def test_a_bad_span_of_days_is_named(world: SentWorld, query: dict[str, Any], field: str) -> None:
    async with world.sender() as sender:
        refused = await sender.get("/counters", **query)

    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == field


async def test_what_is_over_costs_one_statement_and_a_story_a_handful(world: SentWorld) -> None:
    async with world.sender() as sender:
        id_ = await sender.send()
        now = world.system.clock.now()
        async with world.db.tenant(sender.tenant_id) as tx, counted(tx) as under_way:
            await load_brief_trace(
                tx, id_, history=world.system.router.history, keyring=world.system.kernel.keyring, now=now
            )
        await world.arrange(sender.tenant_id, id_, status="delivered", delivered_at=now)
        async with world.db.tenant(sender.tenant_id) as tx, counted(tx) as over:
            await load_brief_trace(
                tx, id_, history=world.system.router.history, keyring=world.system.kernel.keyring, now=now
            )
        async with world.db.tenant(sender.tenant_id) as tx, counted(tx) as whole:
            await load_trace(
                tx, id_, history=world.system.router.history, keyring=world.system.kernel.keyring, now=now
            )

    assert len(over) == 1
    assert len(under_way) <= 5
    assert len(whole) <= 6


async def test_the_two_ways_in_are_declared(world: SentWorld) -> None:
    paths = world.http.app.openapi["paths"]
    single, bulk = paths[HOME]["post"], paths[f"{HOME}/bulk"]["post"]

    assert set(single["responses"]) >= {"202", "400", "404", "409", "413", "429"}
    assert "202" in bulk["responses"]
    assert [p["name"] for p in single["parameters"]] == ["Idempotency-Key", "X-Tenant-Id"]
    schema = single["requestBody"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/NotificationInput"}


async def test_a_repeated_order_is_answered_the_same(world: SentWorld) -> None:
    async with world.sender() as sender:
        once = {"Idempotency-Key": "once"}
        single = [
            await sender.client.post(HOME, json=body, headers=once) for body in [order(recipient=_GUEST)] * 2
        ]
        bulk = await sender.client.post(
            f"{HOME}/bulk", json={"notifications": [order()]}, headers={"Idempotency-Key": "bulk"}
        )

    assert [answer.status_code for answer in (*single, bulk)] == [202, 202, 202]
    assert single[0].json() == single[1].json()
    assert single[1].headers["idempotency-replayed"] == "true"
    assert bulk.json()["accepted"] == 1


async def test_a_bulk_is_listed_like_single_ones(world: SentWorld) -> None:
    async with world.sender() as sender:
        await publish(sender.client, key="other")
        answer = await sender.client.post(
            f"{HOME}/bulk", json={"notifications": [order(), order(template="other")]}
        )
        listed = await sender.get(template="other")

    assert answer.json()["accepted"] == 2
    assert [item["template"]["key"] for item in listed.json()["items"]] == ["other"]
