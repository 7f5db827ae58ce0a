"""A signer of anchors without a key file."""

import hashlib
import hmac


class FakeSigner:
    """Signs with a secret of its own; the signature names it."""

    def __init__(self, key_id: str = "test-1", secret: bytes = b"secret") -> None:
        self._key_id = key_id
        self._secret = secret

    async def sign(self, message: bytes) -> bytes:
        return self._key_id.encode() + b"." + self._mac(message)

    async def verify(self, message: bytes, signature: bytes) -> bool:
        name, _, mac = signature.partition(b".")
        return name == self._key_id.encode() and hmac.compare_digest(mac, self._mac(message))

    def key_id_of(self, token: bytes) -> str:
        return token.partition(b".")[0].decode()

    def _mac(self, message: bytes) -> bytes:
        return hmac.digest(self._secret, message, hashlib.sha256)
