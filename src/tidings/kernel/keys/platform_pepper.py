"""The platform's pepper, which addresses are hashed with where no tenant is known."""

from tidings.kernel.db import Database
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper


class PlatformPepper:
    """Loads it once: it never changes."""

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring
        self._pepper: Pepper | None = None

    async def get(self) -> Pepper:
        """Ask before a transaction begins: the first time takes a connection of its own."""
        if self._pepper is None:
            async with self._db.platform() as tx:
                pepper = await self._keyring.platform_pepper(tx)
            # After the commit: what was rolled back would be another one the next time.
            self._pepper = pepper
        return self._pepper
