"""Boxes and the keys that open them."""

import copy
import pickle

import pytest

from tidings.kernel.keys.ciphers import (
    OVERHEAD,
    Key,
    UnreadableError,
    associate,
    key_version_of,
    seal,
    unseal,
)
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError


@pytest.mark.parametrize(
    "moved", [("tnt_b", "rcp_1", "email"), ("tnt_a", "rcp_2", "email"), ("tnt_a", "rcp_1", "sms")]
)
def test_a_box_opens_only_for_its_owner_and_purpose(moved: tuple[str, str, str]) -> None:
    """Swapping the tenant, the subject or the purpose fails."""
    key = Key.new(1)
    box = seal(key, b"content", associate("tnt_a", "rcp_1", "email"))

    assert unseal(key, box, associate("tnt_a", "rcp_1", "email")) == b"content"
    with pytest.raises(UnreadableError):
        unseal(key, box, associate(*moved))


def test_parts_can_not_run_into_each_other() -> None:
    """The same letters cut in other places give other data."""
    assert associate("ab", "c", "d") != associate("a", "bc", "d") != associate("a", "b", "cd")


def test_the_version_is_authenticated() -> None:
    """A box can't be passed off as another version's, even when the key bytes are the same."""
    one = Key.new(1)
    two = Key(2, one.reveal())
    box = seal(one, b"content", b"")

    assert key_version_of(box) == 1
    with pytest.raises(UnreadableError):
        unseal(two, box, b"")
    with pytest.raises(UnreadableError):
        unseal(two, box[:1] + (2).to_bytes(4, "big") + box[5:], b"")


@pytest.mark.parametrize("box", [b"", b"\x01", b"\x01" * (OVERHEAD - 1), b"\x02" + b"\x00" * OVERHEAD])
def test_what_is_no_box_is_refused(box: bytes) -> None:
    """Short and foreign bytes raise the one error."""
    with pytest.raises(UnreadableError):
        unseal(Key.new(1), box, b"")


def test_a_data_key_seals_with_the_newest_and_opens_all_it_has() -> None:
    """During a rotation both versions open, and only the newest seals."""
    old, new = Key.new(1), Key.new(2)
    before = DataKey("tnt_a", "rcp_1", {1: old}, 1)
    during = DataKey("tnt_a", "rcp_1", {1: old, 2: new}, 2)
    after = DataKey("tnt_a", "rcp_1", {2: new}, 2)
    box = before.seal(b"content", "body")

    assert during.unseal(box, "body") == b"content"
    assert key_version_of(during.seal(b"content", "body")) == 2
    with pytest.raises(DestroyedKeyError):
        after.unseal(box, "body")
    with pytest.raises(UnreadableError, match="load it again"):
        before.unseal(during.seal(b"content", "body"), "body")


def test_a_destroyed_key_does_nothing() -> None:
    """It neither opens nor seals, and says so."""
    alive = DataKey("tnt_a", "rcp_1", {1: Key.new(1)}, 1)
    gone = DataKey("tnt_a", "rcp_1", {}, 1)

    assert gone.destroyed
    assert not alive.destroyed
    with pytest.raises(DestroyedKeyError):
        gone.unseal(alive.seal(b"content", "body"), "body")
    with pytest.raises(DestroyedKeyError):
        gone.seal(b"content", "body")


def test_keys_do_not_print_or_travel() -> None:
    """No repr shows a key, and none can be pickled or copied into something that does."""
    material = bytes(range(32))
    key = Key(1, material)
    data_key = DataKey("tnt_a", "rcp_1", {1: key}, 1)

    for thing in (key, data_key):
        assert str(material) not in repr(thing)
        assert material.hex() not in f"{thing}"
        with pytest.raises(TypeError):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            copy.deepcopy(thing)


def test_a_key_of_another_size_is_refused() -> None:
    """Only 256 bits, and the message does not show them."""
    with pytest.raises(ValueError, match="32 bytes") as caught:
        Key(1, b"tooshort")

    assert "tooshort" not in str(caught.value)
