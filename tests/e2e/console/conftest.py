"""One installation and one browser, which all tests of the console share."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.console_browser import sign_in
from tests.support.running import RunningTidings


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTidings]:
    """An installation that has just been started."""
    with RunningTidings(tmp_path_factory.mktemp("console") / "data") as running:
        yield running


@pytest.fixture(scope="package")
async def at(up: RunningTidings) -> AsyncIterator[Browser]:
    """Somebody at a Chromium."""
    async with browser(chromium_or_skip("the console")) as somebody:
        await somebody.watch_for_faults()
        yield somebody


@pytest.fixture
async def inside(at: Browser, up: RunningTidings) -> Browser:
    """The same, signed in as the demo's operator, who is an admin."""
    await sign_in(at, up)
    return at
