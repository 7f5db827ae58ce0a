"""The folder in which a run keeps what is gone after it, databases above all: in memory, where there is room for it."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

import psutil

#: A file system in memory, where the system has one.
_MEMORY: Final = Path("/dev/shm")  # the folder that is made there is this run's own
#: Bytes that have to be free: a run needs about a fifth of it, and others need some, too.
_ROOM: Final = 6 * 1024**3
_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


class RunFolder:
    """The place for temporary files of this process and of all that it starts.

    What pytest makes for single tests (`tmp_path`) stays where it was: it can be looked at after the run.
    """

    def __init__(self) -> None:
        before = tempfile.gettempdir()
        place = _MEMORY if _has_room() else Path(before)
        _remove_orphans(place)
        self.path = place / f"tidings-run-{os.getpid()}"
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        # Postgres and others that are not root have to walk through it.
        self.path.chmod(0o1777)
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", before)
        os.environ["TMPDIR"] = tempfile.tempdir = str(self.path)

    def remove(self) -> None:
        """With everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def _has_room() -> bool:
    """Whether memory may be used as a disk, by what the machine has and by what we are allowed of it."""
    if not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return False
    allowed = [
        int(text) for file in _LIMITS if file.exists() and (text := file.read_text().strip()).isdigit()
    ]
    free = [shutil.disk_usage(_MEMORY).free, psutil.virtual_memory().available, *allowed]
    return min(free) >= _ROOM


def _remove_orphans(place: Path) -> None:
    """Of runs that were killed before they could do it."""
    for folder in place.glob("tidings-run-*"):
        number = re.fullmatch(r"tidings-run-(\d+)", folder.name)
        if number and not psutil.pid_exists(int(number[1])):
            shutil.rmtree(folder, ignore_errors=True)
