"""Our signatures, read by somebody else's verifier; the DNS is a dictionary."""

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import dkim as independent  # type: ignore[import-untyped]
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Address, Attachment, OutboundMessage
from tidings.kernel.errors import BadValueError
from tidings.kernel.secrets import Secret
from tidings.router.adapters.mail.dkim import DkimSigner
from tidings.router.adapters.mail.mime import build

AT = datetime(2026, 11, 15, 12, 0, 1, tzinfo=UTC)
RSA = rsa.generate_private_key(65537, 2048)
EDWARDS = ed25519.Ed25519PrivateKey.generate()


def pem(key: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> Secret:
    return Secret(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


RECORDS = {
    b"r1._domainkey.shop.example.": b"v=DKIM1; k=rsa; p="
    + base64.b64encode(RSA.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)),
    b"e1._domainkey.shop.example.": b"v=DKIM1; k=ed25519; p="
    + base64.b64encode(EDWARDS.public_key().public_bytes_raw()),
}
SIGNERS = {
    "rsa": DkimSigner(domain="shop.example", selector="r1", key=pem(RSA)),
    "ed25519": DkimSigner(domain="shop.example", selector="e1", key=pem(EDWARDS)),
}
MESSAGES: dict[str, OutboundMessage] = {
    "plain": replace(MESSAGE, html=None),
    "both": MESSAGE,
    "Dari": replace(
        MESSAGE, subject="سفارش شما تأیید شد " * 5, sender=Address(value="a@shop.example", name="دکان")
    ),
    "spaces": replace(
        MESSAGE,
        subject="a  b   c",
        attachments=(Attachment(filename="two  spaces.pdf", media_type="application/pdf", content=b"x"),),
    ),
    "unsubscribe": replace(
        MESSAGE,
        reply_to=Address(value="help@shop.example"),
        list_unsubscribe="https://shop.example/u/1",
        list_unsubscribe_mailto="u@shop.example",
    ),
    "empty": replace(MESSAGE, html=None, text=""),
    "utf8 address": replace(MESSAGE, to="لیلا@example.test"),
}


def look_up(name: bytes, timeout: int = 5) -> bytes | None:
    return RECORDS.get(name)


def verified(data: bytes) -> bool:
    return bool(independent.verify(data, dnsfunc=look_up))


@pytest.mark.parametrize("algorithm", SIGNERS)
@pytest.mark.parametrize("name", MESSAGES)
def test_an_independent_verifier_agrees(algorithm: str, name: str) -> None:
    """Every kind of mail, both kinds of keys."""
    mail = build(MESSAGES[name], at=AT)

    assert verified(mail.data((SIGNERS[algorithm].sign(mail, at=AT),)))


@pytest.mark.parametrize("algorithm", SIGNERS)
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"Subject: Your", b"Subject: Their"),
        lambda data: data.replace(b"To: ", b"To: x", 1),
        lambda data: data.replace(b"The", b"Tha", 1),
        lambda data: data.replace(b"From: ", b"From: evil@example.test\r\nFrom: ", 1),
        lambda data: data.replace(b"MIME-Version: 1.0", b"MIME-Version: 1.1"),
        lambda data: data + b"more\r\n",
    ],
)
def test_any_change_is_noticed(algorithm: str, change: Callable[[bytes], bytes]) -> None:
    """A changed header, a changed body, a second From."""
    mail = build(MESSAGE, at=AT)
    data = mail.data((SIGNERS[algorithm].sign(mail, at=AT),))

    assert change(data) != data
    assert not verified(change(data))


def test_two_signatures_stand_side_by_side() -> None:
    """Old verifiers read the RSA one, new ones either."""
    mail = build(MESSAGE, at=AT)
    data = mail.data(tuple(signer.sign(mail, at=AT) for signer in SIGNERS.values()))

    checks = [independent.DKIM(data).verify(idx=i, dnsfunc=look_up) for i in range(2)]

    assert checks == [True, True]


def test_the_unsubscribe_headers_are_signed() -> None:
    """RFC 8058 asks for it."""
    mail = build(MESSAGES["unsubscribe"], at=AT)
    signed = SIGNERS["rsa"].sign(mail, at=AT).replace("\r\n", "").replace(" ", "")

    assert "list-unsubscribe:list-unsubscribe-post" in signed
    assert "h=from:from:" in signed


def test_whose_mail_a_key_signs() -> None:
    """Its own domain and those below it; not one that only looks like it."""
    signer = SIGNERS["rsa"]

    assert signer.signs_for("shop.example")
    assert signer.signs_for("mail.shop.example")
    assert not signer.signs_for("eshop.example")


@pytest.mark.parametrize(
    ("domain", "selector", "key", "field"),
    [
        ("not a domain", "s1", pem(RSA), "dkim.domain"),
        ("shop.example", "s 1;", pem(RSA), "dkim.selector"),
        ("shop.example", "s1", Secret("no key"), "dkim.key_ref"),
        ("shop.example", "s1", pem(ec.generate_private_key(ec.SECP256R1())), "dkim.key_ref"),
    ],
)
def test_what_is_no_key_is_refused(domain: str, selector: str, key: Secret, field: str) -> None:
    """By its field, and without the key."""
    with pytest.raises(BadValueError) as refused:
        DkimSigner(domain=domain, selector=selector, key=key)

    assert refused.value.field == field
    assert key.reveal() not in str(refused.value)
