"""A Kms that lives in memory, for tests that need many and need them fast; it passes the same suite."""

import itertools
import os

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tidings.kernel.keys.ciphers import KEY_BYTES, Key, UnreadableError, seal, unseal
from tidings.kernel.keys.kms import MAX_WRAPPED_BYTES, KmsError, UnknownMasterKeyError

_serials = itertools.count(1)


class MemoryKms:
    """Counts its calls, so that a test can say how often the real one would be asked."""

    def __init__(self) -> None:
        self._serial = next(_serials)
        self._keys: list[Key] = []
        self._signers: list[Ed25519PrivateKey] = []
        #: How often something was unwrapped.
        self.unwraps = 0
        self._add()

    async def wrap(self, plaintext: bytes, aad: bytes) -> bytes:
        if len(plaintext) > MAX_WRAPPED_BYTES:
            raise KmsError
        name = self._name(len(self._keys)).encode()
        return bytes([len(name)]) + name + seal(self._keys[-1], plaintext, aad)

    async def unwrap(self, token: bytes, aad: bytes) -> bytes:
        self.unwraps += 1
        name, box = self.key_id_of(token), token[1 + token[0] :]
        for version, key in enumerate(self._keys, start=1):
            if name == self._name(version):
                return unseal(key, box, aad)
        raise UnknownMasterKeyError

    def key_id_of(self, token: bytes) -> str:
        if not token or len(token) <= token[0]:
            raise UnreadableError
        return token[1 : 1 + token[0]].decode("ascii", "replace")

    async def current_key_id(self) -> str:
        return self._name(len(self._keys))

    async def rotate(self) -> str:
        self._add()
        return await self.current_key_id()

    async def sign(self, message: bytes) -> bytes:
        return bytes([len(self._signers)]) + self._signers[-1].sign(message)

    async def verify(self, message: bytes, signature: bytes) -> bool:
        if not signature or not 1 <= signature[0] <= len(self._signers):
            return False
        try:
            self._signers[signature[0] - 1].public_key().verify(signature[1:], message)
        except InvalidSignature:
            return False
        return True

    def _add(self) -> None:
        self._keys.append(Key(len(self._keys) + 1, os.urandom(KEY_BYTES)))
        self._signers.append(Ed25519PrivateKey.generate())

    def _name(self, version: int) -> str:
        return f"memory{self._serial}-{version}"
