"""Wrapping keys are remembered: what is made or opened with them is as if they had been read anew each time."""

import pytest

from tests.integration.keys.conftest import recipients
from tests.integration.keys.test_rotation import KilledError
from tests.support.kms import MemoryKms
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring, StoredKey, Subject
from tidings.kernel.keys.rotation import rotate_tenant


async def _stored(tx: TenantTx, people: list[str]) -> dict[Subject, list[StoredKey]]:
    rows = await tx.connection.fetch(
        "SELECT subject_id, version, wrapped_key, tenant_key_version FROM kernel.data_keys "
        "WHERE tenant_id = $1 AND subject_id = ANY($2::text[])",
        tx.tenant_id,
        people,
    )
    found: dict[Subject, list[StoredKey]] = {}
    for row in rows:
        found.setdefault((tx.tenant_id, row["subject_id"]), []).append(StoredKey(*row[1:]))
    return found


async def test_a_wrapping_key_that_was_rolled_back_is_not_remembered(
    db: Database, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    first, second = recipients(2)
    with pytest.raises(KilledError):
        async with db.tenant(tenant_id) as tx:
            await keyring.new_keys(tx, [(tenant_id, first)])
            raise KilledError
    async with db.tenant(tenant_id) as tx:
        made = (await keyring.new_keys(tx, [(tenant_id, second)]))[tenant_id, second]
        await tx.connection.execute(
            "INSERT INTO kernel.data_keys (tenant_id, subject_id, version, wrapped_key, tenant_key_version) "
            "VALUES ($1, $2, 1, $3, $4)",
            tenant_id,
            second,
            made.wrapped_key,
            made.tenant_key_version,
        )
    box = made.key.seal(b"hello", "p")

    async with db.tenant(tenant_id) as tx:
        read = await Keyring(kms, clock=SystemClock()).data_keys(tx, [second])
        opened = await keyring.open_keys(tx, await _stored(tx, [second]))

    assert read[second].unseal(box, "p") == b"hello"
    assert opened[tenant_id, second].unseal(box, "p") == b"hello"


async def test_stored_keys_are_opened_whether_or_not_the_wrapping_key_is_remembered(
    db: Database, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    people = recipients(3)
    async with db.tenant(tenant_id) as tx:
        keys = await keyring.data_keys_of(tx, [(tenant_id, one) for one in people])
    boxes = {one: key.seal(b"hello", "p") for one, key in keys.items()}
    async with db.tenant(tenant_id) as tx:
        await keyring.destroy(tx, people[:1])
    await rotate_tenant(db, keyring, tenant_id)

    for ring in (keyring, Keyring(kms, clock=SystemClock())):
        async with db.tenant(tenant_id) as tx:
            opened = await ring.open_keys(tx, await _stored(tx, people))

        assert opened[tenant_id, people[0]].destroyed
        assert all(
            opened[tenant_id, one].unseal(boxes[tenant_id, one], "p") == b"hello" for one in people[1:]
        )


async def test_a_subject_without_a_stored_key_gets_one(
    db: Database, tenant_id: TenantId, keyring: Keyring
) -> None:
    [someone] = recipients(1)
    async with db.tenant(tenant_id) as tx:
        opened = await keyring.open_keys(tx, {(tenant_id, someone): []})

    assert not opened[tenant_id, someone].destroyed


async def test_who_only_reads_makes_no_key(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    known, unknown = recipients(2)
    async with db.tenant(tenant_id) as tx:
        await keyring.data_keys_of(tx, [(tenant_id, known)])
    async with db.tenant(tenant_id) as tx:
        stored = {**await _stored(tx, [known]), (tenant_id, unknown): []}
        opened = await keyring.open_keys(tx, stored, create=False)
        found = await keyring.data_keys(tx, [known, unknown], create=False)

    assert opened.keys() == {(tenant_id, known)}
    assert found.keys() == {known}
