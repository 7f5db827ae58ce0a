"""The application on a real port, and a real Chromium before it."""

from collections.abc import AsyncIterator

import pytest

from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.pipeline import NOON, PipelineWorld, pipeline_world, prepared_database
from tests.support.postgres import TestServer
from tidings.kernel.http.serve import HttpServer, address_of, listen


@pytest.fixture(scope="module")
async def world(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PipelineWorld]:
    """A world at noon."""
    async with (
        prepared_database(server, tmp_path_factory.mktemp("pages"), NOON) as prepared,
        pipeline_world(prepared, public_url="https://tidings.example") as made,
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
    program = chromium_or_skip("the preference pages")
    async with browser(program) as somebody:
        yield somebody
