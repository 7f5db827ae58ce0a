"""Revokes an API key; it stops working everywhere within a second."""

from dataclasses import replace

from tidings.contracts.api_keys import ApiKeyRevoked
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.notify.access import store
from tidings.notify.access.errors import UnknownKeyError
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import ApiKey, check_end
from tidings.notify.ids import ApiKeyId


async def revoke_key(
    tx: TenantTx | PlatformTx,
    key_id: ApiKeyId,
    *,
    actor: str,
    ledger: KeyLedger,
    clock: Clock,
    revoker: Caller | None = None,
) -> ApiKey:
    """The key, revoked; revoking it again changes nothing.

    A revoker ends no key that may do more than it may itself. None: the operator at the machine.
    """
    key = await store.lock_key(tx, key_id=key_id)
    if key is None:
        raise UnknownKeyError
    if revoker is not None and revoker.id != key.id:
        check_end(revoker, key)
    revoked = await ledger.seals.sealed(replace(key, revoked_at=clock.now(), version=key.version + 1))
    if not await store.mark_revoked(tx, revoked):
        return key
    await ledger.record(tx, revoked, ApiKeyRevoked(key_id=key.id), actor=actor, before=key)
    return revoked
