"""Rotation: nobody notices it, nothing is lost, and a killed run is finished by the next."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.integration.keys.conftest import recipients
from tests.support.kms import MemoryKms
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.key_file import LocalKeyFileKms
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import Kms, UnknownMasterKeyError
from tidings.kernel.keys.rotation import has_keys, plan_tenant_rotation, rotate_master, rotate_tenant
from tidings.kernel.keys.status import check_master_keys, key_status
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE


class KilledError(Exception):
    """Stands for kill -9: raised where a test wants the run to end."""


async def seal_for(
    db: Database, keyring: Keyring, tenant_id: TenantId, people: list[str]
) -> dict[str, bytes]:
    async with db.tenant(tenant_id) as tx:
        keys = await keyring.data_keys(tx, people)
    return {subject: key.seal(subject.encode(), "p") for subject, key in keys.items()}


async def open_all(db: Database, kms: Kms, tenant_id: TenantId, boxes: dict[str, bytes]) -> None:
    async with db.tenant(tenant_id) as tx:
        keys = await Keyring(kms, clock=SystemClock()).data_keys(tx, boxes)
    assert all(keys[subject].unseal(box, "p") == subject.encode() for subject, box in boxes.items())


@asynccontextmanager
async def as_tenant(database: TestDatabase, tenant_id: TenantId) -> AsyncIterator[object]:
    async with database.runtime() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        yield connection


async def versions_in_use(database: TestDatabase, tenant_id: TenantId) -> dict[int, int]:
    async with as_tenant(database, tenant_id) as connection:
        rows = await connection.fetch(  # type: ignore[attr-defined]
            "SELECT tenant_key_version, count(*) FROM kernel.data_keys WHERE destroyed_at IS NULL GROUP BY 1"
        )
    return {row[0]: row[1] for row in rows}


async def states(database: TestDatabase, tenant_id: TenantId) -> dict[int, str]:
    async with as_tenant(database, tenant_id) as connection:
        rows = await connection.fetch(  # type: ignore[attr-defined]
            "SELECT version, state FROM kernel.tenant_keys WHERE purpose = 'wrapping'"
        )
    return {row[0]: row[1] for row in rows}


async def test_rows_restored_from_a_backup_are_moved_too(
    db: Database, worker_database: TestDatabase, tenant_id: TenantId, keyring: Keyring, kms: MemoryKms
) -> None:
    """A data key that came back under a retired tenant key opens, and the next rotation takes it along."""
    boxes = await seal_for(db, keyring, tenant_id, recipients(2))
    async with as_tenant(worker_database, tenant_id) as connection:
        backup = await connection.fetchval(  # type: ignore[attr-defined]
            "SELECT wrapped_key FROM kernel.data_keys WHERE subject_id = $1", min(boxes)
        )
    await rotate_tenant(db, keyring, tenant_id)
    async with as_tenant(worker_database, tenant_id) as connection:
        await connection.execute(  # type: ignore[attr-defined]
            "UPDATE kernel.data_keys SET wrapped_key = $1, tenant_key_version = 1 WHERE subject_id = $2",
            backup,
            min(boxes),
        )
    await open_all(db, kms, tenant_id, boxes)

    done = await rotate_tenant(db, keyring, tenant_id)

    assert (done.version, done.rewrapped) == (3, 2)
    assert await versions_in_use(worker_database, tenant_id) == {3: 2}
    await open_all(db, kms, tenant_id, boxes)


async def test_a_tenant_rotates_in_chunks(
    db: Database, worker_database: TestDatabase, tenant_id: TenantId, keyring: Keyring, kms: MemoryKms
) -> None:
    """All data keys move, the content is not touched, the old version retires, the progress is told."""
    people = recipients(25)
    boxes = await seal_for(db, keyring, tenant_id, people)
    told: list[tuple[int, int]] = []

    assert await plan_tenant_rotation(db, tenant_id) == 25
    done = await rotate_tenant(db, keyring, tenant_id, chunk=10, on_progress=lambda *now: told.append(now))

    assert (done.version, done.resumed, done.rewrapped, done.retired) == (2, False, 25, 1)
    assert told == [(0, 25), (10, 25), (20, 25), (25, 25)]
    assert await versions_in_use(worker_database, tenant_id) == {2: 25}
    assert await states(worker_database, tenant_id) == {1: "retired", 2: "active"}
    await open_all(db, kms, tenant_id, boxes)


async def test_a_pepper_never_rotates(
    db: Database, tenant_id: TenantId, keyring: Keyring, kms: MemoryKms
) -> None:
    """Hashes made before all rotations still match."""
    async with db.tenant(tenant_id) as tx:
        before = (await keyring.pepper(tx)).hash("a")

    await rotate_tenant(db, keyring, tenant_id)

    async with db.tenant(tenant_id) as tx:
        assert (await Keyring(kms, clock=SystemClock()).pepper(tx)).hash("a") == before


@pytest.mark.parametrize("after", [0, 10, 20])
async def test_a_killed_rotation_is_finished_by_the_next(
    db: Database, worker_database: TestDatabase, tenant_id: TenantId, kms: MemoryKms, after: int
) -> None:
    """Killed at the start or between chunks: all is readable at once, and running it again finishes it."""
    keyring = Keyring(kms, clock=SystemClock())
    boxes = await seal_for(db, keyring, tenant_id, recipients(25))

    def die(done: int, _: int) -> None:
        if done == after:
            raise KilledError

    with pytest.raises(KilledError):
        await rotate_tenant(db, keyring, tenant_id, chunk=10, on_progress=die)

    await open_all(db, kms, tenant_id, boxes)
    assert await states(worker_database, tenant_id) == {1: "active", 2: "active"}
    assert (await key_status(db, kms)).unfinished[tenant_id] == (1, 2)
    assert await plan_tenant_rotation(db, tenant_id) == 25 - after

    done = await rotate_tenant(db, Keyring(kms, clock=SystemClock()), tenant_id, chunk=10)

    assert (done.version, done.resumed, done.rewrapped) == (2, True, 25 - after)
    assert await states(worker_database, tenant_id) == {1: "retired", 2: "active"}
    assert tenant_id not in (await key_status(db, kms)).unfinished
    await open_all(db, kms, tenant_id, boxes)


async def test_rotations_of_one_tenant_at_once(
    db: Database, worker_database: TestDatabase, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """Two operators with the same idea do no harm."""
    boxes = await seal_for(db, keyring, tenant_id, recipients(30))

    await asyncio.gather(
        *(rotate_tenant(db, Keyring(kms, clock=SystemClock()), tenant_id, chunk=5) for _ in range(3))
    )

    newest = max(await states(worker_database, tenant_id))
    assert await versions_in_use(worker_database, tenant_id) == {newest: 30}
    await open_all(db, kms, tenant_id, boxes)


async def test_an_old_version_retires_only_when_nothing_is_made_under_it(
    db: Database, worker_database: TestDatabase, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """A slow transaction that made a key under the old version holds its retirement up, and its key is moved too."""
    await seal_for(db, keyring, tenant_id, recipients(3))
    (late,) = recipients(1)

    async with db.tenant(tenant_id) as slow:
        key = await keyring.data_key(slow, late)
        box = key.seal(late.encode(), "p")
        rotation = asyncio.create_task(rotate_tenant(db, keyring, tenant_id))
        async with asyncio.timeout(20):
            while not await _waits_for_a_lock(worker_database):
                assert not rotation.done()
                await asyncio.sleep(0.01)

    done = await rotation
    assert (done.rewrapped, done.retired) == (4, 1)
    assert await versions_in_use(worker_database, tenant_id) == {2: 4}
    await open_all(db, kms, tenant_id, {late: box})


async def _waits_for_a_lock(database: TestDatabase) -> bool:
    async with database.runtime() as connection:
        return bool(
            await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        )


async def test_rotation_does_not_bring_the_destroyed_back(
    db: Database, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """An erasure in the middle of a rotation holds."""
    people = recipients(40)
    boxes = await seal_for(db, keyring, tenant_id, people)

    async def erase() -> None:
        for subject in people[::2]:
            async with db.tenant(tenant_id) as tx:
                await keyring.destroy(tx, [subject])

    await asyncio.gather(erase(), rotate_tenant(db, keyring, tenant_id, chunk=3))

    async with db.tenant(tenant_id) as tx:
        keys = await Keyring(kms, clock=SystemClock()).data_keys(tx, people)
    for number, subject in enumerate(people):
        if number % 2:
            assert keys[subject].unseal(boxes[subject], "p") == subject.encode()
        else:
            with pytest.raises(DestroyedKeyError):
                keys[subject].unseal(boxes[subject], "p")


async def test_the_master_key_rotates(fresh_db: Database, key_file: LocalKeyFileKms) -> None:
    """Tenant and platform keys are wrapped anew in chunks; data keys and content stay as they are."""
    keyring = Keyring(key_file, clock=SystemClock())
    tenants = [TENANT.new(SystemClock().now()) for _ in range(4)]
    sealed = {tenant: await seal_for(fresh_db, keyring, tenant, recipients(3)) for tenant in tenants}
    async with fresh_db.platform() as tx:
        platform_box = (await keyring.platform_key(tx, PLATFORM_PURPOSE)).seal(b"raw", "body")
        pepper = (await keyring.platform_pepper(tx)).hash("a")
    old = await key_file.current_key_id()

    done = await rotate_master(fresh_db, key_file, chunk=3)

    assert done.master_key_id != old
    assert (done.tenant_keys, done.platform_keys) == (4, 2)
    assert (await key_status(fresh_db, key_file)).by_master == {done.master_key_id: (4, 2)}
    elsewhere = Keyring(key_file, clock=SystemClock())
    for tenant, boxes in sealed.items():
        await open_all(fresh_db, key_file, tenant, boxes)
    async with fresh_db.platform() as tx:
        assert (await elsewhere.platform_key(tx, PLATFORM_PURPOSE)).unseal(platform_box, "body") == b"raw"
        assert (await elsewhere.platform_pepper(tx)).hash("a") == pepper


async def test_a_killed_master_rotation_is_resumed(fresh_db: Database, key_file: LocalKeyFileKms) -> None:
    """Half the keys under the old master key, half under the new: all readable, and resuming moves the rest."""
    keyring = Keyring(key_file, clock=SystemClock())
    tenants = [TENANT.new(SystemClock().now()) for _ in range(4)]
    sealed = {tenant: await seal_for(fresh_db, keyring, tenant, recipients(2)) for tenant in tenants}

    def die(done: int, _: int) -> None:
        if done:
            raise KilledError

    with pytest.raises(KilledError):
        await rotate_master(fresh_db, key_file, chunk=2, on_progress=die)
    for tenant, boxes in sealed.items():
        await open_all(fresh_db, key_file, tenant, boxes)
    done = await rotate_master(fresh_db, key_file, new_key=False)

    assert done.tenant_keys == 2
    assert list((await key_status(fresh_db, key_file)).by_master) == [done.master_key_id]
    for tenant, boxes in sealed.items():
        await open_all(fresh_db, key_file, tenant, boxes)


async def test_a_lost_master_key_is_named(
    fresh_db: Database, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """With another key file nothing is changed; the message names the key that is needed."""
    await check_master_keys(fresh_db, kms)
    await seal_for(fresh_db, keyring, tenant_id, recipients(1))
    needed = await kms.current_key_id()
    other = MemoryKms()
    before = await other.current_key_id()

    await check_master_keys(fresh_db, kms)
    with pytest.raises(UnknownMasterKeyError, match=needed):
        await check_master_keys(fresh_db, other)
    with pytest.raises(UnknownMasterKeyError, match=needed):
        await rotate_master(fresh_db, other)
    assert await other.current_key_id() == before


async def test_a_damaged_key_is_named(
    fresh_db: Database, fresh_database: TestDatabase, tenant_id: TenantId, kms: MemoryKms, keyring: Keyring
) -> None:
    """A rotation stops at a row that was tampered with and says whose it is."""
    (anna,) = recipients(1)
    await seal_for(fresh_db, keyring, tenant_id, [anna])
    async with as_tenant(fresh_database, tenant_id) as connection:
        await connection.execute(  # type: ignore[attr-defined]
            "UPDATE kernel.data_keys SET wrapped_key = wrapped_key || 'x'"
        )

    with pytest.raises(UnreadableError, match=anna):
        await rotate_tenant(fresh_db, keyring, tenant_id)


async def test_has_keys(db: Database, tenant_id: TenantId, keyring: Keyring) -> None:
    """A tenant without keys is told from one with."""
    assert not await has_keys(db, tenant_id)
    assert await plan_tenant_rotation(db, tenant_id) == 0
    async with db.tenant(tenant_id) as tx:
        await keyring.provision(tx)
    assert await has_keys(db, tenant_id)


async def test_nobody_notices_rotations_under_load(fresh_db: Database, key_file: LocalKeyFileKms) -> None:
    """Writers and readers in two processes' worth of memory work on while everything rotates, without one failure."""
    clock = SystemClock()
    tenant_id = TENANT.new(clock.now())
    rings = [Keyring(LocalKeyFileKms(key_file._file), clock=clock) for _ in range(2)]
    known: dict[str, bytes] = await seal_for(fresh_db, rings[0], tenant_id, recipients(300))
    stop = asyncio.Event()
    counts = {"written": 0, "read": 0}

    async def write(ring: Keyring) -> None:
        while not stop.is_set():
            known.update(await seal_for(fresh_db, ring, tenant_id, recipients(5)))
            counts["written"] += 5

    async def read(ring: Keyring) -> None:
        while not stop.is_set():
            boxes = dict(list(known.items())[-50:] + list(known.items())[:50])
            async with fresh_db.tenant(tenant_id) as tx:
                keys: dict[str, DataKey] = await ring.data_keys(tx, boxes, create=False)
            assert all(keys[subject].unseal(box, "p") == subject.encode() for subject, box in boxes.items())
            counts["read"] += len(boxes)

    async def rotate() -> None:
        command = Keyring(LocalKeyFileKms(key_file._file), clock=clock)
        for _ in range(4):
            await rotate_tenant(fresh_db, command, tenant_id, chunk=50)
            await rotate_master(fresh_db, command.kms)
        stop.set()

    await asyncio.gather(rotate(), *(write(ring) for ring in rings), *(read(ring) for ring in rings))

    await open_all(fresh_db, key_file, tenant_id, known)
    status = await key_status(fresh_db, key_file)
    assert counts["written"] > 0
    assert counts["read"] > 0
    assert status.unfinished == {}
    assert list(status.by_master) == [await key_file.current_key_id()]
