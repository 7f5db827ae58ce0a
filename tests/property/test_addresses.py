"""Addresses, whatever is written."""

import hashlib
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidings.contracts.addresses import CHANNELS, normalise, redact
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.pepper import Pepper

channels = st.sampled_from(CHANNELS)
labels = st.from_regex(r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,20}[a-zA-Z0-9])?", fullmatch=True)
mails = st.builds(
    lambda local, domain, top: f"{local}@{domain}.{top}",
    st.from_regex(r"[a-zA-Z0-9À-ɏΑ-Ωа-яА-Я!#$%&'*+/=?^_`{|}~-]{1,20}", fullmatch=True),
    labels,
    st.from_regex(r"[a-zA-Z]{2,10}", fullmatch=True),
)
numbers = st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True)
anything = st.one_of(
    st.text(st.characters(), max_size=300), mails, numbers, st.from_regex(r"https?://\S{1,50}")
)


def refused(channel: str, written: str) -> BadValueError | None:
    try:
        normalise(channel, written, field="f")
    except BadValueError as refusal:
        return refusal
    return None


@given(channel=channels, written=anything)
@example(channel="email", written="İ@example.org")
@example(channel="email", written="ΑΣ@example.org")
@example(channel="email", written=r'"a\"\b ."@example.org')
@example(channel="sms", written="+310000000")
@settings(max_examples=400, deadline=None)
def test_normalising_twice_changes_nothing(channel: str, written: str) -> None:
    """What was accepted once is accepted again and stays as it is."""
    try:
        once = normalise(channel, written)
    except BadValueError:
        return

    assert normalise(channel, once) == once
    assert once == once.strip()


def our_words() -> str:
    """What refusals say to anybody: their own words, and none of a writer's."""
    wrong = ("", " ", "~", "~@", "@~.~", "~@[~]", "\x00", "~" * 3000)
    return " ".join(repr(refused(channel, written)) for channel in CHANNELS for written in wrong)


@given(channel=channels, written=st.one_of(anything, st.text(min_size=6)))
@example(channel="email", written="address")
@settings(max_examples=400, deadline=None)
def test_a_refusal_never_quotes(channel: str, written: str) -> None:
    """Neither the message nor the chain behind it holds what was written, beyond its own words."""
    refusal = refused(channel, written)
    if refusal is None:
        return

    words = [word for word in written.split() if len(word) >= 6 and word not in our_words()]
    assert refusal.field == "f"
    assert refusal.__cause__ is None
    assert refusal.__context__ is None
    assert not any(word in str(refusal) or word in repr(refusal) for word in words)


@given(written=mails)
@settings(deadline=None)
def test_case_and_space_do_not_make_another_address(written: str) -> None:
    """A person who writes their address in capitals has unsubscribed all the same."""
    if not written.isascii():
        return
    pepper = Pepper(b"p" * 32)
    try:
        plain = normalise("email", written)
    except BadValueError:
        return

    assert pepper.hash(normalise("email", f" {written.upper()}\t")) == pepper.hash(plain)


@given(address=st.text(st.characters()), pepper=st.binary(min_size=32, max_size=32))
@example(address="sha2", pepper=bytes(32))
@example(address="sha256:", pepper=bytes(32))
def test_a_hash_never_holds_the_address(address: str, pepper: bytes) -> None:
    """It is 64 hex digits whatever went in, and an address too long for chance is not among them."""
    hashed = Pepper(pepper).hash(address)

    scheme, _, digest = hashed.partition(":")
    assert scheme == "sha256"
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert len(address) < 8 or address not in digest


@given(
    address=st.text(st.characters()),
    peppers=st.lists(st.binary(min_size=32, max_size=32), min_size=2, max_size=2, unique=True),
)
def test_nobody_without_the_pepper_can_make_the_hash(address: str, peppers: list[bytes]) -> None:
    """Another installation's hash of the same address is another, and so is the bare digest."""
    ours, theirs = (Pepper(pepper).hash(address) for pepper in peppers)
    bare = hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()

    assert ours != theirs
    assert not ours.endswith(bare)


@given(address=st.one_of(mails, numbers))
@settings(deadline=None)
def test_a_hint_reveals_too_little_to_write_to(address: str) -> None:
    """Of a mail address at most two initials and the top domain, of a number two digits."""
    hint = redact(address)

    assert address not in hint
    if "@" in address:
        local, _, domain = address.rpartition("@")
        assert len(local) < 3 or local not in hint.partition("@")[0]
        assert domain not in hint
    else:
        assert sum(character.isdigit() for character in hint) <= 2


@pytest.mark.parametrize("channel", CHANNELS)
@given(written=st.binary(max_size=100))
@settings(max_examples=50, deadline=None)
def test_no_bytes_make_it_stumble(channel: str, written: bytes) -> None:
    """Every input is an address or a refusal, nothing else."""
    refused(channel, written.decode("utf-8", "surrogateescape"))
