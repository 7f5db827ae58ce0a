"""Somebody at the support desk finds by an address why a message did not arrive, releases the suppression, and sends it again."""

import asyncio
import re

import httpx2
import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, needs_axe, serious, speak, to, type_
from tests.support.running import RunningTidings
from tidings.backoffice.console.places import PLACES

pytestmark = pytest.mark.xdist_group("console")
#: The narrowest telephone there is (WCAG 2.2, 1.4.10).
NARROW = 320
ADDRESS = "omar.support-desk@example.test"
SENT = {
    "recipient": {
        "identity": {"type": "guest", "id": "g-support-desk"},
        "display_name": "Omar Zaki",
        "addresses": [{"channel": "email", "address": ADDRESS}],
    },
    "template": "otp",
    "channel": "email",
    "variables": {"code": "481516"},
    "correlation_id": "DESK-1",
}
HEADING = "document.querySelector('#verdict-title')?.textContent"


def _api(up: RunningTidings) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=up.demo["base_url"], headers={"Authorization": f"Bearer {up.demo['api_key']}"}
    )


async def _held_back(up: RunningTidings) -> str:
    """A message to a suppressed address, once that is its outcome; its id."""
    async with _api(up) as api:
        held = {"channel": "email", "address": ADDRESS, "reason": "hard_bounce"}
        assert (await api.post("/api/v1/suppressions", json=held)).status_code in (200, 201)
        made = (await api.post("/api/v1/notifications", json=SENT)).json()["id"]
        while (await api.get(f"/api/v1/notifications/{made}")).json()["status"] != "suppressed":
            await asyncio.sleep(0.1)
    return str(made)


async def test_a_person_asks_why_and_gets_the_message_after_all(up: RunningTidings, inside: Browser) -> None:
    at, base = inside, up.demo["base_url"]
    old = await asyncio.wait_for(_held_back(up), 60)

    # "I never got the mail": the address goes into the field at the top, by keyboard.
    await at.open(f"{base}/console", width=1280, height=900, mobile=False)
    await at.press("/")
    await at.until("document.activeElement?.name === 'q'")
    await type_(at, ADDRESS)
    await at.submit("true")
    assert "suppressed now" in await at.see("document.querySelector('#held').textContent")
    assert "Omar Zaki" in await at.see("document.querySelector('#people').textContent")
    assert ADDRESS not in await at.see("location.href + document.body.textContent")
    await keep(at, "support-found")

    # Why: the page of the notification says so, and what helps.
    await to(at, f"a[href='/console/notifications/{old}']")
    assert await at.submit(HEADING) == "It was held back and not sent"
    assert "A message came back for good" in await at.see("document.querySelector('#next').textContent")
    await keep(at, "support-why")

    # The suppression is released, with a reason, and the message is sent again.
    await to(at, "#next details.confirm summary")
    await at.press("Enter")
    await at.until("document.querySelector('#next details.confirm').open")
    await to(at, "#next input[name=reason]")
    await type_(at, "ticket 4711")
    await to(at, "#next details.confirm button.grave")
    await at.submit("true")
    assert "The suppression was released." in await at.see(
        "document.querySelector('[role=status]').textContent"
    )
    await to(at, f"form[action='/console/notifications/{old}/resend'] button")
    await at.submit("true")
    assert "It was sent again" in await at.see("document.querySelector('[role=status]').textContent")
    assert await at.see("location.pathname") != f"/console/notifications/{old}"

    # The page follows it by itself until it arrived.
    await at.until(f"{HEADING} === 'It arrived'")
    await keep(at, "support-arrived")
    async with _api(up) as api:
        found = (await api.get("/api/v1/notifications", params={"correlation_id": "DESK-1"})).json()["items"]
    assert await at.faults() == []

    # The palette looks for the same, and its text stands in no address either.
    await at.press("?")
    await at.until("document.activeElement?.closest('dialog') !== null")
    await type_(at, ADDRESS)
    await at.submit("true")
    assert await at.see("location.pathname + location.search") == "/console/find"
    assert "Omar Zaki" in await at.see("document.querySelector('#people').textContent")
    assert sorted((one["status"], one["resent_from"]) for one in found if one["resent_from"]) == [
        ("delivered", old)
    ]


@needs_axe
async def test_pages_of_the_support_desk_fit_telephones_and_screen_readers(
    up: RunningTidings, inside: Browser
) -> None:
    at, base = inside, up.demo["base_url"]
    async with _api(up) as api:
        sent = (await api.post("/api/v1/notifications", json=SENT)).json()
    person = sent["recipient_id"]
    keys = ("notifications", "conversations", "people", "suppressions", "imports")
    pages = [place.path for place in PLACES if place.key in keys]
    pages += [
        "/console/find",
        f"/console/notifications/{sent['id']}",
        *(
            f"/console/people/{person}?tab={tab}"
            for tab in ("overview", "preferences", "consents", "privacy")
        ),
    ]
    assert len(pages) == 11
    for place, path in enumerate(pages):
        for asked, (language, width, dark) in enumerate((("ar", NARROW, True), ("en", 1280, False))):
            await speak(at, language)
            await at.open(f"{base}{path}", width=width, height=800, dark=dark, mobile=width == NARROW)
            assert await at.see("document.documentElement.scrollWidth") <= width, (path, width)
            # Every page once, in the dark on a telephone or by day on a screen: each time costs half a second.
            assert (place + asked) % 2 or await serious(at) == [], (path, language)
            name = re.sub(r"\W+", "-", path.replace(person, "one").replace(sent["id"], "one")).strip("-")
            await keep(at, f"{name}-{language}")
    await speak(at, "en")
    assert await at.faults() == []
