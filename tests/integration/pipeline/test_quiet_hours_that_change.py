"""Quiet hours that end early, and a message that is sent in spite of them: what waits does not wait for what is over."""

from datetime import datetime
from typing import Any

import pytest

from tests.integration.pipeline.arranging import EVERY_DAY, quiet_now
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, person
from tidings.contracts.tenants import NotificationPolicy

pytestmark = pytest.mark.xdist_group("pipeline-nights")


def quiet(world: PipelineWorld, *, hours: int = 2) -> list[dict[str, Any]]:
    """The person sleeps now, and for so long."""
    start, end = world.clock.now().hour - 1, world.clock.now().hour + hours
    return [{"days": list(EVERY_DAY), "start": f"{start % 24:02d}:00", "end": f"{end % 24:02d}:00"}]


async def waiting(world: PipelineWorld, sender: Sender, recipient_id: str) -> str:
    """A notification that waits for the morning."""
    sent = await sender.send(recipient=recipient_id)
    await world.settle()
    assert await sender.status(sent["id"]) == "scheduled"
    return str(sent["id"])


async def somebody(sender: Sender, **choices: Any) -> tuple[str, str]:
    """A recipient who chose, and their address."""
    to = f"{unused()}@example.test"
    made = await sender.client.post("/api/v1/recipients", json=person(to, timezone="UTC"))
    if choices:
        await sender.choose(made.json()["id"], **choices)
    return made.json()["id"], to


async def test_quiet_hours_that_are_removed_release_what_waits(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender, quiet_hours=quiet(world))
        omar, _ = await somebody(sender, quiet_hours=quiet(world))
        hers, his = await waiting(world, sender, laila), await waiting(world, sender, omar)

        await sender.choose(laila, quiet_hours=[])
        await world.settle()

        assert await sender.status(hers) == "delivered"
        assert len(world.received(to)) == 1
        assert await sender.status(his) == "scheduled"


async def test_quiet_hours_that_change_give_it_another_time(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender, quiet_hours=quiet(world, hours=4))
        id_ = await waiting(world, sender, laila)

        await sender.choose(laila, quiet_hours=quiet(world, hours=2))
        await world.settle()

        told = await sender.explain(id_)
        untils = [line["until"] for line in told["decision"] if line["verdict"] == "defer"]
        assert await sender.status(id_) == "scheduled"
        assert datetime.fromisoformat(untils[-1]).hour == (world.clock.now().hour + 2) % 24


async def test_so_do_a_persons_time_zone_and_an_import(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, _ = await somebody(sender, quiet_hours=quiet(world))
        omar, _ = await somebody(sender, quiet_hours=quiet(world))
        hers, his = await waiting(world, sender, laila), await waiting(world, sender, omar)
        path = f"/api/v1/recipients/{laila}"
        known = await sender.client.get(path)

        await sender.client.patch(
            path, json={"timezone": "Pacific/Auckland"}, headers={"If-Match": known.headers["etag"]}
        )
        done = await sender.client.post(
            "/api/v1/preferences/import",
            content=f'{{"id": "{omar}", "quiet_hours": []}}',
            headers={"Content-Type": "application/x-ndjson"},
        )
        await world.settle()

        assert done.json()["changed"] == 1, done.text
        assert [await sender.status(id_) for id_ in (hers, his)] == ["delivered", "delivered"]


async def test_a_tenants_quiet_hours_release_what_waits_when_they_go(world: PipelineWorld) -> None:
    async with world.sender(quiet_now(world.clock.now())) as sender:
        laila, _ = await somebody(sender)
        omar, _ = await somebody(sender, quiet_hours=quiet(world))
        hers, his = await waiting(world, sender, laila), await waiting(world, sender, omar)

        await sender.policy(NotificationPolicy())
        await world.settle()
        await world.system.consumers.quiet_hours.drain()
        await world.settle()

        assert await sender.status(hers) == "delivered"
        # Decided anew, by his own quiet hours.
        assert await sender.status(his) == "scheduled"


async def test_one_that_waits_is_sent_now(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender, quiet_hours=quiet(world))
        id_ = await waiting(world, sender, laila)

        answers = [await sender.client.post(f"{HOME}/{id_}/release") for _ in range(2)]
        await world.settle()
        too_late = await sender.client.post(f"{HOME}/{id_}/release")

        told = await sender.explain(id_)
        audited = await sender.rows(
            "SELECT actor FROM notification.audit WHERE entity_id = $1 AND action = 'released'", id_
        )
    assert [answer.status_code for answer in answers] == [200, 200]
    assert told["notification"]["status"] == "delivered"
    assert len(world.received(to)) == 1
    assert "quiet_but_released" in [line["reason"] for line in told["decision"]]
    assert (too_late.status_code, too_late.json()["code"]) == (409, "not_waiting")
    assert audited
    assert all(row["actor"].startswith("key") for row in audited)


async def test_every_other_gate_still_holds(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender, quiet_hours=quiet(world))
        id_ = await waiting(world, sender, laila)
        await sender.client.post("/api/v1/suppressions", json={"channel": "email", "address": to})

        assert (await sender.client.post(f"{HOME}/{id_}/release")).status_code == 200
        await world.settle()

        assert await sender.status(id_) == "suppressed"
        assert not world.received(to)


async def test_another_tenant_can_not(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as stranger:
        laila, _ = await somebody(sender, quiet_hours=quiet(world))
        id_ = await waiting(world, sender, laila)

        answer = await stranger.client.post(f"{HOME}/{id_}/release")

        assert (answer.status_code, answer.json()["code"]) == (404, "notification_not_found")
        assert await sender.status(id_) == "scheduled"
