"""One prepared database for these tests, and a world over it for each file, in which webhooks lead to loopback."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.integration.webhooks.arranging import Subscriber
from tests.support.pipeline import NOON, PipelineWorld, Prepared, pipeline_world, prepared_database
from tests.support.postgres import TestServer
from tests.support.system import LOOPBACK
from tests.support.webhook_receiver import WebhookReceiver, webhook_receiver


@pytest.fixture(scope="session")
async def prepared(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Prepared]:
    """A database with the platform's templates and accounts."""
    folder = tmp_path_factory.mktemp("webhooks")
    months = [NOON + timedelta(days=days) for days in (0, 20, 45)]
    async with prepared_database(server, folder, *months) as made:
        yield made


@pytest.fixture(scope="module")
async def world(prepared: Prepared) -> AsyncIterator[PipelineWorld]:
    """This file's world, at noon; each test makes its own tenants."""
    async with pipeline_world(prepared, tenant_networks=LOOPBACK) as made:
        yield made


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    """A tenant's own service."""
    async with webhook_receiver() as made:
        yield made


@pytest.fixture
async def subscriber(world: PipelineWorld) -> AsyncIterator[Subscriber]:
    """A tenant with a key."""
    tenant_id = await world.tenant()
    async with world.http.as_tenant(tenant_id) as client:
        yield Subscriber(world=world, tenant_id=tenant_id, client=client)
