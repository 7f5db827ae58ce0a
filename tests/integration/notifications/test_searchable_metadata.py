"""Values of metadata that a tenant declares searchable find their notifications, and are nowhere in the clear."""

from datetime import timedelta
from typing import Any

import pytest

from tests.integration.notifications.test_listing import copies, explained
from tests.integration.notifications.world import HOME, Sender, SentWorld, order
from tests.support.people import rows
from tests.support.statements import counting
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.ids import TenantId
from tidings.notify.notifications.store import QUERIES

DECLARED = NotificationPolicy(searchable_metadata=("order_number", "room"))


async def ids_of(sender: Sender, **query: Any) -> list[str]:
    answer = await sender.get(**query)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


async def kept(world: SentWorld, tenant_id: TenantId) -> list[dict[str, Any]]:
    query = "SELECT notification_id, key, value_hash FROM notification.searchable_metadata ORDER BY key"
    return await rows(world.db, tenant_id, query)


async def test_a_declared_value_finds_its_notifications(world: SentWorld) -> None:
    async with world.sender(DECLARED) as sender, world.sender(DECLARED) as other:
        foreign = await other.send(metadata={"order_number": "A-77"})
        first = await sender.send(metadata={"order_number": "A-77", "colour": "red"})
        second = await sender.send(metadata={"order_number": " a-77 ", "room": 12})
        await sender.send(metadata={"order_number": "A-78"})
        await world.arrange(sender.tenant_id, second, status="failed")

        assert await ids_of(sender, **{"metadata.order_number": "A-77"}) == [second, first]
        assert await ids_of(sender, **{"metadata.order_number": "A-77", "status": "failed"}) == [second]
        assert await ids_of(sender, **{"metadata.room": "12"}) == [second]
        assert await ids_of(sender, **{"metadata.room": "A-77"}) == []
        assert await ids_of(other, **{"metadata.order_number": "A-77"}) == [foreign]
        looked = await sender.client.post(f"{HOME}/lookup", json={"metadata": {"order_number": "A-77"}})
        page = (await sender.get(limit=1, **{"metadata.order_number": "A-77"})).json()
        rest = await ids_of(sender, cursor=page["next_cursor"], **{"metadata.order_number": "A-77"})
        stored = await kept(world, sender.tenant_id)

    assert [item["id"] for item in looked.json()["items"]] == [second, first]
    assert ([item["id"] for item in page["items"]], rest) == ([second], [first])
    assert {row["key"] for row in stored} == {"order_number", "room"}
    assert all(row["value_hash"].startswith("sha256:") for row in stored)
    assert "77" not in {row["value_hash"] for row in stored}


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ({"metadata.colour": "red"}, "metadata.colour", "order_number, room"),
        ({"metadata.order_number": "A", "metadata.room": "1"}, "metadata", "at most 1"),
        ({"metadata": "A-77"}, "metadata", "metadata.NAME=VALUE"),
        ({"metadata.order_number": " "}, "metadata.order_number", "blanks"),
        ({"colour.order_number": "A-77"}, "colour.order_number", "not a known field"),
    ],
)
async def test_what_nobody_declared_is_not_searched(
    world: SentWorld, query: dict[str, str], field: str, says: str
) -> None:
    async with world.sender(DECLARED) as sender:
        refused = await sender.get(**query)

    assert refused.status_code == 400, refused.text
    assert refused.json()["errors"][0]["field"] == field
    assert says in refused.json()["detail"]


async def test_a_declared_value_that_nobody_could_search_for_is_refused(world: SentWorld) -> None:
    async with world.sender(DECLARED) as sender:
        refused = await sender.client.post(HOME, json=order(metadata={"order_number": ["A-77"]}))
        empty = await sender.client.post(HOME, json=order(metadata={"order_number": None}))

    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "metadata.order_number"
    assert empty.status_code == 202


async def test_it_costs_no_statement_and_nothing_for_those_who_declare_nothing(world: SentWorld) -> None:
    async with world.sender(DECLARED) as sender, world.sender() as plain:
        bodies = [order(metadata={"order_number": f"A-{i}"}) for i in range(3)]
        found = []
        for one in (plain, sender):
            trips = []
            # Settings that are known for a second may be asked for again on the way: the least of some is what it costs.
            for _ in range(5):
                with counting(world.db) as asked:
                    await one.client.post(f"{HOME}/bulk", json={"notifications": bodies})
                trips.append(asked.round_trips)
            found.append(min(trips))
        nothing = await kept(world, plain.tenant_id)
        something = await kept(world, sender.tenant_id)

    assert found[0] == found[1]
    assert nothing == []
    assert len(something) == 15


async def test_an_erasure_takes_along_what_somebody_was_found_by(world: SentWorld) -> None:
    async with world.sender(DECLARED) as sender:
        sent = await sender.send(metadata={"order_number": "A-77"})
        kept_one = await sender.send(metadata={"order_number": "A-77"})
        person = (await sender.get(f"/{sent}")).json()["recipient_id"]
        erased = await sender.client.post(f"/api/v1/recipients/{person}/erase", json={})
        after = await ids_of(sender, **{"metadata.order_number": "A-77"})
        stored = await kept(world, sender.tenant_id)

    assert erased.status_code == 200, erased.text
    assert after == [kept_one]
    assert [row["notification_id"] for row in stored] == [kept_one]


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
async def test_it_is_found_by_its_index(world: SentWorld, plan: str) -> None:
    async with world.sender(DECLARED) as sender:
        first = await sender.send(metadata={"order_number": "A-77"})
        await copies(world, sender.tenant_id, first, 200)
        [row] = await kept(world, sender.tenant_id)
        now = world.system.clock.now()
        values = {
            "tenant_id": sender.tenant_id,
            "status": None,
            "channel": None,
            "category": None,
            "template": None,
            "batch_id": None,
            "correlation_id": None,
            "recipient_ids": None,
            "key": "order_number",
            "value_hash": row["value_hash"],
            "since": now - timedelta(minutes=10),
            "before_at": now + timedelta(minutes=1),
            "before_id": "",
            "most": 50,
            "tests_only": False,
        }
        told = await explained(world, sender.tenant_id, plan, QUERIES.look_back_at_metadata, values)

    assert "Seq Scan on" not in told
    assert "tenant_id_key_value_hash" in told, told
