"""A reader looks at no more of the stream than it has to."""

import asyncio
import re
from collections.abc import Sequence

from tests.support.bus import DEADLINE, BusUnderTest, Effects, running
from tests.support.query_plans import explained
from tidings.kernel.db import Database
from tidings.kernel.events import Event, attributes_of
from tidings.kernel.ids import TenantId
from tidings.kernel.postgres_bus import PostgresBus, Wakeups, stream
from tidings.kernel.postgres_bus.wakeups import BUS_CHANNEL

_RARE = "rare.happened.v1"


async def test_a_stretch_of_a_long_backlog_costs_a_stretch(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """It is read along the index and left where the limit is, whatever the statistics say of the table."""
    await under_test.publish(tenant_id, range(60))
    await under_test.relay()

    query = stream._QUERIES.read_events
    values = {
        "group": "group",
        "plain": [_RARE],
        "wild": None,
        "position": 0,
        "published_at": "now",
        "limit": 10,
    }
    async with under_test.db.worker(claims=True) as tx:
        plan = await explained(tx.connection, query, values, how="ANALYZE, COSTS OFF, TIMING OFF")

    scans = [row for row in plan.splitlines() if "on bus_events_" in row and "never executed" not in row]
    assert max(int(re.findall(r"rows=(\d+)", scan)[-1]) for scan in scans) == 10, "\n".join(scans)


async def test_a_crowd_of_others_events_is_slept_through(
    under_test: BusUnderTest, bus: PostgresBus, tenant_id: TenantId
) -> None:
    """Whoever wanted one of fifty does not follow the stream for the next fifty; its own event wakes it."""
    began, may = asyncio.Event(), asyncio.Event()

    async def hold(_: Sequence[Event]) -> None:
        began.set()
        await may.wait()

    handler = Effects("group", before_commit=hold)
    consumer = bus.consumer(under_test.subscription(handler, subjects=(_RARE,)))
    async with running(bus, consumer):
        async with asyncio.timeout(DEADLINE):
            await bus.wakeups.listening.wait()
            # Its first look is over: a wake-up that came during it would make it look once more.
            await asyncio.sleep(0.5)
            await under_test.publish(tenant_id, range(50))
            await under_test.publish(tenant_id, [100], subject=_RARE)
            await under_test.relay()
            await began.wait()
            await under_test.publish(tenant_id, range(50))
            await under_test.relay()
            may.set()
            while (place := await _place(under_test)) is None:
                await asyncio.sleep(0.01)
        assert place == 51

        await under_test.publish(tenant_id, [101], subject=_RARE)
        await under_test.relay()
        await under_test.wait_for("group", 2)
    assert await under_test.values("group") == [100, 101]


async def _place(under_test: BusUnderTest) -> int | None:
    """How many events the group has looked at, once it rests."""
    async with under_test.db.worker() as tx:
        found = await tx.connection.fetchval(
            "SELECT (SELECT count(*) FROM kernel.bus_events AS event WHERE event.position <= consumer.position) "
            "FROM kernel.bus_consumers AS consumer WHERE owner IS NULL AND position > 0"
        )
    return None if found is None else int(found)


async def test_an_event_that_a_group_has_applied_is_read_by_the_others_alone(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """It was applied in the transaction that wrote it: its row names the group."""
    await under_test.publish(tenant_id, [1, 2])
    applied = under_test.event(tenant_id, 3)
    async with under_test.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope, applied_by) "
            "VALUES ($1, $2, $3, $4, $5, $6, 'first')",
            *(
                applied.id,
                tenant_id,
                applied.subject,
                applied.ordering_key,
                applied.data,
                attributes_of(applied),
            ),
        )
    await under_test.relay()
    for group in ("first", "second"):
        await under_test.bus.consumer(under_test.subscription(Effects(group))).drain()
    assert await under_test.values("first") == [1, 2]
    assert await under_test.values("second") == [1, 2, 3]


def test_a_group_is_not_called_for_what_it_has_applied() -> None:
    wakeups = Wakeups("postgresql://nowhere", Database("postgresql://nowhere"))
    mine, others = (wakeups.on_subjects(BUS_CHANNEL, r"^rare\..+$", group) for group in ("mine", "others"))
    wakeups._heard(None, 0, BUS_CHANNEL, "common.v1 rare.v1!mine")
    assert (mine.called, others.called) == (False, True)
    wakeups._heard(None, 0, BUS_CHANNEL, "rare.v1!mine rare.v1")
    assert mine.called
