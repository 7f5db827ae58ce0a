"""What a browser holds for us for some minutes: sealed under a platform key, and unreadable to anybody else."""

import base64
import binascii
from typing import Final

from tidings.kernel.db import Database
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring

_LONGEST: Final = 4000


class BrowserBoxes:
    """Seals and opens; `purpose` names the platform key, and one box is good for no other."""

    def __init__(self, db: Database, keyring: Keyring, purpose: str) -> None:
        self._db = db
        self._keyring = keyring
        self._purpose = purpose
        self._key: DataKey | None = None

    async def seal(self, content: bytes) -> str:
        """A text for a hidden field or a cookie."""
        box = (await self._sealing()).seal(content, self._purpose)
        return base64.urlsafe_b64encode(box).rstrip(b"=").decode()

    async def open(self, text: str) -> bytes | None:
        """What is in it; None where it is no box of ours."""
        if len(text) > _LONGEST:
            return None
        try:
            box = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
            return (await self._sealing()).unseal(box, self._purpose)
        except (binascii.Error, ValueError, UnreadableError, DestroyedKeyError):
            return None

    async def _sealing(self) -> DataKey:
        if self._key is None:
            async with self._db.platform() as tx:
                key = await self._keyring.platform_key(tx, self._purpose)
            self._key = key
        return self._key
