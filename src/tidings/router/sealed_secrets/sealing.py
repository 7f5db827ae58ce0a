"""Seals entered secrets and opens them: under a key of their own of the tenant's, or under the platform's."""

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.router.sealed_secrets.model import PLATFORM_PURPOSE, SealedSecret, purpose_of, subject_of


async def seal(keyring: Keyring, tx: TenantTx | PlatformTx, name: str, text: str) -> bytes:
    """The box that is stored. One that was removed before comes back under a new key."""
    key = await (
        keyring.recreate(tx, subject_of(name))
        if isinstance(tx, TenantTx)
        else keyring.platform_key(tx, PLATFORM_PURPOSE)
    )
    return key.seal(text.encode(), purpose_of(name))


async def unseal(keyring: Keyring, tx: TenantTx | PlatformTx, secret: SealedSecret) -> str:
    """What was entered."""
    key: DataKey = await (
        keyring.data_key(tx, subject_of(secret.name))
        if isinstance(tx, TenantTx)
        else keyring.platform_key(tx, PLATFORM_PURPOSE)
    )
    return key.unseal(secret.box, purpose_of(secret.name)).decode()
