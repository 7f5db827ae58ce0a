"""The key that hashes what operators carry: a row that was not written by the application matches nothing."""

import json

from tidings.kernel.db import Database
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper

#: The platform key that hashes.
PURPOSE = "backoffice_hashes"


class OperatorPepper:
    """Loads the key once: it never changes. It is the back office's own, so that nobody else's hash is one of ours."""

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring
        self._pepper: Pepper | None = None

    async def hash(self, kind: str, *parts: str | None) -> str:
        """The hash of these for one use. Ask before a transaction begins: the first time takes a connection of its own."""
        if self._pepper is None:
            async with self._db.platform() as tx:
                pepper = await self._keyring.platform_hash_key(tx, PURPOSE)
            self._pepper = pepper
        return self._pepper.hash(json.dumps([kind, *parts]))
