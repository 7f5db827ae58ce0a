"""One spelling per address."""

import pickle

import pytest

from tidings.contracts.addresses import CHANNELS, NormalisedAddress, normalise, redact
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.pepper import Pepper


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("Anna@Example.ORG", "anna@example.org"),
        ("  anna@example.org\n", "anna@example.org"),
        ("o'brien+tag@mail.example.org", "o'brien+tag@mail.example.org"),
        ("anna@bücher.example", "anna@xn--bcher-kva.example"),
        ("anna@BÜCHER.example", "anna@xn--bcher-kva.example"),
        ("anna@xn--bcher-kva.example", "anna@xn--bcher-kva.example"),
        ("anna@bu\u0308cher.example", "anna@xn--bcher-kva.example"),
        ("anna@example。org", "anna@example.org"),
        ("JOSE\u0301@example.org", "josé@example.org"),
        ("حسن@example.org", "حسن@example.org"),
        ("a@r3---sn.example.org", "a@r3---sn.example.org"),
        ('"Anna B"@Example.org', '"anna b"@example.org'),
        ('"anna"@example.org', "anna@example.org"),
        ('"a.b"@example.org', "a.b@example.org"),
        ('"a..b"@example.org', '"a..b"@example.org'),
        ('"a@b"@example.org', '"a@b"@example.org'),
        (r'"\a\ b"@example.org', '"a b"@example.org'),
        (r'"a\"b\\c"@example.org', r'"a\"b\\c"@example.org'),
        (r'"\""@example.org', r'"\""@example.org'),
    ],
)
def test_mail_addresses(written: str, spelled: str) -> None:
    """Case, composition, quotes that nothing needs and the domain's script do not make another address."""
    assert normalise("email", written) == spelled
    assert normalise("email", spelled) == spelled


def test_an_address_in_brackets_is_refused_by_what_it_is() -> None:
    """A host's address instead of a domain: valid, and nothing that a person has."""
    with pytest.raises(BadValueError, match="not a host's address in brackets"):
        normalise("email", "anna@[192.0.2.1]")


@pytest.mark.parametrize(
    "written",
    [
        "", "anna", "@example.org", "anna@", "anna@localhost", "anna@@example.org", "an na@example.org",
        "anna@exam ple.org", ".anna@example.org", "anna.@example.org", "an..na@example.org", "anna@-x.org",
        "anna@x-.org", "anna@example..org", "anna@[127.0.0.1]", "anna@[IPv6:2001:db8::1]", "anna@127.0.0.1", '""@example.org',
        '"anna@example.org', 'anna"@example.org', 'an"n"a@example.org', '"anna" b@example.org', '"é b"@example.org',
        '"anna\\"@example.org', '"a\rb"@example.org', '"a\x00b"@example.org', f'"{"a b" * 22}"@example.org',
        "anna@example.org, ben@example.org", "Anna <anna@example.org>", "anna@exa_mple.org", "a\x00b@example.org",
        "a\r\nBcc: x@example.org", "anna@example.org\r\nBcc:x", "a\u200bb@example.org", f"{'a' * 65}@example.org",
        f"{'é' * 33}@example.org", f"a@{'b' * 64}.org", f"a@{'.'.join(['b' * 60] * 5)}.org", "anna@xn--a.org",
        "anna@\ud800.org", "\ud800@example.org", "a" * 100_000, f"{'a' * 60}@{'b.' * 97}org",
    ],
)  # fmt: skip
def test_what_is_no_mail_address(written: str) -> None:
    """Each is refused with the field's name and without the value, in the message and behind it."""
    with pytest.raises(BadValueError) as caught:
        normalise("email", written, field="addresses[2].address")

    assert caught.value.field == "addresses[2].address"
    assert caught.value.__context__ is None
    for word in written.replace("@", " ").split():
        assert len(word) < 4 or word not in str(caught.value).replace("name@example.org", "")


@pytest.mark.parametrize(
    ("written", "region", "spelled"),
    [
        ("+93 70 123 4567", None, "+93701234567"),
        ("+1 (650) 253-0000", None, "+16502530000"),
        ("0701234567", "AF", "+93701234567"),
        ("۰۷۰۱۲۳۴۵۶۷", "AF", "+93701234567"),
        ("0049 30 123456", "DE", "+4930123456"),
        ("+39 06 12345678", None, "+390612345678"),
        ("+15005550006", None, "+15005550006"),
    ],
)
def test_telephone_numbers(written: str, region: str | None, spelled: str) -> None:
    """As people write them, and E.164 for us; the same for every channel that uses numbers."""
    assert {
        normalise(channel, written, default_region=region) for channel in ("sms", "whatsapp", "voice")
    } == {spelled}


@pytest.mark.parametrize(
    "written",
    ["", "0701234567", "+1", "+999123456789", "1-800-FLOWERS", "+1 650 253 0000 ext. 5", "tel:+16502530000",
     "+93701234567;ext=1", "+9370123456789012345", "++93701234567", "call me", "9" * 100_000, "\x00"],
)  # fmt: skip
def test_what_is_no_telephone_number(written: str) -> None:
    """Each is refused without being quoted."""
    with pytest.raises(BadValueError) as caught:
        normalise("sms", written)

    assert caught.value.field == "address"
    assert caught.value.__context__ is None
    assert len(written) < 4 or written not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("HTTPS://Example.ORG", "https://example.org/"),
        ("https://example.org:443/Hook?a=B", "https://example.org/Hook?a=B"),
        ("http://example.org:8080/x", "http://example.org:8080/x"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/"),
        ("http://10.0.0.1/", "http://10.0.0.1/"),
    ],
)
def test_webhook_addresses(written: str, spelled: str) -> None:
    """The parts without meaning are spelled one way; path and query are left alone."""
    assert normalise("webhook", written) == spelled


@pytest.mark.parametrize(
    "written",
    ["", "example.org/hook", "/hook", "ftp://example.org/", "https://", "https:///x", "javascript:alert(1)",
     "https://user:hunter22@example.org/", "https://example.org/#part", "https://exa mple.org/",
     "https://example.org/\nHost: x", "https://example.org:99999/", "https://example.org:x/", "https://[::1/",
     "https://example.org\\@evil.example/", "https://" + "a" * 3000, "https://a..b/", "https://[v1.x]/"],
)  # fmt: skip
def test_what_is_no_webhook_address(written: str) -> None:
    """Each is refused; above all one with a password in it, which is not quoted."""
    with pytest.raises(BadValueError) as caught:
        normalise("webhook", written)

    assert "hunter22" not in f"{caught.value!r} {caught.value.__context__!r}"


def test_opaque_addresses_are_trimmed_and_bounded() -> None:
    """A device token is nobody's to rewrite."""
    assert normalise("push", " AbC:dEf ") == "AbC:dEf"
    for channel in ("push", "telegram", "viber", "inapp"):
        for bad in ("", "   ", "x" * 4097, "a\x07b"):
            with pytest.raises(BadValueError):
                normalise(channel, bad)


def test_an_unknown_channel_is_named_as_the_wrong_field() -> None:
    """The message lists the channels there are."""
    with pytest.raises(BadValueError, match="telegram") as caught:
        normalise("fax", "+93701234567")

    assert caught.value.field == "channel"
    assert caught.value.__context__ is None
    assert len(CHANNELS) == 9


def test_the_hash_has_71_characters_and_depends_on_the_pepper() -> None:
    """The same address under two tenants can't be matched."""
    address = normalise("email", "anna@example.org")
    here, there = Pepper(b"a" * 32), Pepper(b"b" * 32)

    assert len(here.hash(address)) == 71
    assert here.hash(address).startswith("sha256:")
    assert here.hash(address) == Pepper(b"a" * 32).hash(address)
    assert here.hash(address) != there.hash(address)


def test_a_known_hash() -> None:
    """The form never changes: suppressions are found by it for years (RFC 4231, test case 2)."""
    address = NormalisedAddress("what do ya want for nothing?")
    assert (
        Pepper(b"Jefe").hash(address)
        == "sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


def test_a_pepper_does_not_print_or_travel() -> None:
    """Not by repr, not by pickle."""
    pepper = Pepper(b"grains of pepper, thirty-two of it")

    assert "grains" not in f"{pepper!r} {pepper}"
    with pytest.raises(TypeError):
        pickle.dumps(pepper)


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("anna@example.org", "a…@e….org"),
        ("al@example.org", "…@e….org"),
        ("anna@io.co", "a…@….co"),
        ("anna@shop.verylongtop", "a…@s….…"),
        ("+93701234567", "+…67"),
        ("https://example.org/secret", "https://…"),
        ("AbC:dEf", "…"),
        ("123456789", "…"),
        ("", "…"),
    ],
)
def test_hints(address: str, hint: str) -> None:
    """Enough for its owner, too little for anybody else."""
    assert redact(address) == hint
