"""AES-256-GCM boxes: what is inside can be read only with the right key, for the right owner and purpose.

    format (1) │ key version (4) │ nonce (12) │ ciphertext │ tag (16)

The first five bytes are authenticated together with the associated data, so a box can't be passed off as
another version's. Nonces are random: a key may seal some four thousand million boxes before two of them
become likely enough to matter, which no subject's key will ever do.
"""

import os
import struct
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tidings.kernel.errors import TidingsError

KEY_BYTES = 32
_FORMAT = 1
_HEAD = struct.Struct(">BI")
_NONCE_BYTES = 12
_TAG_BYTES = 16

#: How many bytes a box is longer than what is inside.
OVERHEAD = _HEAD.size + _NONCE_BYTES + _TAG_BYTES


class UnreadableError(TidingsError):
    """A box can't be opened: it was altered, or it belongs to another owner, purpose or key."""

    code = "unreadable"


class Key:
    """One version of a symmetric key; it never prints its bytes."""

    __slots__ = ("_cipher", "_material", "version")

    def __init__(self, version: int, material: bytes) -> None:
        if len(material) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        #: Which of its owner's keys this is; counted from 1.
        self.version = version
        self._material = material
        self._cipher = AESGCM(material)

    @classmethod
    def new(cls, version: int) -> "Key":
        """A random key."""
        return cls(version, os.urandom(KEY_BYTES))

    def reveal(self) -> bytes:
        """The bytes, for wrapping them with another key."""
        return self._material

    def __repr__(self) -> str:
        return f"Key(version={self.version}, ***)"

    def __reduce__(self) -> str:
        raise TypeError("a key is never pickled")


def associate(tenant: str, subject: str, purpose: str) -> bytes:
    """The associated data that ties a box to its owner and purpose.

    Every part carries its length, so that no two triples give the same bytes.
    """
    return _with_length(tenant) + _with_length(subject) + _with_length(purpose)


# Tenants and purposes come again with every box; subjects come several times in a set.
@lru_cache(maxsize=4096)
def _with_length(part: str) -> bytes:
    encoded = part.encode("utf-8", "surrogatepass")
    return struct.pack(">I", len(encoded)) + encoded


def seal(key: Key, plaintext: bytes, aad: bytes) -> bytes:
    """Put `plaintext` in a box."""
    head = _HEAD.pack(_FORMAT, key.version)
    nonce = os.urandom(_NONCE_BYTES)
    return head + nonce + key._cipher.encrypt(nonce, plaintext, head + aad)


def unseal(key: Key, box: bytes, aad: bytes) -> bytes:
    """Take out what `seal` put in; an `UnreadableError` where anything does not fit."""
    if key_version_of(box) != key.version:
        raise UnreadableError(f"the box was sealed with another version of the key than {key.version}")
    head, nonce, sealed = box[:5], box[5:17], box[17:]
    try:
        return key._cipher.decrypt(nonce, sealed, head + aad)
    except InvalidTag:
        pass
    raise UnreadableError


def key_version_of(box: bytes) -> int:
    """Which version of its owner's key sealed this box."""
    if len(box) < OVERHEAD:
        raise UnreadableError("the box is cut short")
    found, version = _HEAD.unpack_from(box)
    if found != _FORMAT:
        raise UnreadableError("the box has a format that this release does not know")
    return int(version)
