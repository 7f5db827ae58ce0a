"""Support finds a message by what a person can say: an address, an order number."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.integration.notifications.test_listing import copies, explained
from tests.integration.notifications.world import HOME, Sender, SentWorld
from tests.support.people import unused
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.notify.notifications.store import QUERIES


async def look_up(sender: Sender, **wanted: Any) -> httpx2.Response:
    return await sender.client.post(f"{HOME}/lookup", json=wanted)


async def ids_of(sender: Sender, **wanted: Any) -> list[str]:
    answer = await look_up(sender, **wanted)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


async def test_all_that_went_to_an_address_is_found_by_it(world: SentWorld) -> None:
    mail = f"kamran-{unused()}@example.test"
    address = {"channel": "email", "address": mail}
    async with world.sender() as other:
        foreign = await world.recipient(other.tenant_id, ("email", mail))
        await other.send(recipient=foreign)
    async with world.sender() as sender:
        kamran = await world.recipient(sender.tenant_id, ("email", mail))
        wife = await world.recipient(sender.tenant_id, ("email", mail))
        await sender.send()
        first = await sender.send(recipient=kamran, correlation_id="A-77")
        second = await sender.send(recipient=wife)
        third = await sender.send(recipient=kamran)
        await world.arrange(sender.tenant_id, third, status="failed")

        assert await ids_of(sender, address=address) == [third, second, first]
        assert await ids_of(sender, address=address, status="failed") == [third]
        assert await ids_of(sender, address=address, recipient=wife) == [second]
        assert await ids_of(sender, address=address, correlation_id="A-77") == [first]
        assert await ids_of(sender, correlation_id="A-77") == [first]
        assert await ids_of(sender, address={"channel": "email", "address": "nobody@example.test"}) == []
        page = (await look_up(sender, address=address, limit=2)).json()
        rest = await look_up(sender, address=address, limit=2, cursor=page["next_cursor"])
        async with world.db.tenant(sender.tenant_id) as tx:
            audited = await world.system.kernel.audit.read_recent(tx, entity_type="recipient")

    assert [item["id"] for item in page["items"]] == [third, second]
    assert [item["id"] for item in rest.json()["items"]] == [first]
    assert {row.action for row in audited} == {"looked_up"}
    assert "kamran" not in str(audited)


async def test_an_address_needs_the_scope_to_read_recipients(world: SentWorld) -> None:
    async with world.sender(scopes=["notifications:read"]) as sender:
        refused = await look_up(sender, address={"channel": "email", "address": "a@example.test"})
        plain = await look_up(sender, correlation_id="A-77")

    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
    assert plain.json() == {"items": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"address": {"channel": "email", "address": "kamran"}}, "address.address"),
        ({"address": "kamran@example.test"}, "address"),
        ({"recipient": "kamran"}, "recipient"),
        ({"since": "2026-11-15T12:00:00Z", "until": "2026-11-15T12:00:00Z"}, "until"),
        ({"cursor": "x"}, "cursor"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_what_is_wrong_is_named(world: SentWorld, body: dict[str, Any], field: str) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.post(f"{HOME}/lookup", json=body)

    assert refused.status_code == 400, refused.text
    assert refused.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
async def test_each_way_has_its_index(world: SentWorld, plan: str) -> None:
    """Neither a correlation id nor an address is looked for row by row."""
    async with world.sender() as sender:
        first = await sender.send(correlation_id="A-77")
        await copies(world, sender.tenant_id, first, 200)
        now = world.system.clock.now()
        common: dict[str, Any] = {
            "tenant_id": sender.tenant_id,
            "status": None,
            "channel": None,
            "category": None,
            "template": None,
            "batch_id": None,
            "correlation_id": "A-77",
            "recipient_ids": None,
            "since": now - timedelta(minutes=10),
            "before_at": now,
            "before_id": "",
            "most": 50,
            "tests_only": False,
        }
        several = [RecipientId(RECIPIENT.new(now)), RecipientId(RECIPIENT.new(now))]
        by_correlation = await explained(
            world, sender.tenant_id, plan, QUERIES.look_back_at_correlation, common
        )
        by_people = await explained(
            world,
            sender.tenant_id,
            plan,
            QUERIES.look_back_at_recipients,
            {**common, "correlation_id": None, "recipient_ids": several},
        )

    for told in (by_correlation, by_people):
        assert "Seq Scan on notifications" not in told
    assert "_pkey" not in by_correlation
    assert "tenant_id_correlation_id_cre" in by_correlation, by_correlation
    # In the order of the index: a campaign of a million under one id is not sorted for each page.
    assert "(correlation_id <= $" in by_correlation or "(correlation_id <= '" in by_correlation, (
        by_correlation
    )
    assert "Incremental Sort" not in by_correlation
    # Of ten minutes that hold next to nothing, which a plan for these values knows, any index is as good.
    assert plan == "force_custom_plan" or "recipient_id_created_at_idx" in by_people, by_people
