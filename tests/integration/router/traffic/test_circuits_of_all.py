"""Circuits are shared: what one process sees, all keep to; each change is audited and told, once."""

import asyncio
import json
from datetime import timedelta

from tests.integration.router.traffic.world import Process, TrafficWorld
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.router.traffic.model import ChosenVendor, NoVendorAvailable


def vendor_of(chosen: ChosenVendor | NoVendorAvailable) -> str | None:
    return chosen.vendor if isinstance(chosen, ChosenVendor) else None


async def opened(world: TrafficWorld) -> tuple[Process, Process]:
    """One has seen failures, and both know."""
    one, other = world.process("one"), world.process("other")
    one.sees("http_a", ok=4, failed=16)
    await world.passes(1, one, other)
    return one, other


async def test_what_one_process_sees_opens_the_circuit_in_the_other_within_a_look(
    world: TrafficWorld,
) -> None:
    one, other = world.process("one"), world.process("other")
    await world.passes(1, one, other)
    one.sees("http_a", ok=4, failed=16)
    assert vendor_of(other.chooses("http_a")) == "http_a"

    await world.passes(1, one, other)

    for process in (one, other):
        assert process.chooses("http_a") == NoVendorAvailable(
            "circuit_open", world.clock.now() + timedelta(seconds=30)
        )
        assert process.chooses("http_a", "http_b").why == "circuit of http_a open"  # type: ignore[union-attr]


async def test_failures_of_several_processes_add_up(world: TrafficWorld) -> None:
    """No single one of them has seen enough to say anything."""
    processes = [world.process(f"p{n}") for n in range(4)]
    for process in processes:
        process.sees("http_a", ok=1, failed=3)

    await world.passes(1, *processes)

    assert vendor_of(processes[-1].chooses("http_a")) is None


async def test_one_change_is_one_audit_row_and_one_event_however_many_see_it(world: TrafficWorld) -> None:
    processes = [world.process(f"p{n}") for n in range(5)]
    for process in processes:
        process.sees("http_a", failed=20)
        await process.job._exchange(world.clock.now())
    await asyncio.gather(*(process.job.look() for process in processes))

    rows = await world.audit_rows("circuit_breaker")
    events = await world.events()

    assert [(row.action, row.actor, row.reason) for row in rows] == [
        ("opened", "system", "100 of 100 calls failed")
    ]
    account_id = world.accounts["http_a"].id
    assert rows[0].entity_id == account_id
    assert json.loads(rows[0].after or "")["state"] == "OPEN"
    assert [subject for subject, _ in events] == ["channel.degraded.v1"]
    told = events[0][1]
    assert (told["account_id"], told["vendor"], told["calls"], told["failed"]) == (
        account_id,
        "http_a",
        100,
        100,
    )
    await world.passes(1, *processes)
    assert all(vendor_of(process.chooses("http_a")) is None for process in processes)


async def test_it_is_tried_by_one_process_and_closes_for_all(world: TrafficWorld) -> None:
    one, other = await opened(world)
    await world.clock.advance(timedelta(seconds=30))
    for process in (one, other):
        assert isinstance(process.chooses("http_a"), NoVendorAvailable)

    await world.passes(1, one, other)

    probes = [one.chooses("http_a") for _ in range(5)]
    assert [vendor_of(probe) for probe in probes] == ["http_a", "http_a", "http_a", None, None]
    assert isinstance(other.chooses("http_a"), NoVendorAvailable)
    # A call that was begun before all this fails late, elsewhere: that says nothing about now.
    other.sees("http_a", failed=5)
    one.sees("http_a", ok=3)
    await world.passes(1, other, one, other)

    assert vendor_of(one.chooses("http_a")) == "http_a"
    assert vendor_of(other.chooses("http_a")) == "http_a"
    rows = await world.audit_rows("circuit_breaker")
    assert [row.action for row in rows] == ["opened", "probed", "closed"]
    assert [subject for subject, _ in await world.events()] == ["channel.degraded.v1", "channel.restored.v1"]


async def test_what_brought_it_down_does_not_bring_it_down_again(world: TrafficWorld) -> None:
    """The failures are still in the window when it has closed."""
    one, other = await opened(world)
    await world.clock.advance(timedelta(seconds=30))
    one.chooses("http_a")
    await world.passes(1, one)
    one.sees("http_a", ok=3)
    await world.passes(1, one, other)

    other.sees("http_a", ok=1)
    await world.passes(1, one, other)

    assert vendor_of(one.chooses("http_a")) == "http_a"


async def test_a_probe_that_fails_opens_it_for_longer(world: TrafficWorld) -> None:
    one, other = await opened(world)
    await world.clock.advance(timedelta(seconds=30))
    one.chooses("http_a")
    await world.passes(1, one)
    one.chooses("http_a")
    one.sees("http_a", failed=1)
    await world.passes(1, one, other)

    assert other.chooses("http_a") == NoVendorAvailable(
        "circuit_open", world.clock.now() + timedelta(seconds=60)
    )


async def test_a_prober_that_dies_leaves_the_probing_to_another(world: TrafficWorld) -> None:
    one, other = await opened(world)
    await world.clock.advance(timedelta(seconds=30))
    one.chooses("http_a")
    await world.passes(1, one)
    del one

    await world.passes(61, other)
    await world.clock.advance(timedelta(seconds=5))
    other.chooses("http_a")
    await world.passes(1, other)

    assert vendor_of(other.chooses("http_a")) == "http_a"


async def test_counts_of_a_process_that_is_gone_fade(world: TrafficWorld) -> None:
    dead, alive = world.process("dead"), world.process("alive")
    dead.sees("http_a", failed=9)
    await world.passes(1, dead)
    del dead

    await world.passes(75, alive)
    alive.sees("http_a", failed=9)
    await world.passes(1, alive)

    assert vendor_of(alive.chooses("http_a")) == "http_a"


async def test_a_person_wins_and_lets_go(world: TrafficWorld) -> None:
    one, other = await opened(world)

    await world.hold("http_a", "CLOSED")
    one.sees("http_a", failed=100)
    await world.passes(1, one, other)
    one.sees("http_a", failed=100)
    await world.passes(1, one, other)
    assert vendor_of(other.chooses("http_a")) == "http_a"

    await world.let_go("http_a")
    await world.passes(1, one, other)
    assert vendor_of(other.chooses("http_a")) == "http_a"
    one.sees("http_a", failed=100)
    await world.passes(1, one, other)
    assert vendor_of(other.chooses("http_a")) is None

    rows = await world.audit_rows("circuit_breaker")
    assert [(row.action, row.actor) for row in rows] == [
        ("opened", "system"),
        ("held", "key_somebody"),
        ("released", "key_somebody"),
        ("opened", "system"),
    ]
    assert rows[1].reason == "we know better"
    assert [subject.split(".")[1] for subject, _ in await world.events()] == [
        "degraded",
        "restored",
        "degraded",
    ]


async def test_one_held_open_stays_so_until_its_time_is_over(world: TrafficWorld) -> None:
    one = world.process("one")
    await world.hold("http_a", "OPEN", until=timedelta(minutes=5))
    await world.passes(1, one)
    # Who holds it may let go of it before.
    assert one.chooses("http_a") == NoVendorAvailable(
        "circuit_open", world.clock.now() + timedelta(seconds=15)
    )

    await world.passes(299, one)
    one.chooses("http_a")
    await world.passes(1, one)

    assert one.chooses("http_a").why == "probe"  # type: ignore[union-attr]
    actions = [row.action for row in await world.audit_rows("circuit_breaker")]
    assert actions == ["held", "released", "probed"]


async def test_a_process_that_starts_later_knows_what_happened_before(world: TrafficWorld) -> None:
    await opened(world)
    await world.clock.advance(timedelta(days=2))

    late = world.process("late")
    await late.job.look()

    assert isinstance(late.chooses("http_a"), NoVendorAvailable)


async def test_a_tenants_trouble_is_not_its_neighbours(world: TrafficWorld, db: Database) -> None:
    one, _ = await opened(world)
    neighbour = TrafficWorld(db, TenantId(world.tenant_id[:-4] + "0000"))
    await neighbour.with_accounts("http_a")
    world.accounts = neighbour.accounts

    assert vendor_of(one.chooses("http_a")) == "http_a"
    assert await neighbour.events() == []


async def test_without_a_database_nothing_that_was_seen_is_lost(world: TrafficWorld) -> None:
    one = world.process("one")
    one.sees("http_a", failed=20)
    gone = Database("postgresql://nobody@127.0.0.1:1/nowhere")
    there, one.job.db = one.job.db, gone
    try:
        await one.job.look()
    except DatabaseUnavailableError:
        pass
    else:
        raise AssertionError("there was a database")

    one.job.db = there
    await world.passes(1, one)

    assert vendor_of(one.chooses("http_a")) is None
