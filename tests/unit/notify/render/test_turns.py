"""Whose turn it is in a lane, and what a tenant has used up."""

import asyncio

import pytest

from tidings.notify.render import lane as module
from tidings.notify.render.budget import Budget
from tidings.notify.render.lane import RenderLane
from tidings.notify.render.model import RenderLimits


class _Child:
    """A child that is no process: turns are about who gets one."""

    alive = True
    pid = 0

    @classmethod
    async def start(cls, program: str, limits: RenderLimits) -> "_Child":
        assert program
        assert limits
        return cls()

    def kill(self) -> None:
        self.alive = False

    async def end(self) -> None:
        self.alive = False


@pytest.fixture(autouse=True)
def _children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Child", _Child)


async def _turns(lane: RenderLane, asked: str) -> str:
    order: list[str] = []

    async def one(tenant: str) -> None:
        async with lane.child(tenant):
            order.append(tenant)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(tenant) for tenant in asked))
    return "".join(order)


async def test_tenants_take_turns_however_much_each_has_waiting() -> None:
    lane = RenderLane("program", RenderLimits())

    assert await _turns(lane, "aaaaabbc") == "aabcabaa"
    await lane.close()


async def test_a_tenant_has_one_child_where_others_may_want_one() -> None:
    lane = RenderLane("program", RenderLimits(), children=2, of_a_tenant=1)
    most, now = 0, 0

    async def one(tenant: str) -> None:
        nonlocal most, now
        async with lane.child(tenant):
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1

    await asyncio.gather(*(one("a") for _ in range(4)))
    assert most == 1
    await asyncio.gather(*(one(tenant) for tenant in "aabb"))
    assert most == 2
    await lane.close()


async def test_who_goes_away_leaves_no_gap() -> None:
    lane = RenderLane("program", RenderLimits())
    async with lane.child("a"):
        waiting = [asyncio.create_task(_turns(lane, name)) for name in "bc"]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)

    assert await waiting[1] == "c"
    assert lane.waiting("b") == lane.waiting("c") == 0
    assert await _turns(lane, "b") == "b"
    await lane.close()


async def test_who_goes_away_at_the_moment_of_its_turn_leaves_no_gap() -> None:
    """A place is cancelled before its task hears of it; the child that is given back just then is the next one's."""
    lane = RenderLane("program", RenderLimits())
    async with lane.child("a"):
        waiting = [asyncio.create_task(_turns(lane, name)) for name in "bcd"]
        while not all(lane.waiting(name) for name in "bcd"):
            await asyncio.sleep(0)
        waiting[0].cancel()
        waiting[1].cancel()

    assert await waiting[2] == "d"
    gone = await asyncio.gather(*waiting[:2], return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in gone)
    assert [lane.waiting(name) for name in "abcd"] == [0, 0, 0, 0]
    assert await _turns(lane, "b") == "b"
    await lane.close()


def test_a_budget_fills_up_and_runs_out() -> None:
    now = 0.0
    budget = Budget(at_once=10, per_minute=30, clock=lambda: now)

    budget.charge("a", 10)
    assert budget.wait_of("a") == 0
    budget.charge("a", 5)
    assert budget.wait_of("a") == 10
    assert budget.wait_of("b") == 0
    now = 10.0
    assert budget.wait_of("a") == 0


def test_the_platform_has_no_budget() -> None:
    budget = Budget(at_once=1, per_minute=1)

    budget.charge("", 100)

    assert budget.wait_of("") == 0


def test_many_tenants_do_not_make_it_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.notify.render.budget._MANY", 10)
    now = 0.0
    budget = Budget(at_once=1, per_minute=1, clock=lambda: now)

    for n in range(50):
        now += 0.001
        budget.charge(f"t{n}", 100)

    assert len(budget._buckets) <= 10
    assert budget.wait_of("t49") > 0
