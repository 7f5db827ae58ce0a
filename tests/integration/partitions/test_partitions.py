"""Partitions are made ahead, sealed, counted when missing, and pruned to when a row is looked up by id."""

import json
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.rows import make_row, read_tables
from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.db import translated
from tidings.kernel.errors import ConstraintError, DatabaseBusyError, PartitionMissingError
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.metrics import Metrics
from tidings.operations.partitions import drop_old, make_missing
from tidings.operations.partitions.job import PartitionJob
from tidings.operations.partitions.make import make_patiently
from tidings.operations.partitions.store import missing_partitions, registered_tables


async def test_nothing_is_missing_after_the_first_run(fresh_database: TestDatabase) -> None:
    """Three months ahead of every table and some days of the bus; a second run finds nothing to do."""
    now = datetime.now(UTC)
    async with fresh_database.owner() as owner:
        tables = {table.parent: table for table in await registered_tables(owner)}

        again = await make_missing(owner, now)

        assert again == []
        assert await missing_partitions(owner, now) == []
    assert tables["notification.notifications_standard"].ahead == 3
    assert tables["chan.delivery_attempts"].ahead == 3
    assert tables["kernel.bus_events"].unit == "day"


async def test_a_later_month_is_made_and_sealed(fresh_database: TestDatabase) -> None:
    """Forced row-level security, no grant, attached to its parent with the indexes it needs."""
    later = datetime.now(UTC) + timedelta(days=62)
    async with fresh_database.owner() as owner:
        made = await make_missing(owner, later)

        names = {partition.name for partition in made}
        assert any(name.startswith("notification.notifications_marketing_y") for name in names)
        for name in names:
            row = await owner.fetchrow(
                "SELECT relrowsecurity AND relforcerowsecurity AS forced, relispartition, "
                "(SELECT count(*) FROM aclexplode(relacl) a WHERE a.grantee <> relowner) AS grants, "
                "(SELECT count(*) FROM pg_index WHERE indrelid = pg_class.oid AND indisvalid) AS indexes "
                "FROM pg_class WHERE oid = $1::regclass",
                name,
            )
            assert (row["forced"], row["relispartition"], row["grants"]) == (True, True, 0), name
            assert row["indexes"] >= 1, name


async def test_a_dropped_partition_is_an_alarm_until_it_is_made_again(fresh_database: TestDatabase) -> None:
    """The metric counts it; a job that may only look leaves it, one that may make it mends it."""
    clock = ManualClock(datetime.now(UTC))
    async with fresh_database.owner() as owner:
        target = await owner.fetchval(
            "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid "
            "WHERE i.inhparent = 'chan.fallback_executions'::regclass ORDER BY c.relname DESC LIMIT 1"
        )
        await owner.execute(f"DROP TABLE {target}")
    metrics = Metrics()

    looking = PartitionJob(
        url=fresh_database.runtime_url, may_make=False, every=timedelta(hours=1), clock=clock, metrics=metrics
    )
    still_missing = await looking.run_once()

    assert [partition.name for partition in still_missing] == [target]
    assert b'tidings_partitions_missing{parent="chan.fallback_executions"} 1.0' in metrics.render()

    making = PartitionJob(
        url=fresh_database.owner_url, may_make=True, every=timedelta(hours=1), clock=clock, metrics=metrics
    )
    assert await making.run_once() == []
    assert b'tidings_partitions_missing{parent="chan.fallback_executions"} 0.0' in metrics.render()


async def test_who_makes_them_at_the_same_time_takes_nothing_away(fresh_database: TestDatabase) -> None:
    """Both found it missing; the second finds it made, maybe with rows in it, and leaves it alone."""
    later = datetime.now(UTC) + timedelta(days=62)
    async with fresh_database.owner() as first, fresh_database.owner() as second:
        found = await missing_partitions(second, later)
        await make_missing(first, later)
        theirs = [await first.fetchval("SELECT to_regclass($1)::oid", one.name) for one in found]

        for partition in found:
            await make_patiently(second, partition)

        ours = [await first.fetchval("SELECT to_regclass($1)::oid", one.name) for one in found]
    assert found
    assert ours == theirs


async def test_a_row_without_a_partition_is_an_error_that_names_its_table(
    fresh_database: TestDatabase, tenant_id: TenantId
) -> None:
    """Not a value that the database does not accept; and no message ends in empty brackets."""
    async with fresh_database.owner() as owner:
        await owner.execute(
            "CREATE TABLE kernel.by_day (day date) PARTITION BY RANGE (day); "
            "CREATE TABLE kernel.checked (n int CHECK (n > 1), m int NOT NULL)"
        )

        with pytest.raises(PartitionMissingError) as missing, translated():
            await owner.execute("INSERT INTO kernel.by_day VALUES ('2026-11-16')")
        with pytest.raises(ConstraintError) as refused, translated():
            await owner.execute("INSERT INTO kernel.checked VALUES (2, NULL)")

    assert missing.value.table == "kernel.by_day"
    assert "tidings partitions" in str(missing.value)
    assert "2026" not in str(missing.value)
    assert str(refused.value) == "The database does not accept this value. (m)"
    assert str(ConstraintError("")) == "The database does not accept this value."


async def test_old_days_of_the_bus_and_of_received_events_are_dropped_and_nothing_else(
    fresh_database: TestDatabase,
) -> None:
    """Also one whose detaching was interrupted; a month of notifications stays, however old."""
    now = datetime.now(UTC)
    async with fresh_database.owner() as owner:
        await make_missing(owner, now - timedelta(days=20))
        before = await owner.fetchval("SELECT count(*) FROM pg_inherits")

        dropped = await drop_old(owner, now)

        assert dropped
        assert {name.rpartition("_y")[0] for name in dropped} == {
            "kernel.bus_events",
            "notification.received_events",
        }
        assert await drop_old(owner, now) == []
        after = await owner.fetchval(
            "SELECT count(*) FROM pg_inherits WHERE inhparent <> 'kernel.bus_events'::regclass"
        )
        assert after < before
        assert await missing_partitions(owner, now) == []


async def test_what_was_detached_before_a_crash_is_dropped_after_it(fresh_database: TestDatabase) -> None:
    """It stands beside its parent, holds a day of events and is nobody's partition any more."""
    now = datetime.now(UTC)
    async with fresh_database.owner() as owner:
        made = await make_missing(owner, now - timedelta(days=20))
        name = next(p.name for p in made if p.parent == "kernel.bus_events")
        await owner.execute(f"ALTER TABLE kernel.bus_events DETACH PARTITION {name}")

        assert name in await drop_old(owner, now)

        assert await owner.fetchval("SELECT to_regclass($1)", name) is None


async def test_a_clock_that_runs_ahead_drops_nothing(fresh_database: TestDatabase) -> None:
    """By our clock everything is over, by the server's nothing is; there is room for the days of both."""
    ahead = ManualClock(datetime.now(UTC) + timedelta(days=100))
    job = PartitionJob(
        url=fresh_database.owner_url, may_make=True, every=timedelta(hours=1), clock=ahead, metrics=Metrics()
    )
    async with fresh_database.owner() as owner:
        before = await _days(owner)

        assert await job.run_once() == []

        after = await _days(owner)
    assert before < after
    assert any(ahead.now().strftime("y%Ym%md%d") in name for name in after)


async def test_a_detach_that_waits_gives_up(fresh_database: TestDatabase) -> None:
    """A transaction that never ends must not stop the job for ever; the next round finishes it."""
    now = datetime.now(UTC)
    async with fresh_database.owner() as owner, fresh_database.runtime() as reader:
        await make_missing(owner, now - timedelta(days=20))
        await reader.execute("BEGIN")
        await reader.fetch("SELECT FROM kernel.bus_events")
        await owner.execute("SET statement_timeout = '1s'")  # Sooner than the time-out for locks.
        with pytest.raises(DatabaseBusyError):
            await drop_old(owner, now)
        await reader.execute("ROLLBACK")
        await owner.execute("SET statement_timeout = 0")

        await drop_old(owner, now)

        assert await drop_old(owner, now) == []


async def _days(owner: asyncpg.Connection) -> set[str]:
    rows = await owner.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'kernel.bus_events'::regclass"
    )
    return {row["name"] for row in rows}


async def test_a_reader_of_the_parent_does_not_stop_it(fresh_database: TestDatabase) -> None:
    """A long transaction that reads and writes the parent goes on while a month is attached."""
    async with fresh_database.owner() as owner, fresh_database.runtime() as reader:
        transaction = reader.transaction()
        await transaction.start()
        await reader.fetch("SELECT count(*) FROM notification.notifications")

        made = await make_missing(owner, datetime.now(UTC) + timedelta(days=31))

        assert made
        await transaction.rollback()


async def test_a_lookup_by_id_prunes_to_one_month(worker_database: TestDatabase, tenant_id: TenantId) -> None:
    """The id says when its row was made, so one month of each retention class is read and no other."""
    notification = NOTIFICATION.new(datetime.now(UTC))
    async with worker_database.runtime() as runtime, runtime.transaction():
        await runtime.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        plan = await runtime.fetchval(
            "EXPLAIN (FORMAT JSON) SELECT status FROM notification.notifications "
            f"WHERE tenant_id = '{tenant_id}' AND created_at = '{time_of(notification).isoformat()}' "
            f"AND id = '{notification}'"
        )

    month = time_of(notification).strftime("y%Ym%m")
    assert _relations(plan) == {
        f"notifications_{kind}_{month}" for kind in ("regulated", "standard", "marketing")
    }


async def test_a_prepared_lookup_prunes_too(worker_database: TestDatabase, tenant_id: TenantId) -> None:
    """With parameters, as the product asks: the other months are removed when the statement starts."""
    notification = NOTIFICATION.new(datetime.now(UTC))
    async with worker_database.runtime() as runtime, runtime.transaction():
        await runtime.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        await runtime.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        plan = await runtime.fetchval(
            "EXPLAIN (FORMAT JSON, ANALYZE, TIMING OFF, COSTS OFF) SELECT status FROM notification.notifications "
            "WHERE tenant_id = $1 AND created_at = $2 AND id = $3",
            tenant_id,
            time_of(notification),
            notification,
        )

    assert len(_relations(plan)) == 3


async def test_a_row_lands_in_the_month_of_its_id(worker_database: TestDatabase) -> None:
    """And in the class of its category."""
    made = datetime.now(UTC) + timedelta(days=40)
    async with worker_database.owner() as owner:
        table = next(t for t in await read_tables(owner) if t.name == "notification.notifications")
    tenant = "tnt_" + NOTIFICATION.new(made)[4:]
    row = make_row(table, tenant, NOTIFICATION.new(made)[4:], {})
    async with worker_database.runtime() as runtime, runtime.transaction():
        await runtime.execute("SELECT set_config('app.tenant_id', $1, true)", tenant)
        columns, places = ", ".join(row), ", ".join(f"${n}" for n in range(1, len(row) + 1))
        await runtime.execute(
            f"INSERT INTO notification.notifications ({columns}) VALUES ({places})", *row.values()
        )

        found = await runtime.fetchval("SELECT tableoid::regclass::text FROM notification.notifications")

    assert found == f"notification.notifications_standard_{made.strftime('y%Ym%m')}"


@pytest.mark.parametrize("role", ["runtime"])
async def test_only_the_owner_makes_partitions(fresh_database: TestDatabase, role: str) -> None:
    """The runtime role is refused by the database itself."""
    async with fresh_database.runtime() as runtime:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await runtime.execute(
                "CREATE TABLE notification.delivery_attempts_y2040m01 PARTITION OF notification.delivery_attempts "
                "FOR VALUES FROM ('2040-01-01') TO ('2040-02-01')"
            )


def _relations(plan: str) -> set[str]:
    found: set[str] = set()

    def walk(node: dict[str, object]) -> None:
        if "Relation Name" in node:
            found.add(str(node["Relation Name"]))
        for child in node.get("Plans", []):  # type: ignore[attr-defined]
            walk(child)

    walk(json.loads(plan)[0]["Plan"])
    return found
