"""The seal of an API key: proof that this application wrote the row, and that it was not changed since.

A client with the database's URL may write rows. What a row gives (a tenant, a role, scopes, an environment, the hash of a
secret, an end) is therefore authenticated by a key that the database does not have: a platform key, which the master key
wraps. Rotating the master key wraps it anew and leaves every seal as it is.

Rows that are older than seals get theirs once, in the transaction that makes the key. After that no row is ever sealed but by
the code that makes, rotates or revokes it: a row that was put there behind the application's back opens no door.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from tidings.kernel.db import Database, PlatformTx
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.notify.access import store
from tidings.notify.access.model import ApiKey

#: The platform key that seals.
PURPOSE: Final = "api_keys"

_log = get_logger("access")


class KeySeals:
    """Seals keys, and looks whether a seal holds."""

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring
        self._key: DataKey | None = None

    async def get_ready(self) -> None:
        """Before a row is read: the first process after the upgrade seals what is there."""
        await self._sealing()

    async def sealed(self, key: ApiKey) -> ApiKey:
        """The same, sealed as it is now."""
        return _sealed(await self._sealing(), key)

    async def holds(self, key: ApiKey) -> bool:
        """Whether the row is as the application wrote it."""
        sealing = await self._sealing()
        if key.seal is None:
            return False
        try:
            sealing.unseal(key.seal, _words(key))
        except (UnreadableError, DestroyedKeyError):
            return False
        return True

    async def _sealing(self) -> DataKey:
        """In a transaction of its own, once in the life of a process: what is remembered is committed."""
        if self._key is None:
            async with self._db.platform() as tx:
                await store.lock_seals(tx)
                first = not await self._keyring.has_platform_key(tx, PURPOSE)
                sealing = await self._keyring.platform_key(tx, PURPOSE)
                if first:
                    await _seal_all(tx, sealing)
            self._key = sealing
        return self._key


async def _seal_all(tx: PlatformTx, sealing: DataKey) -> None:
    """Those that were made before there were seals."""
    unsealed: Sequence[ApiKey] = await store.find_unsealed(tx)
    if unsealed:
        await store.set_seals(tx, [_sealed(sealing, key) for key in unsealed])
        _log.info("api_keys_sealed", count=len(unsealed))


def _sealed(sealing: DataKey, key: ApiKey) -> ApiKey:
    return replace(key, seal=sealing.seal(b"", _words(key)))


def _words(key: ApiKey) -> str:
    """All that a row gives to its holder, in one spelling: it is bound to the seal, and not in it."""
    return json.dumps(
        [
            key.id,
            key.tenant_id,
            key.role,
            sorted(key.scopes),
            key.environment,
            key.secret_hash,
            _moment(key.expires_at),
            _moment(key.revoked_at),
            key.rotated_to,
            _moment(key.overlap_ends_at),
        ]
    )


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat(timespec="microseconds")
