"""Creates an API key."""

from tidings.contracts.api_keys import ApiKeyCreated
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import attributes
from tidings.notify.access import store
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import (
    ApiKey,
    KeySpec,
    check_grant,
    check_spec,
    granted_scopes,
    hash_secret,
    new_secret,
)
from tidings.notify.ids import API_KEY


async def create_key(
    tx: TenantTx | PlatformTx,
    spec: KeySpec,
    *,
    grantor: Caller | None,
    actor: str,
    ledger: KeyLedger,
    clock: Clock,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which is not kept; a key of the platform in a platform transaction.

    A grantor gives no more than it has. None: the installation itself, for the first key of all.
    """
    now = clock.now()
    tenant_id = tx.tenant_id
    check_spec(spec, tenant_id=tenant_id, now=now)
    scopes = granted_scopes(spec, grantor)
    if grantor is not None:
        check_grant(grantor, role=spec.role, scopes=scopes, environment=spec.environment)
    secret = new_secret()
    key_id = API_KEY.new(now)
    unsealed = ApiKey(
        id=key_id,
        tenant_id=tenant_id,
        **attributes(spec, "name role environment expires_at"),
        secret_hash=hash_secret(secret),
        scopes=scopes,
        created_by=actor,
        created_at=time_of(key_id),
    )
    key = await ledger.seals.sealed(unsealed)
    await store.insert_key(tx, key)
    created = ApiKeyCreated(
        key_id=key.id,
        role=key.role,
        environment=key.environment,
        scopes=tuple(sorted(key.scopes)),
        expires_at=key.expires_at,
    )
    await ledger.record(tx, key, created, actor=actor)
    return key, secret
