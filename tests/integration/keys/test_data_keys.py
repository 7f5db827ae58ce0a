"""Data keys: made once, found again, bound to their owner, gone when destroyed."""

import asyncio
from datetime import timedelta

import pytest

from tests.integration.keys.conftest import recipients
from tests.support.clock import ManualClock
from tests.support.kms import MemoryKms
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError, NotPermittedError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import QUERIES, Keyring


async def test_what_is_sealed_is_read_by_another_process(
    db: Database, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """A second process with nothing in memory opens what the first sealed."""
    (anna,) = recipients(1)
    async with db.tenant(tenant_id) as tx:
        box = (await keyring.data_key(tx, anna)).seal(b"anna@example.org", "address:email")

    elsewhere = Keyring(kms, clock=SystemClock())
    async with db.tenant(tenant_id) as tx:
        key = await elsewhere.data_key(tx, anna)

    assert key.unseal(box, "address:email") == b"anna@example.org"
    with pytest.raises(UnreadableError):
        key.unseal(box, "address:sms")


async def test_concurrent_creators_agree(db: Database, tenant_id: TenantId, kms: MemoryKms) -> None:
    """Ten processes that meet the same new recipients, in any order, end with the same keys."""
    people = recipients(20)

    async def create(number: int) -> dict[str, bytes]:
        keyring = Keyring(kms, clock=SystemClock())
        order = people if number % 2 else list(reversed(people))
        async with db.tenant(tenant_id) as tx:
            keys = await keyring.data_keys(tx, order[number:])
            return {subject: key.seal(subject.encode(), "x") for subject, key in keys.items()}

    sealed = await asyncio.gather(*(create(number) for number in range(10)))

    async with db.tenant(tenant_id) as tx:
        keys = await Keyring(kms, clock=SystemClock()).data_keys(tx, people)
    for boxes in sealed:
        assert all(keys[subject].unseal(box, "x") == subject.encode() for subject, box in boxes.items())


async def test_two_who_begin_a_tenants_life_do_not_wait_for_each_other(
    db: Database, tenant_id: TenantId, kms: MemoryKms
) -> None:
    """One needs the pepper first and then keys, the other makes all of them: whoever is second waits, and that is all."""

    async def provision() -> None:
        async with db.tenant(tenant_id) as tx:
            await Keyring(kms, clock=SystemClock()).provision(tx)

    async def somebody_waits() -> bool:
        async with db.worker() as tx:
            return bool(await tx.connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"))

    mine = Keyring(kms, clock=SystemClock())
    async with db.tenant(tenant_id) as tx:
        await mine.pepper(tx)
        other = asyncio.create_task(provision())
        async with asyncio.timeout(30):
            while not await somebody_waits():
                await asyncio.sleep(0.01)
        await mine.data_keys(tx, recipients(1))
    await other


async def test_a_rollback_leaves_no_key_behind(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    """Keys of a transaction that failed are not remembered: the next ones are read from the database."""
    (anna,) = recipients(1)
    with pytest.raises(ZeroDivisionError):
        async with db.tenant(tenant_id) as tx:
            lost = await keyring.data_key(tx, anna)
            lost_pepper = await keyring.pepper(tx)
            raise ZeroDivisionError

    async with db.tenant(tenant_id) as tx:
        key = await keyring.data_key(tx, anna)
        box = key.seal(b"x", "p")
        pepper = await keyring.pepper(tx)
    async with db.tenant(tenant_id) as tx:
        assert (await keyring.data_key(tx, anna)).unseal(box, "p") == b"x"
        assert (await keyring.pepper(tx)).hash("a") == pepper.hash("a")
    assert lost_pepper.hash("a") != pepper.hash("a")
    with pytest.raises(UnreadableError):
        lost.unseal(box, "p")


async def test_the_kms_is_asked_once_per_tenant(
    db: Database, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """A thousand recipients cost one unwrap, until the memory is too old."""
    clock = ManualClock()
    keyring = Keyring(kms, clock=clock)
    async with db.tenant(tenant_id) as tx:
        await keyring.provision(tx)
    before = kms.unwraps

    for _ in range(5):
        async with db.tenant(tenant_id) as tx:
            await keyring.data_keys(tx, recipients(200))
            await keyring.pepper(tx)
    assert kms.unwraps == before

    await clock.advance(timedelta(minutes=6))
    async with db.tenant(tenant_id) as tx:
        await keyring.data_keys(tx, recipients(200))
    assert kms.unwraps == before + 1


async def test_without_create_only_what_exists_is_given(
    db: Database, tenant_id: TenantId, keyring: Keyring
) -> None:
    """A reader makes nothing; a tenant without any key has nothing."""
    anna, ben = recipients(2)
    async with db.tenant(tenant_id) as tx:
        assert await keyring.data_keys(tx, [anna], create=False) == {}
        await keyring.data_key(tx, anna)
        assert set(await keyring.data_keys(tx, [anna, ben], create=False)) == {anna}
        assert await keyring.data_keys(tx, []) == {}


async def test_a_read_only_caller_reads(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    """A viewer opens what is there and can't make keys or destroy them."""
    anna, ben = recipients(2)
    async with db.tenant(tenant_id) as tx:
        await keyring.provision(tx)
        box = (await keyring.data_key(tx, anna)).seal(b"x", "p")

    async with db.tenant(tenant_id, caller_role="tenant.viewer") as tx:
        assert (await keyring.data_key(tx, anna)).unseal(box, "p") == b"x"
    with pytest.raises(NotPermittedError):
        async with db.tenant(tenant_id, caller_role="tenant.viewer") as tx:
            await keyring.data_key(tx, ben)
    with pytest.raises(NotPermittedError):
        async with db.tenant(tenant_id, caller_role="tenant.viewer") as tx:
            await keyring.destroy(tx, [anna])


async def test_destroyed_means_unreadable_at_once(
    db: Database, tenant_id: TenantId, keyring: Keyring
) -> None:
    """From the commit on nothing opens, in the process that destroyed and in any other, and ben is unharmed."""
    anna, ben = recipients(2)
    async with db.tenant(tenant_id) as tx:
        keys = await keyring.data_keys(tx, [anna, ben])
        boxes = {subject: key.seal(b"x", "p") for subject, key in keys.items()}

    async with db.tenant(tenant_id) as tx:
        await keyring.destroy(tx, [anna])
        await keyring.destroy(tx, [anna])

    async with db.tenant(tenant_id) as tx:
        keys = await keyring.data_keys(tx, [anna, ben])
        with pytest.raises(DestroyedKeyError, match=anna):
            keys[anna].unseal(boxes[anna], "p")
        with pytest.raises(DestroyedKeyError):
            keys[anna].seal(b"x", "p")
        assert keys[ben].unseal(boxes[ben], "p") == b"x"


async def test_who_comes_back_gets_another_key(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    """Re-creating is explicit, and does not bring the old content back."""
    (anna,) = recipients(1)
    async with db.tenant(tenant_id) as tx:
        old_box = (await keyring.data_key(tx, anna)).seal(b"old", "p")
        await keyring.destroy(tx, [anna])

    async with db.tenant(tenant_id) as tx:
        new = await keyring.recreate(tx, anna)
        assert (await keyring.recreate(tx, anna)).version == new.version == 2
    async with db.tenant(tenant_id) as tx:
        key = await keyring.data_key(tx, anna)

    assert key.unseal(new.seal(b"new", "p"), "p") == b"new"
    with pytest.raises(DestroyedKeyError):
        key.unseal(old_box, "p")


async def test_a_subject_destroyed_before_it_had_a_key(
    db: Database, tenant_id: TenantId, keyring: Keyring
) -> None:
    """A late writer can't make a key for somebody who was erased before."""
    (anna,) = recipients(1)
    async with db.tenant(tenant_id) as tx:
        await keyring.destroy(tx, [anna])
    async with db.tenant(tenant_id) as tx:
        assert (await keyring.data_key(tx, anna)).destroyed
        assert (await keyring.recreate(tx, anna)).versions == (2,)


async def test_erasure_wins_against_creators(db: Database, tenant_id: TenantId, kms: MemoryKms) -> None:
    """Whoever is at work when a recipient is erased, no living key is left afterwards."""
    keyring = Keyring(kms, clock=SystemClock())
    async with db.tenant(tenant_id) as tx:
        await keyring.provision(tx)
    for _ in range(15):
        people = recipients(6)

        async def create(subjects: list[str]) -> None:
            async with db.tenant(tenant_id) as tx:
                await keyring.data_keys(tx, subjects)

        async def erase(subjects: list[str]) -> None:
            async with db.tenant(tenant_id) as tx:
                await keyring.destroy(tx, subjects)

        results = await asyncio.gather(
            create(people), *(create([subject]) for subject in people), erase(people), return_exceptions=True
        )
        assert all(r is None or isinstance(r, DestroyedKeyError) for r in results), results

        async with db.tenant(tenant_id) as tx:
            assert all(key.destroyed for key in (await keyring.data_keys(tx, people)).values())


async def test_tenants_share_nothing(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    """The same subject id under two tenants has two keys, and no box passes between them."""
    other = TENANT.new(SystemClock().now())
    (anna,) = recipients(1)
    async with db.tenant(tenant_id) as tx:
        box = (await keyring.data_key(tx, anna)).seal(b"x", "p")
        ours = await keyring.pepper(tx)
    async with db.tenant(other) as tx:
        assert await keyring.data_keys(tx, [anna], create=False) == {}
        with pytest.raises(UnreadableError):
            (await keyring.data_key(tx, anna)).unseal(box, "p")
        theirs = await keyring.pepper(tx)

    assert ours.hash("a") != theirs.hash("a")


async def test_a_wrapped_key_that_was_moved_does_not_open(
    fresh_db: Database, fresh_database: TestDatabase, tenant_id: TenantId, keyring: Keyring
) -> None:
    """Somebody who can write to the tables can't make one recipient's key serve another."""
    anna, ben = recipients(2)
    async with fresh_db.tenant(tenant_id) as tx:
        await keyring.data_keys(tx, [anna, ben])
    async with fresh_database.runtime() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        await connection.execute(
            "UPDATE kernel.data_keys SET wrapped_key = (SELECT wrapped_key FROM kernel.data_keys WHERE subject_id = $1)"
            " WHERE subject_id = $2",
            anna,
            ben,
        )

    async with fresh_db.tenant(tenant_id) as tx:
        with pytest.raises(UnreadableError, match=ben):
            await keyring.data_key(tx, ben)


async def test_the_database_keeps_the_destroyed_destroyed(
    db: Database, worker_database: TestDatabase, tenant_id: TenantId, keyring: Keyring
) -> None:
    """Not even by hand does a destroyed key come back, and no key row can be deleted."""
    (anna,) = recipients(1)
    async with db.tenant(tenant_id) as tx:
        await keyring.destroy(tx, [anna])

    for statement in (
        "UPDATE kernel.data_keys SET wrapped_key = 'x', destroyed_at = NULL WHERE subject_id = $1",
        "DELETE FROM kernel.data_keys WHERE subject_id = $1",
    ):
        async with worker_database.runtime() as connection:
            with pytest.raises(Exception, match=r"refused|permission denied"):
                async with connection.transaction():
                    await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
                    await connection.execute(statement, anna)


async def test_bad_subjects_are_refused(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    """An empty or endless subject has no key."""
    for subject in ("", "x" * 201):
        with pytest.raises(DatabaseError, match="ck_data_keys_subject"):
            async with db.tenant(tenant_id) as tx:
                await keyring.data_key(tx, subject)


async def test_platform_keys(db: Database, tenant_id: TenantId, keyring: Keyring, kms: MemoryKms) -> None:
    """The platform's pepper and key are made once; a tenant's transaction can't even see them."""
    fresh = Keyring(kms, clock=SystemClock())
    async with db.platform() as tx:
        box = (await keyring.platform_key(tx, "test_callbacks")).seal(b"raw callback", "body")
    async with db.platform() as tx:
        assert (await fresh.platform_key(tx, "test_callbacks")).unseal(box, "body") == b"raw callback"
        with pytest.raises(UnreadableError):
            (await fresh.platform_key(tx, "test_other")).unseal(box, "body")
    with pytest.raises(NotPermittedError):
        async with db.tenant(tenant_id) as tx:
            await tx.fetch(QUERIES.load_platform_keys, purpose="test_callbacks")


async def test_the_platform_pepper_stays(fresh_db: Database, keyring: Keyring, kms: MemoryKms) -> None:
    """Every process hashes alike."""

    async def hashed(ring: Keyring) -> str:
        async with fresh_db.platform() as tx:
            return (await ring.platform_pepper(tx)).hash("a")

    rings = [keyring, keyring, *(Keyring(kms, clock=SystemClock()) for _ in range(4))]
    assert len(set(await asyncio.gather(*map(hashed, rings)))) == 1


async def test_nothing_secret_is_stored(
    fresh_db: Database, fresh_database: TestDatabase, tenant_id: TenantId, keyring: Keyring
) -> None:
    """No key lies in the tables in a form that opens a box."""
    people = recipients(3)
    async with fresh_db.tenant(tenant_id) as tx:
        keys = await keyring.data_keys(tx, people)
    async with fresh_database.runtime() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        stored = await connection.fetch(
            "SELECT wrapped_key FROM kernel.data_keys UNION ALL SELECT wrapped_key FROM kernel.tenant_keys"
        )

    assert len(stored) == 4
    for key in keys.values():
        (material,) = (k.reveal() for k in key._keys.values())
        assert not any(material in row["wrapped_key"] for row in stored)
