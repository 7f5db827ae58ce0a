"""A batch from draft to its end."""

from tests.integration.batches.arranging import HOME, crowd, wish, write
from tests.support.people import told
from tests.support.pipeline import PipelineWorld


async def test_everybody_who_is_meant_gets_it_once(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        vips = await crowd(world, sender.tenant_id, 25, tags=["vip"])
        await crowd(world, sender.tenant_id, 5, tags=["staff"])
        batch = await write(sender)

        started = await batch.do("start")
        await world.settle()
        await world.advance(seconds=1)

        assert (started["status"], started["totals"]["people"]) == ("running", 25)
        assert (await batch.show())["status"] == "completed"
        assert await batch.totals() == {"people": 25, "sent": 25, "delivered": 25}
        lines = await batch.people()
        assert sorted(line["recipient_id"] for line in lines) == sorted(vips)
        assert {line["state"] for line in lines} == {"delivered"}
        shown = await sender.client.get(f"/api/v1/notifications/{lines[0]['notification_id']}")
        assert shown.json()["batch_id"] == batch.id
        found = await sender.client.get("/api/v1/notifications", params={"batch": batch.id, "limit": 200})
        assert {one["id"] for one in found.json()["items"]} == {line["notification_id"] for line in lines}


async def test_its_events_come_with_its_states(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 2, tags=["vip"])
        batch = await write(sender)

        await batch.do("start")
        await batch.do("pause")
        await batch.do("resume")
        events = await told(world.db, sender.tenant_id, "batch.")
        await world.settle()
        await world.advance(seconds=1)

        # The clock stands still, and the order of their ids is drawn by lot.
        payloads = dict(events)
        assert set(payloads) == {"batch.started.v1", "batch.paused.v1", "batch.resumed.v1"}
        assert payloads["batch.started.v1"]["people"] == 2
        assert (await batch.show())["status"] == "completed"
        report = await batch.get("/report", verify="true")
        assert report["states"] == {"delivered": 2}
        assert report["proof"] == {"lines": {"delivered": 2}, "people": 2, "agrees": True}


async def test_who_comes_after_the_start_is_not_in_it(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 3, tags=["vip"])
        batch = await write(sender, pacing={"per_minute": 1})
        await batch.do("start")
        await world.advance(seconds=1)
        await crowd(world, sender.tenant_id, 3, tags=["vip"])

        for _ in range(5):
            await world.advance(minutes=1)

        assert await batch.totals() == {"people": 3, "sent": 3, "delivered": 3}


async def test_a_batch_is_listed_and_shown_as_it_was_written(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        asked = wish(
            local_time="09:00",
            window={"start": "08:00", "end": "18:00", "days": ["mon", "fri"], "timezone": "recipient"},
            pacing={"per_minute": 100, "domains": {"gmail.com": 10}},
            variants=[{"percent": 20, "variables": {"order_number": "B"}}],
            needs_approval=True,
        )
        made = (await sender.client.post(HOME, json=asked)).json()

        listed = (await sender.client.get(HOME)).json()["items"]

        assert listed == [made]
        assert (made["status"], made["category"], made["priority"]) == ("draft", "transactional", "low")
        assert made["variants"] == [{"name": "A", "percent": 20, "template": None}]
        assert made["window"]["days"] == ["mon", "fri"]
        assert "variables" not in made
