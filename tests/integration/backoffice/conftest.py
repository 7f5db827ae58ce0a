"""What the tests of the back office share."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.backoffice.sent import ConsoleWorld
from tests.support.http import HttpWorld, http_world
from tests.support.operators import SignedIn, an_operator, quick_passwords
from tests.support.system import now_clock
from tests.support.upstreams import running_simulator
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator


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


@pytest.fixture
async def simulator(world: HttpWorld) -> AsyncIterator[PropertySimulator]:
    """Upstream services that the application is connected to."""
    async with running_simulator(world.clock, world.system) as running:
        yield running


@pytest.fixture(scope="session")
async def sent(db: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ConsoleWorld]:
    """The same with notifications in it; the child process that looks at templates costs more than a test."""
    made = ConsoleWorld(db, tmp_path_factory.mktemp("console"), now_clock())
    quick_passwords(made.http)
    yield made
    await made.system.notify.renderer.close()
    await made.system.notify.authoring.close()
