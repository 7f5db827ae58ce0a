"""The webhook portal as customers meet it: on a telephone and on a desk, from right to left, in the dark, by keyboard, read by axe.

`TIDINGS_TEST_KEEP_PICTURES=1` writes what is seen to `docs/images/portal`.
"""

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tools.small_png import small_png

from tests.integration.webhooks.arranging import HOME, Subscriber
from tests.support.browser import Browser
from tests.support.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.xdist_group("webhook-portal-chromium")

PICTURES = Path(__file__).parents[3] / "docs" / "images" / "portal"
AXE = Path(__file__).parents[2] / "support" / "npm_axe" / "node_modules" / "axe-core" / "axe.min.js"
#: The narrowest telephone there is (WCAG 2.2, 1.4.10), a usual one, a desk; and what a thumb can hit (2.5.5).
NARROW, PHONE, DESK, THUMB = 320, 390, 1080, 44
_SMALL = (
    "[...document.querySelectorAll('button, select, summary, .act, .field input, .choice label')]"
    f".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < {THUMB}).map((e) => e.outerHTML)"
)
needs_axe = pytest.mark.skipif(
    not AXE.exists(),
    reason="NO AXE HERE: nobody asks it about the portal; python tools/fetch_assets.py --dev",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A link whose endpoint has a week behind it."""

    subscriber: Subscriber
    browser: Browser
    home: str
    webhook_id: str

    @property
    def one(self) -> str:
        """The page of the endpoint."""
        return f"{self.home}/endpoints/{self.webhook_id}"


@pytest.fixture
async def portal(subscriber: Subscriber, receiver: WebhookReceiver, site: str, visitor_at: Browser) -> Shown:
    """A customer with an endpoint that was called well and badly."""
    made = await subscriber.webhook(
        receiver.url("/tidings"),
        name="Production",
        customer="acme-42",
        events=["notification.*.v1", "batch.completed.v1"],
        condition="data.category = 'billing'",
        headers={"X-Source": "books"},
    )
    await subscriber.told("a", "b", "c")
    receiver.status = 500
    await subscriber.told("d")
    await subscriber.webhook(receiver.url("/staging"), name="Staging", customer="acme-42", events=["batch.>"])
    await _a_week(subscriber, made["id"])
    return await _shown(subscriber, made["id"], site, visitor_at)


async def _a_week(subscriber: Subscriber, webhook_id: str) -> None:
    now = subscriber.world.clock.now().replace(minute=0, second=0, microsecond=0)
    async with subscriber.world.db.tenant(subscriber.tenant_id) as tx:
        for back in range(1, 160):
            lost = (back * 7) % 11 if 30 < back < 40 or back == 5 else 0
            await tx.connection.execute(
                "INSERT INTO notification.webhook_call_counts VALUES ($1, $2, $3, $4, $5)",
                subscriber.tenant_id, webhook_id, now - timedelta(hours=back), 20 + (back * 37) % 60, lost,
            )  # fmt: skip


async def _shown(
    subscriber: Subscriber, webhook_id: str, site: str, visitor_at: Browser, **wish: Any
) -> Shown:
    answer = await subscriber.client.post(f"{HOME}/{webhook_id}/portal-links", json=wish)
    assert answer.status_code == 201, answer.text
    path = answer.json()["url"].removeprefix("https://tidings.example")
    return Shown(subscriber=subscriber, browser=visitor_at, home=f"{site}{path}", webhook_id=webhook_id)


async def _keep(somebody: Browser, name: str) -> None:
    if os.environ.get("TIDINGS_TEST_KEEP_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(small_png(await somebody.page.picture()))


@pytest.mark.parametrize("locale", ["en", "fr", "ar", "fa-AF", "ps-AF"])
async def test_it_fits_the_narrowest_telephone_in_every_language(
    portal: Shown, site: str, locale: str
) -> None:
    seen = await _shown(portal.subscriber, portal.webhook_id, site, portal.browser, locale=locale)
    [delivery, *_] = await portal.subscriber.deliveries(portal.webhook_id)
    tab = portal.browser
    rtl = locale in ("ar", "fa-AF", "ps-AF")

    for path in ("", f"/endpoints/{seen.webhook_id}", "/new"):
        await tab.open(f"{seen.home}{path}", width=NARROW)
        assert await tab.see("document.documentElement.scrollWidth") <= NARROW, path
        assert await tab.see(_SMALL) == []
        assert await tab.see("getComputedStyle(document.body).direction") == ("rtl" if rtl else "ltr")
        # The style is let in by its hash, and the tenant's colour with it.
        colour = "getComputedStyle(document.querySelector('button, .act')).backgroundColor"
        assert await tab.see(colour) == "rgb(11, 110, 79)"
    for path in (f"/deliveries/{delivery['id']}", "/deliveries", "/rotate"):
        await tab.open(f"{seen.one}{path}", width=NARROW)
        assert await tab.see("document.documentElement.scrollWidth") <= NARROW, path
    if locale == "fa-AF":
        await tab.open(seen.one, width=PHONE, height=844)
        await _keep(tab, "endpoint-fa-AF")


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_axe_finds_nothing_serious(portal: Shown, dark: bool) -> None:
    tab = portal.browser
    [delivery, *_] = await portal.subscriber.deliveries(portal.webhook_id)
    pages = {
        "list": portal.home,
        "endpoint": portal.one,
        "new": f"{portal.home}/new",
        "change": f"{portal.one}/change",
        "deliveries": f"{portal.one}/deliveries",
        "delivery": f"{portal.one}/deliveries/{delivery['id']}",
        "delete": f"{portal.one}/delete",
    }
    findings: dict[str, list[Any]] = {}
    for name, url in pages.items():
        await tab.open(url, width=DESK, height=1000, dark=dark, mobile=False)
        await tab.page.evaluate(f"{AXE.read_text()};true")
        findings[name] = await tab.page.evaluate(
            "axe.run(document).then((found) => found.violations"
            ".filter(({ impact }) => impact === 'serious' || impact === 'critical')"
            ".map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)]))"
        )
        if name == "endpoint":
            await _keep(tab, "endpoint-dark" if dark else "endpoint")
        if name == "delivery" and not dark:
            await _keep(tab, "delivery")

    assert {name: found for name, found in findings.items() if found} == {}


async def test_all_of_it_can_be_done_by_keyboard_and_without_a_script(
    portal: Shown, receiver: WebhookReceiver
) -> None:
    tab = portal.browser
    await tab.page.call("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        await tab.open(portal.home, width=PHONE, height=844)
        await _tab_to(tab, "a.act")
        assert await tab.submit("document.querySelector('h1').textContent") == "Add an address"
        for field, text in (("url", receiver.url("/new")), ("name", "Third")):
            await _tab_to(tab, f"#{field}")
            await tab.page.call("Input.insertText", {"text": text})
        await _tab_to(tab, "input[value='batch.completed.v1']")
        await tab.press("Space")
        await _keep(tab, "new")
        await _tab_to(tab, "button")
        secret = await tab.submit("document.querySelector('.secret code')?.textContent")
        assert secret.startswith("whsec_")
        await _tab_to(tab, ".back a")
        await tab.submit("true")
        await _tab_to(tab, "form[action$='/test'] button")
        receiver.status = 204
        assert "204" in await tab.submit("document.querySelector('[role=status]').textContent")
        await _tab_to(tab, "form:has([value=pause]) button")
        told = await tab.submit("document.querySelector('[role=status]').textContent")
        assert told == "Paused. What happens meanwhile waits."
        focus = "getComputedStyle(document.activeElement).outlineStyle"
        await tab.press("Tab")
        assert await tab.see(focus) == "solid"
    finally:
        await tab.page.call("Emulation.setScriptExecutionDisabled", {"value": False})
    listed = (await portal.subscriber.client.get(HOME, params={"customer": "acme-42"})).json()["items"]
    third = next(one for one in listed if one["name"] == "Third")
    assert (third["status"], third["events"]) == ("paused", ["batch.completed.v1"])


async def test_an_outage_is_seen_and_mended(portal: Shown, receiver: WebhookReceiver) -> None:
    """The list says what fails; one button sends once more what was missed, and the page says so."""
    tab = portal.browser
    await tab.watch_for_faults()
    await tab.open(portal.home, width=PHONE, height=844)
    link = "[...document.querySelectorAll('.endpoints a')].find((a) => a.textContent === 'Production')"
    assert await tab.see(f"{link}.parentElement.querySelector('.badge').textContent") == "Failing"
    await tab.click(link)
    await tab.until("document.querySelector('h1')?.textContent === 'Production'")
    receiver.status = 204
    await tab.click("document.querySelector('form:has([value=recover]) button')")
    assert await tab.until("document.querySelector('[role=status]')?.textContent") == "Sent again: 1"
    # After its failure the endpoint rests for a moment.
    await portal.subscriber.later(seconds=5)
    assert {one["status"] for one in await portal.subscriber.deliveries(portal.webhook_id)} == {"delivered"}
    assert await tab.faults() == []


async def test_it_stands_in_a_frame_of_a_named_site(
    portal: Shown, receiver: WebhookReceiver, site: str
) -> None:
    """The site that the link names shows it; without a name nobody does."""
    origin = receiver.url("")
    framed = await _shown(portal.subscriber, portal.webhook_id, site, portal.browser, embed_origins=[origin])
    tab = portal.browser
    receiver.status = 200
    receiver.answer_headers = {"content-type": "text/html"}
    receiver.answer_body = b"".join(
        f'<iframe src="{one.home}"></iframe>'.encode() for one in (framed, portal)
    )

    await tab.open(receiver.url("/page"), width=DESK, mobile=False)
    tree = (await tab.page.call("Page.getFrameTree", {}))["frameTree"]

    shown = [child["frame"]["url"] for child in tree["childFrames"]]
    assert shown == [framed.home, "chrome-error://chromewebdata/"]


async def test_kind_words_where_the_link_is_over(portal: Shown) -> None:
    tab = portal.browser
    await portal.subscriber.client.delete(f"{HOME}/{portal.webhook_id}/portal-links")
    await tab.open(portal.home, width=PHONE, height=500)
    assert await tab.see("document.querySelector('h1').textContent") == "This link does not work"
    assert "for a new one" in await tab.see("document.querySelector('.card p').textContent")


async def test_the_pictures_are_there_and_small() -> None:
    kept = {file.stem: file.stat().st_size for file in PICTURES.glob("*.png")}
    assert {"endpoint", "endpoint-dark", "endpoint-fa-AF", "delivery", "new"} <= set(kept)
    assert sum(kept.values()) < 500_000


async def _tab_to(tab: Browser, selector: str) -> None:
    """Press Tab until this has the focus."""
    for _ in range(120):
        await tab.press("Tab")
        if await tab.see(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"no Tab leads to {selector}")
