"""Tenant transactions through the kernel, against the same statements by bare asyncpg.

Both run on as many connections, in turns, so that a busy neighbour slows both; a ratio is taken within each
round, and the median of the rounds is shown. `bare` is what a careful programmer writes with the driver alone:
BEGIN, the tenant setting, two statements, COMMIT, each a round trip. `bare_merged` sends BEGIN and the setting
in one trip, as the kernel does, and has no time limits on our side; nothing with the same statements is faster.

Reading has no commit to wait for and shows what the kernel costs. Writing waits for the disk, as real work does.
"""

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable

import asyncpg

from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.sql import Query

CONNECTIONS = 8
SECONDS = 0.7
ROUNDS = 5

_INSERT = Query(
    name="bench_insert",
    why="A small row, as an idempotency key is; a new one each time, so that there is something to commit.",
    text="INSERT INTO notification.idempotency_keys (tenant_id, scope, key, request_hash) "
    "VALUES ($1, 'bench', $2, 'sha256:0')",
    parameters=("tenant_id", "key"),
)
_READ = Query(
    name="bench_read",
    why="A look-up by key.",
    text="SELECT state FROM notification.idempotency_keys WHERE tenant_id = $1 AND scope = 'bench' AND key = $2",
    parameters=("tenant_id", "key"),
)
#: Two statements a transaction.
_WORKLOADS = {"read": (_READ, _READ), "write": (_INSERT, _READ)}

Statements = tuple[Query, Query]
Work = Callable[[int], Awaitable[None]]
#: No key is used twice.
_numbers = itertools.count()


async def measure(runtime_url: str) -> dict[str, float]:
    """Transactions a second each way, and the kernel's share of the bare ones."""
    tenant = TENANT.new(SystemClock().now())
    database = Database(runtime_url, PoolSettings(min_size=CONNECTIONS, max_size=CONNECTIONS))
    await database.open()
    bare = [await asyncpg.connect(runtime_url) for _ in range(CONNECTIONS)]
    figures: dict[str, float] = {}
    try:
        for workload, statements in _WORKLOADS.items():
            ways = {
                "kernel": _through_kernel(database, tenant, statements),
                "bare": _by_hand(bare, tenant, statements),
                "bare_merged": _by_hand_merged(bare, tenant, statements),
            }
            figures |= await _compare(workload, ways)
    finally:
        await database.close()
        for connection in bare:
            await connection.close()
    return figures


async def _compare(workload: str, ways: dict[str, Work]) -> dict[str, float]:
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for work in ways.values():
        await _rate(work, 0.2)
    for turn in range(ROUNDS):
        # Nobody always comes first, when the last one's rows are still being written out.
        names = list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]
        for name in names:
            rates[name].append(await _rate(ways[name], SECONDS))

    def ratio(name: str) -> float:
        return statistics.median(k / b for k, b in zip(rates["kernel"], rates[name], strict=True))

    return {
        f"tenant_{workload}_kernel_per_s": statistics.median(rates["kernel"]),
        f"tenant_{workload}_bare_per_s": statistics.median(rates["bare"]),
        f"tenant_{workload}_ratio_to_bare": ratio("bare"),
        f"tenant_{workload}_ratio_to_bare_merged": ratio("bare_merged"),
    }


async def _rate(work: Work, seconds: float) -> float:
    deadline = time.perf_counter() + seconds

    async def loop(worker: int) -> int:
        done = 0
        while time.perf_counter() < deadline:
            await work(worker)
            done += 1
        return done

    started = time.perf_counter()
    counts = await asyncio.gather(*(loop(worker) for worker in range(CONNECTIONS)))
    return sum(counts) / (time.perf_counter() - started)


def _through_kernel(database: Database, tenant: TenantId, statements: Statements) -> Work:
    first, second = statements

    async def work(_: int) -> None:
        key = str(next(_numbers))
        async with database.tenant(tenant) as tx:
            await tx.fetch_value(first, tenant_id=tenant, key=key)
            await tx.fetch_value(second, tenant_id=tenant, key=key)

    return work


def _by_hand(connections: list[asyncpg.Connection], tenant: str, statements: Statements) -> Work:
    first, second = statements

    async def work(worker: int) -> None:
        connection, key = connections[worker], str(next(_numbers))
        async with connection.transaction():
            await connection.fetchval("SELECT set_config('app.tenant_id', $1, true)", tenant)
            await connection.fetchval(first.text, tenant, key)
            await connection.fetchval(second.text, tenant, key)

    return work


def _by_hand_merged(connections: list[asyncpg.Connection], tenant: str, statements: Statements) -> Work:
    begin = f"BEGIN; SELECT set_config('app.tenant_id','{tenant}',true)"
    first, second = statements

    async def work(worker: int) -> None:
        connection, key = connections[worker], str(next(_numbers))
        await connection.execute(begin)
        await connection.fetchval(first.text, tenant, key)
        await connection.fetchval(second.text, tenant, key)
        await connection.execute("COMMIT")

    return work
