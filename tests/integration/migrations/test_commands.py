"""`tidings migrate …` as an operator meets it: output, exit codes, one clear line for a mistake."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import Printed, Types, typing_in
from tests.support.migration_files import DEADLINE, write_migrations
from tests.support.postgres import TestDatabase

FILES = {
    "0001_pre_one.sql": "CREATE SCHEMA chan;",
    "0002_post_two.sql": "CREATE TABLE chan.two (id int);",
    "down/0001_one.sql": "DROP SCHEMA chan;",
    "down/0002_two.sql": "DROP TABLE chan.two;",
}


class Operator:
    """Somebody at a terminal."""

    def __init__(self, folder: Path, types: Types, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._types = types
        self._monkeypatch = monkeypatch

    def run(self, *arguments: str, typed: str = "", folder: bool = True) -> Printed:
        """Run `tidings migrate …`."""
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        where = ("--folder", str(self._folder)) if folder else ()
        return self._types("migrate", *arguments, *where)


#: Somebody at a terminal, by the database that the environment names.
Sits = Callable[[str], Operator]


@pytest.fixture
def sits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sits:
    """Before these files."""

    def sit(url: str) -> Operator:
        types = typing_in(
            tmp_path / "data",
            monkeypatch,
            capsys,
            TIDINGS_OWNER_DATABASE_URL=url,
            TIDINGS_DATABASE_URL=url,
        )
        return Operator(write_migrations(tmp_path, FILES), types, monkeypatch)

    return sit


@pytest.fixture
def operator(blank_database: TestDatabase, sits: Sits) -> Operator:
    return sits(blank_database.owner_url)


def test_a_release_step_by_step(operator: Operator) -> None:
    """pre, status, check, post, check."""
    early = operator.run("up", "--phase", "post")
    pre = operator.run("up", "--phase", "pre")
    unready = operator.run("check")
    table = operator.run("status")
    post = operator.run("up", "--phase", "post")
    ready = operator.run("check")
    idle = operator.run("up")

    assert (early.code, "stopped before 0001_pre_one" in early.out) == (1, True)
    assert pre.code == 0, pre.err
    assert "1 applied; the schema is at 0001" in pre.out
    assert (unready.code, unready.out) == (
        1,
        "0002_post_two is not applied: run `tidings migrate up`\n",
    )
    assert [line.split()[:4] for line in table.out.splitlines()] == [
        ["number", "phase", "name", "state"],
        ["0001", "pre", "one", "applied"],
        ["0002", "post", "two", "pending"],
    ]
    assert post.code == 0
    assert (ready.code, ready.out) == (0, "all is well\n")
    assert (idle.code, idle.out) == (0, "nothing to do\n")


def test_status_for_programs(operator: Operator) -> None:
    """JSON with one object per migration."""
    operator.run("up")

    first, second = json.loads(operator.run("status", "--json").out)

    assert (first["number"], first["phase"], first["slug"], first["state"]) == (1, "pre", "one", "applied")
    assert (second["statements"], second["statements_done"]) == (1, 1)


def test_the_oldest_release_is_shown(operator: Operator, tmp_path: Path) -> None:
    """`status` and `check` say how far the app can be rolled back."""
    write_migrations(
        tmp_path,
        {
            "0003_pre_three.sql": "-- tidings: oldest-release=0.0.9\nSELECT 1;",
            "down/0003_three.sql": "SELECT 1;",
        },
    )
    operator.run("up")
    line = "the schema is at 0003; the oldest release that works on it is 0.0.9"

    status, check = operator.run("status"), operator.run("check")
    third = json.loads(operator.run("status", "--json").out)[2]
    for name in ("0003_pre_three.sql", "down/0003_three.sql"):
        (tmp_path / name).unlink()
    older = operator.run("check")

    assert status.out.splitlines()[0].split()[4:6] == ["oldest", "release"]
    assert status.out.splitlines()[3].split()[:5] == ["0003", "pre", "three", "applied", "0.0.9"]
    assert status.out.splitlines()[-1] == line
    assert (check.code, check.out) == (0, f"all is well\n{line}\n")
    assert third["oldest_release"] == "0.0.9"
    assert (older.code, older.out) == (0, f"all is well\n{line}\n")


def test_files_are_checked_without_a_database(sits: Sits, tmp_path: Path) -> None:
    """The mode for CI."""
    nowhere = sits("postgresql://nobody@127.0.0.1:1/none")

    good = nowhere.run("check", "--files")
    write_migrations(tmp_path, {"0004_pre_four.sql": "SELECT 1;"})
    bad = nowhere.run("check", "--files")

    assert (good.code, good.out) == (0, "all is well\n"), good.err
    assert bad.code == 1
    assert "0004_pre_four.sql follows a gap" in bad.out


def test_an_unreachable_database_is_one_line(sits: Sits) -> None:
    """No traceback for what the operator can mend."""
    nowhere = sits("postgresql://nobody:s3cret@127.0.0.1:1/none")

    answer = nowhere.run("up")

    assert answer.code == 1
    assert answer.err.startswith("tidings: Can't connect to 127.0.0.1:1/none")
    assert len(answer.err.splitlines()) == 1
    assert "s3cret" not in answer.out + answer.err


def test_undoing_asks_twice(operator: Operator, blank_database: TestDatabase) -> None:
    """--emergency, --reason, and the database's name typed by hand."""
    operator.run("up")

    meek = operator.run("down", "2")
    silent = operator.run("down", "2", "--emergency")
    mistyped = operator.run("down", "2", "--emergency", "--reason", "it hurts", typed="other\n")
    kept = operator.run("check")
    typed = operator.run("down", "2", "--emergency", "--reason", "it hurts", typed=f"{blank_database.name}\n")
    sure = operator.run("down", "1", "--emergency", "--reason", "it hurts", "--yes")

    assert [answer.code for answer in (meek, silent, mistyped, kept, typed, sure)] == [1, 1, 1, 0, 0, 0]
    assert "--emergency" in meek.err
    assert "--reason" in silent.err
    assert "nothing was done" in mistyped.err
    assert "0002_post_two is undone and logged; the schema is at 0001" in typed.out
    assert "the schema is at 0000" in sure.out


def test_the_dump_is_compared(operator: Operator, tmp_path: Path) -> None:
    """`--check` fails with a diff when the committed file is out of date."""
    target = tmp_path / "out.sql"
    operator.run("up")

    missing = operator.run("dump", "--check", "--output", str(target), folder=False)
    written = operator.run("dump", "--output", str(target), folder=False)
    same = operator.run("dump", "--check", "--output", str(target), folder=False)

    assert (missing.code, "+CREATE TABLE chan.two (" in missing.out) == (1, True)
    assert "is out of date" in missing.err
    assert written.code == 0, written.err
    assert same.code == 0


def test_roles_are_printed(operator: Operator) -> None:
    """Text for an administrator's psql."""
    answer = operator.run("roles", folder=False)

    assert answer.code == 0
    assert "tidings_breakglass" in answer.out


def test_help_needs_nothing_heavy() -> None:
    """`tidings --help` stays quick because commands import what they need when they run."""
    heavy = (
        "import sys, tidings.cli.migrate; print({'asyncpg', 'tidings.operations', 'ssl'} & set(sys.modules))"
    )

    answer = subprocess.run(
        [sys.executable, "-c", heavy], capture_output=True, text=True, check=True, timeout=DEADLINE
    )

    assert answer.stdout == "set()\n"
