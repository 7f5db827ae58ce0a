"""Lists: the newest first, by filters and cursors, and never more rows looked at than allowed."""

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.notifications.world import Sender, SentWorld, order, publish
from tests.support import query_plans
from tests.support.people import counted
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId, RecipientId
from tidings.kernel.http.paging import After
from tidings.kernel.ids import TenantId, time_of
from tidings.notify.notifications.lookup import find_recent
from tidings.notify.notifications.store import QUERIES, NotificationCriteria


async def copies(
    world: SentWorld, tenant_id: TenantId, of: NotificationId, n: int, **columns: Any
) -> list[NotificationId]:
    """So many rows like one that was accepted, a second apart and each older than the one before."""
    ids = [NOTIFICATION.new(time_of(of) - timedelta(seconds=i + 1)) for i in range(n)]
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            """INSERT INTO notification.notifications
               SELECT (jsonb_populate_record(n, jsonb_build_object('id', w.id, 'created_at', w.at) || $5::jsonb)).*
               FROM unnest($3::text[], $4::timestamptz[]) AS w (id, at), notification.notifications AS n
               WHERE n.tenant_id = $1 AND n.id = $2""",
            tenant_id,
            of,
            ids,
            [time_of(id_) for id_ in ids],
            json.dumps(columns),
        )
    return ids


async def ids_of(sender: Sender, **query: Any) -> list[str]:
    answer = await sender.get(**query)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


async def test_pages_follow_one_another_without_gaps(world: SentWorld) -> None:
    async with world.sender() as sender:
        first = await sender.send()
        all_ids = [first, *await copies(world, sender.tenant_id, first, 24)]
        seen: list[str] = []
        cursor: str | None = None
        for _ in range(4):
            page = (await sender.get(limit=7, **({"cursor": cursor} if cursor else {}))).json()
            seen += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]

    assert seen == all_ids
    assert cursor is None
    assert "phase" not in page["items"][0]


async def test_each_filter_finds_its_own(world: SentWorld) -> None:
    async with world.sender(channels=("email", "sms")) as sender:
        await publish(sender.client, key="other")
        somebody = await world.recipient(sender.tenant_id, ("email", "n@example.test"))
        plain = await sender.send()
        other = await sender.send(template="other")
        secure = await sender.send(category="security")
        theirs = await sender.send(recipient=somebody)
        ours = await sender.send(correlation_id="order-7")
        failed = await sender.send()
        auto = await sender.send(channel="auto")
        await world.arrange(sender.tenant_id, failed, status="failed")
        await world.arrange(sender.tenant_id, auto, status="delivered", final_channel="sms")

        assert await ids_of(sender, status="failed") == [failed]
        assert await ids_of(sender, template="other") == [other]
        assert await ids_of(sender, category="security") == [secure]
        assert await ids_of(sender, recipient=somebody) == [theirs]
        assert await ids_of(sender, correlation_id="order-7") == [ours]
        # As asked for, or as it was delivered.
        assert await ids_of(sender, channel="auto") == await ids_of(sender, channel="sms") == [auto]
        assert await ids_of(sender, channel="email", template="other", status="queued") == [other]
        assert await ids_of(sender, recipient=somebody, status="failed") == []
        assert (await ids_of(sender))[-1] == plain


async def test_a_span_of_time_begins_with_its_first_moment_and_ends_before_its_last(world: SentWorld) -> None:
    async with world.sender() as sender:
        newest = await sender.send()
        ids = await copies(world, sender.tenant_id, newest, 5)
        at = [time_of(id_).isoformat() for id_ in ids]

        assert await ids_of(sender, since=at[3], until=at[1]) == [ids[2], ids[3]]
        assert await ids_of(sender, since=at[0]) == [newest, ids[0]]
        assert await ids_of(sender, until=at[3]) == [ids[4]]
        page = (await sender.get(until=at[1], limit=1)).json()
        assert await ids_of(sender, until=at[1], limit=1, cursor=page["next_cursor"]) == [ids[3]]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "sent"}, "status"),
        ({"channel": "pigeon"}, "channel"),
        ({"category": "Marketing!"}, "category"),
        ({"recipient": "laila@example.test"}, "recipient"),
        ({"recipient": "ntf_01JCQ0000000000000000000000"}, "recipient"),
        ({"template": "No Such"}, "template"),
        ({"correlation_id": ""}, "correlation_id"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-11-15T12:00:00"}, "since"),
        ({"since": "2026-11-15T12:00:00Z", "until": "2026-11-15T12:00:00Z"}, "until"),
        ({"cursor": "x"}, "cursor"),
        ({"limit": "0"}, "limit"),
        ({"limit": "201"}, "limit"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_a_bad_filter_is_named(world: SentWorld, query: dict[str, str], field: str) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.get("/api/v1/notifications", params=query)

    assert refused.status_code == 400, refused.text
    assert refused.json()["errors"][0]["field"] == field


async def test_another_tenants_are_not_in_it(world: SentWorld) -> None:
    async with world.sender() as other:
        foreign = await other.send()
        recipient = (await other.get(f"/{foreign}")).json()["recipient_id"]
    async with world.sender() as sender:
        assert await ids_of(sender) == []
        assert await ids_of(sender, recipient=recipient) == []


async def test_a_rare_thing_is_looked_for_in_bounded_steps(world: SentWorld) -> None:
    """A page may be short and have a cursor all the same; following it finds everything."""
    async with world.sender() as sender:
        first = await sender.send()
        ids = [first, *await copies(world, sender.tenant_id, first, 99)]
        for rare in (ids[5], ids[60], ids[99]):
            await world.arrange(sender.tenant_id, rare, status="failed")

        found: list[str] = []
        looked: list[int] = []
        place: NotificationId | None = None
        while True:
            async with world.db.tenant(sender.tenant_id) as tx, counted(tx) as statements:
                page = await find_recent(
                    tx,
                    NotificationCriteria(status=NotificationStatus.FAILED),
                    since=None,
                    until=None,
                    after=_after(place),
                    limit=10,
                    now=world.system.clock.now(),
                    chunk=20,
                    most=40,
                )
            found += [one.id for one in page.items]
            looked.append(len(statements))
            place = page.next_id
            if place is None:
                break

    assert found == [ids[5], ids[60], ids[99]]
    # Two looks of twenty rows, and one statement for those that fit; the last page ends where the rows do.
    assert looked == [3, 3, 3]


async def test_a_page_without_filters_is_two_statements(world: SentWorld) -> None:
    async with world.sender() as sender:
        first = await sender.send()
        await copies(world, sender.tenant_id, first, 30)
        async with world.db.tenant(sender.tenant_id) as tx, counted(tx) as statements:
            page = await find_recent(
                tx,
                NotificationCriteria(),
                since=None,
                until=None,
                after=None,
                limit=10,
                now=world.system.clock.now(),
            )

    assert (len(page.items), len(statements)) == (10, 2)


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
async def test_rows_are_found_by_index_and_only_in_their_months(world: SentWorld, plan: str) -> None:
    """Whatever the planner remembers: no sort of a whole table, no look into months that were not asked for."""
    async with world.sender() as sender:
        first = await sender.send()
        await copies(world, sender.tenant_id, first, 200)
        now = world.system.clock.now()
        common: dict[str, Any] = {
            "tenant_id": sender.tenant_id,
            "status": "failed",
            "channel": None,
            "category": None,
            "template": None,
            "batch_id": None,
            "correlation_id": None,
            "since": now - timedelta(minutes=10),
            "before_at": now,
            "before_id": "",
            "most": 50,
            "tests_only": False,
        }
        somebody = RecipientId(RECIPIENT.new(now))
        recent = await explained(world, sender.tenant_id, plan, QUERIES.look_back, common)
        theirs = await explained(
            world,
            sender.tenant_id,
            plan,
            QUERIES.look_back_at_recipient,
            {**common, "recipient_id": somebody},
        )

    for told in (recent, theirs):
        assert "Seq Scan on" not in told
        read = [line for line in told.splitlines() if " using " in line and "never executed" not in line]
        # One month of each of the three classes.
        assert 0 < len(read) <= 3, told
    assert "recipient_id_created_at_idx" in theirs, theirs
    assert "_pkey" not in theirs


async def explained(
    world: SentWorld, tenant_id: TenantId, plan: str, query: Any, values: dict[str, Any]
) -> str:
    """How the server goes about a query."""
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(f"SET LOCAL plan_cache_mode = {plan}; SET LOCAL enable_seqscan = off")
        return await query_plans.explained(tx.connection, query, values, how="ANALYZE, COSTS OFF, TIMING OFF")


def _after(place: NotificationId | None) -> After | None:
    return None if place is None else After(created_at=time_of(place), id=place)


async def test_a_bulk_of_one_moment_keeps_its_order(world: SentWorld) -> None:
    """Many share a millisecond; a cursor between two of them loses none."""
    async with world.sender() as sender:
        answer = await sender.client.post(
            "/api/v1/notifications/bulk", json={"notifications": [order() for _ in range(30)]}
        )
        made = sorted((result["id"] for result in answer.json()["results"]), reverse=True)
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = (await sender.get(limit=4, **({"cursor": cursor} if cursor else {}))).json()
            seen += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break

    assert seen == made
