"""Boxes, whatever is in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.keys.ciphers import OVERHEAD, Key, UnreadableError, associate, seal, unseal

KEY = Key.new(7)
parts = st.tuples(st.text(), st.text(), st.text())


@given(plaintext=st.binary(max_size=2000), owner=parts)
def test_what_goes_in_comes_out(plaintext: bytes, owner: tuple[str, str, str]) -> None:
    """Every content and every owner."""
    aad = associate(*owner)
    box = seal(KEY, plaintext, aad)

    assert unseal(KEY, box, aad) == plaintext
    assert len(box) == len(plaintext) + OVERHEAD


@given(one=parts, other=parts)
def test_owners_never_share_associated_data(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    """Different triples give different bytes."""
    assert (associate(*one) == associate(*other)) == (one == other)


@given(plaintext=st.binary(min_size=8, max_size=200), place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_any_changed_bit_is_noticed_and_nothing_is_told(plaintext: bytes, place: int, bit: int) -> None:
    """Every bit of a box counts, and the error holds nothing of the content or the key."""
    box = bytearray(seal(KEY, plaintext, b"aad"))
    box[place % len(box)] ^= 1 << bit

    with pytest.raises(UnreadableError) as caught:
        unseal(KEY, bytes(box), b"aad")

    told = f"{caught.value!r} {caught.value.__context__!r}"
    assert repr(plaintext)[2:-1] not in told
    assert KEY.reveal().hex() not in told


@given(box=st.binary(max_size=200))
def test_no_bytes_make_it_stumble(box: bytes) -> None:
    """Whatever comes from a column is refused by the one error."""
    with pytest.raises(UnreadableError):
        unseal(KEY, box, b"aad")
