"""The port of a key management service (KMS), which keeps the master key, and the choice of one by URL.

Only tenant and platform keys are wrapped here, so the traffic is small: a network round trip per tenant and
process, not one per message. What is wrapped stays small too (a key is 32 bytes).
"""

from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from tidings.kernel.errors import NotConfiguredError, TidingsError

#: Longest thing that a Kms wraps; the cloud ones allow 4 KiB.
MAX_WRAPPED_BYTES = 4096


class KmsError(TidingsError):
    """The master key can't be used."""

    code = "kms"


class UnknownMasterKeyError(KmsError):
    """This was wrapped with a master key that is not here; restore the file or the key that holds it."""

    code = "unknown_master_key"


class Kms(Protocol):
    """Wraps and unwraps small secrets with a key that never leaves it, and signs."""

    async def wrap(self, plaintext: bytes, aad: bytes) -> bytes:
        """A token that only this Kms turns back, given the same `aad`; it names the key that made it."""
        ...

    async def unwrap(self, token: bytes, aad: bytes) -> bytes:
        """What was wrapped; an `UnreadableError` for an altered token or other `aad`."""
        ...

    def key_id_of(self, token: bytes) -> str:
        """Which master key made the token."""
        ...

    async def current_key_id(self) -> str:
        """Which master key wraps now."""
        ...

    async def rotate(self) -> str:
        """Make new keys for wrapping and signing; the old ones go on unwrapping and verifying."""
        ...

    async def sign(self, message: bytes) -> bytes:
        """A signature that names the key that made it."""
        ...

    async def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether one of our keys, past or present, signed exactly this."""
        ...


def open_kms(url: str) -> Kms:
    """The Kms behind `file:///…/master.json`; other schemes are refused by name of what there is."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        raise NotConfiguredError(
            "the keys URL names a service that is not supported; supported: file:///path/master.json"
        )
    if (
        parts.netloc not in {"", "localhost"}
        or not parts.path.startswith("/")
        or parts.query
        or parts.fragment
    ):
        raise NotConfiguredError(
            "the keys URL must be file:// and an absolute path: file:///path/master.json"
        )
    from tidings.kernel.keys.key_file import LocalKeyFileKms

    return LocalKeyFileKms(Path(unquote(parts.path)))
