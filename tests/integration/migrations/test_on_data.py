"""The migrations of this release on a database that is full: every table has rows of several tenants."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from tests.support.migration_files import Watcher
from tests.support.populated import Snapshot, files_up_to, fingerprints, row_counts
from tests.support.postgres import TestDatabase, TestServer
from tests.support.rows import acting_as
from tidings.operations.migrations.discover import discover
from tidings.operations.migrations.emergency_down import migrate_down
from tidings.operations.migrations.progress import Busy
from tidings.operations.migrations.retry_policy import LockRetryPolicy
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.migrations.status import check_schema
from tidings.operations.partitions import make_missing

#: The schema that the snapshot is taken at: before the first file that moves data.
TAKEN_AT: Final = 34
#: Tables that a file of this release adds rows to, and why.
_GROWS: Final = {
    "kernel.partitioned_tables": "new partitioned tables register here",
}
#: What no release has written when a file makes it anew: ledgers by month in 0106, a sealed mirror in 0110.
_ANEW: Final = {
    "bff_backoffice.operator_activity",
    "bff_backoffice.ai_decision_log",
    "bff_backoffice.lock_action_proxy_audit",
    "bff_backoffice.operator_preferences",
}
#: Tables of which a down file removes the rows that the schema before it can't hold.
_LOSES: Final[dict[int, set[str]]] = {
    110: {"bff_backoffice.operator_preferences"},
    109: {"bff_backoffice.alert_ack_log"},
    106: _ANEW - {"bff_backoffice.operator_preferences"},
    93: {"notification.webhook_deliveries"},
    82: {"notification.notification_trigger_map"},
    40: {"chan.conversations", "chan.tenant_inbound_routes"},
    17: {"notification_platform.categories"},
}
#: The file that lets windows of digests begin together.
_DIGESTS: Final = 83
#: What only the files themselves, or nobody, fill.
_EMPTY: Final[dict[str, str]] = {}


@dataclass(frozen=True, slots=True)
class _Full:
    """A database at the older schema with rows in it, and the rows' tenants."""

    database: TestDatabase
    snapshot: Snapshot


@pytest.fixture(scope="module")
async def taken(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[_Full]:
    folder = files_up_to(tmp_path_factory.mktemp("taken") / "files", TAKEN_AT)
    async with server.clone("template0") as database:
        await migrate_up(database.owner_url, folder=folder)
        snapshot = Snapshot(database)
        await snapshot.fill()
        yield _Full(database, snapshot)


@pytest.fixture
async def full(server: TestServer, taken: _Full) -> AsyncIterator[_Full]:
    """A copy for one test."""
    async with server.clone(taken.database.name) as database:
        yield _Full(database, taken.snapshot.of(database))


async def test_a_full_database_is_migrated_and_keeps_its_rows(full: _Full) -> None:
    """Every row of every table is there afterwards, as it was; what is derived from rows is right."""
    database, snapshot = full.database, full.snapshot
    before = await fingerprints(database)
    empty = {name for name, found in before.items() if found["count(*)"] == "0"}
    assert empty == set(_EMPTY)
    assert len(snapshot.full) > len(before) / 2

    await migrate_up(database.owner_url)
    await _make_months(database)

    after = await fingerprints(database)
    for name, known in before.items():
        if name in after and name not in _GROWS and name not in _ANEW:
            kept = {column: digest for column, digest in after[name].items() if column in known}
            assert kept == {column: known[column] for column in kept}, name
    assert await check_schema(database.owner_url) == []
    async with database.owner() as owner:
        await owner.execute("CALL kernel.assert_protected()")
        assert await owner.fetch("SELECT conname FROM pg_constraint WHERE NOT convalidated") == []
        assert await _policies_for_the_owner(owner) == []
    await _assert_counted(database, snapshot)


async def test_every_down_file_works_on_rows(full: _Full) -> None:
    """From the newest to the first: what a down file does not drop keeps its rows, and the way up is open again."""
    database, snapshot = full.database, full.snapshot
    await migrate_up(database.owner_url)
    await snapshot.fill()
    known = await row_counts(database)

    for migration in reversed(discover()):
        await migrate_down(database.owner_url, migration.number, reason="drill")
        left = await row_counts(database)
        lost = {name for name, count in left.items() if count != known.get(name, 0)} - set(_GROWS)
        assert lost == _LOSES.get(migration.number, set()), migration.down_path.name
        known = left
        if migration.number == TAKEN_AT + 1:
            await migrate_up(database.owner_url)
            await _make_months(database)
            assert await check_schema(database.owner_url) == []
            await _assert_counted(database, snapshot)
            for again in reversed(discover()[TAKEN_AT:]):
                await migrate_down(database.owner_url, again.number, reason="drill")


def test_a_down_file_names_no_other_than_the_one_that_it_undoes() -> None:
    for migration in discover():
        named = set(re.findall(r"undoes (\d{4})_", migration.down_path.read_text()))
        assert named <= {f"{migration.number:04}"}, migration.down_path.name


async def test_windows_that_began_together_do_not_keep_digests_from_being_undone(full: _Full) -> None:
    """One after the other, or a test beside the real one: the schema before knows one window of a key and a moment."""
    database, snapshot = full.database, full.snapshot
    await migrate_up(database.owner_url)
    tenant = min(snapshot.tenants)
    windows = [("flushed", False, 0), ("flushed", False, 0), ("flushing", False, 0), ("open", False, 0), ("open", True, 0), ("flushing", True, -1)]  # fmt: skip
    async with database.runtime() as runtime, acting_as(runtime, "tidings_runtime", tenant):
        person = await runtime.fetchval("SELECT min(id) FROM notification.recipients")
        began = datetime(2026, 11, 14, 12, tzinfo=UTC)
        for number, (state, is_test, moved) in enumerate(windows):
            await runtime.execute(
                "INSERT INTO notification.digest_windows "
                "(tenant_id, id, recipient_id, category, channel, digest_key, window_start, window_end, flush_at, state, is_test) "
                "VALUES ($1, $2, $3, 'twice', 'email', '', $4, $5, $5, $6, $7)",
                tenant,
                f"dgw_{number:026}",
                person,
                began + timedelta(microseconds=moved),
                began + timedelta(hours=1),
                state,
                is_test,
            )

    for migration in reversed(discover()):
        if migration.number >= _DIGESTS:
            await migrate_down(database.owner_url, migration.number, reason="drill")

    async with database.runtime() as runtime, acting_as(runtime, "tidings_runtime", tenant):
        left = await runtime.fetch(
            "SELECT state, window_start FROM notification.digest_windows WHERE category = 'twice' ORDER BY window_start"
        )
    assert sorted(row["state"] for row in left) == ["flushing", "flushing", "flushing", "open"]
    assert len({row["window_start"] for row in left}) == 4
    assert left[-1]["window_start"] == began
    async with database.owner() as owner:
        assert await _policies_for_the_owner(owner) == []
    await migrate_up(database.owner_url)
    await _make_months(database)
    assert await check_schema(database.owner_url) == []


async def test_tenants_write_while_suppressions_are_counted(full: _Full, tmp_path: Path) -> None:
    """The count of one tenant is held up, and nobody is locked out; what is written meanwhile is counted once."""
    database, snapshot = full.database, full.snapshot
    counting = files_up_to(tmp_path / "counting", TAKEN_AT + 1)
    await migrate_up(database.owner_url, folder=counting)
    steps = discover(counting)[TAKEN_AT].steps
    count = next(n for n, step in enumerate(steps) if step.statement.sql.startswith("DO"))
    async with database.owner() as owner:
        for step in steps[
            count - 3 : count
        ]:  # the policies of the count, which the file has taken away again
            await owner.execute(step.statement.sql)
        await owner.execute(
            "UPDATE kernel.schema_migrations SET finished_at = NULL, statements_done = $2 WHERE number = $1",
            TAKEN_AT + 1,
            count,
        )
    first, last = min(snapshot.tenants), max(snapshot.tenants)
    async with database.runtime() as runtime:
        for tenant in snapshot.tenants:
            async with acting_as(runtime, "tidings_worker", tenant):
                await runtime.execute(
                    "DELETE FROM notification.suppression_counts WHERE tenant_id = $1", tenant
                )
    watcher = Watcher()
    lock_retry = LockRetryPolicy(
        lock_timeout=timedelta(seconds=0.1), pause=timedelta(seconds=0.1), attempts=600
    )

    async with database.runtime() as holder, database.runtime() as writer:
        held = holder.transaction()
        await held.start()
        await holder.execute("SELECT set_config('app.tenant_id', $1, true)", last)
        await holder.execute(  # the very row that the count has to write
            "INSERT INTO notification.suppression_counts VALUES ($1, 'email', 'manual', 0, 0)", last
        )
        run = asyncio.create_task(
            migrate_up(database.owner_url, folder=counting, lock_retry=lock_retry, report=watcher)
        )
        await watcher.heard(Busy)
        busy = next(event for event in watcher.events if isinstance(event, Busy))
        assert busy.line == steps[count].statement.line
        await writer.execute("SET lock_timeout = '10s'")
        for tenant in (first, last):
            async with acting_as(writer, "tidings_runtime", tenant):
                await writer.execute(
                    "UPDATE notification.suppressions SET released_at = now(), released_by = 'somebody' "
                    "WHERE id = 'sup_' || lpad('7', 26, '0') AND released_at IS NULL"
                )
        await held.commit()
        await run

    await _assert_counted(database, snapshot)


async def _make_months(database: TestDatabase) -> None:
    async with database.owner() as owner:
        await make_missing(owner, datetime.now(UTC))


async def _policies_for_the_owner(owner: asyncpg.Connection) -> list[str]:
    """What a back-fill should have taken away; `owner_seeds` shows it the platform's rows, and no tenant's."""
    rows = await owner.fetch(
        "SELECT schemaname || '.' || tablename || ' ' || policyname AS name FROM pg_policies "
        "WHERE 'tidings_owner' = ANY (roles) AND policyname <> 'owner_seeds'"
    )
    return [row["name"] for row in rows]


async def _assert_counted(database: TestDatabase, snapshot: Snapshot) -> None:
    """Sums over buckets are what somebody who counts would find."""
    for tenant in snapshot.tenants:
        async with database.runtime() as runtime, acting_as(runtime, "tidings_runtime", tenant):
            counted = await runtime.fetch(
                "SELECT channel, reason, sum(n)::int AS n FROM notification.suppression_counts "
                "GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2"
            )
            there = await runtime.fetch(
                "SELECT channel, reason, count(*)::int AS n FROM notification.suppressions "
                "WHERE released_at IS NULL GROUP BY 1, 2 ORDER BY 1, 2"
            )
        assert counted == there
        assert sum(row["n"] for row in there) > 100
