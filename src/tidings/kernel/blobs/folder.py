"""Files of a local blob store, written so that they outlive a power cut. Everything here blocks: call it in a thread."""

import contextlib
import itertools
import os
from pathlib import Path
from typing import Final

from tidings.kernel.blobs.keys import BlobKey

#: Folders that are remembered as written to the disk.
_MOST_FOLDERS: Final = 10_000
_MODE: Final = 0o600
#: For the names of files that are being written.
_numbers: Final = itertools.count(1)


def write_durably(folder: Path, key: BlobKey, content: bytes, synced: set[Path]) -> None:
    """Write a file whole, or not at all; one that is there is replaced.

    `synced`: the folders whose own names are on the disk already.
    """
    place = folder / key
    # A name that listings pass over, as those of obstore's own unfinished files: "#" and digits at the end.
    unfinished = place.with_name(f"{place.name}#{os.getpid()}{next(_numbers):06d}")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        unfinished.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folders(folder, place, synced)


def sync(folder: Path, key: BlobKey, synced: set[Path]) -> None:
    """Have a file that was written in another way on the disk, with its name."""
    place = folder / key
    _fsync(place)
    _sync_folders(folder, place, synced)


def _sync_folders(folder: Path, place: Path, synced: set[Path]) -> None:
    """Write the folder that names the file to the disk, and the folders above as far as they are new."""
    new: set[Path] = set()
    for parent in place.parents:
        _fsync(parent)
        if parent == folder or parent in synced:
            break
        new.add(parent)
    if len(synced) + len(new) > _MOST_FOLDERS:
        synced.clear()
    # Only now: another thread that finds one of them here does not wait for the folders above it.
    synced |= new


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
