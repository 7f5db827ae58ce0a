"""Archives are made while they are sent: any tool opens them, and their size costs no memory."""

import io
import os
import tracemalloc
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from tidings.notify.subject_access.zip_stream import PackedFile, zipped

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


async def _pieces(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_it_opens_and_holds_what_was_packed() -> None:
    async def files() -> AsyncIterator[PackedFile]:
        yield PackedFile(name="empty.txt", pieces=_pieces())
        yield PackedFile(name="a/سلام.txt", pieces=_pieces(b"one ", b"two"))

    made = b"".join([piece async for piece in zipped(files(), now=NOW)])

    with zipfile.ZipFile(io.BytesIO(made)) as opened:
        assert opened.testzip() is None
        assert opened.namelist() == ["empty.txt", "a/سلام.txt"]
        assert opened.read("a/سلام.txt") == b"one two"
        assert opened.getinfo("empty.txt").date_time == (2026, 11, 15, 12, 0, 0)


async def test_one_that_is_cut_off_does_not_open() -> None:
    async def files() -> AsyncIterator[PackedFile]:
        yield PackedFile(name="a.txt", pieces=_pieces(os.urandom(200_000)))

    made = b"".join([piece async for piece in zipped(files(), now=NOW)])

    assert not zipfile.is_zipfile(io.BytesIO(made[: len(made) // 2]))


async def test_memory_does_not_grow_with_the_archive() -> None:
    noise = os.urandom(64 * 1024)

    async def much() -> AsyncIterator[bytes]:
        for _ in range(256):
            yield noise

    async def files() -> AsyncIterator[PackedFile]:
        yield PackedFile(name="much.bin", pieces=much())

    tracemalloc.start()
    try:
        written = 0
        async for piece in zipped(files(), now=NOW):
            written += len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert written > 8 * 1024 * 1024
    assert peak < 2 * 1024 * 1024
