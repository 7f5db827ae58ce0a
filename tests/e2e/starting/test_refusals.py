"""What `tidings up` can't do, it says in one clear line, with a non-zero exit and nothing left running."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest

from tests.support.postgres import TestDatabase
from tests.support.running import RunningTidings, run_tidings


def one_line(data_dir: Path, *arguments: str, **extra: str) -> str:
    """Run it, expect a refusal, and give its one line."""
    done = run_tidings("up", "--data-dir", str(data_dir), *arguments, **extra)
    lines = done.stderr.strip().splitlines()
    assert done.returncode != 0, done.stdout
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("tidings: ")
    assert "Traceback" not in done.stderr
    return lines[0]


def test_a_busy_port(data_dir: Path) -> None:
    """The port is named, and what to do; no database was made for nothing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        said = one_line(data_dir, "--port", str(port))

    assert f"can't listen on 127.0.0.1:{port}" in said
    assert "--port" in said
    assert not data_dir.exists()


def test_a_foreign_data_dir(data_dir: Path) -> None:
    """Somebody's photographs are not overwritten."""
    data_dir.mkdir()
    (data_dir / "holiday.jpg").write_text("x")

    said = one_line(data_dir, "--port", "0")

    assert "holiday.jpg" in said
    assert "--data-dir" in said
    assert [entry.name for entry in data_dir.iterdir()] == ["holiday.jpg"]


def test_a_data_dir_in_use(used_dir: Path) -> None:
    """The other process is named."""
    with RunningTidings(used_dir) as tidings:
        said = one_line(used_dir, "--port", "0")

    assert f"pid {tidings.process.pid}" in said


def test_a_newer_schema(used_dir: Path) -> None:
    """An older Tidings does not touch what a newer one has made."""
    done = run_tidings("migrate", "status", "--data-dir", str(used_dir))
    assert done.returncode == 0, done.stderr
    with RunningTidings(used_dir) as tidings:
        url = tidings.demo["database_url"]
        owner = _owner_url(used_dir, url)

        async def from_the_future() -> None:
            connection = await asyncpg.connect(owner)
            await connection.execute(
                "INSERT INTO kernel.schema_migrations "
                "SELECT (jsonb_populate_record(m, jsonb_build_object('number', 9000, 'slug', 'from_the_future'))).* "
                "FROM kernel.schema_migrations m WHERE number = 1"
            )
            await connection.close()

        asyncio.run(from_the_future())

    said = one_line(used_dir, "--port", "0")

    assert "newer than this Tidings" in said


def _owner_url(data_dir: Path, runtime_url: str) -> str:
    from tidings.operations.embedded import DataDir

    password = DataDir(data_dir).secret("tidings_owner_password")
    return f"postgresql://tidings_owner:{password}@{runtime_url.rpartition('@')[2]}"


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("postgresql://tidings_runtime:topsecret@127.0.0.1:1/tidings", "can't be reached"),
        (
            "mysql://tidings_runtime:topsecret@127.0.0.1/tidings",
            "TIDINGS_DATABASE_URL must be a URL of the form",
        ),
        ("postgresql://nobody.invalid/tidings", "can't be reached"),
    ],
)
def test_an_unreachable_database(data_dir: Path, url: str, complaint: str) -> None:
    """Why, and never the password."""
    said = one_line(data_dir, "--port", "0", TIDINGS_DATABASE_URL=url)

    assert complaint in said
    assert "topsecret" not in said


def test_an_outside_database_that_was_never_migrated(data_dir: Path, blank_database: TestDatabase) -> None:
    """Without the owner's URL it can't be mended here; it says how."""
    said = one_line(data_dir, "--port", "0", TIDINGS_DATABASE_URL=blank_database.runtime_url)

    assert "tidings migrate up" in said


def test_an_outside_database_is_migrated_with_the_owners_url(
    data_dir: Path, blank_database: TestDatabase
) -> None:
    """Both URLs given: schema, partitions, demo tenant, and no Postgres of our own."""
    with (
        RunningTidings(
            data_dir,
            TIDINGS_DATABASE_URL=blank_database.runtime_url,
            TIDINGS_OWNER_DATABASE_URL=blank_database.owner_url,
        ) as tidings,
        tidings.client() as client,
    ):
        assert client.get("/api/v1/tenant").status_code == 200
        assert tidings.demo["database_url"] == blank_database.runtime_url
        assert not (data_dir / "postgres").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--port", "http"), "TIDINGS_PORT must be a whole number, not 'http'"),
        (("--port", "70000"), "TIDINGS_PORT must be between 0 and 65535"),
    ],
)
def test_nonsense_settings(data_dir: Path, arguments: tuple[str, ...], complaint: str) -> None:
    """By the name of the variable, which is the flag's too."""
    assert complaint in one_line(data_dir, *arguments)


@pytest.mark.parametrize(
    "make_bad",
    [lambda path: path.write_text("a file"), lambda path: path.symlink_to("/proc/version")],
)
def test_a_data_dir_that_is_no_folder(data_dir: Path, make_bad: Callable[[Path], object]) -> None:
    """A file, or a link to one."""
    make_bad(data_dir)

    assert "is not a folder" in one_line(data_dir, "--port", "0")
