"""Hashes of addresses under both peppers: the tenant's, and the platform's for accounts that all share."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.contracts.addresses import NormalisedAddress
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.keys.platform_pepper import PlatformPepper


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashed:
    """One address."""

    #: Under the tenant's pepper.
    hash: str
    #: Under the platform's.
    platform_hash: str


class AddressHashes:
    """Hashes; the platform's pepper is known for as long as this lives, because it never changes."""

    def __init__(self, db: Database, keyring: Keyring) -> None:
        self._keyring = keyring
        self._platform = PlatformPepper(db, keyring)

    async def platform_pepper(self) -> Pepper:
        """The platform's; ask once before the first transaction, so that none is opened inside another."""
        return await self._platform.get()

    async def of(self, tx: TenantTx, addresses: Sequence[NormalisedAddress]) -> list[Hashed]:
        """One each, in the same order."""
        platform = await self.platform_pepper()
        own = await self._keyring.pepper(tx)
        return [Hashed(hash=own.hash(address), platform_hash=platform.hash(address)) for address in addresses]
