"""One file of a journal: entries are appended, each in a box under the file's own key, which the master key wraps.

    magic (8) │ length of the wrapped key (2) │ wrapped key │ { length of the box (4) │ box } …

What `write` has taken survives the death of the process, though not a power cut: nothing waits for the disk. An entry that
was torn by the end of its writer is not there. The writer holds a lock for as long as it lives and writes; the
operating system lets go of it when the process is gone, however it went.
"""

import asyncio
import fcntl
import os
import struct
from pathlib import Path
from typing import Final

from tidings.kernel.keys.ciphers import Key, UnreadableError, seal, unseal
from tidings.kernel.keys.kms import Kms

#: What the keys of journals are wrapped for: they open nothing else, and nothing else opens them.
PURPOSE: Final = b"journal"

#: Ends the name of a file that is not ready to be read.
BEGUN_SUFFIX: Final = ".begun"

_MAGIC: Final = b"TIDJRNL1"
_TOKEN: Final = struct.Struct(">H")
_ENTRY: Final = struct.Struct(">I")


class JournalFile:
    """A file that this process appends to."""

    __slots__ = ("_aad", "_descriptor", "_key", "_start", "boxes", "path", "size")

    def __init__(self, path: Path, key: Key, wrapped_key: bytes) -> None:
        """Make it; an `OSError` where that can't be done."""
        self.path = path
        self._key = key
        self._aad = path.name.encode()
        head = _MAGIC + _TOKEN.pack(len(wrapped_key)) + wrapped_key
        self._start = len(head)
        # Under its own name it is never seen without its lock and its head: whoever saw it so would take it for left.
        begun = path.with_suffix(BEGUN_SUFFIX)
        self._descriptor = os.open(begun, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        #: Bytes that are in it.
        self.size = 0
        #: Boxes that were sealed under its key, also those that are forgotten.
        self.boxes = 0
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write(head)
            if path.exists():
                raise FileExistsError("there is a journal of this name")
            begun.rename(path)
        except OSError:
            os.close(self._descriptor)
            begun.unlink(missing_ok=True)
            raise

    def append(self, entry: bytes) -> None:
        """Add an entry; an `OSError` where it can't be written, and then nothing of it is there."""
        self.boxes += 1
        box = seal(self._key, entry, self._aad)
        self._write(_ENTRY.pack(len(box)) + box)

    def empty(self) -> None:
        """Forget all entries."""
        if self.size > self._start:
            os.ftruncate(self._descriptor, self._start)
            self.size = self._start

    def close(self) -> None:
        """Write no more; the entries stay, and the lock goes."""
        os.close(self._descriptor)

    def _write(self, data: bytes) -> None:
        written = os.write(self._descriptor, data)
        if written != len(data):
            # The disk is full. What stands behind half an entry could not be read any more.
            os.ftruncate(self._descriptor, self.size)
            raise OSError("the disk took only a part of it")
        self.size += written


async def read_journal(path: Path, kms: Kms) -> list[bytes]:
    """The entries of a file, also of one that is being written; a `TidingsError` where its key is not ours.

    A file that ends within its head has none; nor has what stands behind an entry that is torn or altered.
    """
    content = await asyncio.to_thread(path.read_bytes)
    start = len(_MAGIC) + _TOKEN.size
    if len(content) < start or not content.startswith(_MAGIC):
        return []
    (length,) = _TOKEN.unpack_from(content, len(_MAGIC))
    if len(content) < start + length:
        return []
    material = await kms.unwrap(content[start : start + length], PURPOSE)
    key, aad = Key(1, material), path.name.encode()
    entries: list[bytes] = []
    place = start + length
    while len(content) >= place + _ENTRY.size:
        (length,) = _ENTRY.unpack_from(content, place)
        place += _ENTRY.size
        try:
            entries.append(unseal(key, content[place : place + length], aad))
        except UnreadableError:
            break
        place += length
    return entries


def is_left(path: Path) -> bool:
    """Whether no process writes it any more: its writer died, or went on to another file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
