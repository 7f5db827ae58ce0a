"""What a set costs: as many statements and round trips for a hundred notifications as for one."""

import asyncio
from typing import Any

import pytest

from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, order, person
from tests.support.statements import Asked, counting

pytestmark = pytest.mark.xdist_group("pipeline-statements")

MANY = 100


def _people(count: int) -> list[dict[str, Any]]:
    """Somebody each, whom nobody knows yet."""
    return [person(f"{unused()}@example.test") for _ in range(count)]


async def _accept(sender: Sender, people: list[dict[str, Any]]) -> Asked:
    body = {"notifications": [order(recipient=someone) for someone in people]}
    with counting(sender.world.db) as asked:
        answer = await sender.client.post(f"{HOME}/bulk", json=body)
    assert answer.json()["accepted"] == len(people), answer.text
    return asked


async def _dispatch(world: PipelineWorld, count: int) -> dict[str, Asked]:
    """Each part of the way, one after the other."""
    parts: dict[str, Asked] = {}
    with counting(world.db) as parts["dispatch"]:
        assert await world.system.dispatch.job.drain() == count
    with counting(world.db) as parts["relay"]:
        for relay in world.relays:
            await relay.drain()
    with counting(world.db) as parts["outcomes"]:
        # They were settled along with the record.
        assert await world.system.consumers.outcomes.drain() == 0
    await world.settle()
    return parts


async def test_a_set_costs_no_more_than_one(world: PipelineWorld, capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, dict[int, Asked]] = {}
    async with world.sender() as sender:
        crowd = _people(MANY)
        for warm in (True, False):  # At first templates, keys and connections are met for the first time.
            for count in (1, MANY):
                strangers = _people(count)
                found.setdefault("accept, new people", {})[count] = await _accept(sender, strangers)
                await world.settle()
                if warm:
                    await _accept(sender, crowd)
                    await world.settle()
                found.setdefault("accept, known people", {})[count] = await _accept(sender, crowd[:count])
                for part, asked in (await _dispatch(world, count)).items():
                    found.setdefault(part, {})[count] = asked
    lines = [f"  {part}, {count}: {asked}" for part, of in found.items() for count, asked in of.items()]
    with capsys.disabled():
        print("", *lines, sep="\n")  # noqa: T201  # for whoever wants to know
    accepting = [asked for part, counts in found.items() if "accept" in part for asked in counts.values()]
    assert all(asked.round_trips <= 2 for asked in accepting)
    for part, counts in found.items():
        assert counts[MANY].round_trips <= counts[1].round_trips + 2, (part, counts[MANY].by_table())
        assert counts[MANY].transactions <= counts[1].transactions + 1, part


async def test_single_requests_at_the_same_moment_share_what_a_set_costs(
    world: PipelineWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    async with world.sender() as sender:
        crowd = _people(50)
        await _accept(sender, crowd)
        with counting(world.db) as alone:
            await sender.client.post(HOME, json=order(recipient=crowd[0]))
        bodies = [order(recipient=someone) for someone in crowd]
        with counting(world.db) as together:
            answers = await asyncio.gather(*(sender.client.post(HOME, json=body) for body in bodies))
    assert {answer.status_code for answer in answers} == {202}
    with capsys.disabled():
        print(f"\n  one POST: {alone}\n  50 POSTs at once: {together}")  # noqa: T201  # for whoever wants to know
    assert together.round_trips <= 5 * alone.round_trips


async def test_every_gate_at_once_costs_a_bounded_number(world: PipelineWorld) -> None:
    """Guardians, limits and later steps add statements for the set, and none for each."""
    async with world.sender() as sender:
        found: dict[int, Asked] = {}
        for count in (1, 1, MANY):
            guardian = (
                await sender.client.post("/api/v1/recipients", json=person(f"{unused()}@example.test"))
            ).json()
            people: list[Any] = []
            for _ in range(count):
                made = await sender.client.post("/api/v1/recipients", json=person(f"{unused()}@example.test"))
                people.append(made.json()["id"])
                await sender.choose(
                    people[-1], guardian_routing={"guardian_id": guardian["id"], "mode": "instead"}
                )
            await _accept(sender, people)
            with counting(world.db) as found[count]:
                await world.system.dispatch.job.drain()
            await world.settle()
    assert found[MANY].round_trips <= found[1].round_trips + 2
