"""The preference pages as people meet them: on a small telephone, from right to left, by keyboard, read aloud.

`TIDINGS_TEST_KEEP_PICTURES=1` writes what is seen to `docs/images/preferences`.
"""

import os
import re
from pathlib import Path

import pytest
from tools.small_png import small_png

from tests.integration.preferences.visitors import Visitor, visitor
from tests.support.browser import Browser
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.tenants import NotificationPolicy

pytestmark = pytest.mark.xdist_group("preferences-chromium")

PICTURES = Path(__file__).parents[3] / "docs" / "images" / "preferences"
#: The narrowest telephone there is (WCAG 2.2, 1.4.10), and a usual one.
NARROW, PHONE = 320, 390
#: What a thumb can hit (WCAG 2.2, 2.5.5), and what weak eyes can read (1.4.3).
THUMB, CONTRAST = 44, 4.5
_CONTRASTS = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (at) => {
    for (; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("h1, p, b, legend, label, select, input[type=time], button, a, header")].map((element) => {
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), element.textContent.slice(0, 30)];
  });
})()
"""


async def _keep(somebody: Browser, name: str) -> None:
    if os.environ.get("TIDINGS_TEST_KEEP_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}.png").write_bytes(small_png(await somebody.page.picture()))


async def _branded(sender: Sender, colour: str = "#0b6e4f") -> None:
    branding = {
        "product_name": "Bamiyan Books",
        "primary_colour": colour,
        "support_url": "https://bamiyan-books.example/help",
    }
    await sender.channel("email", branding=branding)


async def _laila(world: PipelineWorld, sender: Sender, locale: str, number: int) -> Visitor:
    return await visitor(world, sender, category="marketing", locale=locale, phone=f"+491512340{number:04d}")


@pytest.mark.parametrize("locale", ["en", "fr", "ar", "fa-AF", "ps-AF"])
async def test_it_fits_the_narrowest_telephone_in_every_language(
    world: PipelineWorld, site: str, visitor_at: Browser, locale: str
) -> None:
    async with world.sender() as sender:
        await _branded(sender)
        laila = await _laila(world, sender, locale, 1)
        schedule = {"social": {"every": "day", "at": "18:00"}, "marketing": {"every": "week", "day": "fri"}}
        await sender.choose(laila.recipient_id, digest_schedule=schedule)
        for path in ("u", "p"):
            await visitor_at.open(f"{site}/{path}/{laila.token}", width=NARROW)
            assert await visitor_at.see("document.documentElement.scrollWidth") <= NARROW
            small = await visitor_at.see(
                "[...document.querySelectorAll('button, label, select, input[type=time]')]"
                f".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < {THUMB}).length"
            )
            assert small == 0
            # The style is let in by its hash, and the tenant's colour with it.
            colour = "getComputedStyle(document.querySelector('button')).backgroundColor"
            assert await visitor_at.see(colour) == "rgb(11, 110, 79)"
            for dark in (False, True):
                await visitor_at.open(f"{site}/{path}/{laila.token}", width=PHONE, dark=dark)
                faint = [each for each in await visitor_at.see(_CONTRASTS) if each[0] < CONTRAST]
                assert faint == []
                if not dark or locale == "en":
                    await _keep(visitor_at, f"{path}-{locale}{'-dark' if dark else ''}")


async def test_it_runs_from_right_to_left(world: PipelineWorld, site: str, visitor_at: Browser) -> None:
    boxes = (
        "(() => { const label = document.querySelector('label'), text = document.createRange();"
        " text.selectNodeContents(label.lastChild);"
        " return [label.querySelector('input').getBoundingClientRect().left, text.getBoundingClientRect().left] })()"
    )
    async with world.sender() as sender:
        for locale, rtl in (("en", False), ("ps-AF", True), ("ar", True)):
            laila = await _laila(world, sender, locale, 2)
            await visitor_at.open(f"{site}/p/{laila.token}", width=PHONE)
            box, text = await visitor_at.see(boxes)
            assert (box > text) is rtl
            assert await visitor_at.see("getComputedStyle(document.body).direction") == (
                "rtl" if rtl else "ltr"
            )


async def test_all_of_it_can_be_done_by_keyboard(
    world: PipelineWorld, site: str, visitor_at: Browser
) -> None:
    async with world.sender() as sender:
        await _branded(sender)
        laila = await _laila(world, sender, "en", 3)
        await visitor_at.open(f"{site}/p/{laila.token}", width=PHONE)
        await visitor_at.press("Tab")
        seen = await visitor_at.see(
            "[document.activeElement.value, getComputedStyle(document.activeElement).outlineStyle]"
        )
        assert seen == ["academic:email", "solid"]
        await _keep(visitor_at, "keyboard-focus")
        await visitor_at.press("Space")
        focused = "document.activeElement.value"
        order = []
        while (await visitor_at.see(focused)) != "save":
            await visitor_at.press("Tab")
            order.append(await visitor_at.see(focused))
        assert order[-1] == "save"
        assert order[:4] == ["academic:sms", "usual", "operational:email", "operational:sms"]
        status = await visitor_at.submit("document.querySelector('[role=status]').textContent")
        assert status == "Your choices are saved."
        await _keep(visitor_at, "saved-en")
        assert (await laila.choices())["channels"] == {"email": {"categories": {"academic": False}}}

        await visitor_at.open(f"{site}/u/{laila.token}", width=PHONE)
        await visitor_at.press("Tab")
        heading = await visitor_at.submit("document.querySelector('h1').textContent")
        assert heading == "You are unsubscribed"
        await _keep(visitor_at, "unsubscribed-en")
        assert (await laila.choices())["channels"]["email"]["categories"]["marketing"] is False


async def test_it_can_be_read_aloud(world: PipelineWorld, site: str, visitor_at: Browser) -> None:
    async with world.sender() as sender:
        laila = await _laila(world, sender, "en", 4)
        await visitor_at.open(f"{site}/p/{laila.token}", width=PHONE)
        assert await visitor_at.names("heading") == ["What you want to hear"]
        assert set(await visitor_at.names("checkbox")) == {"Email", "Text message"}
        assert await visitor_at.names("group") == [
            "Courses and studies", "Service notices", "Reminders", "From other people", "News and offers",
        ]  # fmt: skip
        assert await visitor_at.names("button") == ["Save my choices", "Unsubscribe from everything"]


async def test_kind_words_where_there_is_nothing(
    world: PipelineWorld, site: str, visitor_at: Browser
) -> None:
    async with world.sender() as sender:
        laila = await _laila(world, sender, "fa-AF", 5)
        version = await laila.version()
        await laila.save("social:email", version=version)
        await visitor_at.open(f"{site}/p/{laila.token}", width=PHONE)
        await laila.save("reminder:email")
        await visitor_at.press("Tab")
        alert = await visitor_at.submit("document.querySelector('[role=alert]').textContent")
        assert "دوباره انتخاب" in alert
        await _keep(visitor_at, "another-window-fa-AF")
        await visitor_at.open(f"{site}/u/{laila.token[:-4]}", width=PHONE)
        assert "does not work" in await visitor_at.see("document.querySelector('h1').textContent")
        await _keep(visitor_at, "unknown-en")


async def test_a_consent_is_confirmed_by_keyboard(
    world: PipelineWorld, site: str, visitor_at: Browser
) -> None:
    async with world.sender(NotificationPolicy(double_opt_in=True)) as sender:
        await _branded(sender)
        made = await sender.client.post(
            "/api/v1/recipients", json=person("zarghuna@example.test", locale="ps-AF")
        )
        recipient_id = made.json()["id"]
        await sender.choose(recipient_id, marketing_consent={"granted": True, "source": "signup_form"})
        for relay in world.relays:
            await relay.drain()
        await world.system.consumers.confirmations.drain()
        await world.settle()
        [mail] = world.received("zarghuna@example.test")
        link = re.search(r"https://tidings\.example(/c/[\w-]{54})", mail.text or "")
        assert link is not None
        await visitor_at.open(f"{site}{link[1]}", width=NARROW)
        assert await visitor_at.see("document.documentElement.scrollWidth") <= NARROW
        await visitor_at.open(f"{site}{link[1]}", width=PHONE)
        await _keep(visitor_at, "confirm-ps-AF")
        await visitor_at.press("Tab")
        assert await visitor_at.submit("document.querySelector('[role=status]') !== null")
        known = await sender.client.get(f"/api/v1/recipients/{recipient_id}/preferences")
        assert known.json()["marketing_consent"]["granted"] is True


async def test_the_pictures_are_there_and_small() -> None:
    kept = {file.stem: file.stat().st_size for file in PICTURES.glob("*.png")}
    assert {"p-en", "p-ps-AF", "u-ar", "keyboard-focus", "unsubscribed-en"} <= set(kept)
    assert sum(kept.values()) < 700_000
