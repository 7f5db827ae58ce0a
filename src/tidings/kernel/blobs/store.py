"""What is too large for a row: a folder, S3, GCS or Azure behind one port.

Every object comes in an envelope that says whose it is and carries a checksum. An attacker who can write to the
store can also make a new checksum: rows that matter keep the one that `put` returned and hand it to `get`, and
personal content is sealed with its subject's key before it comes here.
"""

import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from tidings.kernel.blobs.envelope import (
    BlobDamagedError,
    BlobError,
    BlobNotFoundError,
    BlobRef,
    BlobTooLargeError,
    EnvelopeReader,
    EnvelopeWriter,
)
from tidings.kernel.blobs.folder import BlobFolder
from tidings.kernel.blobs.keys import BlobKey, checked_key, shown
from tidings.kernel.errors import NotConfiguredError

__all__ = [
    "Blob",
    "BlobDamagedError",
    "BlobError",
    "BlobNotFoundError",
    "BlobRef",
    "BlobStore",
    "BlobTooLargeError",
    "ObjectBlobs",
    "open_blobs",
]

MAX_BLOB_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_SCHEMES = ("file", "s3", "gs", "az", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """An object that was read whole, and found whole."""

    #: What was put there.
    content: bytes
    #: The id of the row it belongs to.
    owner_id: str
    #: The same reference that `put` gave.
    ref: BlobRef


class BlobStore(Protocol):
    """Keeps objects by key."""

    async def put(self, key: BlobKey, content: bytes, *, owner_id: str) -> BlobRef:
        """Store an object whole, or not at all; one that is there is replaced."""
        ...

    async def put_stream(self, key: BlobKey, chunks: AsyncIterable[bytes], *, owner_id: str) -> BlobRef:
        """Store an object that need not fit into memory."""
        ...

    async def get(self, key: BlobKey, *, checksum: str | None = None) -> Blob:
        """The object; a `BlobDamagedError` where it, or the checksum that the row kept, does not fit."""
        ...

    def get_stream(self, key: BlobKey, *, checksum: str | None = None) -> AsyncIterator[bytes]:
        """The content in pieces; damage is known at the end, so act on it only when all have come."""
        ...

    async def delete(self, key: BlobKey) -> None:
        """Remove it; no complaint if it is not there."""
        ...

    def list(self, prefix: str) -> AsyncIterator[BlobKey]:
        """The keys below a folder, in no particular order."""
        ...


def open_blobs(url: str, *, max_bytes: int = MAX_BLOB_BYTES) -> BlobStore:
    """The store behind `file:///folder`, `s3://…`, `gs://…` or `az://…`."""
    scheme = urlsplit(url).scheme
    if scheme not in _SCHEMES:
        raise NotConfiguredError(
            "the blobs URL names a store that is not supported; supported: file:///folder, s3://, gs://, az://"
        )
    if scheme == "file":
        folder = Path(unquote(urlsplit(url).path))
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise NotConfiguredError(f"the blobs URL can't be opened: {error.strerror}") from None
        return ObjectBlobs(lambda: _local_store(folder), max_bytes=max_bytes, folder=folder)
    store = _remote_store(url)
    return ObjectBlobs(lambda: store, max_bytes=max_bytes)


def _local_store(folder: Path) -> Any:
    # Four megabytes that a process which reads no file never needs.
    from obstore.store import LocalStore

    # Empty folders stay: a folder that went and came back would have to be synced anew.
    return LocalStore(folder, automatic_cleanup=False, mkdir=True)


def _remote_store(url: str) -> Any:
    from obstore.exceptions import BaseError
    from obstore.store import from_url

    store = None
    with contextlib.suppress(BaseError, ValueError):
        store = from_url(url)
    if store is None:
        # Not from the error: it may quote the URL.
        raise NotConfiguredError("the blobs URL can't be opened")
    return store


class ObjectBlobs:
    """Objects in any store that obstore speaks to, opened at its first use; of a local one, `folder` says where its files are."""

    def __init__(
        self, open_store: Callable[[], Any], *, max_bytes: int = MAX_BLOB_BYTES, folder: Path | None = None
    ) -> None:
        self._open_store = open_store
        self._max_bytes = max_bytes
        self._folder = BlobFolder(folder) if folder is not None else None

    @cached_property
    def _store(self) -> Any:
        return self._open_store()

    async def put(self, key: BlobKey, content: bytes, *, owner_id: str) -> BlobRef:
        """Store an object whole, or not at all."""
        envelope = EnvelopeWriter(checked_key(key), owner_id, self._max_bytes)
        whole = b"".join((envelope.head(), envelope.add(content), envelope.tail()))
        if self._folder is not None:
            # Not by obstore: its four threads pass the work on to each other, and leave the disk to a fifth.
            await self._ask(key, self._folder.write(key, whole))
        else:
            await self._ask(key, self._store.put_async(key, whole))
        return envelope.ref()

    async def put_stream(self, key: BlobKey, chunks: AsyncIterable[bytes], *, owner_id: str) -> BlobRef:
        """Store an object that need not fit into memory."""
        envelope = EnvelopeWriter(checked_key(key), owner_id, self._max_bytes)

        async def pieces() -> AsyncIterator[bytes]:
            yield envelope.head()
            async for chunk in chunks:
                yield envelope.add(chunk)
            yield envelope.tail()

        await self._ask(key, self._store.put_async(key, pieces()))
        await self._ask(key, self._settle(key))
        return envelope.ref()

    async def get(self, key: BlobKey, *, checksum: str | None = None) -> Blob:
        """The object, checked."""
        reader = EnvelopeReader(checked_key(key), self._max_bytes)
        found = await self._ask(key, self._store.get_async(key))
        reader.expect(found.meta["size"])
        whole = bytes(await self._ask(key, found.bytes_async()))
        content = b"".join((reader.add(whole), reader.finish(checksum)))
        return Blob(content=content, owner_id=reader.owner_id, ref=reader.ref())

    async def get_stream(self, key: BlobKey, *, checksum: str | None = None) -> AsyncIterator[bytes]:
        """The content in pieces."""
        reader = EnvelopeReader(checked_key(key), self._max_bytes)
        found = await self._ask(key, self._store.get_async(key))
        reader.expect(found.meta["size"])
        stream = found.stream(min_chunk_size=_CHUNK).__aiter__()
        while True:
            piece = await self._ask(key, _next(stream))
            if piece is None:
                break
            if ready := reader.add(bytes(piece)):
                yield ready
        if rest := reader.finish(checksum):
            yield rest

    async def delete(self, key: BlobKey) -> None:
        """Remove it; no complaint if it is not there."""
        place = checked_key(key)
        with contextlib.suppress(BlobNotFoundError):
            if self._folder is not None:
                await self._ask(place, self._folder.remove(place))
            else:
                await self._ask(place, self._store.delete_async(place))

    async def list(self, prefix: str) -> AsyncIterator[BlobKey]:
        """The keys below a folder."""
        folder = checked_key(prefix.removesuffix("/"))
        if self._folder is not None:
            names = self._folder.names(folder)
            while (name := await self._ask(folder, _next(names))) is not None:
                yield BlobKey(name)
            return
        stream = self._store.list(prefix=folder).__aiter__()
        while True:
            chunk = await self._ask(folder, _next(stream))
            if chunk is None:
                return
            for entry in chunk:
                yield BlobKey(entry["path"])

    async def _settle(self, key: BlobKey) -> None:
        """A local file is only in the system's memory after a put: a row that names it must outlive a power cut."""
        if self._folder is not None:
            await self._folder.sync(key)

    async def _ask(self, key: BlobKey, answer: Any) -> Any:
        """Await the store, and say what went wrong in our words: its own quote paths and URLs."""
        try:
            return await answer
        except FileNotFoundError:
            problem: BlobError = BlobNotFoundError(f"there is no object at {shown(key)}")
        except (OSError, ValueError) as error:
            problem = _failed(key, error)
        except Exception as error:
            # Only now: whoever raised one of its errors has loaded it.
            from obstore.exceptions import BaseError

            if not isinstance(error, BaseError):
                raise
            problem = _failed(key, error)
        raise problem


def _failed(key: BlobKey, error: Exception) -> BlobError:
    return BlobError(f"the blob store failed at {shown(key)} ({type(error).__name__})")


async def _next(stream: Any) -> Any:
    try:
        return await stream.__anext__()
    except StopAsyncIteration:
        return None
