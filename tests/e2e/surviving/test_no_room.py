"""A full disk, a data dir that can't be written, and a start while the last one is stopping."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.surviving.books import assert_nothing_is_lost_or_doubled
from tests.e2e.surviving.writing import Writer
from tests.support.running import RunningTidings, run_tidings, wait_until
from tests.support.used_data_dir import copy_used

pytestmark = pytest.mark.xdist_group("surviving")

_MOUNT, _UMOUNT = "/usr/bin/mount", "/usr/bin/umount"
needs_mount = pytest.mark.skipif(
    os.geteuid() != 0 or not Path(_MOUNT).exists(), reason="only root can make a small disk to fill"
)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of its own, of 160 MB."""
    with tempfile.TemporaryDirectory(prefix="tidings-small-", ignore_cleanup_errors=True) as folder:
        made = subprocess.run(
            [_MOUNT, "-t", "tmpfs", "-o", "size=160m,mode=0755", "none", folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
        try:
            yield Path(folder)
        finally:
            wait_until(
                lambda: subprocess.run([_UMOUNT, folder], capture_output=True, check=False).returncode == 0,
                "the small disk to be free",
            )


def _fill(disk: Path) -> Path:
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(b"\0" * 4096)
        except OSError:
            return filler


@needs_mount
def test_a_full_disk_is_told_and_survived(small_disk: Path) -> None:
    """Writes are refused with a clear problem; with room again everything goes on, and nothing is lost."""
    copy_used(small_disk / "data")
    with RunningTidings(small_disk / "data") as tidings:
        with Writer(tidings) as writer:
            writer.await_more(10)
            filler = _fill(small_disk)
            wait_until(lambda: len(writer.refusals) > 20, "writes to be refused")
            with tidings.client() as client:
                assert client.get("/healthz").status_code == 200

            filler.unlink()
            writer.await_more(10)

        assert {status for status, _ in writer.refusals} == {503}
        assert "database_full" in {code for _, code in writer.refusals}
        assert_nothing_is_lost_or_doubled(tidings, keys=writer.keys, tenants=writer.tenants)
        assert tidings.stop() == 0
        tidings.await_nobody_left()


@needs_mount
def test_a_start_on_a_full_disk_says_so(small_disk: Path) -> None:
    """In one line, and it leaves no half-made database behind."""
    filler = _fill(small_disk)

    done = run_tidings("up", "--data-dir", str(small_disk / "data"), "--port", "0")

    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    filler.unlink()
    with RunningTidings(small_disk / "data") as tidings, tidings.client() as client:
        assert client.get("/readyz").status_code == 200


@needs_mount
def test_a_data_dir_that_is_read_only_says_so(small_disk: Path) -> None:
    """A new one and one that was used before."""
    copy_used(small_disk / "data")
    subprocess.run([_MOUNT, "-o", "remount,ro", str(small_disk)], check=True)

    for folder in ("data", "other"):
        done = run_tidings("up", "--data-dir", str(small_disk / folder), "--port", "0")

        assert done.returncode == 1
        assert "Read-only file system" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_start_while_the_last_one_is_stopping(data_dir: Path) -> None:
    """One line that says who has the folder; the one that is stopping is not disturbed."""
    with RunningTidings(data_dir) as first:
        first.process.send_signal(signal.SIGSTOP)  # As slow as can be.
        try:
            first.process.send_signal(signal.SIGINT)
            done = run_tidings("up", "--data-dir", str(data_dir), "--port", "0")
        finally:
            first.process.send_signal(signal.SIGCONT)

        assert done.returncode == 1
        assert f"pid {first.process.pid}" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert first.process.wait(60) == 0
        first.await_nobody_left()
    with RunningTidings(data_dir) as second, second.client() as client:
        assert client.get("/readyz").status_code == 200
