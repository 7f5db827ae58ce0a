"""Files and ledger are compared without a database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.migration_files import write_migrations
from tidings.operations.migrations.compatibility import SERVES, schema_version
from tidings.operations.migrations.discover import Migration, discover
from tidings.operations.migrations.errors import (
    BrokenHistoryError,
    ChangedHalfwayError,
    ChangedMigrationError,
    SchemaTooNew,
)
from tidings.operations.migrations.history import MigrationState, compare, plan_run
from tidings.operations.migrations.ledger import LedgerRow

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@pytest.fixture
def migrations(tmp_path: Path) -> list[Migration]:
    names = ("0001_pre_a", "0002_pre_b", "0003_post_c", "0004_pre_d")
    return discover(write_migrations(tmp_path, {f"{name}.sql": "SELECT 1; SELECT 2;" for name in names}))


def applied(migration: Migration) -> LedgerRow:
    return LedgerRow(
        number=migration.number,
        slug=migration.slug,
        phase=migration.phase,
        checksum=migration.checksum,
        started_at=NOW,
        finished_at=NOW,
        statements_done=2,
        applied_by="somebody",
        duration=timedelta(),
    )


def test_every_state_is_seen(migrations: list[Migration]) -> None:
    """Applied, changed, half-applied, pending and unknown side by side."""
    rows = [
        applied(migrations[0]),
        replace(applied(migrations[1]), checksum="0" * 64),
        replace(applied(migrations[2]), finished_at=None),
        replace(applied(migrations[0]), number=5, slug="later"),
    ]

    states = [standing.state for standing in compare(migrations, rows)]

    assert states == [
        MigrationState.APPLIED,
        MigrationState.CHANGED,
        MigrationState.HALF_APPLIED,
        MigrationState.PENDING,
        MigrationState.UNKNOWN,
    ]


def test_a_phase_stops_at_the_other(migrations: list[Migration]) -> None:
    """`pre` goes up to the first `post` and the other way round; no phase goes through."""
    empty = compare(migrations, [])
    halfway = compare(migrations, [applied(migrations[0]), applied(migrations[1])])

    assert [m.number for m in plan_run(empty, None).todo] == [1, 2, 3, 4]
    pre = plan_run(empty, "pre")
    assert ([m.number for m in pre.todo], pre.stops_before) == ([1, 2], migrations[2])
    post = plan_run(halfway, "post")
    assert ([m.number for m in post.todo], post.stops_before) == ([3], migrations[3])
    assert plan_run(empty, "post").todo == ()


def test_a_changed_file_is_named(migrations: list[Migration]) -> None:
    """Content, name and phase of an applied file stay as they were."""
    first = applied(migrations[0])

    for row, message in [
        (
            replace(first, checksum="0" * 64),
            r"0001_pre_a\.sql was changed.*recreate the database.*before 0\.1\.0",
        ),
        (replace(first, slug="z"), r"0001_pre_a\.sql was applied as 0001_pre_z\.sql"),
        (replace(first, phase="post"), r"was applied as 0001_post_a\.sql"),
    ]:
        with pytest.raises(ChangedMigrationError, match=message):
            plan_run(compare(migrations, [row]), None)
    with pytest.raises(ChangedHalfwayError, match=r"0001_pre_a\.sql was changed while it is half-applied"):
        plan_run(compare(migrations, [replace(first, checksum="0" * 64, finished_at=None)]), None)


def test_a_newer_database_is_refused(migrations: list[Migration]) -> None:
    """An old release never touches a newer schema, even when its own files are all there."""
    rows = [*map(applied, migrations), replace(applied(migrations[0]), number=7, slug="later")]

    with pytest.raises(SchemaTooNew, match=r"newer than this Tidings: its schema is 0007.*up to 0004"):
        plan_run(compare(migrations, rows), None)


def test_a_ledger_with_a_hole_is_refused(migrations: list[Migration]) -> None:
    """Applying 2 after 3 is an order that nobody has tested."""
    with pytest.raises(BrokenHistoryError, match=r"0003_post_c is in .* 0002_pre_b before it is not"):
        plan_run(compare(migrations, [applied(migrations[0]), applied(migrations[2])]), None)


def test_the_version_ends_at_the_first_unfinished(migrations: list[Migration]) -> None:
    """A half-applied migration does not count."""
    rows = [applied(migration) for migration in migrations]

    assert schema_version([]) == 0
    assert schema_version(rows) == 4
    assert schema_version([rows[0], replace(rows[1], finished_at=None), rows[2]]) == 1


def test_the_range_names_the_migrations_of_this_release() -> None:
    """Whoever adds a migration says which schemas the code serves."""
    newest = discover()[-1].number

    assert SERVES.newest == newest, "set SERVES in compatibility.py"
    assert 1 <= SERVES.oldest <= SERVES.newest
