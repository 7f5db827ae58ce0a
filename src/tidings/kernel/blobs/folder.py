"""Files of a local blob store, written so that they outlive a power cut."""

import asyncio
import contextlib
import itertools
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, TypeAlias

from tidings.kernel.blobs.keys import BlobKey

#: Folders that are remembered as written to the disk.
_MOST_FOLDERS: Final = 10_000
#: Bytes that go to the system's memory without a thread of their own.
_SMALL: Final = 1024 * 1024
_MODE: Final = 0o600
#: The end of a file's name while it is written, by us or by obstore.
_UNFINISHED: Final = re.compile(r"#\d+\Z")
#: The disk, and the folder's number there.
_FolderId: TypeAlias = tuple[int, int]
#: For the names of files that are being written.
_numbers: Final = itertools.count(1)


class BlobFolder:
    """Writes files below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        #: Folders whose own names are on the disk.
        self._synced: set[Path] = set()

    async def write(self, key: BlobKey, content: bytes) -> None:
        """Write a file whole, or not at all; one that is there is replaced. It is on the disk when this returns.

        What waits for the disk does so in a thread. The rest is a copy in memory: a thread would take the interpreter from the event
        loop, and give it back, for each of its calls.
        """
        place = self._root / key
        # A name that listings pass over, as those of obstore's own unfinished files: "#" and digits at the end.
        unfinished = place.with_name(f"{place.name}#{os.getpid()}{next(_numbers):06d}")
        in_thread = asyncio.get_running_loop().run_in_executor
        if len(content) <= _SMALL:
            descriptor = _filled(unfinished, content)
            finish = in_thread(None, self._finish, descriptor, unfinished, place)
        else:
            finish = in_thread(None, self._write, unfinished, place, content)
        # A caller that is cancelled leaves a whole file behind, and no open one; it is no task, which a loop that ends cancels
        # before a thread has begun with it.
        finish.add_done_callback(_seen)
        await asyncio.shield(finish)

    async def sync(self, key: BlobKey) -> None:
        """Have a file that was written in another way on the disk, with its name."""
        await asyncio.to_thread(self._sync, self._root / key)

    async def remove(self, key: BlobKey) -> None:
        """Remove a file; `FileNotFoundError` where there is none."""
        await asyncio.to_thread((self._root / key).unlink)

    async def names(self, folder: BlobKey) -> AsyncIterator[str]:
        """The keys of the files below a folder, without those that are being written; also through links, as to another disk."""
        waiting: list[tuple[str, frozenset[_FolderId]]] = [(str(folder), frozenset())]
        while waiting:
            name, above = waiting.pop()
            found = await asyncio.to_thread(_listed, self._root / name)
            # A link that leads back to a folder above it would never end.
            if found is None or found[0] in above:
                continue
            own, folders, files = found
            waiting += [(f"{name}/{one}", above | {own}) for one in folders]
            for one in files:
                yield f"{name}/{one}"

    def _write(self, unfinished: Path, place: Path, content: bytes) -> None:
        self._finish(_filled(unfinished, content), unfinished, place)

    def _finish(self, descriptor: int, unfinished: Path, place: Path) -> None:
        """The descriptor is closed in any case: a caller that was cancelled does not wait for it."""
        try:
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            unfinished.replace(place)
        except BaseException:
            _remove(unfinished)
            raise
        self._sync_parents(place)

    def _sync(self, place: Path) -> None:
        _fsync(place)
        self._sync_parents(place)

    def _sync_parents(self, place: Path) -> None:
        """Write the folder that names the file to the disk, and the folders above as far as they are new."""
        new: set[Path] = set()
        for parent in place.parents:
            _fsync(parent)
            if parent == self._root or parent in self._synced:
                break
            new.add(parent)
        if len(self._synced) + len(new) > _MOST_FOLDERS:
            self._synced.clear()
        # Only now: another thread that finds one of them here does not wait for the folders above it.
        self._synced |= new


def _listed(folder: Path) -> tuple[_FolderId, list[str], list[str]] | None:
    """Which folder it is, and the names of the folders and of the whole files in it; None where it is not there."""
    folders, files = [], []
    try:
        stat = folder.stat()
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with entries:
        for entry in entries:
            if entry.is_dir():
                folders.append(entry.name)
            elif entry.is_file() and not _UNFINISHED.search(entry.name):
                files.append(entry.name)
    return (stat.st_dev, stat.st_ino), folders, files


def _filled(path: Path, content: bytes) -> int:
    """The descriptor of a new file with that content, which is in the system's memory only."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        descriptor = os.open(path, flags, _MODE)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, flags, _MODE)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.close(descriptor)
        _remove(path)
        raise
    return descriptor


def _seen(finish: "asyncio.Future[None]") -> None:
    """What became of it is the caller's to hear; one that has gone does not."""
    if not finish.cancelled():
        finish.exception()


def _remove(unfinished: Path) -> None:
    with contextlib.suppress(OSError):
        unfinished.unlink()


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
