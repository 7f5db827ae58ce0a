"""What these tests share: a tenant whose messages go to a sandbox, and the application that shows how."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.router.policies.world import PolicyWorld, policy_world
from tests.support.ladders import LadderWorld, Worker
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.sandbox import Sandbox

HOME = "/api/v1/router/executions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One tenant's messages, and somebody of it who asks."""

    ladders: LadderWorld
    worker: Worker
    application: PolicyWorld
    client: httpx2.AsyncClient

    async def listed(self, **wanted: str) -> list[dict[str, Any]]:
        """What the list shows."""
        answer = await self.client.get(HOME, params=wanted)
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items

    async def shown(self, execution_id: str) -> dict[str, Any]:
        """One of them, whole."""
        answer = await self.client.get(f"{HOME}/{execution_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture
async def scene(fresh_db: Database, tmp_path: Path) -> AsyncIterator[Scene]:
    """A database of its own, because claims reach across tenants."""
    application = policy_world(fresh_db)
    tenant = await application.http.tenant()
    async with (
        Sandbox(SystemClock(), seed=1) as sandbox,
        application.http.as_tenant(tenant.id) as client,
    ):
        ladders = LadderWorld(fresh_db, tmp_path, sandbox, tenant.id)
        await ladders.accounts()
        worker = Worker(ladders)
        await worker.announce()
        yield Scene(ladders=ladders, worker=worker, application=application, client=client)
        await worker.vendors.close()
