"""Rotates an API key: a successor with the same rights, and both work until the overlap ends."""

from dataclasses import replace
from datetime import datetime, timedelta

from tidings.contracts.api_keys import ApiKeyRotated
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import InvalidError
from tidings.notify.access import store
from tidings.notify.access.errors import AlreadyRotatedError, KeyEndedError, UnknownKeyError
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import ApiKey, check_grant, expiry_faults, hash_secret, new_secret
from tidings.notify.ids import API_KEY, ApiKeyId


async def rotate_key(
    tx: TenantTx | PlatformTx,
    key_id: ApiKeyId,
    *,
    overlap: timedelta,
    expires_at: datetime | None,
    grantor: Caller,
    ledger: KeyLedger,
    clock: Clock,
) -> tuple[ApiKey, str]:
    """The successor and its secret."""
    old = await store.lock_key(tx, key_id=key_id)
    if old is None:
        raise UnknownKeyError
    now = clock.now()
    if old.rotated_to is not None:
        raise AlreadyRotatedError(f"the key {old.id} was rotated to {old.rotated_to}; rotate that one")
    if not old.usable(now):
        raise KeyEndedError
    if not await ledger.seals.holds(old):
        # Its successor would be sealed with what the application did not write.
        raise KeyEndedError("the key's row was changed outside Tidings; revoke it and create a new one")
    if wrong := expiry_faults(expires_at, now):
        raise InvalidError(wrong)
    # The caller who rotates a key reads the successor's secret: it must not give them more than they have.
    if grantor.id != old.id:
        check_grant(grantor, role=old.role, scopes=old.scopes, environment=old.environment)
    secret = new_secret()
    new_id = API_KEY.new(now)
    successor = ApiKey(
        id=new_id,
        **attributes(old, "tenant_id name scopes role environment"),
        secret_hash=hash_secret(secret),
        created_by=grantor.actor,
        created_at=time_of(new_id),
        expires_at=expires_at if expires_at is not None else _same_length(old, now),
        rotated_from=old.id,
    )
    ends_at = now + overlap
    successor = await ledger.seals.sealed(successor)
    after = await ledger.seals.sealed(replace(old, rotated_to=new_id, overlap_ends_at=ends_at))
    await store.insert_key(tx, successor)
    await store.mark_rotated(tx, after, now=now)
    rotated = ApiKeyRotated(key_id=old.id, successor_id=new_id, overlap_ends_at=ends_at)
    await ledger.record(tx, after, rotated, actor=grantor.actor, before=old)
    return successor, secret


def _same_length(old: ApiKey, now: datetime) -> datetime | None:
    return None if old.expires_at is None else now + (old.expires_at - old.created_at)
