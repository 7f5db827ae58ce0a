"""Every page of the console can be reached, fits a telephone, is small, and has nothing serious for axe, by day, in the dark and in Arabic."""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urldefrag, urlsplit

import pytest

from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.console_browser import AXE, needs_axe, sign_in
from tests.support.running import RunningTidings, run_tidings
from tidings.backoffice.console.areas import AREAS
from tidings.backoffice.console.places import PLACES

pytestmark = pytest.mark.xdist_group("console")
TELEPHONE: Final = 390
MOST_BYTES: Final = 200_000
#: A draft has other links than a batch that was sent: so many of each kind are looked through for more pages.
MOST_EXAMPLES: Final = 8
#: What is no page that somebody looks at while they work, and why.
NO_PAGES: Final[Mapping[str, str]] = {
    r"/console/static/\{name\}": "style and script",
    r".*/(frame|notifications/\{notification_id\}/body)": "what a frame shows",
    r"/console/templates/export": "a file",
    r"/console/alerts/count": "a number in the navigation",
    r"/console/(sign-in|oidc|oidc/callback|join/\{token\}|open/\{token\})": "for who is not signed in",
    r"/console(/locks)?/find": "leads on to what was found",
    r"/console/acting-for": "for the platform's people",
}
#: Pages of things that the demo has none of.
NOT_IN_THE_DEMO: Final[Mapping[str, str]] = {
    r"/console/alerts/\{alert_id\}": "nothing is wrong",
    r"/console/devices/\{device_id\}": "no application of an operator has been there",
    **{f"{place.path}(/.*)?": "for the platform's people" for place in PLACES if place.of_platform},
}
#: Where every link and every form of these pages leads that asks for something.
_LINKS: Final = """
(async (paths) => {
    const lead = (one) => one.tagName === "A"
        ? one.getAttribute("href") : `${one.getAttribute("action")}?${new URLSearchParams(new FormData(one))}`;
    const links = {};
    for (const path of paths) {
        const answer = await fetch(path);
        const page = new DOMParser().parseFromString(answer.ok ? await answer.text() : "", "text/html");
        const found = page.querySelectorAll("main a[href^='/console/'], main form[action^='/console/']:not([method=post])");
        links[path] = [answer.status, [...found].map(lead)];
    }
    return links;
})
"""
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
    pages, missing = await _pages(somebody)
    assert missing == [], "nothing leads to these pages"
    arabic = await somebody.tab()

    faults = await asyncio.gather(_on_a_telephone(somebody, base, pages), _in_arabic(arabic, base, pages))

    assert not any(faults), "\n".join(map(str, [*faults[0], *faults[1]]))


async def _pages(at: Browser) -> tuple[list[str], list[str]]:
    """An address for each page there is, found by following links from the navigation; and pages that no link leads to."""
    wanted = {
        operation.path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(operation.path)))
        for area in AREAS
        for operation in area.operations
        if operation.method == "GET" and not _is_among(operation.path, NO_PAGES)
    }
    found = {place.path: place.path for place in PLACES if not place.of_platform}
    ask = list(found.values())
    examples = defaultdict[str, set[str]](set)
    while ask:
        links: dict[str, tuple[int, list[str]]] = await at.page.evaluate(f"{_LINKS}({json.dumps(ask)})")
        broken = {path: status for path, (status, _) in links.items() if status != 200}
        assert broken == {}, "links lead to these"
        ask = []
        for href in (one for _, several in links.values() for one in several):
            path = urldefrag(href).url
            pattern = _shape(urlsplit(path).path, wanted)
            if pattern is None or path in examples[pattern] or len(examples[pattern]) == MOST_EXAMPLES:
                continue
            found.setdefault(pattern, path)
            examples[pattern].add(path)
            ask.append(path)
    missing = [path for path in wanted if path not in found and not _is_among(path, NOT_IN_THE_DEMO)]
    return list(found.values()), missing


def _shape(path: str, wanted: Mapping[str, re.Pattern[str]]) -> str | None:
    """Which page it is; one without a placeholder goes before one with."""
    fitting = [name for name, pattern in wanted.items() if pattern.fullmatch(path)]
    return min(fitting, key=lambda name: name.count("{"), default=None)


def _is_among(path: str, patterns: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern, path) for pattern in patterns)


async def _on_a_telephone(at: Browser, base: str, pages: list[str]) -> list[Any]:
    wrong: list[Any] = []
    axe = AXE.read_text()
    for path in pages:
        await at.open(f"{base}{path}", width=TELEPHONE, height=844)
        if (wide := await at.see("document.documentElement.scrollWidth")) > TELEPHONE:
            wrong.append((path, "is wider than a telephone", wide))
        if (weight := await at.see(_WEIGHT)) > MOST_BYTES:
            wrong.append((path, "is heavy", weight))
        await at.page.evaluate(f"{axe};true")
        if serious := await at.page.evaluate(_AXE % "{}"):
            wrong.append((path, "by day", serious))
        await at.page.call("Emulation.setEmulatedMedia", {"features": _DARK})
        if serious := await at.page.evaluate(_AXE % '{ runOnly: ["color-contrast"] }'):
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
