"""Encrypts a message for one browser (RFC 8291), in one record of the coding aes128gcm (RFC 8188)."""

import os
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tidings.kernel.errors import BadValueError

_RECORD: Final = 4096
#: Behind the text: this is the last record.
_LAST: Final = b"\x02"
_SALT: Final = 16
_KEY: Final = 16
_NONCE: Final = 12
_TAG: Final = 16
#: Salt, size of a record, length of the key, the key.
_HEADER: Final = _SALT + 4 + 1 + 65
#: Every push service takes a body of 4096 bytes; not every one takes more (RFC 8291, 4).
MOST_BYTES: Final = 4096 - _HEADER - len(_LAST) - _TAG


def encrypt(
    text: bytes,
    *,
    public_key: bytes,
    secret: bytes,
    own_key: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """The body of the request; `own_key` and `salt` are new for every message, but for a test that repeats an example."""
    if len(text) > MOST_BYTES:
        raise BadValueError(
            "text", f"is too long: with its subject and metadata {MOST_BYTES} bytes can be sent"
        )
    try:
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_key)
    except ValueError:
        raise BadValueError("to", "must have in p256dh a point of the curve P-256") from None
    own_key = own_key or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(_SALT)
    ours = own_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = own_key.exchange(ec.ECDH(), theirs)
    material = _derived(shared, secret, b"WebPush: info\x00" + public_key + ours, 32)
    key = _derived(material, salt, b"Content-Encoding: aes128gcm\x00", _KEY)
    nonce = _derived(material, salt, b"Content-Encoding: nonce\x00", _NONCE)
    header = salt + _RECORD.to_bytes(4, "big") + len(ours).to_bytes(1, "big") + ours
    return header + AESGCM(key).encrypt(nonce, text + _LAST, None)


def _derived(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(material)
