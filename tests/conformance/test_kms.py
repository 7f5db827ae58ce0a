"""What every Kms promises, asked of each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.kms import MemoryKms
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.kernel.keys.kms import MAX_WRAPPED_BYTES, Kms, KmsError, UnknownMasterKeyError

MAKERS: dict[str, Callable[[Path], Kms]] = {
    "key file": lambda folder: LocalKeyFileKms(folder / "keys" / "master.json"),
    "memory": lambda _: MemoryKms(),
}


@pytest.fixture(params=list(MAKERS))
def make(request: pytest.FixtureRequest) -> Callable[[Path], Kms]:
    return MAKERS[request.param]


@pytest.fixture
def kms(make: Callable[[Path], Kms], tmp_path: Path) -> Kms:
    return make(tmp_path)


async def test_what_was_wrapped_comes_back(kms: Kms) -> None:
    """A token gives back exactly what went in."""
    token = await kms.wrap(b"a key", b"for tenant a")

    assert await kms.unwrap(token, b"for tenant a") == b"a key"
    assert b"a key" not in token


async def test_a_token_is_bound_to_its_aad(kms: Kms) -> None:
    """A token that was moved to another owner does not open."""
    token = await kms.wrap(b"a key", b"for tenant a")

    with pytest.raises(UnreadableError):
        await kms.unwrap(token, b"for tenant b")


async def test_every_altered_byte_is_noticed(kms: Kms) -> None:
    """No bit of a token can be changed unseen, the name of its key included."""
    token = await kms.wrap(b"a key", b"aad")

    for place in range(len(token)):
        altered = token[:place] + bytes([token[place] ^ 1]) + token[place + 1 :]
        with pytest.raises((UnreadableError, UnknownMasterKeyError)):
            await kms.unwrap(altered, b"aad")


@pytest.mark.parametrize("token", [b"", b"\x01", b"\x01\xff", b"\x05abc", b"\x00" * 80, b"\xff" * 300])
async def test_garbage_is_refused(kms: Kms, token: bytes) -> None:
    """Bytes that are no token raise, and nothing else happens."""
    with pytest.raises((UnreadableError, UnknownMasterKeyError)):
        await kms.unwrap(token, b"aad")


async def test_two_wraps_of_the_same_differ(kms: Kms) -> None:
    """Nobody can see by the tokens that two secrets are the same."""
    assert await kms.wrap(b"same", b"aad") != await kms.wrap(b"same", b"aad")


async def test_rotation_keeps_old_tokens_readable(kms: Kms) -> None:
    """After a rotation old tokens open and new ones name the new key."""
    before = await kms.wrap(b"old", b"aad")

    new_id = await kms.rotate()
    after = await kms.wrap(b"new", b"aad")

    assert await kms.current_key_id() == new_id == kms.key_id_of(after)
    assert kms.key_id_of(before) != new_id
    assert await kms.unwrap(before, b"aad") == b"old"


async def test_another_kms_can_not_unwrap(make: Callable[[Path], Kms], tmp_path: Path) -> None:
    """Two installations share nothing."""
    here, there = make(tmp_path / "here"), make(tmp_path / "there")
    token = await here.wrap(b"a key", b"aad")

    with pytest.raises(UnknownMasterKeyError):
        await there.unwrap(token, b"aad")


async def test_only_small_things_are_wrapped(kms: Kms) -> None:
    """What a cloud service would refuse is refused here as well."""
    with pytest.raises(KmsError):
        await kms.wrap(b"x" * (MAX_WRAPPED_BYTES + 1), b"aad")


async def test_signatures_verify_after_rotation(kms: Kms) -> None:
    """A receipt can be checked for as long as the keys are kept, and no other message fits it."""
    signature = await kms.sign(b"receipt")
    await kms.rotate()

    assert await kms.verify(b"receipt", signature)
    assert await kms.verify(b"other", await kms.sign(b"other"))
    assert not await kms.verify(b"receipt!", signature)
    assert not await kms.verify(b"receipt", signature[:-1] + bytes([signature[-1] ^ 1]))


@pytest.mark.parametrize("signature", [b"", b"\x01", b"\x01\x04name", b"\x00" * 70, b"\xff" * 100])
async def test_garbage_signatures_are_false(kms: Kms, signature: bytes) -> None:
    """A signature that is none is false, not an error."""
    assert not await kms.verify(b"message", signature)
