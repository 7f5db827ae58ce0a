"""Whatever statement a planner or a releaser dies at: each message exactly once."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.support.cloud_events import STRUCTURED
from tests.support.hotel import CONFIRMATION, REMINDER, make_trigger, reservation, scheduled, somebody, tell
from tests.support.killing import KilledError, killed_at
from tests.support.pipeline import PipelineWorld, Sender

pytestmark = pytest.mark.xdist_group("triggers-killed")

#: More statements than a set takes.
_MOST = 60


async def _send(sender: Sender, *events: dict[str, Any]) -> None:
    await tell(sender)
    for event in events:
        answer = await sender.client.post("/api/v1/events", json=event, headers=STRUCTURED)
        assert answer.status_code == 202, answer.text
    for relay in sender.world.relays:
        await relay.drain()


async def test_a_planner_that_dies_anywhere_sends_and_plans_once(world: PipelineWorld) -> None:
    arrival = world.clock.now() + timedelta(days=10)
    deaths = 0
    async with world.sender() as one, world.sender() as other:
        for sender in (one, other):
            await make_trigger(sender, **CONFIRMATION)
            await make_trigger(sender, **REMINDER)
        people: list[str] = []
        for number in range(1, _MOST):
            to = somebody()
            people.append(to)
            for sender in (one, other):
                await _send(sender, reservation(arrival, to=to))
            try:
                with killed_at(world.db, number):
                    await world.system.triggers.consumer.drain()
            except KilledError:
                deaths += 1
            await world.settle()
            if deaths < number:
                break
        counts = [len(world.received(to)) for to in people]
        planned = [len(await scheduled(sender, status="planned", limit="200")) for sender in (one, other)]

    assert deaths > 15, "it died at every statement on its way"
    assert counts == [2] * len(people), "one of each tenant"
    assert planned == [len(people)] * 2


async def test_a_replanning_that_dies_anywhere_leaves_one_plan(world: PipelineWorld) -> None:
    now, deaths = world.clock.now(), 0
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        people: list[str] = []
        for number in range(1, _MOST):
            to = somebody()
            people.append(to)
            await tell(sender, reservation(now + timedelta(days=30), to=to))
            await _send(sender, reservation(now + timedelta(days=50), to=to, kind="moved"))
            try:
                with killed_at(world.db, number):
                    await world.system.triggers.consumer.drain()
            except KilledError:
                deaths += 1
            await world.settle()
            if deaths < number:
                break
        planned = await scheduled(sender, status="planned", limit="200")
        over = await scheduled(sender, status="obsolete", limit="200")

    assert deaths > 10
    assert sorted(one["subject"] for one in planned) == sorted(f"res-{to}" for to in people)
    assert {one["event_type"] for one in planned} == {"reservation.moved"}
    assert len(over) == len(people)


async def test_a_releaser_that_dies_anywhere_sends_once(world: PipelineWorld) -> None:
    deaths = 0
    async with world.sender() as one, world.sender() as other:
        for sender in (one, other):
            await make_trigger(sender, **REMINDER)
        people: list[str] = []
        for number in range(1, _MOST):
            to = somebody()
            people.append(to)
            for sender in (one, other):
                await tell(sender, reservation(world.clock.now() + timedelta(days=10), to=to))
            [entry, *_] = await scheduled(one, status="planned")
            await world.clock.advance(timedelta(days=9))
            try:
                with killed_at(world.db, number):
                    await world.system.dispatch.schedule.drain()
            except KilledError:
                deaths += 1
            # What a dead worker had claimed is free when the lease ends.
            await world.advance(seconds=16)
            assert entry["id"]
            if deaths < number:
                break
        counts = [len(world.received(to)) for to in people]

    assert deaths > 6
    assert counts == [2] * len(people)


async def test_two_processes_release_and_plan_at_once(world: PipelineWorld) -> None:
    people = [somebody() for _ in range(20)]
    arrival = world.clock.now() + timedelta(days=10)
    async with world.sender() as sender, world.another_worker() as other:
        await make_trigger(sender, **CONFIRMATION)
        await make_trigger(sender, **REMINDER)
        await _send(sender, *(reservation(arrival, to=to) for to in people))
        await asyncio.gather(world.system.triggers.consumer.drain(), other.triggers.consumer.drain())
        await world.settle()
        planned = await scheduled(sender, status="planned", limit="200")
        await world.clock.advance(timedelta(days=9))
        await asyncio.gather(world.system.dispatch.schedule.drain(), other.dispatch.schedule.drain())
        await world.settle()

    assert len(planned) == len(people)
    assert [len(world.received(to)) for to in people] == [2] * len(people)


async def test_an_entry_that_breaks_is_tried_again_alone_and_given_up_at_last(world: PipelineWorld) -> None:
    """Its order can't be opened; the others of the same set go out at their time."""
    people = [somebody() for _ in range(5)]
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await tell(sender, *(reservation(world.clock.now() + timedelta(days=10), to=to) for to in people))
        [broken] = [one for one in await scheduled(sender) if one["subject"] == f"res-{people[2]}"]
        async with world.db.tenant(sender.tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE notification.notification_scheduled SET payload_ciphertext = $1 WHERE id = $2",
                b"\x00\x00\x00\x01" + b"x" * 60,
                broken["id"],
            )
        path = f"/api/v1/scheduled/{broken['id']}"
        await world.advance(days=9)
        first = (await sender.client.get(path)).json()
        for _ in range(20):
            await world.advance(hours=7)
        last = (await sender.client.get(path)).json()
        again = await sender.client.post(f"{path}/retry")
        counts = [len(world.received(to)) for to in people]

    assert (first["status"], first["attempts"], first["last_error"]) == ("planned", 1, "unreadable")
    assert (last["status"], last["attempts"]) == ("failed", 8)
    assert again.json()["status"] == "planned"
    assert counts == [1, 1, 0, 1, 1]
