"""Bodies of one set share sealed objects."""

from dataclasses import replace
from pathlib import Path

import pytest

from tidings.kernel.blobs.store import open_blobs
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.ciphers import Key, UnreadableError
from tidings.kernel.keys.data_key import DataKey
from tidings.router.callbacks import raw_bodies
from tidings.router.callbacks.errors import CallbackBodyGoneError
from tidings.router.callbacks.raw_bodies import BodyLocation
from tidings.router.ids import INBOUND_WEBHOOK

KEY = DataKey("", "_platform/callbacks", {1: Key.new(1)}, 1)
NOW = SystemClock().now()


async def test_each_is_found_where_its_row_says(tmp_path: Path) -> None:
    blobs = open_blobs(f"file://{tmp_path}")
    bodies = [(INBOUND_WEBHOOK.new(NOW), bytes([n]) * 1_000_000) for n in range(10)]

    packed, places = raw_bodies.pack(KEY, "http_acme", [*bodies, (INBOUND_WEBHOOK.new(NOW), b"")])
    await raw_bodies.put(blobs, packed)

    assert 1 < len(packed) < 10
    assert all(len(one.content) < 5_000_000 for one in packed)
    for (_, body), place in zip(bodies, places, strict=False):
        assert await raw_bodies.read(blobs, KEY, place) == body
    assert await raw_bodies.read(blobs, KEY, places[-1]) == b""


async def test_a_body_without_its_own_key_is_lost_and_its_neighbours_are_not(tmp_path: Path) -> None:
    """Also for somebody who opens the object with the platform's key, and tries the neighbour's."""
    blobs = open_blobs(f"file://{tmp_path}")
    given = [(INBOUND_WEBHOOK.new(NOW), word) for word in (b"unmistakably hers", b"his")]
    [packed], [hers, his] = raw_bodies.pack(KEY, "http", given)
    await raw_bodies.put(blobs, [packed])

    with pytest.raises(CallbackBodyGoneError):
        await raw_bodies.read(blobs, KEY, replace(hers, key=None))
    with pytest.raises(UnreadableError):
        await raw_bodies.read(blobs, KEY, replace(hers, key=his.key))
    assert b"hers" not in KEY.unseal((await blobs.get(packed.key)).content, f"raw:{packed.key}")
    assert await raw_bodies.read(blobs, KEY, his) == b"his"


async def test_a_body_whose_object_was_swept_is_gone(tmp_path: Path) -> None:
    _, [place] = raw_bodies.pack(KEY, "http", [(INBOUND_WEBHOOK.new(NOW), b"words")])

    with pytest.raises(CallbackBodyGoneError):
        await raw_bodies.read(open_blobs(f"file://{tmp_path}"), KEY, place)


async def test_an_object_that_was_moved_does_not_open(tmp_path: Path) -> None:
    blobs = open_blobs(f"file://{tmp_path}")
    [one], [place] = raw_bodies.pack(KEY, "http", [(INBOUND_WEBHOOK.new(NOW), b"mine")])
    [two], [other] = raw_bodies.pack(KEY, "http", [(INBOUND_WEBHOOK.new(NOW), b"other")])
    await blobs.put(one.key, two.content, owner_id=one.owner_id)

    with pytest.raises(UnreadableError):
        await raw_bodies.read(blobs, KEY, place)
    assert place.ref != other.ref


@pytest.mark.parametrize("ref", ["", "a/b", "a/b#", "a/b#x", "a/b#-1", "../b#0", "a/b#１"])
async def test_a_reference_that_is_none(tmp_path: Path, ref: str) -> None:
    with pytest.raises(BadValueError):
        await raw_bodies.read(open_blobs(f"file://{tmp_path}"), KEY, BodyLocation(ref=ref, key=bytes(32)))
