"""A folder of migrations is read whole, and the first fault names its file."""

from pathlib import Path

import pytest

from tests.support.migration_files import write_migrations
from tidings.operations.migrations.discover import FIRST_WITH_RELEASE, MIGRATIONS_FOLDER, discover
from tidings.operations.migrations.errors import (
    BadDirectiveError,
    BadFileNameError,
    BadIndexError,
    BadNumberingError,
    FilesError,
    ForbiddenStatementError,
    MigrationError,
    UnreadableSqlError,
)
from tidings.operations.migrations.release import THIS_RELEASE, Release
from tidings.operations.migrations.status import check_files

ONE = {"0001_pre_one.sql": "SELECT 1;"}


def test_files_are_read_in_order(tmp_path: Path) -> None:
    """Name, phase, slug, checksum and statements come out of the file."""
    write_migrations(
        tmp_path,
        {
            "0002_post_second_step.sql": "-- tidings: transaction=off\nSELECT 1;\nSELECT 2;",
            "0001_pre_first.sql": "SELECT 1;",
            "schema.sql": "not a migration",
            "notes.txt": "nor this",
            "down/0001_first.sql": "SELECT 1;",
        },
    )

    first, second = discover(tmp_path)

    assert (first.number, first.phase, first.slug, first.transactional) == (1, "pre", "first", True)
    assert (second.name, second.transactional, len(second.steps)) == ("0002_post_second_step", False, 2)
    assert first.checksum == "17db4fd369edb9244b9f91d9aeed145c3d04ad8ba6e95d06247f07a63527d11a"


def test_line_endings_do_not_count(tmp_path: Path) -> None:
    """A checkout on another system is the same migration."""
    (tmp_path / "0001_pre_one.sql").write_bytes(b"SELECT 1;\nSELECT 2;\n")
    (tmp_path / "0002_pre_two.sql").write_bytes(b"SELECT 1;\r\nSELECT 2;\r\n")

    one, two = discover(tmp_path)

    assert one.checksum == two.checksum


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        ({"1_pre_one.sql": "SELECT 1;"}, BadFileNameError, "1_pre_one.sql"),
        ({"0001_one.sql": "SELECT 1;"}, BadFileNameError, "0001_one.sql"),
        ({"0001_pre_One.sql": "SELECT 1;"}, BadFileNameError, "0001_pre_One.sql"),
        ({"0001_pre_one__two.sql": "SELECT 1;"}, BadFileNameError, "0001_pre_one__two.sql"),
        ({"seed.sql": "SELECT 1;"}, BadFileNameError, "seed.sql"),
        ({"0002_pre_one.sql": "SELECT 1;"}, BadNumberingError, "0002_pre_one.sql follows a gap.*no 0001"),
        (ONE | {"0003_pre_x.sql": "SELECT 1;"}, BadNumberingError, "0003_pre_x.sql follows a gap.*no 0002"),
        (ONE | {"0001_pre_x.sql": "SELECT 1;"}, BadNumberingError, "0001_pre_one.sql and 0001_pre_x.sql"),
        ({"0000_pre_x.sql": "SELECT 1;"} | ONE, BadNumberingError, "0000_pre_x.sql"),
        ({"0001_pre_x.sql": ""}, UnreadableSqlError, "0001_pre_x.sql has no statement"),
        ({"0001_pre_x.sql": "SELECT 'a;"}, UnreadableSqlError, "0001_pre_x.sql, line 1: a string"),
        ({"0001_pre_x.sql": "SELECT 1;\nCOMMIT;"}, ForbiddenStatementError, "line 2: COMMIT"),
        ({"0001_pre_x.sql": "begin; SELECT 1; end;"}, ForbiddenStatementError, "BEGIN"),
        ({"0001_pre_x.sql": "SET ROLE tidings_worker;"}, ForbiddenStatementError, "SET LOCAL ROLE"),
        (
            {"0001_pre_x.sql": "DO $$BEGIN\nALTER TABLE a.b no force row\nlevel security; END$$;"},
            ForbiddenStatementError,
            "line 1: row-level security may not be switched off",
        ),
        (
            {"0001_pre_x.sql": "ALTER TABLE a.b DISABLE ROW LEVEL SECURITY;"},
            ForbiddenStatementError,
            "row-level security may not be switched off",
        ),
        (
            {"0001_pre_x.sql": "-- tidings: transaction=off\nSET work_mem = '1GB';"},
            ForbiddenStatementError,
            "SET does not last",
        ),
        ({"0001_pre_x.sql": "DROP INDEX CONCURRENTLY a.b;"}, ForbiddenStatementError, "transaction=off"),
        (
            {"0001_pre_x.sql": "-- tidings: transaction=off\nCREATE INDEX CONCURRENTLY i ON a.b (c);"},
            ForbiddenStatementError,
            "-- tidings: online",
        ),
        (
            {"0001_pre_x.sql": "-- tidings: transactions=off\nSELECT 1;"},
            BadDirectiveError,
            "transactions=off",
        ),
        ({"0001_pre_x.sql": "SELECT 1;\n-- tidings: transaction=off\nSELECT 2;"}, BadDirectiveError, "head"),
        ({"0001_pre_x.sql": "SELECT\n-- tidings: online\n2;"}, BadDirectiveError, "inside a statement"),
        (
            {"0001_pre_x.sql": "SELECT 1;\n-- tidings: oldest-release=0.1.0\nSELECT 2;"},
            BadDirectiveError,
            "oldest-release=0.1.0` comes too late",
        ),
        (
            {"0001_pre_x.sql": "-- tidings: oldest-release=soon\nSELECT 1;"},
            BadDirectiveError,
            "0001_pre_x.sql: 'soon' is not a release: write three numbers",
        ),
        (
            {"0001_pre_x.sql": "-- tidings: oldest-release=0.1.0.dev0\nSELECT 1;"},
            BadDirectiveError,
            r"Write 0\.1\.0: a development version counts",
        ),
        (
            {
                "0001_pre_x.sql": "-- tidings: oldest-release=0.1.0\n-- tidings: oldest-release=0.2.0\nSELECT 1;"
            },
            BadDirectiveError,
            "more than one oldest release",
        ),
        ({"0001_pre_x.sql": "SELECT 2;\n-- tidings: online"}, BadDirectiveError, "after the last"),
        (
            {"0001_pre_x.sql": "-- tidings: online\nCREATE INDEX i ON a.b (c);"},
            BadDirectiveError,
            "transaction",
        ),
        (
            {"0001_pre_x.sql": "-- tidings: transaction=off\n-- tidings: online\nCREATE INDEX i ON b (c);"},
            BadIndexError,
            "0001_pre_x.sql, line 3: .*schema.table",
        ),
        (
            {
                "0001_pre_x.sql": "-- tidings: transaction=off\n-- tidings: online\n"
                f"CREATE INDEX {'i' * 64} ON a.b (c);"
            },
            BadIndexError,
            "longer than 63 bytes",
        ),
    ],
)
def test_a_fault_names_its_file(
    tmp_path: Path, files: dict[str, str], error: type[MigrationError], message: str
) -> None:
    """Whoever wrote the file reads what to change."""
    write_migrations(tmp_path, files)

    with pytest.raises(error, match=message):
        discover(tmp_path)


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 would reach Postgres garbled."""
    (tmp_path / "0001_pre_x.sql").write_bytes(b"SELECT '\xe9';")

    with pytest.raises(UnreadableSqlError, match=r"0001_pre_x\.sql is not UTF-8"):
        discover(tmp_path)


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    """An incomplete installation is not an empty list of migrations."""
    with pytest.raises(FilesError, match="no folder of migrations"):
        discover(tmp_path / "nowhere")


def test_words_inside_quotes_forbid_nothing(tmp_path: Path) -> None:
    """A comment in the schema may speak of CONCURRENTLY."""
    write_migrations(tmp_path, {"0001_pre_x.sql": "CREATE VIEW a.v AS SELECT 'CONCURRENTLY';"})

    assert len(discover(tmp_path)) == 1


def test_checking_files_tells_of_missing_and_stray_down_files(tmp_path: Path) -> None:
    """Every migration has exactly one way back."""
    write_migrations(
        tmp_path,
        ONE
        | {
            "0002_pre_two.sql": "SELECT 1;",
            "0003_pre_three.sql": "SELECT 1;",
            "down/0002_two.sql": "SELECT 'a;",
            "down/0003_three.sql": "SELECT 1;",
            "down/0009_nine.sql": "SELECT 1;",
        },
    )

    findings = [str(finding) for finding in check_files(tmp_path)]

    assert len(findings) == 3
    assert "0001_pre_one has no down file" in findings[0]
    assert "down/0002_two.sql" in findings[1]
    assert "down/0009_nine.sql undoes no migration" in findings[2]


def test_the_migrations_of_this_release_are_in_order() -> None:
    """`tidings migrate check --files` finds nothing in our own folder."""
    assert [str(finding) for finding in check_files(MIGRATIONS_FOLDER)] == []


def test_a_new_file_names_the_oldest_release(tmp_path: Path) -> None:
    """From 0043 on; a release that does not exist yet is no answer, and a down file names none."""
    names = [f"{number:04}_pre_x" for number in range(1, FIRST_WITH_RELEASE + 3)]
    files = {f"{name}.sql": "SELECT 1;" for name in names}
    files |= {f"down/{name[:4]}_x.sql": "SELECT 1;" for name in names}
    files["0044_pre_x.sql"] = "-- tidings: oldest-release=0.0.1\nSELECT 1;"
    files["0045_pre_x.sql"] = "-- tidings: oldest-release=99.0.0\nSELECT 1;"
    files["down/0045_x.sql"] = "-- tidings: oldest-release=0.1.0\nSELECT 1;"

    silent, future, down = check_files(write_migrations(tmp_path, files))

    assert silent.subject == "0043_pre_x"
    assert f"write `-- tidings: oldest-release={THIS_RELEASE}` at the head" in silent.remedy
    assert future.subject == "0045_pre_x"
    assert "names 99.0.0 as the oldest release" in future.remedy
    assert (down.subject, "names no release" in down.remedy) == ("down/0045_x.sql", True)
    assert discover(tmp_path)[43].oldest_release == Release(0, 0, 1)
