"""What every blob store promises, asked of each."""

import asyncio
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from obstore.store import LocalStore, MemoryStore

from tests.support.clock import ManualClock
from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.blobs.folder import BlobFolder
from tidings.kernel.blobs.keys import BlobKey
from tidings.kernel.blobs.store import (
    BlobDamagedError,
    BlobError,
    BlobNotFoundError,
    BlobStore,
    BlobTooLargeError,
    ObjectBlobs,
    open_blobs,
)
from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.ids import TENANT
from tidings.notify.blob_keys import attachment_key, rendered_key

NOW = ManualClock().now()
TENANT_ID = TENANT.new(NOW)
NOTIFICATION_ID = NOTIFICATION.new(NOW)
KEY = rendered_key(TENANT_ID, NOTIFICATION_ID, 1, at=NOW)
LIMIT = 3_000_000

STORES: dict[str, Callable[[Path], Any]] = {"folder": LocalStore, "memory": lambda _: MemoryStore()}


@pytest.fixture(params=list(STORES))
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def raw(kind: str, tmp_path: Path) -> Any:
    """The store beneath, for playing tricks on it."""
    return STORES[kind](tmp_path)


@pytest.fixture
def blobs(raw: Any, kind: str, tmp_path: Path) -> BlobStore:
    return ObjectBlobs(lambda: raw, max_bytes=LIMIT, folder=tmp_path if kind == "folder" else None)


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def drained(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in stream])


@pytest.mark.parametrize("content", [b"", b"x", b"<p>hello</p>", bytes(range(256)) * 4000], ids=len)
async def test_what_was_put_comes_back(blobs: BlobStore, content: bytes) -> None:
    """Whole or in pieces, with the owner and the checksum."""
    ref = await blobs.put(KEY, content, owner_id=NOTIFICATION_ID)
    blob = await blobs.get(KEY, checksum=ref.checksum)

    assert blob.content == content
    assert blob.owner_id == NOTIFICATION_ID
    assert blob.ref == ref
    assert ref.size == len(content)
    assert await drained(blobs.get_stream(KEY, checksum=ref.checksum)) == content


async def test_streams_and_whole_puts_are_the_same(blobs: BlobStore) -> None:
    """How it was written can't be told afterwards."""
    whole = await blobs.put(KEY, b"abcdef", owner_id=NOTIFICATION_ID)
    streamed = await blobs.put_stream(KEY, pieces(b"ab", b"", b"cdef"), owner_id=NOTIFICATION_ID)

    assert streamed == whole
    assert (await blobs.get(KEY)).content == b"abcdef"


async def test_a_large_stream_passes(blobs: BlobStore) -> None:
    """More than one chunk of the store's own."""
    chunk = hashlib.sha256(b"seed").digest() * 4000
    await blobs.put_stream(KEY, pieces(*[chunk] * 20), owner_id=NOTIFICATION_ID)

    assert await drained(blobs.get_stream(KEY)) == chunk * 20


async def test_the_limit_holds_when_writing(blobs: BlobStore) -> None:
    """Too much is refused, whole or streamed, and nothing is left behind."""
    with pytest.raises(BlobTooLargeError):
        await blobs.put(KEY, b"x" * (LIMIT + 1), owner_id=NOTIFICATION_ID)
    with pytest.raises(BlobTooLargeError):
        await blobs.put_stream(KEY, pieces(*[b"x" * 1_000_000] * 4), owner_id=NOTIFICATION_ID)

    with pytest.raises(BlobNotFoundError):
        await blobs.get(KEY)
    assert [key async for key in blobs.list(TENANT_ID)] == []


async def test_the_limit_holds_when_reading(blobs: BlobStore, raw: Any) -> None:
    """An object that somebody else made huge is not read into memory."""
    await raw.put_async(KEY, b"x" * (LIMIT + 10_000))

    with pytest.raises(BlobTooLargeError):
        await blobs.get(KEY)
    with pytest.raises(BlobTooLargeError):
        await drained(blobs.get_stream(KEY))


async def test_a_stream_that_fails_stores_nothing(blobs: BlobStore) -> None:
    """The sender's error comes through as it is; the object does not appear."""

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 100
        raise ConnectionResetError("gone")

    with pytest.raises((ConnectionResetError, BlobError)):
        await blobs.put_stream(KEY, broken(), owner_id=NOTIFICATION_ID)
    with pytest.raises(BlobNotFoundError):
        await blobs.get(KEY)


async def test_tampering_is_noticed_everywhere(blobs: BlobStore, raw: Any) -> None:
    """No byte can change, and the object can't be cut or grow."""
    await blobs.put(KEY, b"pay 10 to anna", owner_id=NOTIFICATION_ID)
    stored = bytes(await (await raw.get_async(KEY)).bytes_async())
    altered = [stored[:i] + bytes([stored[i] ^ 1]) + stored[i + 1 :] for i in range(len(stored))]
    cut = [stored[:length] for length in (0, 3, 7, 20, len(stored) - 40, len(stored) - 1)]

    for wrong in (*altered, *cut, stored + b"x", b"", b"\xff" * 500):
        await raw.put_async(KEY, wrong)
        with pytest.raises(BlobDamagedError):
            await blobs.get(KEY)
        with pytest.raises(BlobDamagedError):
            await drained(blobs.get_stream(KEY))


async def test_a_moved_object_is_noticed(blobs: BlobStore, raw: Any) -> None:
    """One tenant's object at another tenant's key is refused."""
    other = rendered_key(TENANT.new(NOW), NOTIFICATION_ID, 1, at=NOW)
    await blobs.put(KEY, b"content", owner_id=NOTIFICATION_ID)
    await raw.put_async(other, await (await raw.get_async(KEY)).bytes_async())

    with pytest.raises(BlobDamagedError):
        await blobs.get(other)


async def test_a_forged_object_is_noticed_by_the_row(blobs: BlobStore) -> None:
    """Who can write a whole new object can't write the checksum in our row."""
    ref = await blobs.put(KEY, b"true", owner_id=NOTIFICATION_ID)
    await blobs.put(KEY, b"forged", owner_id=NOTIFICATION_ID)

    with pytest.raises(BlobDamagedError):
        await blobs.get(KEY, checksum=ref.checksum)
    with pytest.raises(BlobDamagedError):
        await drained(blobs.get_stream(KEY, checksum=ref.checksum))


async def test_deleting_twice_is_fine(blobs: BlobStore) -> None:
    """A sweeper that died half-way can begin again."""
    await blobs.put(KEY, b"x", owner_id=NOTIFICATION_ID)

    await blobs.delete(KEY)
    await blobs.delete(KEY)

    with pytest.raises(BlobNotFoundError):
        await blobs.get(KEY)


async def test_listing_stays_in_its_folder(blobs: BlobStore) -> None:
    """A tenant's keys, and not those of one whose id begins alike."""
    mine = [attachment_key(TENANT_ID, NOTIFICATION.new(NOW), "a.pdf") for _ in range(120)]
    for key in mine:
        await blobs.put(key, b"x", owner_id="ntf")
    await blobs.put(BlobKey(f"{TENANT_ID}X/attachments/x"), b"x", owner_id="ntf")

    assert sorted([key async for key in blobs.list(TENANT_ID)]) == sorted(mine)
    assert [key async for key in blobs.list("tnt_nobody")] == []


@pytest.mark.parametrize(
    "key",
    ["", "/etc/passwd", "../x", "a/../x", "a/./b", "a//b", "a/", "a\\b", "a\x00b", "a b", "ä", "a/.hidden", "a?b",
     "a#b", "a%2e%2e/b", "x" * 1000, "a/" + "y" * 250],
)  # fmt: skip
async def test_no_key_leads_elsewhere(blobs: BlobStore, key: str) -> None:
    """Every verb refuses a key that is not plain segments."""
    hostile = BlobKey(key)

    with pytest.raises(BadValueError):
        await blobs.put(hostile, b"x", owner_id="x")
    with pytest.raises(BadValueError):
        await blobs.put_stream(hostile, pieces(b"x"), owner_id="x")
    with pytest.raises(BadValueError):
        await blobs.get(hostile)
    with pytest.raises(BadValueError):
        await drained(blobs.get_stream(hostile))
    with pytest.raises(BadValueError):
        await blobs.delete(hostile)
    if key != "a/":
        with pytest.raises(BadValueError):
            [key async for key in blobs.list(hostile)]


async def test_errors_do_not_tell_file_names(blobs: BlobStore) -> None:
    """An attachment's name is a person's business; neither the message nor its cause has it."""
    key = attachment_key(TENANT_ID, NOTIFICATION_ID, "diagnosis-anna.pdf")

    with pytest.raises(BlobNotFoundError) as caught:
        await blobs.get(key)

    assert "anna" not in f"{caught.value!r} {caught.value.__context__!r} {caught.value.__cause__!r}"
    assert NOTIFICATION_ID in str(caught.value)


async def test_a_folder_is_private(tmp_path: Path) -> None:
    """A folder that we make is ours alone, and appears by itself."""
    folder = tmp_path / "deep" / "my blobs"
    blobs = open_blobs(folder.as_uri())
    await blobs.put(KEY, b"x", owner_id=NOTIFICATION_ID)

    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / KEY).is_file()


@pytest.mark.parametrize("url", ["", "ftp://user:hunter22@host/x", "/folder", "blobs", "redis://x"])
def test_other_urls_are_refused(url: str) -> None:
    """What is not supported is refused by naming what is, and a password in it is not quoted."""
    with pytest.raises(NotConfiguredError, match="s3://") as caught:
        open_blobs(url)

    assert "hunter22" not in repr(caught.value)


def test_a_place_that_can_not_be_made_is_refused(tmp_path: Path) -> None:
    """One clear line, at the boot."""
    (tmp_path / "file").write_text("")

    with pytest.raises(NotConfiguredError):
        open_blobs((tmp_path / "file" / "blobs").as_uri())


async def test_a_folder_has_the_object_on_disk_when_put_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file was synced, its folder, and every folder above that is new: a row is about to name them."""
    synced: list[Path] = []
    really = os.fsync

    def watched(descriptor: int) -> None:
        # A file has another name until it is whole.
        there = Path(f"/proc/self/fd/{descriptor}").readlink()
        synced.append(there.with_name(there.name.partition("#")[0]))
        really(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    blobs = open_blobs(tmp_path.as_uri())

    await blobs.put(KEY, b"content", owner_id=NOTIFICATION_ID)
    file = tmp_path / KEY
    all_of_it = [file, *(parent for parent in file.parents if parent.is_relative_to(tmp_path))]
    assert synced == all_of_it
    synced.clear()

    await blobs.put_stream(KEY, pieces(b"content"), owner_id=NOTIFICATION_ID)

    assert synced == [file, file.parent]
    synced.clear()

    await blobs.delete(KEY)
    await blobs.put(KEY, b"content", owner_id=NOTIFICATION_ID)

    assert synced == [file, file.parent], "empty folders stay"


async def test_a_disk_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A put that may be lost is no put."""

    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)

    with pytest.raises(BlobError, match="the blob store failed"):
        await open_blobs(tmp_path.as_uri()).put(KEY, b"content", owner_id=NOTIFICATION_ID)

    assert [found for found in tmp_path.rglob("*") if found.is_file()] == [], "nothing is left of it"


def test_a_caller_that_is_cancelled_leaves_no_file_unfinished(tmp_path: Path) -> None:
    """Whatever was begun is finished, also where no thread had begun with it."""

    async def cancel_one() -> None:
        loop, busy = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
        held = loop.run_in_executor(None, busy.wait)
        put = asyncio.create_task(
            open_blobs(tmp_path.as_uri()).put(KEY, b"content", owner_id=NOTIFICATION_ID)
        )
        await asyncio.sleep(0.05)
        put.cancel()
        with pytest.raises(asyncio.CancelledError):
            await put
        busy.set()
        await held

    asyncio.run(cancel_one())  # It ends when its threads have.

    assert [found.name for found in tmp_path.rglob("*") if found.is_file()] == [Path(KEY).name]


async def test_a_file_that_a_dead_process_left_unfinished_is_no_object(tmp_path: Path) -> None:
    """It has the name that `put` writes under: a listing passes over it."""
    blobs = open_blobs(tmp_path.as_uri())
    await blobs.put(KEY, b"content", owner_id=NOTIFICATION_ID)
    file = tmp_path / KEY
    file.with_name(f"{file.name}#4711000001").write_bytes(b"TDB1")

    assert [key async for key in blobs.list(KEY.partition("/")[0])] == [KEY]


def test_a_process_that_reads_no_file_does_not_load_the_object_store(tmp_path: Path) -> None:
    """Four megabytes for each process, which most never need: files are written, listed and removed without it."""
    other = rendered_key(TENANT.new(NOW), NOTIFICATION_ID, 1, at=NOW)
    code = f"""
import asyncio, sys
from tidings.kernel.blobs.store import open_blobs

async def main():
    blobs = open_blobs("file://{tmp_path}")
    await blobs.put({str(KEY)!r}, b"x", owner_id={str(NOTIFICATION_ID)!r})
    assert [key async for key in blobs.list({KEY.partition("/")[0]!r})] == [{str(KEY)!r}]
    await blobs.delete({str(other)!r})
    assert "obstore" not in sys.modules
    assert (await blobs.get({str(KEY)!r})).content == b"x"

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


async def test_a_folder_on_another_disk_is_listed_through_its_link_and_a_loop_ends(tmp_path: Path) -> None:
    names = BlobFolder(tmp_path / "blobs").names
    disk = tmp_path / "disk"
    (disk / "deep").mkdir(parents=True)
    (disk / "deep" / "file").write_bytes(b"x")
    inside = tmp_path / "blobs" / "t1"
    inside.mkdir(parents=True)
    (inside / "plain").write_bytes(b"x")
    (inside / "linked").symlink_to(disk)
    (inside / "alias").symlink_to(inside / "plain")
    (disk / "deep" / "up").symlink_to(inside)
    (inside / "nowhere").symlink_to(tmp_path / "missing")

    found = sorted([name async for name in names(BlobKey("t1"))])

    assert found == ["t1/alias", "t1/linked/deep/file", "t1/plain"]
