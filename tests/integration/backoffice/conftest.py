"""What the tests of the back office share."""

import pytest

from tests.support.http import HttpWorld, http_world
from tests.support.operators import SignedIn, an_operator, quick_passwords
from tests.support.system import now_clock
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


@pytest.fixture
def world(db: Database) -> HttpWorld:
    """The application over the shared database, with a clock that the tests move."""
    made = http_world(db, clock=now_clock())
    quick_passwords(made)
    return made


@pytest.fixture
async def tenant(world: HttpWorld) -> Tenant:
    """A new tenant."""
    return await world.tenant()


@pytest.fixture
async def admin(world: HttpWorld, tenant: Tenant) -> SignedIn:
    """An admin of the tenant, signed in."""
    return await an_operator(world, tenant.id)
