"""What these tests share: the application, and a tenant that has policies."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.integration.router.policies.world import PolicyWorld, policy_world
from tidings.kernel.db import Database


@pytest.fixture
def world(db: Database) -> PolicyWorld:
    """The application over the shared database, whose clock a test moves."""
    return policy_world(db)


@pytest.fixture
async def client(world: PolicyWorld) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody of a new tenant."""
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        yield client
