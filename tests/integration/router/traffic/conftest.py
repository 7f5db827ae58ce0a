"""What these tests share: a tenant with two vendors."""

import pytest

from tests.integration.router.traffic.world import TrafficWorld
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId


@pytest.fixture
async def world(db: Database, tenant_id: TenantId) -> TrafficWorld:
    """Two accounts of one adapter, each under a name of its own."""
    world = TrafficWorld(db, tenant_id)
    await world.with_accounts("http_a", "http_b")
    return world
