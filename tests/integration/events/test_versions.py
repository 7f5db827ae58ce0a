"""Two versions of an event side by side: the older one is made of the newer, once and in order, until nobody needs it."""

import json
from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any

import pytest

from tests.support.bus import BusUnderTest, postgres_bus
from tests.support.clock import ManualClock
from tests.support.cloud_events import cloud_event
from tests.support.http import HttpWorld
from tests.support.postgres import TestDatabase
from tidings.contracts.event_versions import MIGRATION_COMPLETED_SUBJECT, ConsumerMigrationCompleted
from tidings.kernel.bus import EVERYTHING, SubjectFilter
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.event_versions.model import NOTICE, Successor
from tidings.kernel.event_versions.publish import EventVersions
from tidings.kernel.events import new_event, to_cloudevent
from tidings.kernel.ids import TenantId, time_of
from tidings.notify.event_feed import migrations

V1, V2 = "order.placed.v1", "order.placed.v2"
#: The newer one has the amount in cents; the older one had it whole.
ORDERS = Successor(
    subject=V2,
    replaces=V1,
    introduced=date(2026, 11, 1),
    down=lambda data: {"value": data["value"], "amount": data["cents"] // 100},
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
async def under(
    worker_database: TestDatabase, db: Database, clock: ManualClock
) -> AsyncIterator[BusUnderTest]:
    async with postgres_bus(worker_database, db, clock) as made, worker_database.owner() as owner:
        await owner.execute("TRUNCATE kernel.event_versions, kernel.event_version_readers")
        yield made
        await owner.execute("TRUNCATE kernel.event_versions, kernel.event_version_readers")


def versions(under: BusUnderTest, groups: dict[str, SubjectFilter] | None = None) -> EventVersions:
    async def known(_: WorkerTx) -> dict[str, SubjectFilter]:
        return groups or {}

    return EventVersions([ORDERS], db=under.db, outbox=under.outbox, clock=under.clock, groups=[known])


async def placed(under: BusUnderTest, tenant_id: TenantId | None, *values: int) -> None:
    events = [
        new_event(
            V2,
            {"value": value, "cents": value * 100 + 5},
            tenant_id=tenant_id,
            ordering_key="key",
            source="/tests",
            clock=under.clock,
        )
        for value in values
    ]
    await under.commit(tenant_id, events)
    await under.relay()


async def older_made(under: BusUnderTest, publishing: EventVersions) -> None:
    subscription = publishing.subscription()
    assert subscription is not None
    await under.bus.consumer(subscription).drain()
    await under.relay()


async def heard(under: BusUnderTest, tenant_id: TenantId, *subjects: str) -> list[dict[str, Any]]:
    feed = under.bus.feed
    wanted = SubjectFilter(subjects) if subjects else EVERYTHING
    page = await feed.read(tenant_id, wanted, after=await feed.cursor("beginning"), limit=100)
    return [json.loads(to_cloudevent(event)) for event in page.events]


async def test_readers_of_the_older_version_get_each_event_once_and_in_order(
    under: BusUnderTest, tenant_id: TenantId
) -> None:
    publishing = versions(under)
    await placed(under, tenant_id, 1, 2, 3)
    await older_made(under, publishing)
    await placed(under, tenant_id, 4)
    for _ in range(2):
        await older_made(under, publishing)

    newer, older = await heard(under, tenant_id, V2), await heard(under, tenant_id, V1)

    assert [event["data"] for event in older] == [{"value": n, "amount": n} for n in (1, 2, 3, 4)]
    assert [event["data"]["cents"] for event in newer] == [105, 205, 305, 405]
    assert [event["time"] for event in older] == [event["time"] for event in newer]
    assert len({event["id"] for event in [*older, *newer]}) == 8


async def test_the_platforms_own_events_have_an_older_version_too(under: BusUnderTest) -> None:
    publishing = versions(under)
    await placed(under, None, 1)
    await older_made(under, publishing)

    async with under.db.worker() as tx:
        rows = await tx.connection.fetch("SELECT subject FROM kernel.bus_events ORDER BY position")
    assert [row["subject"] for row in rows] == [V2, V1]


async def test_an_older_event_follows_from_the_newer_alone(under: BusUnderTest, tenant_id: TenantId) -> None:
    """Killed between the two and begun again, it is the same event: whoever has seen it does nothing again."""
    event = new_event(
        V2, {"value": 1, "cents": 100}, tenant_id=tenant_id, ordering_key="k", source="/t", clock=under.clock
    )

    first, again = ORDERS.older(event), ORDERS.older(event)

    assert first == again
    assert first.id != event.id
    assert time_of(first.id) == time_of(event.id)


async def test_it_ends_after_thirty_days_and_when_all_groups_have_said_so(
    under: BusUnderTest, clock: ManualClock, tenant_id: TenantId
) -> None:
    groups = {
        "billing": SubjectFilter(["order.>"]),
        "mails": SubjectFilter([V1]),
        "other": SubjectFilter([V2]),
    }
    publishing = versions(under, groups)
    told = migrations.handler([ORDERS], clock)

    [window] = await publishing.look()
    assert [one.group for one in window.groups] == ["billing", "mails"]
    async with under.db.platform() as tx:
        await told(
            tx, [_completed(under, tenant_id, "nobody"), _completed(under, tenant_id, "x", "no.such.v1")]
        )
    await clock.advance(timedelta(days=31))
    assert (await publishing.look())[0].closed_at is None

    await _says(under, "mails")
    assert (await publishing.look())[0].closed_at is None
    await _says(under, "billing")
    [window] = await publishing.look()
    assert window.closed_at is not None

    await placed(under, tenant_id, 1)
    await clock.advance(NOTICE + timedelta(seconds=1))
    await placed(under, tenant_id, 2)
    await older_made(under, publishing)
    # What happened before it ended has an older version, however late that is made.
    assert [(event["type"], event["data"]["value"]) for event in await heard(under, tenant_id)] == [
        (V2, 1),
        (V2, 2),
        (V1, 1),
    ]


async def test_before_thirty_days_it_does_not_end(under: BusUnderTest, clock: ManualClock) -> None:
    publishing = versions(under)
    await publishing.look()
    await clock.advance(timedelta(days=29))

    assert (await publishing.look())[0].closed_at is None
    await clock.advance(timedelta(days=2))
    assert (await publishing.look())[0].closed_at is not None


async def test_a_group_that_is_no_more_is_not_waited_for(under: BusUnderTest, clock: ManualClock) -> None:
    groups = {"mails": SubjectFilter([V1])}
    publishing = versions(under, groups)
    await publishing.look()
    groups.clear()
    await clock.advance(timedelta(days=31))

    assert (await publishing.look())[0].closed_at is not None


async def test_a_reader_outside_is_a_group_and_says_so_by_an_event(
    under: BusUnderTest, clock: ManualClock, world: HttpWorld
) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        await client.put("/api/v1/events/readers/crm", json={"types": ["order.*.v1"]})
        await client.put("/api/v1/events/readers/erp", json={"types": ["invoice.>"]})
    publishing = EventVersions(
        [ORDERS], db=under.db, outbox=under.outbox, clock=clock, groups=[migrations.known_readers]
    )
    mine = f"{tenant.id}/crm"

    before = (await publishing.look())[0].groups
    async with under.db.platform() as tx:
        await migrations.handler([ORDERS], clock)(tx, [_completed(under, tenant.id, "crm")])
    after = (await publishing.look())[0].groups

    assert [one.completed_at is None for one in before if one.group == mine] == [True]
    assert f"{tenant.id}/erp" not in {one.group for one in before}
    assert [one.completed_at is None for one in after if one.group == mine] == [False]


async def test_what_is_said_of_an_event_without_a_newer_version_is_refused(world: HttpWorld) -> None:
    tenant = await world.tenant()
    event = cloud_event(
        type=MIGRATION_COMPLETED_SUBJECT, data={"group": "crm", "subject": "notification.queued.v1"}
    )

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post("/api/v1/events", json=event)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "data.subject")


def _completed(under: BusUnderTest, tenant_id: TenantId, group: str, subject: str = V1) -> Any:
    return new_event(
        MIGRATION_COMPLETED_SUBJECT,
        ConsumerMigrationCompleted(group=group, subject=subject),
        tenant_id=tenant_id,
        ordering_key="k",
        source="/t",
        clock=under.clock,
    )


async def _says(under: BusUnderTest, group: str) -> None:
    from tidings.kernel.event_versions.store import complete

    async with under.db.platform() as tx:
        await complete(tx, [(V1, group)], now=under.clock.now())
