"""Signs receipts and proves them: Ed25519 over the format's name and the statement as canonical JSON.

Canonical: keys sorted, no spaces, UTF-8. A statement holds texts, whole numbers, yes and no, so every JSON library makes
the same bytes of it, and a receipt can be proven without us, with the public key alone.
"""

import base64
import binascii
from typing import Any, Protocol

import msgspec

from tidings.kernel.errors import BadValueError
from tidings.notify.erasure.model import FORMAT, ErasureStatement

ALGORITHM = "Ed25519"
_RAW_SIGNATURE = 64


class Signer(Protocol):
    """Who signs receipts; every Kms is one."""

    async def sign(self, message: bytes) -> bytes:
        """A signature that names the key that made it."""
        ...

    async def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether one of our keys, past or present, signed exactly this."""
        ...

    def key_id_of(self, token: bytes) -> str:
        """Which key made the signature."""
        ...


class ErasureReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt as people hold it."""

    statement: ErasureStatement
    #: `Ed25519`
    algorithm: str
    #: Which of our keys signed; `tidings erasure keys` shows its public half.
    key_id: str
    #: Base64: 64 bytes over `tidings-erasure-v1`, a line feed, and the statement as canonical JSON.
    signature: str


def canonical(statement: Any) -> bytes:
    """The statement as JSON that has one form only."""
    return msgspec.json.encode(statement, order="sorted")


def signed_bytes(statement: bytes) -> bytes:
    """What the signature is of."""
    return FORMAT.encode() + b"\n" + statement


def as_held(statement: str, key_id: str, token: bytes) -> ErasureReceipt:
    """The receipt that people get; the last 64 bytes of our token are the bare signature."""
    return ErasureReceipt(
        statement=msgspec.json.decode(statement, type=ErasureStatement),
        algorithm=ALGORITHM,
        key_id=key_id,
        signature=base64.b64encode(token[-_RAW_SIGNATURE:]).decode(),
    )


class _Held(msgspec.Struct, frozen=True, kw_only=True):
    # The statement is kept as it came: a newer release may have added to it.
    statement: dict[str, Any]
    key_id: str
    signature: str


def verify(receipt: bytes, public_keys: dict[str, bytes]) -> dict[str, Any]:
    """The statement of a receipt that one of these keys signed; a `BadValueError` that says what is wrong with it."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        held = msgspec.json.decode(receipt, type=_Held)
        raw = base64.b64decode(held.signature, validate=True)
    except (msgspec.MsgspecError, binascii.Error, UnicodeDecodeError):
        raise BadValueError("receipt", "must be the JSON of a receipt, as it was given out") from None
    if held.statement.get("format") != FORMAT:
        raise BadValueError("receipt", f"must be of the format {FORMAT}")
    key = public_keys.get(held.key_id)
    if key is None:
        raise BadValueError("key_id", f"names a key that is not here: {held.key_id[:40]!r}")
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(raw, signed_bytes(canonical(held.statement)))
    except (InvalidSignature, ValueError):
        raise BadValueError(
            "signature", "does not fit: the receipt was changed, or we did not sign it"
        ) from None
    return held.statement
