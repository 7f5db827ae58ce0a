"""The platform's mails in a real Chromium: they fit a telephone, run the right way, and can be read in the dark."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import pytest
from tools.chromium import Page, chromium
from tools.platform_page import PAGE, platform_page
from tools.platform_renders import Render, Samples, every_sample, own_sample, rendered_set

from tests.support.browser import chromium_or_skip
from tidings.notify.templates.platform.files import PlatformTemplate

PHONE, DESKTOP = 360, 640
#: The least that people with weak eyes need: WCAG 2.2, 1.4.3.
CONTRAST = 4.5
#: Every text with what it stands on: the nearest ground that is not transparent.
_CONTRASTS = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest("style")) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), text.slice(0, 40)]);
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
async def page() -> AsyncIterator[Page]:
    """One tab: each mail that it shows takes the place of the one before."""
    program = chromium_or_skip("the platform's mails")
    async with chromium(program) as shown:
        yield shown


#: Rendered once for all tests of this file: it takes seconds.
_RENDERED: Final[dict[Samples, list[Render]]] = {}


async def renders(samples: Samples = own_sample) -> list[Render]:
    if samples not in _RENDERED:
        _RENDERED[samples] = await rendered_set(samples)
    return _RENDERED[samples]


async def mails(samples: Samples = own_sample) -> list[Render]:
    return [each for each in await renders(samples) if each.message.html is not None]


def endless(template: PlatformTemplate, locale: str) -> list[tuple[str, Mapping[str, Any]]]:
    """The sample with the longest words that the schema allows, which nothing can be broken at."""

    def stretched(value: Any, about: Mapping[str, Any]) -> Any:
        if "$ref" in about:
            return value
        if isinstance(value, dict):
            return {key: stretched(each, about["properties"][key]) for key, each in value.items()}
        if isinstance(value, list):
            return [stretched(each, about["items"]) for each in value]
        if "format" in about or "maxLength" not in about:
            return "WWWW-WWWWWWW" if about.get("pattern", "").startswith("^[0-9A-Za-z-]") else value
        return "W" * about["maxLength"]

    if locale not in ("en", "fa-AF"):
        return []  # One from each side is enough.
    _, sample = own_sample(template, locale)[0]
    return [("endless", stretched(sample, template.spec.variables_schema))]


def name(mail: Render) -> str:
    return f"{mail.template.key} {mail.locale} {mail.sample}"


async def test_no_mail_is_wider_than_its_window(page: Page) -> None:
    """Nobody scrolls sideways to read a mail; a name or a link that can't be broken would make them."""
    cases = [(mail, PHONE) for mail in [*await mails(every_sample), *await mails(endless)]]
    cases += [(mail, DESKTOP) for mail in await mails()]

    wider = {}
    for mail, width in cases:
        await page.show(mail.message.html or "", width=width)
        needed = await page.evaluate("document.documentElement.scrollWidth")
        if needed > width:
            wider[name(mail), width] = needed

    assert wider == {}


async def test_every_mail_begins_on_its_own_side(page: Page) -> None:
    """The first line of the table, or the text, stands at the side where reading begins."""
    wrong = []
    for mail in await mails():
        await page.show(mail.message.html or "", width=DESKTOP)
        direction, sides = await page.evaluate(
            "[getComputedStyle(document.body).direction,"
            " [...document.querySelectorAll('.card th:first-child, .card td td:first-child')]"
            ".map((cell) => getComputedStyle(cell).textAlign).filter((side) => side === 'left' || side === 'right')]"
        )
        against = "left" if mail.message.direction == "rtl" else "right"
        if direction != mail.message.direction or against in sides:
            wrong.append(name(mail))

    assert wrong == []


@pytest.mark.parametrize("dark", [False, True], ids=["by day", "in the dark"])
async def test_every_word_stands_out_from_its_ground(page: Page, dark: bool) -> None:
    faint = {}
    for mail in await mails():
        await page.show(mail.message.html or "", width=PHONE, dark=dark)
        for contrast, text in await page.evaluate(_CONTRASTS):
            if contrast < CONTRAST:
                faint[name(mail), text] = round(contrast, 2)

    assert faint == {}


async def test_the_page_shows_what_the_templates_say() -> None:
    """Run `make pictures` when this fails."""
    assert PAGE.read_text(encoding="utf-8") == platform_page(await renders())


async def test_every_mail_has_its_picture_and_they_are_small() -> None:
    folder = PAGE.parent / "images" / "templates"
    wanted = {f"{mail.template.key}.{mail.template.channel}.png" for mail in await mails()}

    found = {file.name: file.stat().st_size for file in folder.glob("*.png")}

    assert set(found) == wanted
    assert sum(found.values()) < 2_000_000
