"""Rotating keys by re-wrapping them: no content is touched, no request waits, and a killed run is finished by the next.

A new tenant key wraps new data keys from the moment it is committed. The old data keys are wrapped anew in chunks,
each its own transaction. The old tenant key is retired when nothing is left under it; it stays in its row,
because a restored backup of single rows may still need it.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidings.kernel.db import Database, Row, TenantTx
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import KEY_BYTES, Key, UnreadableError
from tidings.kernel.keys.keyring import (
    Keyring,
    platform_key_aad,
    tenant_key_aad,
    unwrap_data_key,
    wrap_data_key,
)
from tidings.kernel.keys.kms import Kms
from tidings.kernel.keys.status import check_master_keys, key_status
from tidings.kernel.sql import Queries, Query

QUERIES = Queries.beside(__file__)

CHUNK = 1000
_ROUNDS = 20

#: Told after every chunk: how many keys are done, and how many there were to do when it began.
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRotation:
    """What a rotation of one tenant did, or would do."""

    #: The version that wraps now.
    version: int
    #: Whether an earlier run had been cut off and this one finished it.
    resumed: bool
    #: Data keys that were wrapped anew.
    rewrapped: int
    #: Versions that are now retired.
    retired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterRotation:
    """What a rotation of the master key did."""

    #: The master key that wraps now.
    master_key_id: str
    #: Tenant keys that were wrapped anew.
    tenant_keys: int
    #: Platform keys that were wrapped anew.
    platform_keys: int


def _quietly(_done: int, _total: int) -> None:
    return


async def rotate_tenant(
    db: Database,
    keyring: Keyring,
    tenant_id: TenantId,
    *,
    chunk: int = CHUNK,
    on_progress: OnProgress = _quietly,
) -> TenantRotation:
    """Give the tenant a new wrapping key and move every data key under it; finishes what was cut off before."""
    version, resumed = await _begin(db, keyring, tenant_id)
    async with db.tenant(tenant_id) as tx:
        total = int(await tx.fetch_value(QUERIES.count_data_keys_below, version=version))
    done = 0
    on_progress(done, total)
    for _ in range(_ROUNDS):
        while True:
            async with db.tenant(tenant_id) as tx:
                seen, moved = await _rewrap_chunk(tx, keyring, version, chunk)
            if not seen:
                break
            done += moved
            on_progress(min(done, total), total)
        retired = await _retire(db, tenant_id, version)
        if retired is not None:
            return TenantRotation(version=version, resumed=resumed, rewrapped=done, retired=retired)
    raise DatabaseBusyError(f"keys of {tenant_id} are still being made under the old version; run it again")


async def plan_tenant_rotation(db: Database, tenant_id: TenantId) -> int:
    """How many data keys a rotation would wrap anew."""
    async with db.tenant(tenant_id) as tx:
        versions = await tx.fetch(QUERIES.load_active_tenant_keys)
        if not versions:
            return 0
        below = versions[-1]["version"] + (len(versions) == 1)
        return int(await tx.fetch_value(QUERIES.count_data_keys_below, version=below))


async def has_keys(db: Database, tenant_id: TenantId) -> bool:
    """Whether this tenant was ever given keys here."""
    async with db.tenant(tenant_id) as tx:
        return bool(await tx.fetch(QUERIES.load_active_tenant_keys))


async def rotate_master(
    db: Database,
    kms: Kms,
    *,
    new_key: bool = True,
    chunk: int = CHUNK,
    on_progress: OnProgress = _quietly,
) -> MasterRotation:
    """Make a new master key and move every tenant and platform key under it.

    Without `new_key` it finishes a run that was cut off. It begins by checking that the old master keys are all
    here: in the wrong data dir, or with a lost key file, nothing is changed.
    """
    await check_master_keys(db, kms)
    current = await kms.rotate() if new_key else await kms.current_key_id()
    total = sum(
        sum(counts) for key_id, counts in (await key_status(db, kms)).by_master.items() if key_id != current
    )
    tenant_keys = platform_keys = 0
    on_progress(0, total)
    while rows := await _under_other_masters(db, kms, QUERIES.load_tenant_keys_of_other_masters, chunk):
        tenant_keys += await _rewrap_keys(db, kms, QUERIES.rewrap_tenant_keys, rows)
        on_progress(min(tenant_keys, total), total)
    while rows := await _under_other_masters(db, kms, QUERIES.load_platform_keys_of_other_masters, chunk):
        platform_keys += await _rewrap_keys(db, kms, QUERIES.rewrap_platform_keys, rows)
        on_progress(min(tenant_keys + platform_keys, total), total)
    return MasterRotation(master_key_id=current, tenant_keys=tenant_keys, platform_keys=platform_keys)


async def _begin(db: Database, keyring: Keyring, tenant_id: TenantId) -> tuple[int, bool]:
    async with db.tenant(tenant_id) as tx:
        await keyring.data_keys(tx, [])  # a tenant without a key gets its first
        await tx.fetch(QUERIES.lock_rotation)
        active = await tx.fetch(QUERIES.load_active_tenant_keys)
        if len(active) > 1:
            return active[-1]["version"], True
        version = int(await tx.fetch_value(QUERIES.last_tenant_key_version)) + 1
        token = await keyring.kms.wrap(os.urandom(KEY_BYTES), tenant_key_aad(tenant_id, "wrapping", version))
        await tx.execute(
            QUERIES.add_tenant_key,
            version=version,
            wrapped_key=token,
            master_key_id=keyring.kms.key_id_of(token),
        )
        return version, False


async def _rewrap_chunk(tx: TenantTx, keyring: Keyring, version: int, chunk: int) -> tuple[int, int]:
    """How many data keys were under an older version, and how many of them are now under this one."""
    tenant_id = tx.tenant_id
    rows = await tx.fetch(QUERIES.load_data_keys_below, version=version, chunk=chunk)
    if not rows:
        return 0, 0
    keys: dict[int, Key] = {
        row["version"]: await keyring.tenant_key(tenant_id, row)
        for row in await tx.fetch(
            QUERIES.load_tenant_keys, versions=sorted({version, *(row["tenant_key_version"] for row in rows)})
        )
    }
    new_keys = []
    for row in rows:
        subject, old = row["subject_id"], keys[row["tenant_key_version"]]
        key = unwrap_data_key(tenant_id, subject, row["version"], row["wrapped_key"], old)
        new_keys.append(wrap_data_key(tenant_id, subject, key, keys[version]))
    moved = await tx.execute(
        QUERIES.rewrap_data_keys,
        tenant_key_version=version,
        subject_ids=[row["subject_id"] for row in rows],
        versions=[row["version"] for row in rows],
        old_keys=[row["wrapped_key"] for row in rows],
        new_keys=new_keys,
    )
    return len(rows), moved


async def _retire(db: Database, tenant_id: TenantId, version: int) -> int | None:
    """How many versions were retired; None if one of them got in use again, or its users don't end."""
    try:
        async with db.tenant(tenant_id) as tx:
            await tx.fetch(QUERIES.lock_old_tenant_keys, version=version)
            retired = await tx.execute(QUERIES.retire_tenant_keys, version=version)
            left = await tx.fetch(QUERIES.load_active_tenant_keys)
    except DatabaseBusyError:
        return None
    return None if any(row["version"] < version for row in left) else retired


async def _under_other_masters(db: Database, kms: Kms, query: Query, chunk: int) -> list[Row]:
    # Asked every time: if another process rotates too, "current" has moved on.
    current = await kms.current_key_id()
    async with db.platform() as tx:
        return await tx.fetch(query, master_key_id=current, chunk=chunk)


async def _rewrap_keys(db: Database, kms: Kms, query: Query, rows: Sequence[Row]) -> int:
    """Wrap keys of tenants, or of the platform, anew; how many."""
    # The Kms may be far away: it is asked between two transactions, never inside one.
    new_keys = [await _rewrap(kms, row) for row in rows]
    owners = {"tenant_ids": [row["tenant_id"] for row in rows]} if "tenant_id" in rows[0] else {}
    async with db.platform() as tx:
        return await tx.execute(
            query,
            **owners,
            purposes=[row["purpose"] for row in rows],
            versions=[row["version"] for row in rows],
            old_keys=[row["wrapped_key"] for row in rows],
            new_keys=new_keys,
            master_key_ids=[kms.key_id_of(key) for key in new_keys],
        )


async def _rewrap(kms: Kms, row: Row) -> bytes:
    aad = (
        tenant_key_aad(row["tenant_id"], row["purpose"], row["version"])
        if "tenant_id" in row
        else platform_key_aad(row["purpose"], row["version"])
    )
    try:
        material = await kms.unwrap(row["wrapped_key"], aad)
    except UnreadableError:
        material = None
    if material is None:
        owner = row.get("tenant_id", "the platform")
        raise UnreadableError(f"the stored {row['purpose']} key {row['version']} of {owner} is damaged")
    return await kms.wrap(material, aad)
