"""Weights are shared: one process moves ten points, all send by them, and the audit says why."""

import asyncio
from datetime import timedelta

import pytest

from tests.integration.router.traffic.world import Process, TrafficWorld
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import InvalidError

HOME = {"http_a": 70, "http_b": 30}


def points(process: Process, to: str = "+93700000001") -> dict[str, int] | None:
    found = process.traffic.points(process._world.tenant_id, "sms", to)
    return dict(found) if found is not None else None


def both_are_called(process: Process, *, a_slow: int = 0, b_slow: int = 0, prefix: str = "+93") -> None:
    process.sees("http_a", ok=20 - a_slow, prefix=prefix)
    process.sees("http_b", ok=20 - b_slow, prefix=prefix)
    if a_slow:
        process.sees("http_a", ok=a_slow, slow=True, prefix=prefix)
    if b_slow:
        process.sees("http_b", ok=b_slow, slow=True, prefix=prefix)


async def test_a_slow_vendor_loses_ten_points_in_every_process_and_the_audit_says_why(
    world: TrafficWorld,
) -> None:
    one, other = world.process("one"), world.process("other")
    await world.share(HOME)
    await world.passes(1, one, other)
    assert points(other) == HOME

    both_are_called(one, a_slow=10)
    await world.passes(1, one, other)

    assert points(one) == points(other) == {"http_a": 60, "http_b": 40}
    # Only where it is slow.
    assert points(other, to="+4915100000001") == HOME
    rows = await world.audit_rows("vendor_weight")
    assert [(row.action, row.actor) for row in rows] == [("set", "key_somebody"), ("moved", "system")]
    assert rows[1].reason == "10 points from http_a to http_b: 10 of 20 calls were slow"


async def test_however_many_look_points_move_once_a_minute(world: TrafficWorld) -> None:
    processes = [world.process(f"p{n}") for n in range(4)]
    await world.share(HOME)
    await world.passes(1, *processes)

    moves = 0
    for _ in range(61):
        both_are_called(processes[0], a_slow=10)
        await world.clock.advance(timedelta(seconds=1))
        await asyncio.gather(*(process.job.look() for process in processes))
        moves = len(await world.audit_rows("vendor_weight")) - 1

    assert moves == 2
    await world.passes(1, *processes)
    assert points(processes[1]) == {"http_a": 50, "http_b": 50}


async def test_nothing_moves_when_all_are_slow(world: TrafficWorld) -> None:
    one = world.process("one")
    await world.share(HOME)
    await world.passes(1, one)

    both_are_called(one, a_slow=10, b_slow=10)
    await world.passes(1, one)

    assert points(one) == HOME


async def test_points_go_home_after_a_quiet_time_also_when_everybody_was_started_anew(
    world: TrafficWorld,
) -> None:
    one = world.process("one")
    await world.share(HOME)
    await world.passes(1, one)
    both_are_called(one, a_slow=10)
    await world.passes(1, one)
    del one

    late = world.process("late")
    await world.passes(14 * 60, late)
    assert points(late) == {"http_a": 60, "http_b": 40}
    await world.passes(60, late)

    assert points(late) == HOME
    assert (await world.audit_rows("vendor_weight"))[-1].reason == (
        "10 points from http_b to http_a: quiet: towards home"
    )


async def test_health_is_that_of_the_account_that_the_tenant_sends_through(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    """The platform's account of the same vendor is slow; the tenant has its own. Another tenant has none."""
    world = TrafficWorld(fresh_db, tenant_id)
    await world.with_accounts("http_a", "http_b")
    neighbour = TrafficWorld(fresh_db, TenantId(tenant_id[:-4] + "0000"))
    neighbour.clock = world.clock
    async with fresh_db.platform() as tx:
        await world.configs.configure_platform(
            tx,
            [ConfigureAccount(vendor=vendor, secret_ref="file://x") for vendor in ("http_a", "http_b")],
            actor="test",
        )
    await neighbour.look_up_accounts()
    one = world.process("one")
    await world.share(HOME)
    await neighbour.share(HOME)
    await world.passes(1, one)

    platforms = neighbour.accounts["http_a"]
    assert platforms.platform
    one.traffic.observe(platforms.id, prefix="+93", ok=20, failed=0, seconds=9, slow=True)
    await world.passes(1, one)

    assert points(one) == HOME
    moved = one.traffic.points(neighbour.tenant_id, "sms", "+93700000001")
    assert moved == {"http_a": 60, "http_b": 40}


async def test_weights_of_the_platform_hold_for_tenants_without_their_own(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    world = TrafficWorld(fresh_db, tenant_id)
    async with fresh_db.platform() as tx:
        await world.configs.configure_platform(
            tx,
            [ConfigureAccount(vendor=vendor, secret_ref="file://x") for vendor in ("http_a", "http_b")],
            actor="test",
        )
        await world.setter.put(tx, "sms", HOME, {}, expect=lambda _: None, actor="test")
    await world.look_up_accounts()
    one = world.process("one")
    await world.passes(1, one)

    assert one.chooses("http_a", "http_b", random_unit=0.9).why == "weight 70:30"  # type: ignore[union-attr]
    both_are_called(one, a_slow=10)
    await world.passes(1, one)
    assert points(one) == {"http_a": 60, "http_b": 40}

    await world.share({"http_a": 0, "http_b": 100})
    await world.passes(1, one)
    assert points(one) == {"http_a": 0, "http_b": 100}
    await world.share({})
    await world.passes(1, one)
    assert points(one) == {"http_a": 60, "http_b": 40}


@pytest.mark.parametrize(
    ("home", "by_prefix", "fields"),
    [
        ({"http_a": 70, "http_b": 20}, {}, ["home"]),
        ({"http_a": 100, "smtp": 0}, {}, ["home.smtp"]),
        ({"http_a": 50, "http_unknown": 50}, {}, ["home.http_unknown"]),
        ({"http_a": 50, "carrier_pigeon": 50}, {}, ["home.carrier_pigeon"]),
        (HOME, {"+937": {"http_a": 100}}, ["by_prefix.+937"]),
        (HOME, {"+93": {}}, ["by_prefix.+93"]),
        ({}, {"+93": {"http_a": 100}}, ["home"]),
    ],
)
async def test_weights_that_make_no_sense_are_refused_and_the_field_named(
    world: TrafficWorld, home: dict[str, int], by_prefix: dict[str, dict[str, int]], fields: list[str]
) -> None:
    with pytest.raises(InvalidError) as refused:
        await world.share(home, **by_prefix)

    assert [error.field for error in refused.value.errors] == fields
