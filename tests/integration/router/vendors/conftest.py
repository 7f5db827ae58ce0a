"""What these tests share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.ladders import LadderWorld, Worker
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.sandbox import Sandbox


@pytest.fixture
async def world(fresh_db: Database, tmp_path: Path, tenant_id: TenantId) -> AsyncIterator[LadderWorld]:
    """A tenant in real time; its accounts are the tests' own."""
    async with Sandbox(SystemClock(), seed=1) as sandbox:
        yield LadderWorld(fresh_db, tmp_path, sandbox, tenant_id, clock=SystemClock())


@pytest.fixture
async def worker(world: LadderWorld) -> AsyncIterator[Worker]:
    """A worker that the others know."""
    made = Worker(world)
    await made.announce()
    yield made
    await made.vendors.close()
