"""New recipients get a key under the newest wrapping key of their tenant, whatever this process remembers of it."""

import pytest

from tests.integration.keys.test_rotation import KilledError, versions_in_use
from tests.integration.recipients.test_upserting import guest, upsert
from tests.support.people import PeopleWorld, counted, unused
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.rotation import rotate_tenant
from tidings.notify.recipients.model import NAME_PURPOSE
from tidings.notify.recipients.upsert import UpsertResult


def _elsewhere(world: PeopleWorld) -> Keyring:
    """The keyring of another process: this one hears nothing of what it does."""
    return Keyring(world.system.kernel.keyring.kms, clock=SystemClock())


async def test_nothing_is_written_under_a_key_that_was_rotated_away(
    world: PeopleWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()
    await upsert(world, tenant.id, guest(unused()))
    await rotate_tenant(world.db, _elsewhere(world), tenant.id)

    async with world.db.tenant(tenant.id) as tx, counted(tx) as statements:
        [made] = (await world.upserter.upsert(tx, [guest(unused(), display_name="Laila")])).results
    assert isinstance(made, UpsertResult)
    assert made.recipient.display_name_ciphertext is not None

    # Tried in vain, the newest key read, made.
    assert len(statements) == 3
    assert (await versions_in_use(worker_database, tenant.id)).keys() == {2}
    async with world.db.tenant(tenant.id) as tx:
        key = await _elsewhere(world).data_key(tx, made.recipient.id)
    assert key.unseal(made.recipient.display_name_ciphertext, NAME_PURPOSE) == b"Laila"


async def test_while_a_rotation_is_under_way_the_new_key_is_used(
    world: PeopleWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()
    await upsert(world, tenant.id, guest(unused()))
    before = await versions_in_use(worker_database, tenant.id)

    def kill(_done: int, _total: int) -> None:
        raise KilledError

    with pytest.raises(KilledError):
        await rotate_tenant(world.db, _elsewhere(world), tenant.id, on_progress=kill)
    await upsert(world, tenant.id, *(guest(unused()) for _ in range(3)))

    after = await versions_in_use(worker_database, tenant.id)
    assert sum(after.values()) == sum(before.values()) + 3
    assert after[2] >= 3
