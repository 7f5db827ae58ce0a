"""From Postgres to NATS and back: nothing that was not read is left behind, and no lane loses its order."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.support.bus import BusUnderTest, Effects, nats_bus, quick, running
from tests.support.cli import typing_in
from tests.support.clock import ManualClock
from tests.support.nats import NatsServer
from tests.support.postgres import TestDatabase
from tidings.kernel.bus import EVERYTHING, BusMovedError
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import DegradedError, NotConfiguredError
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus import move_back
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.postgres_bus import PostgresBus
from tidings.kernel.secrets import Secret


@pytest.fixture
def hand() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
async def moving(
    nats_server: NatsServer, worker_database: TestDatabase, db: Database, hand: ManualClock
) -> AsyncIterator[BusUnderTest]:
    async with nats_bus(nats_server, worker_database, db, hand) as made:
        yield made


@pytest.fixture
def on_nats(moving: BusUnderTest) -> NatsBus:
    assert isinstance(moving.bus, NatsBus)
    return moving.bus


@pytest.fixture
def in_postgres(moving: BusUnderTest) -> PostgresBus:
    return PostgresBus(moving.database.runtime_url, moving.db, clock=moving.clock, settings=quick())


async def test_what_was_not_read_in_postgres_is_read_first(
    moving: BusUnderTest, on_nats: NatsBus, in_postgres: PostgresBus, tenant_id: TenantId
) -> None:
    """By a group that was in the middle, by one that had not begun, and by one that is new."""
    middle = in_postgres.consumer(moving.subscription(Effects("middle")))
    await moving.publish(tenant_id, [1, 2])
    await in_postgres.relay("notification").drain()
    await middle.drain()
    await moving.publish(tenant_id, range(3, 250))
    await in_postgres.relay("notification").drain()
    await moving.publish(tenant_id, [250, 251])

    assert await on_nats.relay("notification").drain() == 2
    await on_nats.consumer(moving.subscription(Effects("middle"))).drain()
    await on_nats.consumer(moving.subscription(Effects("new"))).drain()

    assert await moving.values("middle") == list(range(1, 252))
    assert await moving.values("new") == list(range(1, 252))


async def test_what_is_set_aside_in_postgres_goes_before_what_comes_from_nats(
    moving: BusUnderTest, on_nats: NatsBus, in_postgres: PostgresBus, tenant_id: TenantId, hand: ManualClock
) -> None:
    """Places are one line of numbers: a lane that waits keeps waiting, and goes on in its order."""
    group = Effects("group", refused={1})
    await moving.publish(tenant_id, [1, 2])
    await in_postgres.relay("notification").drain()
    await in_postgres.consumer(moving.subscription(group)).drain()
    await moving.publish(tenant_id, [3])
    await on_nats.relay("notification").drain()
    consumer = on_nats.consumer(moving.subscription(group))
    await consumer.drain()
    assert await moving.values("group") == []

    group.refused.clear()
    await hand.advance(timedelta(seconds=11))
    await consumer.drain()

    assert await moving.values("group") == [1, 2, 3]


async def test_a_process_that_was_left_behind_moves_nothing_and_says_so(
    moving: BusUnderTest, on_nats: NatsBus, in_postgres: PostgresBus, tenant_id: TenantId
) -> None:
    """Its relay refuses; one that is started like that does not start."""
    await in_postgres.check_place()
    await on_nats.stream.ensure()
    await moving.publish(tenant_id, [1])

    with pytest.raises(BusMovedError, match="set TIDINGS_BUS_URL"):
        await in_postgres.relay("notification").drain()
    with pytest.raises(NotConfiguredError, match="tidings bus move --to postgres:"):
        await in_postgres.check_place()
    assert await on_nats.relay("notification").drain() == 1


async def test_back_to_postgres_and_to_nats_again(
    moving: BusUnderTest, on_nats: NatsBus, in_postgres: PostgresBus, tenant_id: TenantId
) -> None:
    """What a group has not read goes along; the other group gets nothing twice."""
    await on_nats.consumer(moving.subscription(Effects("slow"))).register()
    await moving.publish(tenant_id, [1, 2, 3])
    await on_nats.relay("notification").drain()
    await on_nats.consumer(moving.subscription(Effects("quick"))).drain()

    assert await move_back.move_back(on_nats.stream, moving.db) == 3
    assert await move_back.move_back(on_nats.stream, moving.db) == 0
    await moving.publish(tenant_id, [4])
    assert await on_nats.relay("notification").drain() == 0
    with pytest.raises(BusMovedError, match="moved back"):
        await on_nats.relay("notification").drain()
    assert await in_postgres.relay("notification").drain() == 1
    for name in ("slow", "quick"):
        await in_postgres.consumer(moving.subscription(Effects(name))).drain()
        assert await moving.values(name) == [1, 2, 3, 4]

    await moving.publish(tenant_id, [5])
    restarted = NatsBus(
        moving.database.runtime_url, moving.db, on_nats.connection.address, clock=moving.clock
    )
    assert await restarted.relay("notification").drain() == 1
    for name in ("slow", "quick"):
        await restarted.consumer(moving.subscription(Effects(name))).drain()
        assert await moving.values(name) == [1, 2, 3, 4, 5]
    await restarted.close()


async def test_processes_that_run_leave_what_was_moved_back(
    moving: BusUnderTest, on_nats: NatsBus, in_postgres: PostgresBus, tenant_id: TenantId
) -> None:
    """They do not undo the operator's order, say so, and let the groups go to those that were restarted."""
    old = on_nats.consumer(moving.subscription(Effects("group")))
    new = in_postgres.consumer(moving.subscription(Effects("group")))
    with capture_logs() as lines:
        async with running(on_nats, on_nats.relay("notification"), old):
            await moving.publish(tenant_id, [1])
            await moving.wait_for("group", 1)
            await move_back.move_back(on_nats.stream, moving.db)
            async with running(in_postgres, in_postgres.relay("notification"), new):
                await moving.publish(tenant_id, [2])
                await moving.wait_for("group", 2)
            with pytest.raises(DegradedError, match="moved back"):
                await on_nats.check()

    assert {line["event"] for line in lines} >= {"relay_failed", "consumer_failed"}


async def test_a_reader_outside_goes_on_with_its_cursor(
    moving: BusUnderTest, on_nats: NatsBus, in_postgres: PostgresBus, tenant_id: TenantId
) -> None:
    """From one engine to the other and back: all events once, in their order."""
    cursor = await in_postgres.feed.cursor("now")
    found: list[int] = []

    async def read(bus: PostgresBus) -> None:
        nonlocal cursor
        while True:
            page = await bus.feed.read(tenant_id, EVERYTHING, after=cursor, limit=2)
            found.extend(event.payload()["value"] for event in page.events)
            cursor = page.next_cursor
            if page.at_end:
                return

    await moving.publish(tenant_id, [1, 2, 3])
    await in_postgres.relay("notification").drain()
    page = await in_postgres.feed.read(tenant_id, EVERYTHING, after=cursor, limit=1)
    found, cursor = [1], page.next_cursor
    await moving.publish(tenant_id, [4, 5])
    await on_nats.relay("notification").drain()
    await read(on_nats)
    assert found == [1, 2, 3, 4, 5]
    assert await on_nats.feed.cursor("beginning") == await in_postgres.feed.cursor("beginning")
    await move_back.move_back(on_nats.stream, moving.db)
    await moving.publish(tenant_id, [6])
    await in_postgres.relay("notification").drain()
    await read(in_postgres)

    assert found == [1, 2, 3, 4, 5, 6]


async def test_two_databases_do_not_share_a_stream(
    moving: BusUnderTest, on_nats: NatsBus, fresh_database: TestDatabase
) -> None:
    """By the same URL in two installations; the second is told to choose another name."""
    await on_nats.stream.ensure()
    other_db = Database(fresh_database.runtime_url)
    await other_db.open()
    # Databases of tests are copies of one.
    async with other_db.worker() as tx:
        await tx.connection.execute("UPDATE kernel.bus_stream SET stream_id = gen_random_uuid()")
    other = NatsBus(fresh_database.runtime_url, other_db, on_nats.connection.address, clock=SystemClock())
    try:
        with pytest.raises(NotConfiguredError, match=r"another database.*\?prefix="):
            await other.stream.ensure()
    finally:
        await other.close()
        await other_db.close()


async def test_the_command_shows_and_moves(
    moving: BusUnderTest,
    nats_server: NatsServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """There and back, as an operator types it; what is done is in the audit."""
    url = nats_server.url(prefix=parse_address(Secret("nats://x")).prefix + "-moved").reveal()
    types = typing_in(tmp_path, monkeypatch, capsys)
    at = ("--database-url", moving.database.runtime_url)

    async def run(*arguments: str) -> str:
        said = await asyncio.to_thread(types, "bus", *arguments, *at)
        assert said.code == 0, said.err
        return said.out

    assert (await run("status")).startswith("postgres: answers")
    assert "the stream is on NATS" in await run("move", "--to", url)
    monkeypatch.setenv("TIDINGS_BUS_URL", url)
    assert json.loads(await run("status", "--json"))["engine"] == "nats"
    assert "the stream is in Postgres now" in await run("move", "--to", "postgres:")
    assert "the stream is in Postgres" in await run("move", "--to", "postgres:")
