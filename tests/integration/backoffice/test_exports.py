"""Ledgers are exported to Parquet: each row once, whatever is killed, and nothing goes that is not exported."""

import asyncio
import json
import os
import signal
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from tests.support.activity import an_activity, no_blobs
from tests.support.clock import ManualClock
from tests.support.forked import ForkedProcess
from tests.support.http import HttpWorld, http_world
from tests.support.operators import SignedIn, an_operator
from tests.support.postgres import TestDatabase
from tests.support.running import clean_environment
from tests.support.system import now_clock
from tidings.backoffice.activity.model import Activity
from tidings.backoffice.activity.store import insert_activity
from tidings.backoffice.exports import store
from tidings.backoffice.exports.ledgers import LEDGERS
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT

#: A million with TIDINGS_TEST_EXPORT_ROWS=1000000; fewer in every run.
ROWS: Final = int(os.environ.get("TIDINGS_TEST_EXPORT_ROWS", "20000"))
ACTIVITY_LEDGER: Final = LEDGERS["operator_activity"]


async def write(db: Database, rows: list[Activity]) -> None:
    for first in range(0, len(rows), 5_000):
        some = rows[first : first + 5_000]
        async with db.tenants({row.tenant_id for row in some if row.tenant_id}) as tx:
            await insert_activity(tx, some)


def read_all(folder: Path) -> Counter[str]:
    """How often each row stands in the files."""
    import pyarrow.parquet as pq

    found: Counter[str] = Counter()
    for path in folder.rglob("*.parquet"):
        found.update(pq.ParquetFile(path).read(columns=["id"])["id"].to_pylist())
    return found


async def test_every_row_is_in_the_files_once_though_the_export_is_killed(
    fresh_db: Database, fresh_database: TestDatabase, tmp_path: Path
) -> None:
    """Killed with SIGKILL in the middle, begun anew, and run once more: each of the rows once."""
    now = datetime.now(UTC)
    tenants = [TENANT.new(now) for _ in range(4)]
    step = timedelta(days=30) / ROWS
    rows = [an_activity(tenants[n % 4], now - timedelta(days=2) - n * step) for n in range(ROWS)]
    await write(fresh_db, rows)
    environment = clean_environment(
        TIDINGS_DATABASE_URL=fresh_database.runtime_url, TIDINGS_DATA_DIR=str(tmp_path / "data")
    )

    async def manifest(condition: str = "true") -> int:
        async with fresh_db.worker() as tx:
            count: int = await tx.connection.fetchval(
                f"SELECT count(*) FROM bff_backoffice.exports WHERE {condition}"
            )
        return count

    async def tidings(*words: str) -> Any:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = ForkedProcess(["exports", *words, "--json"], output=out, errors=err, env=environment)
            code = await asyncio.to_thread(process.wait, 500)
            said = [os.pread(file.fileno(), 1 << 22, 0).decode() for file in (out, err)]
        assert code == 0, said
        return json.loads(said[0])

    with tempfile.TemporaryFile() as out:
        process = ForkedProcess(["exports", "run"], output=out, env=environment)
        while not await manifest("verified_at IS NOT NULL"):
            assert process.poll() is None, os.pread(out.fileno(), 10_000, 0)
            await asyncio.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait, 30)
    begun = await manifest()
    # As if the time of the killed one's lease were over.
    async with fresh_db.platform() as tx:
        await tx.connection.execute("UPDATE kernel.hot_leases SET expires_at = now() - interval '1 second'")
    again = await tidings("run")
    last = await tidings("run")
    verified = await tidings("verify")
    await tidings("fetch", str(tmp_path / "lake"))

    found = await asyncio.to_thread(read_all, tmp_path / "lake")
    assert begun < await manifest(), "it was killed before the end"
    assert again["files"] + begun == await manifest()
    assert last == {"files": 0}
    assert verified == {"files": await manifest(), "rows": ROWS, "faults": []}
    assert set(found) == {row.id for row in rows}
    assert set(found.values()) == {1}
    listed = await tidings("list", "--tenant", tenants[0])
    assert sum(one["rows"] for one in listed) == ROWS // 4
    assert {one["month"] for one in listed} == {f"{row.occurred_at:%Y-%m}" for row in rows[::4]}


@pytest.fixture
def world(fresh_db: Database) -> HttpWorld:
    return http_world(fresh_db, clock=now_clock())


@pytest.fixture
async def admin(world: HttpWorld) -> SignedIn:
    tenant = await world.tenant()
    return await an_operator(world, tenant.id)


def moved(world: HttpWorld) -> ManualClock:
    assert isinstance(world.clock, ManualClock)
    return world.clock


async def test_the_job_exports_all_ledgers_and_the_api_lists_the_files(
    world: HttpWorld, admin: SignedIn, fresh_db: Database
) -> None:
    """Ids alone: no note, no delta, no provenance is in a file."""
    import pyarrow.parquet as pq

    ledgers, tenant_id = world.system.backoffice.ledgers, admin.who.tenant_id
    assert tenant_id is not None
    now = world.clock.now()
    async with fresh_db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO bff_backoffice.alert_ack_log (tenant_id, alert_id, acknowledged_by, category, severity, raised_at, "
            "acknowledged_at, device_id, note_id) VALUES ($1, 'ali_1', 'oper_1', 'c', 'info', $2, $2, 'dvc_1', 'note_1')",
            tenant_id,
            now,
        )
        await tx.connection.execute(
            "INSERT INTO bff_backoffice.ai_decision_log (tenant_id, id, decided_at, suggestion_id, inbox_entry_id, category, "
            "severity, outcome, decided_by, device_id, delta_ciphertext, provenance_ciphertext) "
            "VALUES ($1, $3, $2, 's', 'aim_1', 'c', 'info', 'modified', 'oper_1', 'dvc_1', 'sealed-delta', 'sealed-words')",
            tenant_id,
            now,
            f"sdl_{'0' * 26}",
        )
        await tx.connection.execute(
            "INSERT INTO bff_backoffice.lock_action_proxy_audit (tenant_id, id, occurred_at, property_id, operator_id, device_id, "
            "reservation_id, action, outcome, error_code, upstream_request_id, upstream_latency_ms) "
            "VALUES ($1, $3, $2, 'kabul', 'oper_1', 'dvc_1', 'r-1', 'issue', 'refused', 'mfa', 'req_1', 0)",
            tenant_id,
            now,
            f"lap_{'0' * 26}",
        )
    assert (await admin.get("/bff/v1/exports")).json()["items"] == [], "today is not over"
    await moved(world).advance(timedelta(days=2))

    assert await ledgers.exports.run_once()

    admin = await admin.who.sign_in()
    files = (await admin.get("/bff/v1/exports")).json()["items"]
    assert {(one["ledger"], one["part"]) for one in files} == {(name, 1) for name in LEDGERS}
    assert all(one["verified_at"] and one["rows"] >= 1 for one in files)
    one = (await admin.get("/bff/v1/exports?ledger=ai_decision_log")).json()["items"]
    assert [file["rows"] for file in one] == [1]
    with tempfile.TemporaryDirectory() as folder:
        async with fresh_db.tenant(tenant_id) as tx:
            known = await store.list_exports(tx, limit=10)
        for export in known:
            place = Path(folder) / export.id
            assert export.object_key is not None
            await ledgers.exporter.fetch(export.object_key, export.checksum, place)  # type: ignore[arg-type]
            assert b"sealed" not in place.read_bytes()
            assert pq.ParquetFile(place).schema_arrow.names == list(LEDGERS[export.ledger].columns)
            assert set(pq.ParquetFile(place).read(["tenant_id"])["tenant_id"].to_pylist()) == {tenant_id}
    other = await an_operator(world, (await world.tenant()).id)
    assert (await other.get("/bff/v1/exports")).json()["items"] == []


async def test_late_rows_are_found_before_a_month_may_go(world: HttpWorld, fresh_db: Database) -> None:
    """A journal brought some after their day was exported: the month's file is written anew, and only then may the owner drop it."""
    ledgers, clock = world.system.backoffice.ledgers, moved(world)
    tenant_id = TENANT.new(clock.now())
    began = clock.now()
    await write(
        fresh_db, [an_activity(tenant_id, began), an_activity(tenant_id, began + timedelta(milliseconds=5))]
    )
    await clock.advance(timedelta(days=2))
    assert await ledgers.exports.run_once()
    await write(
        fresh_db,
        [
            an_activity(tenant_id, began + timedelta(milliseconds=2)),
            an_activity(tenant_id, began - timedelta(days=3)),
        ],
    )
    await clock.advance(timedelta(days=1))
    assert await ledgers.exports.run_once()

    async def months() -> dict[str, int]:
        async with fresh_db.worker() as tx:
            rows = await tx.connection.fetch("SELECT month, rows FROM kernel.exported_months")
        return {f"{row['month']:%Y-%m}": row["rows"] for row in rows}

    assert await months() == {}, "the month is not over"
    await clock.advance(timedelta(days=45))
    assert await ledgers.exports.run_once()

    assert sum((await months()).values()) == 4
    async with fresh_db.tenant(tenant_id) as tx:
        files = await store.list_exports(tx, limit=10)
    assert sum(one.rows or 0 for one in files) == 4
    assert all(one.verified_at is not None for one in files)


async def test_the_owner_drops_a_month_only_once_it_is_exported(
    world: HttpWorld, fresh_db: Database, fresh_database: TestDatabase
) -> None:
    from tidings.operations.partitions.store import old_partitions

    ledgers, clock = world.system.backoffice.ledgers, moved(world)
    tenant_id = TENANT.new(clock.now())
    await write(fresh_db, [an_activity(tenant_id, clock.now())])
    month = f"bff_backoffice.operator_activity_{clock.now():y%Ym%m}"
    await clock.advance(timedelta(days=130))

    async def droppable(owner: asyncpg.Connection) -> set[str]:
        return {name for _, name in await old_partitions(owner, clock.now()) if "operator_activity" in name}

    async with fresh_database.owner() as owner:
        assert await droppable(owner) == set()
        assert await ledgers.exports.run_once()
        assert await droppable(owner) == {month}


async def test_acknowledgements_go_after_a_year_once_they_are_exported(
    world: HttpWorld, fresh_db: Database
) -> None:
    ledgers, clock = world.system.backoffice.ledgers, moved(world)
    tenant_id = TENANT.new(clock.now())

    async def acknowledged(alert_id: str) -> None:
        async with fresh_db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                "INSERT INTO bff_backoffice.alert_ack_log (tenant_id, alert_id, acknowledged_by, category, severity, "
                "raised_at, acknowledged_at, device_id) VALUES ($1, $2, 'oper_1', 'c', 'info', $3, $3, 'dvc_1')",
                tenant_id,
                alert_id,
                clock.now(),
            )

    async def kept() -> list[str]:
        async with fresh_db.tenant(tenant_id) as tx:
            rows = await tx.connection.fetch("SELECT alert_id FROM bff_backoffice.alert_ack_log ORDER BY 1")
        return [row["alert_id"] for row in rows]

    await acknowledged("ali_old")
    await clock.advance(timedelta(days=360))
    assert await ledgers.exports.run_once()
    await acknowledged("ali_new")
    assert await kept() == ["ali_new", "ali_old"]
    await clock.advance(timedelta(days=36))

    assert await ledgers.exports.run_once()

    assert await kept() == ["ali_new"]


async def test_an_acknowledgement_that_was_taken_back_or_made_again_is_in_the_files_as_it_is_now(
    world: HttpWorld, fresh_db: Database, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    ledgers, clock = world.system.backoffice.ledgers, moved(world)
    tenant_id = TENANT.new(clock.now())
    async with fresh_db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO bff_backoffice.alert_ack_log (tenant_id, alert_id, acknowledged_by, category, severity, raised_at, "
            "acknowledged_at, device_id) SELECT $1, id, 'oper_1', 'c', 'info', $2, $2, 'dvc_1' FROM unnest($3::text[]) AS id",
            tenant_id,
            clock.now(),
            ["ali_back", "ali_again"],
        )
    await clock.advance(timedelta(days=2))
    assert await ledgers.exports.run_once()
    async with fresh_db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE bff_backoffice.alert_ack_log SET withdrawn_at = $1 WHERE alert_id = 'ali_back'",
            clock.now(),
        )
        await tx.connection.execute(
            "UPDATE bff_backoffice.alert_ack_log SET acknowledged_at = $1 WHERE alert_id = 'ali_again'",
            clock.now(),
        )
    await clock.advance(timedelta(days=2))
    assert await ledgers.exports.run_once()

    async with fresh_db.tenant(tenant_id) as tx:
        files = await store.list_exports(tx, limit=10)
    held = {}
    for one in files:
        assert one.object_key is not None
        await ledgers.exporter.fetch(one.object_key, one.checksum, tmp_path / one.id)  # type: ignore[arg-type]
        rows = pq.ParquetFile(tmp_path / one.id).read(["alert_id", "withdrawn_at"]).to_pylist()
        held[one.part] = [(row["alert_id"], row["withdrawn_at"] is not None) for row in rows]
    assert held == {1: [("ali_back", True)], 2: [("ali_again", False)]}


async def test_a_failed_export_raises_an_alert_which_the_next_one_resolves(
    world: HttpWorld, fresh_db: Database
) -> None:
    job, clock = world.system.backoffice.ledgers.exports, moved(world)
    await write(fresh_db, [an_activity(TENANT.new(clock.now()), clock.now())])
    await clock.advance(timedelta(days=2))

    async def alerts() -> list[tuple[str, str]]:
        async with fresh_db.platform() as tx:
            rows = await tx.connection.fetch("SELECT status, facts FROM bff_backoffice.alerts")
        return [(row["status"], json.loads(row["facts"])["ledger"]) for row in rows]

    whole = job.exporter
    job.exporter = replace(whole, most_rows=10, blobs=no_blobs)
    assert not await job.run_once()
    assert await alerts() == [("raised", "operator_activity")]
    job.exporter = whole

    assert await job.run_once()

    assert await alerts() == [("resolved", "operator_activity")]


async def test_a_damaged_file_is_found(world: HttpWorld, fresh_db: Database) -> None:
    from tidings.kernel.blobs.envelope import BlobDamagedError, BlobRef

    ledgers, clock = world.system.backoffice.ledgers, moved(world)
    tenant_id = TENANT.new(clock.now())
    await write(fresh_db, [an_activity(tenant_id, clock.now())])
    await clock.advance(timedelta(days=2))
    assert await ledgers.exports.run_once()
    async with fresh_db.tenant(tenant_id) as tx:
        (one,) = await store.list_exports(tx, limit=10)
    blobs = world.system.kernel.blobs
    await blobs.put(one.object_key, b"PAR1 something else", owner_id=one.id)  # type: ignore[arg-type]
    ref = BlobRef(key=one.object_key, size=one.bytes or 0, checksum=one.checksum or "")  # type: ignore[arg-type]

    with tempfile.TemporaryDirectory() as folder, pytest.raises(BlobDamagedError):
        await ledgers.exporter.read_back(ref, ACTIVITY_LEDGER, Path(folder))
