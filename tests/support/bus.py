"""A bus to be asked questions, and a table in which its effects are counted."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.support.clock import ManualClock
from tests.support.nats import NatsServer
from tests.support.postgres import TestDatabase, look_before_loss
from tidings.kernel.bus import Bus, Runner, Subscription
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.errors import TidingsError
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus.address import parse_address
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import (
    ConsumerSettings,
    PostgresBus,
    PostgresBusSettings,
    RelaySettings,
    WakeupSettings,
)
from tidings.kernel.sql import Query

#: How long a test waits for something that happens in milliseconds.
DEADLINE = 30.0

_EFFECTS = """
CREATE SCHEMA bus_test;
GRANT USAGE ON SCHEMA bus_test TO tidings_runtime, tidings_platform, tidings_worker;
CREATE TABLE bus_test.effects (
    n BIGINT GENERATED ALWAYS AS IDENTITY, group_name TEXT, tenant_id TEXT, lane TEXT, event_id TEXT, value BIGINT
);
GRANT SELECT, INSERT ON bus_test.effects TO tidings_runtime, tidings_platform, tidings_worker;
"""
#: A clone for every test would take a second each; an emptied bus takes some milliseconds.
_EMPTY = """
DO $$
DECLARE
    used text;
BEGIN
    DROP SCHEMA IF EXISTS bus_test CASCADE;
    FOR used IN
        SELECT inhrelid::regclass::text FROM pg_inherits
        WHERE inhparent = 'kernel.bus_events'::regclass AND pg_relation_size(inhrelid) > 0
    LOOP
        EXECUTE format('TRUNCATE %s', used);
    END LOOP;
    TRUNCATE kernel.bus_parked, kernel.bus_consumers, kernel.dead_letters,
        notification.outbox, notification.consumed_events;
END;
$$
"""
_NOTE = Query(
    name="note_effects",
    why="The handler's effect; a second one for the same event would be seen.",
    text="INSERT INTO bus_test.effects (group_name, tenant_id, lane, event_id, value) "
    "SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[])",
    parameters=("group", "tenants", "lanes", "ids", "values"),
)


class Refused(Exception):
    """The handler does not like this event."""


@dataclass
class Effects:
    """A handler that writes down what it was given, and refuses what it is told to refuse."""

    group: str
    #: Values at which it raises.
    refused: set[int] = field(default_factory=set)
    #: How often it was called.
    calls: int = 0
    #: The kinds of transaction it was called in, and whose.
    transactions: list[TenantId | None] = field(default_factory=list)
    #: The transactions it was called in, by number.
    seen: set[str] = field(default_factory=set)
    #: Called inside the transaction, before it commits.
    before_commit: Callable[[Sequence[Event]], Awaitable[None]] | None = None

    async def __call__(self, tx: TenantTx | PlatformTx, events: Sequence[Event]) -> None:
        self.calls += 1
        self.transactions.append(tx.tenant_id if isinstance(tx, TenantTx) else None)
        self.seen.add(await tx.connection.fetchval("SELECT pg_current_xact_id()::text"))
        await note(tx, self.group, events)
        if any(event.payload()["value"] in self.refused for event in events):
            raise Refused("words@of.a.person must not be kept")
        if self.before_commit is not None:
            await self.before_commit(events)


async def note(tx: TenantTx | PlatformTx, group: str, events: Sequence[Event]) -> None:
    """Write the effect of these events."""
    await tx.execute(
        _NOTE,
        group=group,
        tenants=[event.tenant_id for event in events],
        lanes=[event.lane for event in events],
        ids=[event.id for event in events],
        values=[event.payload()["value"] for event in events],
    )


@dataclass
class BusUnderTest:
    """One implementation with everything a question needs."""

    bus: Bus
    db: Database
    database: TestDatabase
    clock: Clock
    outbox: Outbox
    #: What TIDINGS_BUS_URL would say.
    url: str = "postgres:"

    async def publish(
        self,
        tenant_id: TenantId | None,
        values: Sequence[int],
        *,
        key: str = "key",
        subject: str = "thing.happened.v1",
    ) -> list[Event]:
        """Commit these events, in one transaction."""
        events = [self.event(tenant_id, value, key=key, subject=subject) for value in values]
        await self.commit(tenant_id, events)
        return events

    def event(
        self,
        tenant_id: TenantId | None,
        value: int,
        *,
        key: str = "key",
        subject: str = "thing.happened.v1",
    ) -> Event:
        return new_event(
            subject,
            {"value": value},
            tenant_id=tenant_id,
            ordering_key=key,
            source="/tests",
            clock=SystemClock(),
        )

    async def commit(self, tenant_id: TenantId | None, events: Sequence[Event]) -> None:
        if tenant_id is None:
            async with self.db.platform() as platform_tx:
                await self.outbox.append(platform_tx, events)
        else:
            async with self.db.tenant(tenant_id) as tx:
                await self.outbox.append(tx, events)

    def subscription(self, handler: Effects, **more: Any) -> Subscription:
        """A subscription of that handler for tenants' events, tried three times."""
        if "on_platform_events" not in more and "on_tenants_events" not in more:
            more.setdefault("on_tenant_events", handler)
        more.setdefault("retry", RetryPolicy(max_attempts=3, first_delay=timedelta(seconds=10)))
        more.setdefault("subjects", (">",))
        return Subscription(group=handler.group, ledger="notification", **more)

    async def relay(self) -> int:
        return await self.bus.relay("notification").drain()

    async def effects(self, group: str) -> list[tuple[str, int]]:
        """Lane and value of every effect that was committed, in that order."""
        async with self.database.runtime() as connection:
            rows = await connection.fetch(
                "SELECT lane, value FROM bus_test.effects WHERE group_name = $1 ORDER BY n", group
            )
        return [(row["lane"], row["value"]) for row in rows]

    async def values(self, group: str) -> list[int]:
        return [value for _, value in await self.effects(group)]

    async def wait_for(self, group: str, count: int) -> list[tuple[str, int]]:
        """Until so many effects are there."""
        async with asyncio.timeout(DEADLINE):
            while len(found := await self.effects(group)) < count:
                await asyncio.sleep(0.01)
        return found


@contextlib.asynccontextmanager
async def running(*runners: Runner | Bus) -> AsyncIterator[asyncio.Event]:
    """Run them in the background; at the end they are told to stop, and have to."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(runner.run(stop)) for runner in runners]
    try:
        yield stop
    finally:
        stop.set()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*tasks)


@contextlib.asynccontextmanager
async def postgres_bus(
    database: TestDatabase, db: Database, clock: Clock, settings: PostgresBusSettings | None = None
) -> AsyncIterator[BusUnderTest]:
    """The bus on Postgres, emptied first."""
    bus = PostgresBus(database.runtime_url, db, clock=clock, settings=settings or quick())
    async with emptied(database):
        yield BusUnderTest(bus=bus, db=db, database=database, clock=clock, outbox=Outbox("notification"))


@contextlib.asynccontextmanager
async def nats_bus(
    server: NatsServer,
    database: TestDatabase,
    db: Database,
    clock: Clock,
    settings: PostgresBusSettings | None = None,
) -> AsyncIterator[BusUnderTest]:
    """The bus on NATS, with a stream of its own that is gone afterwards."""
    url = server.url(prefix=f"test-{secrets.token_hex(6)}")
    bus = NatsBus(database.runtime_url, db, parse_address(url), clock=clock, settings=settings or quick())
    outbox = Outbox("notification")
    async with emptied(database):
        yield BusUnderTest(bus=bus, db=db, database=database, clock=clock, outbox=outbox, url=url.reveal())
        with contextlib.suppress(TidingsError):
            await bus.stream.ask(f"STREAM.DELETE.{bus.stream.name}")
        await bus.close()


@contextlib.asynccontextmanager
async def emptied(database: TestDatabase) -> AsyncIterator[None]:
    """Without events, groups and dead letters, and with the table of effects; before and after."""
    async with database.owner() as connection:
        await connection.execute("SET client_min_messages = warning")
        # Other tests share the database: what they have emitted is noted first.
        await look_before_loss(database)
        await connection.execute(_EMPTY)
        await connection.execute(_EFFECTS)
        await _back_to_postgres(database)
        yield
        await connection.execute(_EMPTY)
        await _back_to_postgres(database)


async def _back_to_postgres(database: TestDatabase) -> None:
    async with database.runtime() as connection:
        await connection.execute("SET ROLE tidings_worker")
        await connection.execute(
            "UPDATE kernel.bus_stream SET engine = 'postgres', first_position = 1, last_position = 0 WHERE engine <> 'postgres'"
        )


def quick(
    *, slow_poll: float = 600.0, lease: timedelta = timedelta(seconds=2), batch: int = 100
) -> PostgresBusSettings:
    """Small sets and short leases; and polls so slow that only a wake-up can explain progress."""
    return PostgresBusSettings(
        relay=RelaySettings(batch=batch, survey_every=0.0),
        consumer=ConsumerSettings(batch=batch, lease=lease),
        wakeups=WakeupSettings(slow_poll=slow_poll, fast_poll=0.05, check_every=5.0),
    )


__all__ = [
    "DEADLINE",
    "BusUnderTest",
    "Effects",
    "ManualClock",
    "emptied",
    "nats_bus",
    "note",
    "postgres_bus",
    "quick",
    "running",
]
