"""The application on a real port, a customer's receiver beside it, and a real Chromium before it."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.webhooks.arranging import Subscriber
from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.pipeline import NOON, PipelineWorld, pipeline_world, prepared_database
from tests.support.postgres import TestServer
from tests.support.system import LOOPBACK
from tests.support.webhook_receiver import WebhookReceiver, webhook_receiver
from tidings.kernel.http.serve import HttpServer, address_of, listen


@pytest.fixture(scope="module")
async def world(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PipelineWorld]:
    """A world at noon, in which webhooks lead to loopback."""
    async with (
        prepared_database(server, tmp_path_factory.mktemp("portal"), NOON) as prepared,
        pipeline_world(prepared, public_url="https://tidings.example", tenant_networks=LOOPBACK) as made,
    ):
        yield made


@pytest.fixture(scope="module")
async def site(world: PipelineWorld) -> AsyncIterator[str]:
    """Where the application listens."""
    listener = listen("127.0.0.1", 0)
    running = HttpServer(world.http.app, listener=listener)
    await running.start()
    try:
        yield address_of(listener)
    finally:
        await running.stop()


@pytest.fixture(scope="module")
async def visitor_at() -> AsyncIterator[Browser]:
    """Somebody at a Chromium."""
    async with browser(chromium_or_skip("the webhook portal")) as somebody:
        yield somebody


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    """The customer's own service."""
    async with webhook_receiver() as made:
        yield made


@pytest.fixture
async def subscriber(world: PipelineWorld) -> AsyncIterator[Subscriber]:
    """The tenant, with its name and colour."""
    tenant_id = await world.tenant()
    async with world.http.as_tenant(tenant_id) as client:
        branding = {"name": "Bamiyan Books", "primary_colour": "#0b6e4f"}
        etag = (await client.get("/api/v1/branding")).headers["etag"]
        named = await client.put("/api/v1/branding", json=branding, headers={"If-Match": etag})
        assert named.status_code == 200, named.text
        yield Subscriber(world=world, tenant_id=tenant_id, client=client)
