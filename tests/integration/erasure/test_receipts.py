"""A receipt can be proven by whoever has the public key, and no change to it goes unnoticed."""

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.erasure.somebody import Somebody, erase
from tests.support.pipeline import PipelineWorld
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.notify.erasure.receipt import verify

pytestmark = pytest.mark.xdist_group("erasing")


async def _receipt(world: PipelineWorld) -> dict[str, Any]:
    async with world.sender() as sender:
        return await erase(sender, await Somebody().known_to(sender))


def _public(world: PipelineWorld) -> dict[str, bytes]:
    assert isinstance(world.system.kernel.kms, LocalKeyFileKms)
    return world.system.kernel.kms.public_keys()


async def test_it_is_proven_with_the_public_key_alone(world: PipelineWorld) -> None:
    receipt = await _receipt(world)
    # However it is laid out and ordered.
    text = json.dumps(dict(reversed(receipt.items())), indent=4).encode()
    statement = verify(text, _public(world))
    assert statement == receipt["statement"]
    until = (world.clock.now() + timedelta(days=35)).date()
    assert statement["backups_until"] == until.isoformat()
    raw_until = (world.clock.now() + timedelta(days=31)).date()
    assert statement["raw_callbacks_until"] == raw_until.isoformat(), (
        "the day after which no raw callback names them"
    )


async def test_it_is_proven_after_the_signing_key_was_rotated(world: PipelineWorld) -> None:
    before = await _receipt(world)
    await world.system.kernel.kms.rotate()
    after = await _receipt(world)
    assert before["key_id"] != after["key_id"]
    for receipt in (before, after):
        verify(json.dumps(receipt).encode(), _public(world))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("statement", "stopped"), 7),
        (("statement", "recipient_id"), "rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (("statement", "backups_until"), "2026-01-01"),
        (("statement", "more"), "words"),
        (("key_id",), "sk9-00000000"),
        (("signature",), "AAAA"),
        (("signature",), "not base64"),
        (("statement", "format"), "tidings-anchor-v1"),
    ],
)
async def test_any_change_is_noticed(world: PipelineWorld, path: tuple[str, ...], value: Any) -> None:
    receipt = await _receipt(world)
    place = receipt
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(BadValueError):
        verify(json.dumps(receipt).encode(), _public(world))


async def test_the_database_keeps_it_as_it_is(world: PipelineWorld) -> None:
    receipt = await _receipt(world)
    async with world.unguarded("notification.erasures") as owner:
        with pytest.raises(Exception, match="refused"):
            async with owner.transaction():
                await owner.execute(
                    "DELETE FROM notification.erasures WHERE id = $1", receipt["statement"]["id"]
                )


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"\xff", b'{"statement": 3}'])
async def test_what_is_no_receipt_is_told_so(world: PipelineWorld, text: bytes) -> None:
    with pytest.raises(BadValueError):
        verify(text, _public(world))
