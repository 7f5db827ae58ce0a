"""`tidings migrate …` as an operator meets it: output, exit codes, one clear line for a mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.migration_files import DEADLINE, write_migrations
from tests.support.postgres import TestDatabase

FILES = {
    "0001_pre_one.sql": "CREATE SCHEMA chan;",
    "0002_post_two.sql": "CREATE TABLE chan.two (id int);",
    "down/0001_one.sql": "DROP SCHEMA chan;",
    "down/0002_two.sql": "DROP TABLE chan.two;",
}
Answer = subprocess.CompletedProcess[str]


class Operator:
    """Somebody at a terminal."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder

    def run(self, *arguments: str, typed: str = "", folder: bool = True) -> Answer:
        """Run `tidings migrate …`."""
        where = ("--folder", str(self._folder)) if folder else ()
        return subprocess.run(
            [sys.executable, "-c", "from tidings.cli.migrate import app; app()", *arguments, *where],
            env={
                **os.environ,
                "TIDINGS_OWNER_DATABASE_URL": self._url,
                "TIDINGS_DATABASE_URL": self._url,
                "TIDINGS_DATA_DIR": str(self._folder / "data"),
            },
            input=typed,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )


@pytest.fixture
def operator(blank_database: TestDatabase, tmp_path: Path) -> Operator:
    return Operator(blank_database.owner_url, write_migrations(tmp_path, FILES))


def test_a_release_step_by_step(operator: Operator) -> None:
    """pre, status, check, post, check."""
    early = operator.run("up", "--phase", "post")
    pre = operator.run("up", "--phase", "pre")
    unready = operator.run("check")
    table = operator.run("status")
    post = operator.run("up", "--phase", "post")
    ready = operator.run("check")
    idle = operator.run("up")

    assert (early.returncode, "stopped before 0001_pre_one" in early.stdout) == (1, True)
    assert pre.returncode == 0, pre.stderr
    assert "1 applied; the schema is at 0001" in pre.stdout
    assert (unready.returncode, unready.stdout) == (
        1,
        "0002_post_two is not applied: run `tidings migrate up`\n",
    )
    assert [line.split()[:4] for line in table.stdout.splitlines()] == [
        ["number", "phase", "name", "state"],
        ["0001", "pre", "one", "applied"],
        ["0002", "post", "two", "pending"],
    ]
    assert post.returncode == 0
    assert (ready.returncode, ready.stdout) == (0, "all is well\n")
    assert (idle.returncode, idle.stdout) == (0, "nothing to do\n")


def test_status_for_programs(operator: Operator) -> None:
    """JSON with one object per migration."""
    operator.run("up")

    first, second = json.loads(operator.run("status", "--json").stdout)

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
    third = json.loads(operator.run("status", "--json").stdout)[2]
    for name in ("0003_pre_three.sql", "down/0003_three.sql"):
        (tmp_path / name).unlink()
    older = operator.run("check")

    assert status.stdout.splitlines()[0].split()[4:6] == ["oldest", "release"]
    assert status.stdout.splitlines()[3].split()[:5] == ["0003", "pre", "three", "applied", "0.0.9"]
    assert status.stdout.splitlines()[-1] == line
    assert (check.returncode, check.stdout) == (0, f"all is well\n{line}\n")
    assert third["oldest_release"] == "0.0.9"
    assert (older.returncode, older.stdout) == (0, f"all is well\n{line}\n")


def test_files_are_checked_without_a_database(tmp_path: Path) -> None:
    """The mode for CI."""
    nowhere = Operator("postgresql://nobody@127.0.0.1:1/none", write_migrations(tmp_path, FILES))

    good = nowhere.run("check", "--files")
    write_migrations(tmp_path, {"0004_pre_four.sql": "SELECT 1;"})
    bad = nowhere.run("check", "--files")

    assert (good.returncode, good.stdout) == (0, "all is well\n"), good.stderr
    assert bad.returncode == 1
    assert "0004_pre_four.sql follows a gap" in bad.stdout


def test_an_unreachable_database_is_one_line(tmp_path: Path) -> None:
    """No traceback for what the operator can mend."""
    nowhere = Operator("postgresql://nobody:s3cret@127.0.0.1:1/none", write_migrations(tmp_path, FILES))

    answer = nowhere.run("up")

    assert answer.returncode == 1
    assert answer.stderr.startswith("tidings: Can't connect to 127.0.0.1:1/none")
    assert len(answer.stderr.splitlines()) == 1
    assert "s3cret" not in answer.stdout + answer.stderr


def test_undoing_asks_twice(operator: Operator, blank_database: TestDatabase) -> None:
    """--emergency, --reason, and the database's name typed by hand."""
    operator.run("up")

    meek = operator.run("down", "2")
    silent = operator.run("down", "2", "--emergency")
    mistyped = operator.run("down", "2", "--emergency", "--reason", "it hurts", typed="other\n")
    kept = operator.run("check")
    typed = operator.run("down", "2", "--emergency", "--reason", "it hurts", typed=f"{blank_database.name}\n")
    sure = operator.run("down", "1", "--emergency", "--reason", "it hurts", "--yes")

    assert [answer.returncode for answer in (meek, silent, mistyped, kept, typed, sure)] == [1, 1, 1, 0, 0, 0]
    assert "--emergency" in meek.stderr
    assert "--reason" in silent.stderr
    assert "nothing was done" in mistyped.stderr
    assert "0002_post_two is undone and logged; the schema is at 0001" in typed.stdout
    assert "the schema is at 0000" in sure.stdout


def test_the_dump_is_compared(operator: Operator, tmp_path: Path) -> None:
    """`--check` fails with a diff when the committed file is out of date."""
    target = tmp_path / "out.sql"
    operator.run("up")

    missing = operator.run("dump", "--check", "--output", str(target), folder=False)
    written = operator.run("dump", "--output", str(target), folder=False)
    same = operator.run("dump", "--check", "--output", str(target), folder=False)

    assert (missing.returncode, "+CREATE TABLE chan.two (" in missing.stdout) == (1, True)
    assert "is out of date" in missing.stderr
    assert written.returncode == 0, written.stderr
    assert same.returncode == 0


def test_roles_are_printed(operator: Operator) -> None:
    """Text for an administrator's psql."""
    answer = operator.run("roles", folder=False)

    assert answer.returncode == 0
    assert "tidings_breakglass" in answer.stdout


def test_help_needs_nothing_heavy() -> None:
    """`tidings --help` stays quick because commands import what they need when they run."""
    heavy = (
        "import sys, tidings.cli.migrate; print({'asyncpg', 'tidings.operations', 'ssl'} & set(sys.modules))"
    )

    answer = subprocess.run(
        [sys.executable, "-c", heavy], capture_output=True, text=True, check=True, timeout=DEADLINE
    )

    assert answer.stdout == "set()\n"
