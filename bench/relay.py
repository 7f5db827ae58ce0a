"""The bus: events a second through relay and consumer, and how long one takes from commit to handler.

The raw limit is the same rows inserted by bare asyncpg, `INSERT … SELECT unnest` in sets of 1,000: nobody
moves rows faster than that writes them. Throughput runs in rounds, raw limit and bus in turns. Lag is
measured at a moderate load of single events, each in a transaction of its own, from the moment its
commit returned to the moment the handler has it; it is set against the time that such a commit takes.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Sequence

import asyncpg

from tidings.kernel.bus import Subscription
from tidings.kernel.bus_url import open_bus
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings, Tx
from tidings.kernel.events import Event, attributes_of, new_event
from tidings.kernel.ids import TENANT, EventId, TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import PostgresBus
from tidings.kernel.secrets import Secret

EVENTS = 20_000
SET = 1_000
ROUNDS = 3
TENANTS = 40
LOAD_PER_SECOND = 200
LOAD_SECONDS = 6.0

_CLOCK = SystemClock()
_INSERT = (
    "INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope) "
    "SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])"
)


async def measure(runtime_url: str, *, bus_url: Secret | None = None, name: str = "bus") -> dict[str, float]:
    """Events a second each way, their share of the raw limit, and lags in milliseconds; on Postgres unless a URL is given."""
    db = Database(runtime_url, PoolSettings(min_size=8, max_size=8))
    await db.open()
    raw_connection = await asyncpg.connect(runtime_url)
    bus = open_bus(bus_url, runtime_url, db, clock=_CLOCK)
    rates: dict[str, list[float]] = {name: [] for name in ("raw", "relay", "one", "many")}
    try:
        tenants = [TENANT.new(_CLOCK.now()) for _ in range(TENANTS)]
        await _prepare(bus)
        for _ in range(ROUNDS):
            rates["raw"].append(await _insert(raw_connection, tenants[0]))
            relayed = await _timed(bus.relay("notification").drain())
            rates["one"].append(await _timed(bus.consumer(_subscription("bench_one")).drain()))
            await bus.consumer(_subscription("bench_many")).drain()
            await _insert_mixed(db, tenants)
            again = await _timed(bus.relay("notification").drain())
            rates["relay"].append(statistics.mean((relayed, again)))
            rates["many"].append(await _timed(bus.consumer(_subscription("bench_many")).drain()))
            await bus.consumer(_subscription("bench_one")).drain()
        figures = _throughput(rates)
        figures |= await _lag(bus, db, tenants, group=f"{name}_lag")
    finally:
        await bus.close()
        await raw_connection.close()
        await db.close()
    return {f"{name}_{figure}": value for figure, value in figures.items()}


def _throughput(rates: dict[str, list[float]]) -> dict[str, float]:
    median = {name: statistics.median(values) for name, values in rates.items()}

    def ratio(name: str) -> float:
        return statistics.median(part / raw for part, raw in zip(rates[name], rates["raw"], strict=True))

    return {
        "raw_insert_per_s": median["raw"],
        "relayed_per_s": median["relay"],
        "relayed_ratio_to_raw": ratio("relay"),
        "consumed_one_tenant_per_s": median["one"],
        "consumed_one_tenant_ratio_to_raw": ratio("one"),
        "consumed_40_tenants_per_s": median["many"],
        "consumed_40_tenants_ratio_to_raw": ratio("many"),
    }


def _subscription(group: str) -> Subscription:
    return Subscription(group=group, subjects=(">",), ledger="notification", on_tenant_events=_nothing)


async def _nothing(_: Tx, __: Sequence[Event]) -> None:
    """The handler: what is measured is the bus and its ledger."""


async def _prepare(bus: PostgresBus) -> None:
    for group in ("bench_one", "bench_many"):
        await bus.consumer(_subscription(group)).drain()


def event_of(tenant: TenantId, number: int) -> Event:
    """One of the events that are measured with."""
    return new_event(
        "bench.happened.v1",
        {"number": number, "filler": "x" * 300},
        tenant_id=tenant,
        ordering_key=f"key-{number % 100}",
        source="/bench",
        clock=_CLOCK,
    )


async def _insert(connection: asyncpg.Connection, tenant: TenantId) -> float:
    sets = []
    for start in range(0, EVENTS, SET):
        events = [event_of(tenant, number) for number in range(start, start + SET)]
        columns = ("id", "tenant_id", "subject", "ordering_key", "data")
        sets.append(
            [
                *([getattr(event, name) for event in events] for name in columns),
                [attributes_of(e) for e in events],
            ]
        )
    started = time.perf_counter()
    for arguments in sets:
        async with connection.transaction():
            await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant)
            await connection.execute(_INSERT, *arguments)
    return EVENTS / (time.perf_counter() - started)


async def _insert_mixed(db: Database, tenants: Sequence[TenantId]) -> None:
    outbox = Outbox("notification")
    for start in range(0, EVENTS, SET):
        async with db.platform() as tx:
            # Every set of the stream holds many tenants, each with a few events.
            await outbox.append(
                tx, [event_of(tenants[n % len(tenants)], n) for n in range(start, start + SET)]
            )


async def _timed(drain: Awaitable[int]) -> float:
    started = time.perf_counter()
    count = await drain
    return count / (time.perf_counter() - started)


async def _lag(
    bus: PostgresBus, db: Database, tenants: Sequence[TenantId], *, group: str
) -> dict[str, float]:
    committed: dict[EventId, float] = {}
    handled: dict[EventId, float] = {}
    commits: list[float] = []

    async def handle(_: Tx, events: Sequence[Event]) -> None:
        now = time.perf_counter()
        handled.update((event.id, now) for event in events)

    async def publish(number: int) -> None:
        tenant = tenants[number % len(tenants)]
        event = event_of(tenant, number)
        started = time.perf_counter()
        async with db.tenant(tenant) as tx:
            await Outbox("notification").append(tx, [event])
        committed[event.id] = time.perf_counter()
        commits.append(committed[event.id] - started)

    subscription = Subscription(
        group=group, subjects=("bench.>",), ledger="notification", on_tenant_events=handle, start="now"
    )
    consumer = bus.consumer(subscription)
    await consumer.register()
    stop = asyncio.Event()
    jobs = [asyncio.create_task(part.run(stop)) for part in (bus, bus.relay("notification"), consumer)]
    await bus.wakeups.listening.wait()
    writers = []
    started = time.perf_counter()
    for number in range(int(LOAD_PER_SECOND * LOAD_SECONDS)):
        await asyncio.sleep(max(0.0, started + number / LOAD_PER_SECOND - time.perf_counter()))
        writers.append(asyncio.create_task(publish(number)))
    await asyncio.gather(*writers)
    async with asyncio.timeout(30):
        while len(handled) < len(writers):
            await asyncio.sleep(0.01)
    stop.set()
    await asyncio.gather(*jobs)
    # A handler may be faster than the answer to the commit; that is no lag.
    lags = [max(0.0, handled[event] - at) for event, at in committed.items()]
    cuts, commit_cuts = statistics.quantiles(lags, n=100), statistics.quantiles(commits, n=100)
    return {
        "lag_p50_ms": cuts[49] * 1000,
        "lag_p99_ms": cuts[98] * 1000,
        "commit_p50_ms": commit_cuts[49] * 1000,
        "commit_p99_ms": commit_cuts[98] * 1000,
        "lag_p50_in_commits": cuts[49] / commit_cuts[49],
        "lag_p99_in_commits_p99": cuts[98] / commit_cuts[98],
    }
