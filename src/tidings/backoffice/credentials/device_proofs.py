"""Proofs that a request comes from the device that holds a key: JWTs of one request, signed with ES256. No I/O.

{"typ": "device-proof+jwt", "alg": "ES256"}
{"htm": "GET", "htu": "/bff/v1/session", "iat": 1763576400, "jti": "<16 to 64 characters>", "sid": "bos_…"}
"""

import base64
import binascii
import re
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from msgspec import Meta, Struct

#: How far the device's clock may be off, and how long a proof is remembered.
WINDOW: Final = timedelta(seconds=60)
_LONGEST: Final = 2_000
_HALF: Final = 32
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")

Coordinate = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{43}\Z", description="32 bytes in base64url")]


class BadKeyError(ValueError):
    """This is no point of the curve."""


class BadProofError(ValueError):
    """This proof is not one of this request by this key."""


class PublicKey(Struct, frozen=True, kw_only=True):
    """A key of P-256 as a JWK (RFC 7518); what else a browser writes into it is passed over."""

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: Coordinate
    y: Coordinate

    @property
    def text(self) -> str:
        """As it is kept."""
        return f"{self.x}.{self.y}"


class _Header(Struct, frozen=True):
    typ: Literal["device-proof+jwt"]
    alg: Literal["ES256"]


class ProofClaims(Struct, frozen=True):
    """What a proof says."""

    htm: str
    #: Path and query as they were sent.
    htu: str
    iat: float
    jti: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{16,64}\Z")]
    sid: str

    def is_of_now(self, now: datetime) -> bool:
        """Whether it was made within the window."""
        return abs(now.timestamp() - self.iat) <= WINDOW.total_seconds()


_read_header = msgspec.json.Decoder(_Header).decode
_read_claims = msgspec.json.Decoder(ProofClaims).decode


def check_key(key: PublicKey) -> None:
    """A `BadKeyError` where it is not on the curve."""
    _key_of(key.text)


def read_proof(proof: str, key: str) -> ProofClaims:
    """What a proof says that this key has signed; a `BadProofError` where it did not."""
    head, _, rest = proof.partition(".")
    body, _, signature = rest.partition(".")
    if len(proof) > _LONGEST:
        raise BadProofError("it is too long")
    try:
        _read_header(_bytes(head))
        claims = _read_claims(_bytes(body))
        raw = _bytes(signature)
        if len(raw) != 2 * _HALF:
            raise BadProofError("its signature has another length")
        numbers = (int.from_bytes(raw[:_HALF]), int.from_bytes(raw[_HALF:]))
        signed = f"{head}.{body}".encode("ascii")
        _key_of(key).verify(encode_dss_signature(*numbers), signed, ec.ECDSA(SHA256()))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidSignature, BadKeyError) as error:
        raise BadProofError("it is none of this key") from error
    return claims


def _key_of(text: str) -> ec.EllipticCurvePublicKey:
    x, _, y = text.partition(".")
    try:
        point = ec.EllipticCurvePublicNumbers(
            int.from_bytes(_bytes(x)), int.from_bytes(_bytes(y)), ec.SECP256R1()
        )
        return point.public_key()
    except ValueError as error:
        raise BadKeyError("this is no point of P-256") from error


def _bytes(text: str) -> bytes:
    if _BASE64URL.fullmatch(text) is None:
        raise BadProofError("it is not base64url")
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise BadProofError("it is not base64url") from error
