"""What a system that is years old pays for one notification, against the same system when it was empty.

`python -m bench.growth` measures a load on the empty system, fills it (`INSERT … SELECT generate_series`) with months of
notifications, attempts and executions of many tenants and with executions that are not due, and measures the same load
again. Then claims beside a backlog, and the bloat of a queue that many rows go through. Sizes are options; `--full` is
10⁷ notifications of 1,000 tenants over 24 months and a backlog of 10⁶, which takes an hour or so.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import asyncpg
import uvloop
from tests.support.free_port import free_port

from bench.house import House, Resident
from bench.many_tenants import DEFAULTS, Load, Shape, publish
from bench.sink import Sink
from bench.stored import fill, settle
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.notify.dispatch.claim import QUERIES
from tidings.operations.partitions import make_missing

#: So many before anything is measured: statements are prepared, people and keys are known.
_WARM: Final = 500
_SET: Final = 100
_WORKER: Final = f"wrk_{'0' * 26}"
_LOWEST: Final = 3
#: How often the queue is looked at while rows go through it.
_LOOKS: Final = 10
#: Rows a second.
_PACE: Final = 1_000
_QUEUE: Final = """
INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority)
SELECT $1, 'ntf_' || lpad(i::text, 26, '0'), $2 FROM generate_series($3::bigint, $4::bigint) AS i
"""
_TAKE: Final = """
DELETE FROM notification.dispatch_queue
WHERE tenant_id = $1 AND notification_id IN (SELECT 'ntf_' || lpad(i::text, 26, '0') FROM generate_series($2::bigint, $3::bigint) AS i)
"""
_CLAIM: Final = """
UPDATE notification.dispatch_queue SET claimed_by = $4
WHERE tenant_id = $1 AND notification_id IN (SELECT 'ntf_' || lpad(i::text, 26, '0') FROM generate_series($2::bigint, $3::bigint) AS i)
"""
_NOT_DUE: Final = """
INSERT INTO chan.executions_live (
    tenant_id, id, started_at, expires_at, due_at, notification_id, recipient_id, use_case, priority, strategy,
    ladder_snapshot, state
)
SELECT $1, 'exec_' || lpad(i::text, 26, '0'), now(), now() + interval '30 days', now() + interval '20 days',
       'ntf_' || lpad(i::text, 26, '0'), 'rcp_' || lpad(i::text, 26, '0'), 'txn', 'normal', 'FAILOVER', '[]', '{}'
FROM generate_series(1, $2::bigint) AS i
"""
_SIZES: Final = """
SELECT pg_relation_size(relid) / 1048576.0 AS heap, pg_indexes_size(relid) / 1048576.0 AS indexes,
       n_live_tup AS live, n_dead_tup AS dead, autovacuum_count AS vacuums
FROM pg_stat_all_tables WHERE relid = 'notification.dispatch_queue'::regclass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large the system is made, and how much is sent."""

    tenants: int
    rows: int
    months: int
    backlog: int
    churn: int
    load: int


def measure(sizes: Sizes) -> dict[str, float]:
    """Everything, by name. Call it in the main thread."""
    port = free_port()
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    with House(workers=1, vendors={"smtp": vendor}, postgres_options=DEFAULTS) as house:
        residents = house.residents([f"bench-{n}" for n in range(sizes.tenants)])
        publish(house, residents)
        before = uvloop.run(_load(house, residents, port, sizes, "empty"))
        _stop(house)
        uvloop.run(_grow(house, residents, sizes))
        house.workers[0].launch()
        house.workers[0].await_ready()
        after = uvloop.run(_load(house, residents, port, sizes, "grown"))
        _stop(house)
        figures = {f"empty_{name}": value for name, value in before.items()}
        figures |= {f"grown_{name}": value for name, value in after.items()}
        figures |= {
            f"growth_ratio_{name}": after[name] / before[name]
            for name in before
            if name.endswith("us_each") and before[name]
        }
        return figures | uvloop.run(_queues(house, residents[0], sizes))


def _stop(house: House) -> None:
    house.workers[0].tell()
    house.workers[0].wait()


async def _load(
    house: House, residents: Sequence[Resident], port: int, sizes: Sizes, when: str
) -> dict[str, float]:
    shape = Shape(sizes.tenants, "large")
    async with Sink(note_ids=True, port=port) as sink:
        load = Load(house, residents, sink, shape)
        await load.send(load.singles(_WARM), count=_WARM)
        found = await load.costs("end_to_end", load.singles(sizes.load), sizes.load, clients=16)
    _say(when, **{name: round(value) for name, value in found.items()})
    return found


async def _grow(house: House, residents: Sequence[Resident], sizes: Sizes) -> None:
    """Months that are over, and rows in all of them; a backlog that is not due."""
    began = time.perf_counter()
    owner = await asyncpg.connect(house.postgres.url("tidings_owner"))
    try:
        now = SystemClock().now()
        for month in range(sizes.months):
            await make_missing(owner, now - timedelta(days=30.4 * month))
        tables = await owner.fetchval("SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r'")
    finally:
        await owner.close()
    each = max(1, sizes.rows // len(residents))
    url = house.postgres.url("tidings_runtime")
    for resident in residents:
        await fill(url, resident.tenant_id, each, months=sizes.months)
    await _as_tenant(url, residents[0], _NOT_DUE, sizes.backlog)
    await settle(house.postgres.url("tidings_owner"))
    _say("filled", partitions=tables, rows=each * len(residents), seconds=round(time.perf_counter() - began))


async def _as_tenant(url: str, resident: Resident, statement: str, *values: Any) -> None:
    connection = await asyncpg.connect(url, command_timeout=3600)
    try:
        async with connection.transaction():
            await connection.execute("SELECT set_config('app.tenant_id', $1, true)", resident.tenant_id)
            await connection.execute("SET LOCAL statement_timeout = 0")
            await connection.execute(statement, resident.tenant_id, *values)
    finally:
        await connection.close()


async def _queues(house: House, resident: Resident, sizes: Sizes) -> dict[str, float]:
    """Claims in the states that a queue can be in; nobody else works on it."""
    url = house.postgres.url("tidings_runtime")
    figures: dict[str, float] = {}
    async with house.system() as system:
        figures |= await _claim(system.db, "empty_queue")
        await _as_tenant(url, resident, _QUEUE, _LOWEST, 1, sizes.backlog)
        figures |= await _claim(system.db, "backlog")
        await _as_tenant(url, resident, _TAKE, 1, sizes.backlog - _SET)
        figures |= await _claim(system.db, "backlog_deleted")
        figures |= await _claim(system.db, "backlog_deleted_again")
        await _as_tenant(url, resident, _TAKE, 1, sizes.backlog)
    figures |= await _churn(house, resident, sizes.churn)
    return figures


async def _claim(db: Database, name: str) -> dict[str, float]:
    """A claim as the dispatcher makes it, and undone: milliseconds in Postgres, and pages that it looks at."""
    asked = {
        "worker": _WORKER,
        "after": "",
        "most": _SET,
        "seats": 16,
        "from_rank": 0,
        "to_rank": _LOWEST,
        "full": list[str](),
    }
    async with db.worker(claims=True) as tx:
        await tx.connection.execute("SAVEPOINT before")
        found = await tx.connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {QUERIES.claim.text}", *QUERIES.claim.arguments(asked)
        )
        await tx.connection.execute("ROLLBACK TO before")
    plan = json.loads(found)[0]
    pages = plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    _say(f"claim, {name}", ms=round(plan["Execution Time"], 2), pages=pages)
    return {f"claim_{name}_ms": plan["Execution Time"], f"claim_{name}_pages": pages}


async def _churn(house: House, resident: Resident, rows: int) -> dict[str, float]:
    """So many rows through the queue by sets, put in, claimed and taken out, as on a busy day: a thousand a second."""
    figures: dict[str, float] = {}
    connection = await asyncpg.connect(house.postgres.url("tidings_runtime"))
    try:
        await connection.execute("SELECT set_config('app.tenant_id', $1, false)", resident.tenant_id)
        await connection.execute("SET synchronous_commit = off")
        columns = ("heap", "indexes", "live", "dead", "vacuums")
        began = time.perf_counter()
        step = max(_SET, rows // _LOOKS)
        for first in range(1, rows, _SET):
            last = first + _SET - 1
            await connection.execute(_QUEUE, resident.tenant_id, 2, first, last)
            await connection.execute(_CLAIM, resident.tenant_id, first, last, _WORKER)
            await connection.execute(_TAKE, resident.tenant_id, first, last)
            await asyncio.sleep(max(0.0, began + last / _PACE - time.perf_counter()))
            if last % step < _SET:
                found = await connection.fetchrow(_SIZES)
                _say("queue", through=last, **{name: round(float(found[name]), 1) for name in columns})
                figures["queue_dead_rows"] = float(found["dead"])
                figures["queue_heap_mb"], figures["queue_indexes_mb"] = (
                    float(found["heap"]),
                    float(found["indexes"]),
                )
    finally:
        await connection.close()
    return figures


def _say(what: str, **figures: float) -> None:
    print(f"{what:32}", *(f"{name} {value}" for name, value in figures.items()), flush=True)


def main() -> None:
    """Measure and show."""
    options = argparse.ArgumentParser(prog="python -m bench.growth")
    options.add_argument("--full", action="store_true", help="10⁷ rows, 1,000 tenants, a backlog of 10⁶")
    for name, usual in {"tenants": 50, "rows": 1_000_000, "months": 24, "backlog": 100_000}.items():
        options.add_argument(f"--{name}", type=int, default=usual)
    options.add_argument("--churn", type=int, default=100_000, help="rows that go through a queue")
    options.add_argument("--load", type=int, default=2_000, help="notifications of one measurement")
    asked = vars(options.parse_args())
    if asked.pop("full"):
        asked |= {"tenants": 1_000, "rows": 10_000_000, "backlog": 1_000_000, "churn": 1_000_000}
    print()
    for name, value in measure(Sizes(**asked)).items():
        print(f"{name:52} {value:>12,.2f}")


if __name__ == "__main__":
    main()
