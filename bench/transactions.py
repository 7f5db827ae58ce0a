"""Tenant transactions through the kernel, against the same statements by bare asyncpg.

Both run on as many connections, in turns, so that a busy neighbour slows both. `bare` is what a careful
programmer writes with the driver alone: BEGIN, the tenant setting, two statements, COMMIT, each a round
trip. `bare_merged` sends BEGIN and the setting in one trip, as the kernel does.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import asyncpg

from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.sql import Query

CONNECTIONS = 8
SECONDS = 1.0
ROUNDS = 5

_WRITE = Query(
    name="bench_write",
    why="A small row, as an idempotency key is.",
    text="INSERT INTO notification.idempotency_keys (tenant_id, scope, key, request_hash) "
    "VALUES ($1, 'bench', $2, 'sha256:0') ON CONFLICT DO NOTHING",
    parameters=("tenant_id", "key"),
)
_READ = Query(
    name="bench_read",
    why="A look-up by key.",
    text="SELECT state FROM notification.idempotency_keys WHERE tenant_id = $1 AND scope = 'bench' AND key = $2",
    parameters=("tenant_id", "key"),
)

Work = Callable[[int, int], Awaitable[None]]


async def measure(runtime_url: str) -> dict[str, float]:
    """Transactions per second each way, and the kernel's share of the bare ones."""
    tenant = TENANT.new(SystemClock().now())
    database = Database(runtime_url, PoolSettings(min_size=CONNECTIONS, max_size=CONNECTIONS))
    await database.open()
    bare = [await asyncpg.connect(runtime_url) for _ in range(CONNECTIONS)]
    ways: dict[str, Work] = {
        "kernel": _through_kernel(database, tenant),
        "bare": _by_hand(bare, tenant),
        "bare_merged": _by_hand_merged(bare, tenant),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    try:
        for work in ways.values():
            await _rate(work, 0.3)
        for _ in range(ROUNDS):
            for name, work in ways.items():
                rates[name].append(await _rate(work, SECONDS))
    finally:
        await database.close()
        for connection in bare:
            await connection.close()
    median = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "tenant_tx_kernel_per_s": median["kernel"],
        "tenant_tx_bare_per_s": median["bare"],
        "tenant_tx_ratio_to_bare": statistics.median(
            k / b for k, b in zip(rates["kernel"], rates["bare"], strict=True)
        ),
        "tenant_tx_ratio_to_bare_merged": statistics.median(
            k / b for k, b in zip(rates["kernel"], rates["bare_merged"], strict=True)
        ),
    }


async def _rate(work: Work, seconds: float) -> float:
    deadline = time.perf_counter() + seconds

    async def loop(worker: int) -> int:
        done = 0
        while time.perf_counter() < deadline:
            await work(worker, done)
            done += 1
        return done

    started = time.perf_counter()
    counts = await asyncio.gather(*(loop(worker) for worker in range(CONNECTIONS)))
    return sum(counts) / (time.perf_counter() - started)


def _through_kernel(database: Database, tenant: TenantId) -> Work:
    async def work(worker: int, turn: int) -> None:
        key = f"{worker}-{turn % 500}"
        async with database.tenant(tenant) as tx:
            await tx.execute(_WRITE, tenant_id=tenant, key=key)
            await tx.fetch_value(_READ, tenant_id=tenant, key=key)

    return work


def _by_hand(connections: list[asyncpg.Connection], tenant: str) -> Work:
    async def work(worker: int, turn: int) -> None:
        connection, key = connections[worker], f"{worker}-{turn % 500}"
        async with connection.transaction():
            await connection.fetchval("SELECT set_config('app.tenant_id', $1, true)", tenant)
            await connection.execute(_WRITE.text, tenant, key)
            await connection.fetchval(_READ.text, tenant, key)

    return work


def _by_hand_merged(connections: list[asyncpg.Connection], tenant: str) -> Work:
    begin = f"BEGIN; SELECT set_config('app.tenant_id','{tenant}',true)"

    async def work(worker: int, turn: int) -> None:
        connection, key = connections[worker], f"{worker}-{turn % 500}"
        await connection.execute(begin)
        await connection.execute(_WRITE.text, tenant, key)
        await connection.fetchval(_READ.text, tenant, key)
        await connection.execute("COMMIT")

    return work
