"""What a system that is years old pays for one notification, against one that is empty.

`python -m bench.growth` starts two systems with the same tenants, fills one (`INSERT … SELECT generate_series`) with
months of notifications, attempts, executions and people and with executions that are not due, and measures the same load
on both in turn, so that a busy machine costs both the same. Then claims beside a backlog. Sizes are options; `--full` is
10⁷ notifications of 1,000 tenants over 24 months and a backlog of 10⁶. With `--place` the full one stays in a folder, and
is measured again by the next run.
"""

import argparse
import contextlib
import json
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
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
from tidings.kernel.ids import TenantId
from tidings.notify.dispatch.claim import QUERIES
from tidings.operations.partitions import make_missing

#: So many before anything is measured: statements are prepared, people and keys are known.
_WARM: Final = 500
_SET: Final = 100
_WORKER: Final = f"wrk_{'0' * 26}"
_LOWEST: Final = 3
_QUEUE: Final = """
INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority)
SELECT $1, 'ntf_' || lpad(i::text, 26, '0'), $2 FROM generate_series($3::bigint, $4::bigint) AS i
"""
_TAKE: Final = """
DELETE FROM notification.dispatch_queue
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large the system is made, and how much is sent."""

    tenants: int
    rows: int
    months: int
    backlog: int
    load: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two systems."""

    house: House
    residents: Sequence[Resident]
    #: Where its mails go.
    port: int


def measure(sizes: Sizes, place: Path | None = None) -> dict[str, float]:
    """Everything, by name. Call it in the main thread."""
    ports = [free_port(), free_port()]
    with _house(ports[0], None) as young, _house(ports[1], place) as old:
        empty = Side(house=young, residents=_residents(young, sizes.tenants), port=ports[0])
        grown = Side(house=old, residents=_grown(old, sizes, place), port=ports[1])
        figures = uvloop.run(_in_turn(empty, grown, sizes))
        for house in (young, old):
            house.workers[0].tell()
            house.workers[0].wait()
        return figures | uvloop.run(_queues(old, grown.residents[0], sizes))


def _house(port: int, place: Path | None) -> House:
    vendor: dict[str, object] = {"host": "127.0.0.1", "port": port, "security": "none"}
    return House(workers=1, vendors={"smtp": vendor}, postgres_options=DEFAULTS, place=place)


def _residents(house: House, count: int) -> list[Resident]:
    residents = house.residents([f"bench-{n}" for n in range(count)])
    publish(house, residents)
    return residents


def _grown(house: House, sizes: Sizes, place: Path | None) -> list[Resident]:
    """Filled; as it was left where a run before has done so."""
    kept = None if place is None else place / "residents.json"
    if kept is not None and kept.exists():
        return [
            Resident(tenant_id=TenantId(one["tenant_id"]), api_key=one["api_key"])
            for one in json.loads(kept.read_text())
        ]
    residents = _residents(house, sizes.tenants)
    # A worker that looks for work would wait for locks of the fill.
    house.workers[0].tell()
    house.workers[0].wait()
    uvloop.run(_grow(house, residents, sizes))
    house.revive()
    house.workers[0].await_ready()
    if kept is not None:
        kept.write_text(json.dumps([asdict(one) for one in residents]))
    return residents


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
    await fill(url, [resident.tenant_id for resident in residents], each, months=sizes.months)
    await _as_tenant(url, residents[0], _NOT_DUE, sizes.backlog)
    await settle(house.postgres.url("tidings_owner"))
    _say("filled", partitions=tables, rows=each * len(residents), seconds=round(time.perf_counter() - began))


async def _in_turn(empty: Side, grown: Side, sizes: Sizes) -> dict[str, float]:
    """The same load on the one and on the other, again and again; the middle of each part, and of the ratios."""
    found: dict[str, list[dict[str, float]]] = {"empty": [], "grown": []}
    async with _load(empty) as young, _load(grown) as old:
        for turn in range(sizes.rounds):
            for when, load in (("empty", young), ("grown", old)):
                costs = await load.costs("end_to_end", load.singles(sizes.load), sizes.load, clients=16)
                found[when].append(costs)
                _say(f"{when}, round {turn + 1}", **{name: round(value) for name, value in costs.items()})
    figures = {
        f"{when}_{name}": statistics.median(one[name] for one in rounds)
        for when, rounds in found.items()
        for name in rounds[0]
    }
    parts = [name for name in found["empty"][0] if name.endswith("us_each")]
    for name in parts:
        figures[f"growth_ratio_{name}"] = statistics.median(
            old[name] / young[name] for young, old in zip(found["empty"], found["grown"], strict=True)
        )
    figures["growth_ratio"] = statistics.median(
        sum(old[name] for name in parts) / sum(young[name] for name in parts)
        for young, old in zip(found["empty"], found["grown"], strict=True)
    )
    return figures


@contextlib.asynccontextmanager
async def _load(side: Side) -> AsyncIterator[Load]:
    """Warm: the first ones are not measured."""
    async with Sink(note_ids=True, port=side.port) as sink:
        shape = Shape(len(side.residents), "large")
        # People of an earlier run over the same folder are not new.
        load = Load(side.house, side.residents, sink, shape, first=time.time_ns() // 1000)
        await load.send(load.singles(_WARM), count=_WARM)
        yield load


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


def _say(what: str, **figures: float) -> None:
    print(f"{what:32}", *(f"{name} {value}" for name, value in figures.items()), flush=True)


def main() -> None:
    """Measure and show."""
    options = argparse.ArgumentParser(prog="python -m bench.growth")
    options.add_argument("--full", action="store_true", help="10⁷ rows, 1,000 tenants, a backlog of 10⁶")
    options.add_argument("--place", type=Path, help="a folder that the filled system stays in")
    for name, usual in {"tenants": 50, "rows": 1_000_000, "months": 24, "backlog": 100_000}.items():
        options.add_argument(f"--{name}", type=int, default=usual)
    options.add_argument("--load", type=int, default=2_000, help="notifications of one measurement")
    options.add_argument("--rounds", type=int, default=5, help="measurements of each")
    asked = vars(options.parse_args())
    place = asked.pop("place")
    if asked.pop("full"):
        asked |= {"tenants": 1_000, "rows": 10_000_000, "backlog": 1_000_000}
    print()
    for name, value in measure(Sizes(**asked), place).items():
        print(f"{name:52} {value:>12,.2f}")


if __name__ == "__main__":
    main()
