"""The journal of one process: what is appended stays until it is settled, and is found by whoever reads the folder after a kill.

Entries go to one file until it is full, then to the next. A file goes when all that is in it is settled; the one that is
being written is emptied instead. So a journal holds little more than what is under way. A disk that takes nothing keeps
no process from its work: what could not be appended is counted, and said once.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from tidings.kernel.errors import DegradedError, TidingsError
from tidings.kernel.journal.file import BEGUN_SUFFIX, PURPOSE, JournalFile, is_left, read_journal
from tidings.kernel.keys.ciphers import KEY_BYTES, Key
from tidings.kernel.keys.kms import Kms
from tidings.kernel.logs import get_logger

SUFFIX: Final = ".journal"
#: Bytes from which on the next file is begun.
FULL_BYTES: Final = 256 * 1024
#: Boxes sealed under a file's key from which on the next is begun, however many of them are forgotten.
FULL_BOXES: Final = 100_000
#: A file grows no further than so many times these, where the next can't be begun.
_MOST_TIMES_FULL: Final = 16
#: Files of one process that hold something unsettled, at most: a process that settles nothing must not fill the disk.
MOST_FILES: Final = 64
#: Seconds between two attempts to begin a file where the disk or the key refused.
_TRY_AGAIN: Final = 5.0

_log = get_logger("journal")


class FileVersion(NamedTuple):
    """A file as it was at some moment."""

    inode: int
    size: int
    #: Seconds since 1970.
    written_at: float


class Journal:
    """Appends entries under names; an entry is kept until its name is settled."""

    def __init__(
        self,
        folder: Path,
        kms: Kms,
        *,
        name: Callable[[], str],
        monotonic: Callable[[], float],
        on_missed: Callable[[int], None] = lambda _: None,
        full_bytes: int = FULL_BYTES,
        full_boxes: int = FULL_BOXES,
    ) -> None:
        """`name` is unique to this process; its files begin with it. `on_missed` is told of entries that were not written."""
        self.folder = folder
        self._kms = kms
        self._name = name
        self._monotonic = monotonic
        self._on_missed = on_missed
        self._full_bytes = full_bytes
        self._full_boxes = full_boxes
        self._number = 0
        self._file: JournalFile | None = None
        #: By file, the names of its entries that are not settled.
        self._open: dict[Path, set[str]] = {}
        self._places: dict[str, Path] = {}
        self._beginning = asyncio.Lock()
        self._tries_again_at = 0.0
        self._complained = False

    @property
    def is_writing(self) -> bool:
        """Whether there is a file to append to, and the last append went well."""
        return self._file is not None and not self._complained

    async def check(self) -> None:
        """For `/readyz`: a disk that takes nothing is told, and keeps nothing from going on."""
        if self._complained:
            raise DegradedError("the journal can't be written: see TIDINGS_JOURNAL_DIR and its disk")

    async def get_ready(self) -> None:
        """Have a file to append to; await it before work whose result will be appended. It costs nothing when there is one."""
        file = self._file
        if file is not None and (self._times_full(file) < 1 or len(self._open) >= MOST_FILES):
            return
        if self._monotonic() < self._tries_again_at:
            return
        async with self._beginning:
            if self._file is file:
                await self._begin()

    def append(self, name: str, entry: bytes) -> None:
        """Write an entry now; where that fails, work goes on without."""
        file = self._file
        if file is None or self._times_full(file) >= _MOST_TIMES_FULL:
            self._on_missed(1)
            return
        try:
            file.append(entry)
        except OSError as error:
            self._on_missed(1)
            self._complain(error)
            return
        self._complained = False
        self._open[file.path].add(name)
        self._places[name] = file.path

    def settle(self, names: Iterable[str]) -> None:
        """These are recorded elsewhere; a name without an entry is passed over."""
        touched = set()
        for name in names:
            path = self._places.pop(name, None)
            if path is not None:
                self._open[path].discard(name)
                touched.add(path)
        for path in touched:
            if not self._open[path]:
                self._forget(path)

    def drop(self, path: Path) -> None:
        """Remove a file that is read and settled; one that a process writes stays."""
        if is_left(path):
            for name in self._open.pop(path, ()):
                self._places.pop(name, None)
            path.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """All files in the folder, of this process and of others, living and dead; the oldest first."""
        return self._ending_in(SUFFIX)

    def begun(self) -> list[Path]:
        """Files that are not ready to be read yet; those of the dead never will be, and nothing is in them."""
        return self._ending_in(BEGUN_SUFFIX)

    @staticmethod
    def version(path: Path) -> FileVersion | None:
        """What changes when a file is written; None where there is no such file any more."""
        try:
            found = path.stat()
        except OSError:
            return None
        return FileVersion(found.st_ino, found.st_size, found.st_mtime)

    async def read(self, path: Path) -> list[bytes] | None:
        """The entries of a file; None where it can't be read."""
        try:
            return await read_journal(path, self._kms)
        except FileNotFoundError:
            return []
        except (OSError, TidingsError) as error:
            _log.warning("journal_unreadable", file=path.name, error=type(error).__name__)
            return None

    async def close(self) -> None:
        """End in order: what is settled leaves nothing behind."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
            if not self._open.pop(file.path):
                file.path.unlink(missing_ok=True)

    async def _begin(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # A new key for every file, so that no key seals more boxes than a file may have.
            material = os.urandom(KEY_BYTES)
            wrapped = await self._kms.wrap(material, PURPOSE)
            self._number += 1
            path = self.folder / f"{self._name()}.{self._number:08d}{SUFFIX}"
            fresh = JournalFile(path, Key(1, material), wrapped)
        except (OSError, TidingsError) as error:
            self._tries_again_at = self._monotonic() + _TRY_AGAIN
            self._complain(error)
            return
        full, self._file = self._file, fresh
        self._open[path] = set()
        self._complained = False
        if full is not None:
            full.close()
            if not self._open[full.path]:
                self._forget(full.path)

    def _times_full(self, file: JournalFile) -> float:
        return max(file.size / self._full_bytes, file.boxes / self._full_boxes)

    def _ending_in(self, suffix: str) -> list[Path]:
        try:
            return sorted(self.folder.glob(f"*{suffix}"))
        except OSError:
            return []

    def _forget(self, path: Path) -> None:
        """Nothing of it is unsettled."""
        with contextlib.suppress(OSError):
            if self._file is not None and path == self._file.path:
                self._file.empty()
            else:
                del self._open[path]
                path.unlink(missing_ok=True)

    def _complain(self, error: Exception) -> None:
        if not self._complained:
            self._complained = True
            # Without the error's words: they name paths.
            number = getattr(error, "errno", None)
            _log.error(
                "journal_not_written", folder=str(self.folder), error=type(error).__name__, errno=number
            )
