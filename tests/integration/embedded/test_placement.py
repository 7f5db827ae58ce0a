"""The embedded Postgres runs where its user can reach it, and nobody's folder is opened up for it."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tidings.operations.embedded import DataDir, EmbeddedPostgres, EmbeddedPostgresError
from tidings.operations.embedded.bundled import bundled_install

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop to another user")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that only root can look into, as root's home is."""
    with tempfile.TemporaryDirectory(prefix="tidings-home-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o700)
        yield Path(folder)


async def test_programs_and_cluster_out_of_reach(home: Path) -> None:
    """Both are put where the user can reach them; a link says where the cluster is."""
    package = bundled_install().parent
    site = home / "site-packages"
    shutil.copytree(package / "pginstall", site / package.name / "pginstall", symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, site / libraries.name, symlinks=True)
    data_dir = DataDir(home / "data")
    data_dir.open()
    postgres = EmbeddedPostgres(data_dir, install=site / package.name / "pginstall")

    postgres.start()
    try:
        connection = await asyncpg.connect(postgres.url("tidings_runtime"))
        assert await connection.fetchval("SELECT current_user") == "tidings_runtime"
        await connection.close()
        assert data_dir.postgres.is_symlink()
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        programs = postgres.programs
    finally:
        postgres.stop()
        data_dir.close()
    assert not programs.is_relative_to(home)
    shutil.rmtree(data_dir.postgres.resolve())
    shutil.rmtree(programs.parents[1])


def test_a_cluster_that_was_there_and_is_gone_is_not_made_anew(home: Path) -> None:
    """An empty database in its place would hide the loss."""
    data_dir = DataDir(home / "data")
    data_dir.open()
    first = EmbeddedPostgres(data_dir)
    first.start()
    first.stop()
    shutil.rmtree(data_dir.postgres.resolve())

    with pytest.raises(EmbeddedPostgresError, match="is gone"):
        EmbeddedPostgres(data_dir).start()
    data_dir.close()


def test_why_it_does_not_start_is_said(home: Path) -> None:
    """In the server's own words, at once."""
    data_dir = DataDir(home / "data")
    data_dir.open()
    first = EmbeddedPostgres(data_dir)
    first.start()
    first.stop()

    with pytest.raises(EmbeddedPostgresError, match=r"Postgres did not start: .*shared_buffers"):
        EmbeddedPostgres(data_dir, options={"shared_buffers": "lots"}).start()

    data_dir.close()
    shutil.rmtree(data_dir.postgres.resolve())
