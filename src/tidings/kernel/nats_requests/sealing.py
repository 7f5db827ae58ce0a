"""Seals what passes the broker, so that its operator reads no address: AES-256-GCM under a key that each process makes for itself.

    length of the wrapped key (2) │ key, wrapped with the master key │ box

The wrapped key comes along with every payload: whoever has the master key opens it, once for each key.
"""

import struct
from collections import OrderedDict
from typing import Final

from tidings.kernel.keys.ciphers import Key, UnreadableError, associate, seal, unseal
from tidings.kernel.keys.kms import Kms

_PURPOSE: Final = "requests"
_LENGTH: Final = struct.Struct(">H")
#: Payloads under one key.
_MOST_BOXES: Final = 1_000_000
#: Keys of others that are remembered; each process has one at a time.
_MOST_KEYS: Final = 256


class PayloadSeal:
    """Seals under this process' key, opens those of all."""

    def __init__(self, kms: Kms) -> None:
        self._kms = kms
        self._own: tuple[Key, bytes] | None = None
        self._boxes = 0
        self._known: OrderedDict[bytes, Key] = OrderedDict()

    async def seal(self, payload: bytes, *, purpose: str) -> bytes:
        """The payload for one purpose: it can't be passed off as another's."""
        if self._own is None or self._boxes >= _MOST_BOXES:
            key = Key.new(1)
            self._own = key, await self._kms.wrap(key.reveal(), associate("", "", _PURPOSE))
            self._boxes = 0
        self._boxes += 1
        key, wrapped = self._own
        return _LENGTH.pack(len(wrapped)) + wrapped + seal(key, payload, associate("", _PURPOSE, purpose))

    async def open(self, sealed: bytes, *, purpose: str) -> bytes:
        """What was sealed for that purpose; an `UnreadableError` for all else."""
        if len(sealed) < _LENGTH.size:
            raise UnreadableError("the payload is cut short")
        end = _LENGTH.size + int(_LENGTH.unpack_from(sealed)[0])
        wrapped = sealed[_LENGTH.size : end]
        key = self._known.get(wrapped)
        if key is None:
            key = Key(1, await self._kms.unwrap(wrapped, associate("", "", _PURPOSE)))
            self._known[wrapped] = key
            if len(self._known) > _MOST_KEYS:
                self._known.popitem(last=False)
        return unseal(key, sealed[end:], associate("", _PURPOSE, purpose))
