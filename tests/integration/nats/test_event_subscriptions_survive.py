"""Workers are killed, the broker is killed, the database is away, streams are deleted: nothing is lost, nothing comes in twice."""

import asyncio
import contextlib
import random
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.bus import DEADLINE
from tests.support.cloud_events import cloud_event
from tests.support.nats import NatsServer
from tests.support.outside_events import HOME, OutsideWorld, outside_world
from tests.support.postgres import TestDatabase
from tests.support.system import SHARED
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.nats_bus.outside_subjects import NatsOutsideSubjects
from tidings.notify.tenants.model import Tenant

EVENTS = 2_000
SUBJECTS = 20
_PROCESS = Path(__file__).with_name("subscription_process.py")


@pytest.fixture
async def outside(nats_server: NatsServer, fresh_database: TestDatabase) -> AsyncIterator[OutsideWorld]:
    async with outside_world(nats_server, fresh_database) as made:
        yield made


@pytest.fixture
async def killable(own_server: NatsServer, fresh_database: TestDatabase) -> AsyncIterator[OutsideWorld]:
    """On a broker of this test alone."""
    async with outside_world(own_server, fresh_database) as made:
        yield made


async def _publish_all(outside: OutsideWorld, subject: str, count: int, *, start: int = 0) -> None:
    """In their order, each for one of twenty reservations."""
    for first in range(start, start + count, 100):
        for number in range(first, min(first + 100, start + count)):
            event = cloud_event(id=f"{number:05}", subject=f"r-{number % SUBJECTS}")
            await outside.publish(subject, event)


def _in_order(received: list[tuple[str, str | None]]) -> bool:
    """Whether events about each reservation came in the order in which they were published."""
    lanes: dict[str | None, list[str]] = {}
    for id_, subject in received:
        lanes.setdefault(subject, []).append(id_)
    return all(ids == sorted(ids) for ids in lanes.values())


@contextlib.asynccontextmanager
async def _process(outside: OutsideWorld, database: TestDatabase, url: str) -> AsyncIterator[Any]:
    """A worker of its own; killed at the end, if it is not yet."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(_PROCESS),
        database.runtime_url,
        SHARED.name,
        url,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path.cwd(),
        env={"PYTHONPATH": ".:src", "PATH": ""},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE * 2):
            while await process.stdout.readline() != b"reading\n":
                assert process.returncode is None
        draining = asyncio.create_task(process.stdout.read())
        yield process
        draining.cancel()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_workers_that_are_killed_lose_nothing_and_make_nothing_twice(
    outside: OutsideWorld, nats_server: NatsServer, fresh_database: TestDatabase
) -> None:
    """`kill -9` three times during 2,000 messages: each is one event, in the order of its reservation."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    await _publish_all(outside, f"{outside.word}.a", EVENTS)
    luck, url = random.Random(7), nats_server.url(prefix=outside.bus.stream.name).reveal()

    for share in (0.2, 0.5, 0.8):
        async with _process(outside, fresh_database, url) as process:
            goal = EVENTS * share * (0.9 + luck.random() / 5)

            async def enough(goal: float = goal) -> bool:
                return await _count(outside.system.db, tenant) >= goal

            await outside.until(enough, DEADLINE * 2)
            process.kill()
    before = await _count(outside.system.db, tenant)
    async with outside.reading():
        await outside.until(lambda: _all_there(outside, tenant), DEADLINE * 2)
        shown = await outside.until_shown(made, waiting=0)

    assert before < EVENTS
    received = await outside.received(tenant.id)
    assert sorted(id_ for id_, _ in received) == [f"{number:05}" for number in range(EVENTS)]
    assert _in_order(received)
    assert shown["accepted"] <= EVENTS <= shown["accepted"] + shown["repeated"] + 3 * 50


async def _count(db: Database, tenant: Tenant) -> int:
    async with db.tenant(tenant.id) as tx:
        return int(
            await tx.connection.fetchval(
                "SELECT count(*) FROM notification.received_events WHERE tenant_id = $1", tenant.id
            )
        )


async def _all_there(outside: OutsideWorld, tenant: Tenant) -> bool:
    return await _count(outside.system.db, tenant) >= EVENTS


async def test_a_broker_that_is_killed_delays_and_loses_nothing(
    killable: OutsideWorld, own_server: NatsServer
) -> None:
    """Three times while messages are read; what it had confirmed to the sender comes in once, in order."""
    tenant = await killable.world.tenant()
    await killable.stream(f"{killable.word}.>")
    made = await killable.subscribe(subject=f"{killable.word}.a", for_tenant=tenant.id)
    await _publish_all(killable, f"{killable.word}.a", EVENTS)

    async with killable.reading(batch=40):
        for share in (0.1, 0.4, 0.7):

            async def enough(goal: float = EVENTS * share) -> bool:
                return await _count(killable.system.db, tenant) >= goal

            await killable.until(enough, DEADLINE * 2)
            own_server.kill()
            await asyncio.sleep(0.2)
            own_server.start()
        await killable.until(lambda: _all_there(killable, tenant), DEADLINE * 2)
        await killable.until_shown(made, problem=None)

    received = await killable.received(tenant.id)
    assert sorted(id_ for id_, _ in received) == [f"{number:05}" for number in range(EVENTS)]
    assert _in_order(received)


async def test_while_the_broker_is_away_the_subscription_says_so(
    killable: OutsideWorld, own_server: NatsServer
) -> None:
    """And since when; it says nothing any more when it is read again. A new one is refused meanwhile."""
    tenant = await killable.world.tenant()
    await killable.stream(f"{killable.word}.>")
    made = await killable.subscribe(subject=f"{killable.word}.a", for_tenant=tenant.id)
    async with killable.reading():
        await killable.publish(f"{killable.word}.a")
        await killable.until_shown(made, accepted=1)
        own_server.kill()

        async def troubled() -> Any:
            return (await killable.show(made))["progress"]["problem"]

        assert "NATS" in await killable.until(troubled)
        refused = await killable.platform.post(
            HOME, json={"name": "more", "subject": f"{killable.word}.b", "for_tenant": tenant.id}
        )
        assert (refused.status_code, refused.json()["code"]) == (503, "bus_unavailable")
        own_server.start()
        shown = await killable.until_shown(made, problem=None)
    assert shown["problem_since"] is None


async def test_a_consumer_that_was_deleted_goes_on_where_it_was(outside: OutsideWorld) -> None:
    """Neither from the beginning nor from now: from the last message that is done with."""
    tenant = await outside.world.tenant()
    stream = await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    jetstream = outside.client.jetstream()
    async with outside.reading():
        await outside.publish(f"{outside.word}.a", cloud_event(id="1"))
        await outside.until_shown(made, accepted=1)
        await jetstream.delete_consumer(stream, f"{outside.bus.stream.name}-{made['id']}")
        await outside.publish(f"{outside.word}.a", cloud_event(id="2"))
        shown = await outside.until_shown(made, accepted=2)

    assert shown["repeated"] == 0
    assert await outside.ids(tenant.id) == ["1", "2"]


async def test_a_stream_that_was_deleted_and_comes_back_is_read_from_its_beginning(
    outside: OutsideWorld,
) -> None:
    """While it is away Tidings makes one of its own; where that is in the way of nobody, all goes on."""
    tenant = await outside.world.tenant()
    stream = await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    jetstream = outside.client.jetstream()
    async with outside.reading():
        await outside.publish(f"{outside.word}.a", cloud_event(id="1"))
        await outside.until_shown(made, accepted=1)
        await jetstream.delete_stream(stream)
        own = await outside.until_shown(made, own_stream=True)
        await outside.publish(f"{outside.word}.a", cloud_event(id="2"))
        await outside.until_shown(made, accepted=2)

    assert own["stream"] != stream
    assert await outside.ids(tenant.id) == ["1", "2"]


async def test_while_the_database_is_away_messages_stay_in_hand(
    outside: OutsideWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing comes before them, and none comes again before it is due."""
    vars(outside.bus)["outside"] = NatsOutsideSubjects(outside.bus.connection)
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    intake, tries = outside.system.events.intake, 0
    accept = intake.accept_set

    async def away(*arguments: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise DatabaseUnavailableError
        return await accept(*arguments)

    monkeypatch.setattr(intake, "accept_set", away)
    await _publish_all(outside, f"{outside.word}.a", 60)
    # Neither the lease nor the broker's patience ends meanwhile, however busy the machine is.
    patience = timedelta(seconds=60)
    async with outside.reading(batch=30, lease=patience, ack_wait=patience):
        shown = await outside.until_shown(made, accepted=60)

    assert tries >= 5
    assert shown["repeated"] == 0
    assert await outside.ids(tenant.id) == [f"{number:05}" for number in range(60)]


async def test_of_two_workers_one_reads_and_the_other_takes_over(outside: OutsideWorld) -> None:
    """When the first is told to stop; in between the order is kept."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    async with outside.reading(batch=20):
        async with outside.reading(batch=20):
            await _publish_all(outside, f"{outside.word}.a", 300)
        await _publish_all(outside, f"{outside.word}.a", 100, start=300)
        shown = await outside.until_shown(made, accepted=400)

    assert shown["repeated"] == 0
    assert await outside.ids(tenant.id) == [f"{number:05}" for number in range(400)]
