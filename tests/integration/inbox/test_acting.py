"""Actions of items: chosen once, told once, shown to who asks what happened."""

import msgspec

from tests.support.inbox import HOME, feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld


async def test_an_action_is_chosen_once_and_told_once(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        sent = await send(sender, {"id": laila}, correlation_id="order-7")
        await settle(world)
        async with visitor(sender, laila) as her:
            [item] = (await feed(her))["items"]
            path = f"{HOME}/{item['id']}/actions"
            unknown = await her.post(f"{path}/refuse")
            first = await her.post(f"{path}/accept")
            again = await her.post(f"{path}/accept")
            other = await her.post(f"{path}/look")
            await her.post(f"{HOME}/{item['id']}/archive")
        await settle(world)
        async with world.unguarded("kernel.bus_events") as owner:
            told = await owner.fetch(
                "SELECT payload FROM kernel.bus_events WHERE subject = 'inbox.item.acted.v1' AND tenant_id = $1",
                sender.tenant_id,
            )
        explained = await sender.explain(sent)

    assert (unknown.status_code, unknown.json()["code"]) == (404, "inbox_action_not_found")
    assert first.status_code == again.status_code == 200
    assert first.json()["item"]["acted"] == "accept"
    assert first.json()["item"]["read_at"] is not None
    assert (other.status_code, other.json()["code"]) == (409, "inbox_item_acted")
    [event] = [msgspec.json.decode(row["payload"]) for row in told]
    assert event["action"] == "accept"
    assert event["notification_id"] == sent
    assert event["correlation_id"] == "order-7"
    assert "is_test" not in event
    kinds = [step["kind"] for step in explained["timeline"]]
    for kind in ("stored", "seen", "read", "acted", "archived"):
        assert kinds.count(kind) == 1, kinds
    assert kinds.index("attempt") < kinds.index("stored") < kinds.index("acted")
    assert kinds.count("receipt") == 0


async def test_what_is_read_before_the_answer_is_recorded_is_not_lost(world: PipelineWorld) -> None:
    """The item is there before the router has written that it was delivered: who reads at once ends the ladder all the same."""
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        ladder = [{"channel": "inapp", "success": "read", "deadline_seconds": 600}]
        made = await sender.client.post("/api/v1/router/policies", json={"use_case": "txn", "ladder": ladder})
        assert made.status_code == 201, made.text
        laila = await somebody(sender)
        deliverer = world.system.inbox.deliverer
        deliver = deliverer.deliver
        vendors = world.system.vendors.vendors

        class ReadAtOnce:
            """Delivers, and has the item read before the router hears of it."""

            async def deliver(self, items):  # type: ignore[no-untyped-def]
                results = await deliver(items)
                async with visitor(sender, laila) as her:
                    [item] = (await feed(her))["items"]
                    await her.post(f"{HOME}/{item['id']}/read")
                for relay in world.relays:
                    await relay.drain()
                await world.system.executions.read_in_app.drain()
                return results

        adapter = vendors._built_in["inapp"]
        kept, adapter._deliveries = adapter._deliveries, ReadAtOnce()  # type: ignore[attr-defined]
        try:
            sent = await send(sender, {"id": laila}, channel="auto")
            await settle(world)
        finally:
            adapter._deliveries = kept  # type: ignore[attr-defined]

        assert await sender.status(sent) == "delivered"
        assert (await sender.explain(sent))["notification"]["evidence"] == "read"
