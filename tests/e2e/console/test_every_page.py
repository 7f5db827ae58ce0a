"""Every page of the console can be reached, fits a telephone, is small, and has nothing serious for axe, by day, in the dark and in Arabic."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import pytest

from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.console_browser import AXE, needs_axe, sign_in
from tests.support.console_pages import find_pages, signed_in
from tests.support.running import RunningTidings, run_tidings
from tidings.backoffice.console.places import PLACES

pytestmark = pytest.mark.xdist_group("console")
TELEPHONE: Final = 390
MOST_BYTES: Final = 200_000
_WEIGHT: Final = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .reduce((sum, one) => sum + one.decodedBodySize, 0)
"""
#: Without motion, or axe would see colours on their way.
_DARK: Final = [
    {"name": "prefers-color-scheme", "value": "dark"},
    {"name": "prefers-reduced-motion", "value": "reduce"},
]
_AXE: Final = """
axe.run(document, { resultTypes: ["violations"], ...%s }).then((found) => found.violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes[0].html.slice(0, 300)]))
"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTidings]:
    """An installation of its own, with something to see on every page: the others' begin with nothing."""
    folder = tmp_path_factory.mktemp("every-page") / "data"
    with RunningTidings(folder) as running:
        done = run_tidings("demo", "--size", "small", "--data-dir", str(folder))
        assert done.returncode == 0, done.stderr
        yield running


@pytest.fixture
async def somebody(up: RunningTidings) -> AsyncIterator[Browser]:
    """At a Chromium of their own, signed in."""
    async with browser(chromium_or_skip("every page of the console")) as at:
        await at.watch_for_faults()
        await sign_in(at, up)
        yield at


@needs_axe
async def test_every_page(somebody: Browser, up: RunningTidings) -> None:
    base = up.demo["base_url"]
    with signed_in(up.data_dir) as client:
        found, missing = find_pages(client)
    assert missing == [], "nothing leads to these pages"
    pages = list(found.values())
    arabic = await somebody.tab()

    faults = await asyncio.gather(_on_a_telephone(somebody, base, pages), _in_arabic(arabic, base, pages))

    assert not any(faults), "\n".join(map(str, [*faults[0], *faults[1]]))


async def _on_a_telephone(at: Browser, base: str, pages: list[str]) -> list[Any]:
    wrong: list[Any] = []
    axe, places = AXE.read_text(), {place.path for place in PLACES}
    for path in pages:
        await at.open(f"{base}{path}", width=TELEPHONE, height=844)
        if (wide := await at.see("document.documentElement.scrollWidth")) > TELEPHONE:
            wrong.append((path, "is wider than a telephone", wide))
        if (weight := await at.see(_WEIGHT)) > MOST_BYTES:
            wrong.append((path, "is heavy", weight))
        await at.page.evaluate(f"{axe};true")
        if serious := await at.page.evaluate(_AXE % "{}"):
            wrong.append((path, "by day", serious))
        if path in places:
            # The others are made of the same parts.
            await at.page.call("Emulation.setEmulatedMedia", {"features": _DARK})
        if path in places and (serious := await at.page.evaluate(_AXE % '{ runOnly: ["color-contrast"] }')):
            wrong.append((path, "in the dark", serious))
        if faults := await at.faults():
            wrong.append((path, "faults", faults))
    return wrong


async def _in_arabic(at: Browser, base: str, pages: list[str]) -> list[Any]:
    wrong: list[Any] = []
    await at.watch_for_faults()
    await at.page.call("Network.enable", {})
    await at.page.call("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": "ar"}})
    for path in pages:
        await at.open(f"{base}{path}", width=TELEPHONE, height=844)
        seen = await at.see("[document.documentElement.dir, document.documentElement.scrollWidth]")
        if seen != ["rtl", TELEPHONE]:
            wrong.append((path, "in Arabic", seen))
        if faults := await at.faults():
            wrong.append((path, "faults in Arabic", faults))
    return wrong
