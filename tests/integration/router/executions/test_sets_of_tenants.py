"""Executions of several tenants go through the router as one set, and become what each would have become alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from tests.support.ladders import EMAIL, LadderWorld, Wish, Worker
from tests.support.people import rows
from tests.support.postgres import TestDatabase
from tests.support.statements import counting
from tidings.contracts.delivery import DeliveryRoute
from tidings.kernel.durable.claims import Claim, ClaimSettings
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TENANT
from tidings.router.executions import load
from tidings.router.prices.model import PriceModel

#: What an execution writes, without what is drawn by lot or taken from the clock.
_WRITTEN = {
    "live": "SELECT use_case, priority, strategy, is_test, claimed_by IS NULL AS free, version, receipts, waits_for, "
    "cost_reserved_micros, cost_spent_micros, cost_currency FROM chan.executions_live WHERE tenant_id = '{tenant}'",
    "ended": "SELECT use_case, strategy, final_channel, outcome, evidence, total_cost_micros, cost_currency "
    "FROM chan.fallback_executions WHERE tenant_id = '{tenant}'",
    "attempts": "SELECT step_index, channel, provider, status, reason, meaning, cost_micros, cost_currency, "
    "provider_message_id IS NOT NULL AS named, adapter_config_id IS NOT NULL AS account "
    "FROM chan.delivery_attempts WHERE tenant_id = '{tenant}'",
    "proofs": "SELECT count(*) AS n FROM chan.delivery_outbox WHERE tenant_id = '{tenant}'",
    "spent": "SELECT channel, vendor, currency, messages, estimated_micros FROM chan.spend_daily WHERE tenant_id = '{tenant}'",
}
_PRICED = DeliveryRoute(channel="sms", vendor="http_sms")
_PRICES = PriceModel(currency="EUR", base_micros=7_000)


async def _another(world: LadderWorld) -> LadderWorld:
    """A further tenant of the same platform."""
    tenant_id = TENANT.new(datetime.now(UTC))
    made = LadderWorld(world.db, world.folder, world.sandbox, tenant_id, clock=world.clock)
    await made.accounts()
    return made


def _wishes(world: LadderWorld) -> list[Wish]:
    """All kinds: accepted, refused, to be tried again, without a way, not ready, paid for, a test."""
    return [
        world.begin(EMAIL),
        world.begin(EMAIL, to="bounce@simulator.tidings.test"),
        world.begin(EMAIL, to="later@simulator.tidings.test"),
        world.begin(EMAIL, to="unlearned@simulator.tidings.test"),
        Wish(hand_off=world.hand_off()),
        Wish(hand_off=world.hand_off(EMAIL)),
        world.begin(_PRICED, to="+4915123456789"),
        world.begin(EMAIL, is_test=True),
    ]


async def _written(world: LadderWorld) -> dict[str, list[str]]:
    found = {
        name: sorted(
            str(dict(row))
            for row in await rows(world.db, world.tenant_id, query.format(tenant=world.tenant_id))
        )
        for name, query in _WRITTEN.items()
    }
    told = [(one.result, one.reason, one.final_channel, len(one.attempts)) for one in await world.outcomes()]
    return {**found, "outcomes": sorted(map(str, told))}


async def test_a_mixed_set_writes_what_each_tenants_executions_write_alone(
    world: LadderWorld, worker: Worker
) -> None:
    """The same hand-offs, once alone and once of three tenants in one set; and the steps that are due after them."""
    together = [await _another(world) for _ in range(3)]
    for one in (world, *together):
        await one.vendor("http_sms", prices=_PRICES)
    await worker.send(world.tenant_id, _wishes(world))
    await worker.due.drain()
    mixed = [wish for kinds in zip(*map(_wishes, together), strict=True) for wish in kinds]
    send = await worker.begin_set(mixed)
    await send()
    await worker.due.drain()

    expected = await _written(world)
    assert len(expected["attempts"]) >= 6
    assert expected["spent"]
    for one in together:
        assert await _written(one) == expected


async def test_as_many_statements_for_ten_tenants_as_for_one(world: LadderWorld, worker: Worker) -> None:
    tenants = [await _another(world) for _ in range(10)]
    asked = []
    for some in ([tenants[0]] * 10, tenants):
        # Accounts are known by now.
        await (await worker.begin_set([one.begin(to="a@simulator.tidings.test") for one in some]))()
        with counting(world.db) as counted:
            await (await worker.begin_set([one.begin(to="a@simulator.tidings.test") for one in some]))()
        asked.append((counted.transactions, len(counted.texts)))
    assert asked[0] == asked[1], asked


async def test_an_execution_of_a_tenant_that_is_not_named_is_refused(
    world: LadderWorld, worker: Worker
) -> None:
    other = await _another(world)
    booked = await worker.booked(world.tenant_id, [world.begin(), other.begin()])
    with pytest.raises(DatabaseError):
        async with world.db.tenants([world.tenant_id]) as tx:
            await worker.router.start_in(tx, booked)
    await worker.begin_set([world.begin(), other.begin()])
    (mine,) = await world.live()
    # An id under another tenant's name is not found.
    assert await load.with_receipts(world.db, [Claim(other.tenant_id, mine["id"])], worker=worker.id) == []


async def test_a_vendor_that_hangs_for_one_tenant_does_not_delay_another_of_the_same_set(
    world: LadderWorld, worker: Worker
) -> None:
    other = await _another(world)
    async with _hanging() as port:
        await world.account("smtp", world.smtp(port=port))
        send = await worker.begin_set([world.begin(), other.begin()])
        task = asyncio.ensure_future(send())
        await _until_ended(other)
        assert not task.done()
        assert await world.outcomes() == []
        task.cancel()
        await asyncio.wait([task])


async def test_a_vendor_that_hangs_for_one_tenant_does_not_stop_what_is_due(world: LadderWorld) -> None:
    """What has its answer does not count as in hand, although another of its set has none."""
    other = await _another(world)
    settings = ClaimSettings(limit=2, most_in_hand=2, most_of_a_tenant=None, longest_sleep=600.0, grace=0.0)
    worker, stop = Worker(world, settings=settings), asyncio.Event()
    async with _hanging() as port:
        await world.account("smtp", world.smtp(port=port, connect_seconds=300.0))
        await worker.begin_set([Wish(hand_off=one.hand_off(EMAIL)) for one in (world, other)])
        job = asyncio.ensure_future(worker.due.run(stop))
        await _until_ended(other)
        (called,) = await world.live()
        for count in (2, 3):
            await (await worker.begin_set([Wish(hand_off=other.hand_off(EMAIL))]))()
            await _until_ended(other, count)
        # Its vendor has not answered yet.
        assert [row["version"] for row in await world.live()] == [called["version"]]
        stop.set()
        await job
    await worker.vendors.close()


async def test_an_execution_that_can_not_be_prepared_fails_alone(world: LadderWorld, worker: Worker) -> None:
    other = await _another(world)
    bad = Wish(hand_off=world.hand_off(EMAIL))
    wishes = [bad, *(Wish(hand_off=one.hand_off(EMAIL)) for one in (world, world, other))]
    worker.preparer.fails_for = {bad.hand_off.notification_id}
    await worker.begin_set(wishes)
    await worker.due.drain()

    assert [len(await one.outcomes()) for one in (world, other)] == [2, 1]
    (left,) = await world.live()
    assert (left["notification_id"], left["claimed_by"]) == (bad.hand_off.notification_id, None)


async def test_a_row_that_is_locked_holds_up_its_own_tenant_alone(world: LadderWorld, worker: Worker) -> None:
    other = await _another(world)
    send = await worker.begin_set([world.begin(), other.begin()])
    async with world.db.tenant(world.tenant_id) as tx:
        await tx.connection.execute(
            "SELECT 1 FROM chan.executions_live WHERE tenant_id = $1 FOR UPDATE", world.tenant_id
        )
        task = asyncio.ensure_future(send())
        await _until_ended(other)
        # What comes next of the other tenant does not wait behind it either.
        again = await worker.begin_set([other.begin()])
        await again()
        assert [len(await one.outcomes()) for one in (world, other)] == [0, 2]
        assert not task.done()
    await task
    assert len(await world.outcomes()) == 1


async def test_a_mixed_set_that_met_a_lock_waits_in_the_lane_of_all_once(
    world: LadderWorld, worker: Worker
) -> None:
    """After it each tenant is in a lane of its own."""
    other = await _another(world)
    to = "a@simulator.tidings.test"
    send = await worker.begin_set([world.begin(to=to), other.begin(to=to)])
    with counting(world.db) as counted:
        async with world.db.tenant(world.tenant_id) as tx:
            await tx.connection.execute(
                "SELECT 1 FROM chan.executions_live WHERE tenant_id = $1 FOR UPDATE", world.tenant_id
            )
            task = asyncio.ensure_future(send())
            await _until_ended(other)
        await task
    assert len(await world.outcomes()) == 1
    assert sum("INSERT INTO chan.fallback_executions" in text for text in counted.texts) == 3


async def test_a_change_that_the_database_refuses_fails_alone(
    world: LadderWorld, worker: Worker, fresh_database: TestDatabase
) -> None:
    """One tenant's row that can't be written costs the others of its set nothing."""
    other = await _another(world)
    send = await worker.begin_set([world.begin(), other.begin(), other.begin()])
    refuses = (
        "ALTER TABLE chan.fallback_executions ADD CONSTRAINT refused CHECK (tenant_id <> '{}') NOT VALID"
    )
    async with fresh_database.owner() as owner:
        await owner.execute(refuses.format(world.tenant_id))
    await send()
    assert [len(await one.outcomes()) for one in (world, other)] == [0, 2]
    (left,) = await world.live()
    assert left["claimed_by"] is None


@asynccontextmanager
async def _hanging() -> AsyncIterator[int]:
    """A server that takes connections and says nothing."""
    ended = asyncio.Event()

    async def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        ended.set()
        server.close()


async def _until_ended(world: LadderWorld, count: int = 1) -> None:
    async with asyncio.timeout(20):
        while len(await world.outcomes()) < count:
            await asyncio.sleep(0.02)
