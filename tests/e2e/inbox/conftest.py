"""The application on a real port, the shop of the sandbox as a tenant's site, and a real Chromium before it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.inbox_reader import InboxReaderAtShop, reader_at_shop
from tests.support.live_inbox import live_process
from tests.support.pipeline import PipelineWorld, pipeline_world, prepared_database
from tests.support.postgres import TestServer


@pytest.fixture(scope="module")
async def world(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PipelineWorld]:
    """A world at the time of the browser, whose clock can't be moved."""
    now = datetime.now(UTC)
    months = (now, now + timedelta(days=31))
    async with (
        prepared_database(server, tmp_path_factory.mktemp("inbox"), *months) as prepared,
        pipeline_world(prepared, now) as made,
    ):
        yield made


@pytest.fixture
async def site(world: PipelineWorld) -> AsyncIterator[str]:
    """Where the application listens, with live streams; for one test, because what it leaves running is cancelled."""
    async with live_process(world.system) as process:
        yield process.url


@pytest.fixture(scope="module")
async def chromium_tab() -> AsyncIterator[Browser]:
    """Somebody at a Chromium."""
    async with browser(chromium_or_skip("the in-app inbox")) as somebody:
        yield somebody


@pytest.fixture
async def reader(world: PipelineWorld, site: str, chromium_tab: Browser) -> AsyncIterator[InboxReaderAtShop]:
    """A visitor of the shop of a new tenant."""
    async with reader_at_shop(world, site, chromium_tab) as somebody:
        yield somebody
