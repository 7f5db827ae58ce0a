"""The only Python here that runs SQL on API keys."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.notify.access.model import ApiKey
from tidings.notify.ids import ApiKeyId

QUERIES = Queries.beside(__file__)


async def insert_key(tx: TenantTx | PlatformTx, key: ApiKey) -> None:
    """Keep a new key."""
    await tx.execute(QUERIES.insert_key, key, scopes=sorted(key.scopes))


async def find_key(tx: TenantTx | PlatformTx, *, key_id: ApiKeyId) -> ApiKey | None:
    """The key with this id: the tenant's own, in a platform transaction the platform's own."""
    row = await tx.fetch_one(QUERIES.find_key, id=key_id)
    return _from_row(row) if row else None


async def lock_key(tx: TenantTx | PlatformTx, *, key_id: ApiKeyId) -> ApiKey | None:
    """The same, locked until the end of the transaction."""
    row = await tx.fetch_one(QUERIES.lock_key, id=key_id)
    return _from_row(row) if row else None


async def lock_platform_keys(tx: PlatformTx) -> None:
    """Wait for a transaction that is making the platform's first key."""
    await tx.fetch(QUERIES.lock_platform_keys)


async def find_any_keys(tx: PlatformTx, key_ids: Sequence[ApiKeyId]) -> list[ApiKey]:
    """The keys with these ids, of any tenant or the platform; for the access guard alone."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_any_keys, ids=list(key_ids))]


async def find_used(tx: PlatformTx, tenant_ids: Sequence[TenantId], *, of_a_tenant: int) -> list[ApiKeyId]:
    """Of each of these tenants some keys that it uses, the latest first, and those that were never used."""
    rows = await tx.fetch(QUERIES.find_used, tenant_ids=list(tenant_ids), of_a_tenant=of_a_tenant)
    return [ApiKeyId(row["id"]) for row in rows]


async def active_tenants(tx: PlatformTx, *, since: datetime, most: int) -> list[TenantId]:
    """Those whose keys were used since then, the latest first."""
    rows = await tx.fetch(QUERIES.active_tenants, since=since, most=most)
    return [TenantId(row["tenant_id"]) for row in rows]


async def list_keys(tx: TenantTx | PlatformTx, *, after_id: str | None, limit: int) -> list[ApiKey]:
    """The newest first, from a cursor on."""
    rows = await tx.fetch(QUERIES.list_keys, after_id=after_id, limit=limit)
    return [_from_row(row) for row in rows]


async def mark_rotated(tx: TenantTx | PlatformTx, rotated: ApiKey, *, now: datetime) -> None:
    """Note the successor of a key and how long both work."""
    await tx.execute(QUERIES.mark_rotated, rotated, successor_id=rotated.rotated_to, now=now)


async def mark_revoked(tx: TenantTx | PlatformTx, revoked: ApiKey) -> bool:
    """Whether this call revoked it; False where it was revoked before."""
    changed = await tx.execute(QUERIES.mark_revoked, id=revoked.id, now=revoked.revoked_at, seal=revoked.seal)
    return changed > 0


async def lock_seals(tx: PlatformTx) -> None:
    """Wait for a transaction that is making the sealing key."""
    await tx.fetch(QUERIES.lock_seals)


async def find_unsealed(tx: PlatformTx) -> list[ApiKey]:
    """Rows without a seal, of all tenants and the platform."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_unsealed)]


async def set_seals(tx: PlatformTx, keys: Sequence[ApiKey]) -> int:
    """Keep the seals of these."""
    return await tx.execute(QUERIES.set_seals, **columns(keys, "id seal"))


async def touch_keys(tx: PlatformTx, used: Mapping[ApiKeyId, datetime], *, interval: timedelta) -> int:
    """Note when keys were last used, where the note is older than `interval`; how many were written."""
    return await tx.execute(QUERIES.touch_keys, ids=list(used), times=list(used.values()), interval=interval)


_from_row = RowMapper(
    ApiKey,
    [QUERIES.find_key, QUERIES.lock_key, QUERIES.find_any_keys, QUERIES.list_keys, QUERIES.find_unsealed],
)
