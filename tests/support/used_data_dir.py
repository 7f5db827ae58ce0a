"""Data dirs that a `tidings up` has used before: made once a run, then copied, because making one takes seconds."""

import contextlib
import fcntl
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.running import RunningTidings


@contextlib.contextmanager
def new_data_dir() -> Iterator[Path]:
    """Where a data dir may be made, at a place that every user can reach; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tidings-e2e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder) / "data"


@contextlib.contextmanager
def used_data_dir() -> Iterator[Path]:
    """One with a database, a demo tenant and the sandbox's accounts, as its first start has left it."""
    with new_data_dir() as place:
        copy_used(place)
        yield place


@contextlib.contextmanager
def running_tidings() -> Iterator[RunningTidings]:
    """A Tidings over one."""
    with used_data_dir() as place, RunningTidings(place) as running:
        yield running


def copy_used(place: Path) -> None:
    """Make one at `place`."""
    if not copied(_original(), place):
        with RunningTidings(place):
            pass


def copied(original: Path, place: Path) -> bool:
    """Copy a data dir; False where its cluster is elsewhere, where Postgres can reach it: a copy would share it."""
    if (original / "postgres").is_symlink():
        return False
    subprocess.run(["cp", "-a", str(original), str(place)], check=True)
    return True


def _original() -> Path:
    return made_once("used-data-dir", _make_used)


def _make_used(place: Path) -> None:
    with RunningTidings(place):
        pass
    _forget_ports(place)


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A data dir that is copied; the first who asks makes it, and the others wait for it."""
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o711, exist_ok=True)
    made = folder / "data"
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            draft = folder / "draft"
            make(draft)
            draft.rename(made)
    return made


def _forget_ports(data_dir: Path) -> None:
    """Two that run at once would want the same ones."""
    (data_dir / "postgres.port").unlink()
    demo = data_dir / "demo.json"
    demo.write_text(
        json.dumps(
            json.loads(demo.read_text())
            | {"sandbox_url": None, "smtp_port": None, "smpp_port": None, "apns_port": None}
        )
    )
