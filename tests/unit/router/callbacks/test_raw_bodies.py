"""Bodies of one set share sealed objects."""

from pathlib import Path

import pytest

from tidings.kernel.blobs.store import open_blobs
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import INBOUND_WEBHOOK
from tidings.kernel.keys.ciphers import Key, UnreadableError
from tidings.kernel.keys.data_key import DataKey
from tidings.router.callbacks import raw_bodies

KEY = DataKey("", "_platform/callbacks", {1: Key.new(1)}, 1)
NOW = SystemClock().now()


async def test_each_is_found_where_its_row_says(tmp_path: Path) -> None:
    blobs = open_blobs(f"file://{tmp_path}")
    bodies = [(INBOUND_WEBHOOK.new(NOW), bytes([n]) * 1_000_000) for n in range(10)]

    packed, refs = raw_bodies.pack(KEY, "http_acme", [*bodies, (INBOUND_WEBHOOK.new(NOW), b"")])
    await raw_bodies.put(blobs, packed)

    assert 1 < len(packed) < 10
    assert all(len(one.content) < 5_000_000 for one in packed)
    for (_, body), ref in zip(bodies, refs, strict=False):
        assert await raw_bodies.read(blobs, KEY, ref) == body
    assert await raw_bodies.read(blobs, KEY, refs[-1]) == b""


async def test_an_object_that_was_moved_does_not_open(tmp_path: Path) -> None:
    blobs = open_blobs(f"file://{tmp_path}")
    [one], [ref] = raw_bodies.pack(KEY, "http", [(INBOUND_WEBHOOK.new(NOW), b"mine")])
    [two], [other_ref] = raw_bodies.pack(KEY, "http", [(INBOUND_WEBHOOK.new(NOW), b"other")])
    await blobs.put(one.key, two.content, owner_id=one.owner_id)

    with pytest.raises(UnreadableError):
        await raw_bodies.read(blobs, KEY, ref)
    assert ref != other_ref


@pytest.mark.parametrize("ref", ["", "a/b", "a/b#", "a/b#x", "a/b#-1", "../b#0", "a/b#１"])
async def test_a_reference_that_is_none(tmp_path: Path, ref: str) -> None:
    with pytest.raises(BadValueError):
        await raw_bodies.read(open_blobs(f"file://{tmp_path}"), KEY, ref)
