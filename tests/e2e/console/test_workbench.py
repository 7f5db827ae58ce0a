"""Somebody at the desk of a hotel: boards by keyboard, on a telephone, while a service is away and when it is back."""

import json
import urllib.request

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, needs_axe, serious, to
from tests.support.running import RunningTidings

pytestmark = pytest.mark.xdist_group("console")
HERE = "/console/workbench"
HOTEL = "muscat-harbour"
#: The page's quarter of a minute takes half a second.
_HURRY = "const later = setTimeout; window.setTimeout = (what, wait, ...more) => later(what, wait >= 15000 ? 500 : wait, ...more);"


def _faults(up: RunningTidings, **fault: str) -> None:
    body = json.dumps({"adapter": "property", **fault}).encode() if fault else None
    url = up.demo["sandbox_url"] + "/faults" + ("" if fault else "?adapter=property")
    request = urllib.request.Request(url, data=body, method="POST" if fault else "DELETE")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status in (200, 201)


@needs_axe
async def test_boards_are_worked_with_by_keyboard_and_show_what_is_missing(
    up: RunningTidings, inside: Browser
) -> None:
    at, base = inside, up.demo["base_url"]
    await at.open(f"{base}{HERE}", width=1280, height=800, mobile=False)
    await to(at, "select[name=property]")
    await to(at, f'.tabs a[href$="/{HOTEL}/today"], .tabs a[href$="/today"]')
    assert "Today" in await at.submit("document.querySelector('h1').textContent")
    await keep(at, "workbench")

    await at.open(f"{base}{HERE}/{HOTEL}/housekeeping", width=390, height=800, mobile=True)
    assert await at.see("document.documentElement.scrollWidth <= innerWidth")
    assert await at.see("document.querySelectorAll('.chips li').length") == 28
    # The tabs have no room side by side, and the present one is seen.
    assert await at.see(
        "(({ left, right }) => left >= 0 && right <= innerWidth)"
        "(document.querySelector('.tabs [aria-current]').getBoundingClientRect())"
    )
    assert await serious(at) == []
    await keep(at, "workbench-phone")

    hurry = await at.page.call("Page.addScriptToEvaluateOnNewDocument", {"source": _HURRY})
    _faults(up, vendor="maintenance", mode="error")
    try:
        await at.open(f"{base}{HERE}/{HOTEL}/glance", width=1280, height=800, mobile=False)
        assert "Maintenance" in await at.see("document.querySelector('.partial').textContent")
        assert await serious(at) == []
        await keep(at, "workbench-partial")
    finally:
        _faults(up)
    # It comes back by itself, in the page that is open.
    await at.until("!document.querySelector('.partial')")
    await at.page.call("Page.removeScriptToEvaluateOnNewDocument", {"identifier": hurry["identifier"]})
    assert await at.faults() == []
