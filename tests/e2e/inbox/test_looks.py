"""How the in-app inbox looks, sounds and stands firm: small screens, five languages, the dark, screen readers, hostile texts.

`TIDINGS_TEST_KEEP_PICTURES=1` writes what is seen to `docs/images/inbox`.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from tools.small_png import small_png

from tests.support.inbox import publish, send, settle
from tests.support.inbox_reader import ROOT, InboxReaderAtShop, InboxTab
from tests.support.people import unused

PICTURES = Path(__file__).parents[3] / "docs" / "images" / "inbox"
AXE = Path(__file__).parents[2] / "support" / "npm_axe" / "node_modules" / "axe-core" / "axe.min.js"
#: The narrowest telephone there is (WCAG 2.2, 1.4.10), and what a thumb can hit (2.5.5).
NARROW, THUMB = 320, 44
KINDS = ("answer", "order", "answer", "invoice", "order")
HEADINGS = {
    "en": "Notifications",
    "fr": "Notifications",
    "ar": "الإشعارات",
    "fa-AF": "اعلان‌ها",
    "ps-AF": "خبرتیاوې",
}
needs_axe = pytest.mark.skipif(
    not AXE.exists(), reason="NO AXE HERE: nobody asks it about the inbox; python tools/fetch_assets.py --dev"
)


async def keep(tab: InboxTab, name: str) -> None:
    if os.environ.get("TIDINGS_TEST_KEEP_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        await stands_still(tab)
        (PICTURES / f"{name}.png").write_bytes(small_png(await tab.browser.picture()))


@pytest.mark.parametrize("locale", list(HEADINGS))
async def test_it_fits_the_narrowest_telephone_in_every_language(
    reader: InboxReaderAtShop, locale: str
) -> None:
    await reader.get(*KINDS, locale=locale)
    tab = await reader.open(f"lang={locale}", width=NARROW, height=640)
    await tab.open_bell(5)
    assert await tab.see("root.querySelector('h2').textContent") == HEADINGS[locale]
    assert await tab.see("document.documentElement.scrollWidth") <= NARROW
    wide = "[...root.querySelectorAll('.panel, .scroll, article')].filter((one) => one.scrollWidth > one.clientWidth)"
    assert await tab.see(f"{wide}.map((one) => one.className)") == []
    small = (
        "[...root.querySelectorAll('button')].filter((one) => one.checkVisibility())"
        ".map((one) => [one.textContent, one.offsetWidth, one.offsetHeight])"
        f".filter(([, width, height]) => width < {THUMB} || height < {THUMB})"
    )
    assert await tab.see(small) == []
    rtl = locale in ("ar", "fa-AF", "ps-AF")
    assert await tab.see("getComputedStyle(root.querySelector('.panel')).direction") == (
        "rtl" if rtl else "ltr"
    )
    # No key of a text instead of the text, and no text without its number.
    said = await tab.see("root.querySelector('.panel').textContent")
    assert "_" not in said
    assert "{" not in said
    await keep(tab, f"phone-{locale}")


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_axe_finds_nothing_serious(reader: InboxReaderAtShop, dark: bool) -> None:
    await reader.get(*KINDS)
    tab = await reader.open(dark=dark)
    await tab.browser.page.evaluate(f"{AXE.read_text()};true")
    findings = {"closed": await serious(tab)}
    await tab.open_bell(5)
    findings["popover"] = await serious(tab)
    await keep(tab, "bell-dark" if dark else "bell")
    await tab.browser.press("s")
    await tab.until("Boolean(root.querySelector('.menu'))")
    findings["menu"] = await serious(tab)
    if not dark:
        await keep(tab, "later")
    await tab.browser.press("Escape")
    await tab.browser.press("e")
    await tab.until("!root.querySelector('.toast').hidden")
    findings["archived"] = await serious(tab)
    if dark:
        await keep(tab, "undo-dark")
    await tab.show_tab("archive")
    await tab.until("root.querySelectorAll('article').length === 1")
    findings["archive"] = await serious(tab)
    await tab.show_tab("snoozed")
    await tab.until("!root.querySelector('.empty').hidden")
    findings["empty"] = await serious(tab)
    assert {place: found for place, found in findings.items() if found} == {}


async def stands_still(tab: InboxTab) -> None:
    """What fades in is not judged half-way."""
    await tab.until("root.getAnimations().every(({ playState }) => playState === 'finished')")


async def serious(tab: InboxTab) -> list[Any]:
    await stands_still(tab)
    found: list[Any] = await tab.browser.page.evaluate(
        "axe.run('tidings-inbox').then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact))"
        ".map(({ id, nodes }) => [id, nodes.map(({ target, any }) => [String(target), any[0]?.message]).slice(0, 3)]))"
    )
    return found


async def test_it_runs_from_right_to_left_and_opens_within_the_window(reader: InboxReaderAtShop) -> None:
    await reader.get(*KINDS, locale="fa-AF")
    tab = await reader.open("lang=fa-AF")
    await tab.open_bell(5)
    left, right, bell = await tab.see(
        "[root.querySelector('.panel').getBoundingClientRect().left, root.querySelector('.panel').getBoundingClientRect().right,"
        " root.querySelector('.bell').getBoundingClientRect().left]"
    )
    assert bell < 450
    assert 0 <= left < right <= 900
    dot, title = await tab.see(
        "[root.querySelector('article').getBoundingClientRect().right, root.querySelector('h3').getBoundingClientRect().right]"
    )
    assert dot > title
    assert await tab.see("root.querySelector('.badge').textContent") == "۵"
    await keep(tab, "bell-fa-AF")
    # The tabs go on to the left.
    await tab.browser.see(f"{ROOT}.getElementById('tab-all').focus()")
    await tab.browser.press("ArrowLeft")
    await tab.until("root.activeElement.id === 'tab-unread'")


async def test_a_whole_page_in_the_dark(reader: InboxReaderAtShop) -> None:
    await reader.get(*KINDS)
    tab = await reader.open("view=page&theme=dark", width=720, height=960)
    await tab.until("root.querySelectorAll('article').length === 5")
    assert await tab.see("root.querySelector('.bell')") is None
    assert (
        await tab.see("getComputedStyle(root.querySelector('.panel')).backgroundColor") == "rgb(23, 29, 38)"
    )
    await keep(tab, "page-dark")


async def test_who_asks_for_less_motion_gets_none(reader: InboxReaderAtShop) -> None:
    tab = await reader.open()
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    await tab.browser.page.call("Emulation.setEmulatedMedia", {"features": still})
    await tab.open_bell()
    assert await tab.see("getComputedStyle(root.querySelector('.panel')).animationName") == "none"


async def test_a_text_is_a_text_whatever_it_says(reader: InboxReaderAtShop) -> None:
    """Tenants put in what others wrote: nothing of it becomes markup, and no script."""
    hostile = "<img src=x onerror=\"faults.push('ran')\"><b>bold</b>"
    await reader.get("order")
    person = await reader.recipient_id()
    document = {
        "title": "{{title}}",
        "body": '{{title}} **strong** *soft* `code` [a link](https://shop.example/a) [no link](https://shop.example/b "x")',
        "body_format": "markdown",
        "link": "https://shop.example/orders",
    }
    await publish(reader.sender.client, document=document)
    await send(reader.sender, {"id": person}, hostile)
    await publish(reader.sender.client, "plain", document={"title": "{{title}}", "body": "**{{title}}**"})
    await send(reader.sender, {"id": person}, hostile, template="plain")
    await settle(reader.world)
    tab = await reader.open()
    await tab.open_bell(3)
    assert sorted(await tab.titles())[0] == hostile
    assert await tab.see("root.querySelectorAll('article img, article b').length") == 0
    [plain] = await tab.see(
        "[...root.querySelectorAll('.body')].map((one) => one.textContent).filter((text) => text.startsWith('**'))"
    )
    assert plain == f"**{hostile}**"
    links = await tab.see(
        "[...root.querySelectorAll('.body a')].map(({ href, rel, target }) => [href, rel, target])"
        ".filter(([href]) => href.endsWith('/a'))"
    )
    assert links == [["https://shop.example/a", "noopener noreferrer", "_blank"]]
    marks = "[...root.querySelectorAll('.body')].find((one) => one.querySelector('code'))"
    assert await tab.see(f"[...{marks}.querySelectorAll('strong, em, code')].map((one) => one.tagName)") == [
        "STRONG",
        "EM",
        "CODE",
    ]
    assert await tab.see("root.querySelector('h3 a').rel") == "noopener"


#: The switches of a category, by the name that is shown.
SWITCHES = (
    "Object.fromEntries([...root.querySelectorAll('.preferences fieldset')].map((one) => [one.querySelector('legend').textContent,"
    " [...one.querySelectorAll('label')].map((label) => [label.textContent, label.querySelector('input').checked])]))"
)


async def sends_news(reader: InboxReaderAtShop, locale: str = "en") -> str:
    """The shop sends news and reminders too, and knows where its visitor can be reached; who they are."""
    await reader.get("order", "answer", locale=locale)
    for category in ("marketing", "reminder"):
        await publish(
            reader.sender.client, f"shop_{category}", document={"title": "{{title}}"}, category=category
        )
    known = {
        "identity": {"type": "user", "id": "shop-visitor"},
        "addresses": [
            {"channel": "email", "address": f"visitor-{unused()}@example.test"},
            {"channel": "sms", "address": "+4915123400077"},
        ],
    }
    answer = await reader.sender.client.post("/api/v1/recipients", json=known)
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json()["id"])


async def test_preferences_are_chosen_by_keyboard_saved_and_undone_where_refused(
    reader: InboxReaderAtShop,
) -> None:
    person = await sends_news(reader)
    path = f"/api/v1/recipients/{person}/preferences"
    tab = await reader.open()
    await tab.open_bell(2)
    await tab.open_preferences()
    assert await tab.see("root.activeElement.id") == "preferences-heading"
    switches = await tab.see(SWITCHES)
    shown = {name: switches[name] for name in ("Orders and bookings", "Reminders", "News and offers")}
    assert shown == {
        "Orders and bookings": [],
        "Reminders": [["Email", True], ["Text message", True], ["In the app", True]],
        "News and offers": [["Email", False], ["Text message", False], ["In the app", False]],
    }
    assert set(await tab.browser.names("switch")) == {"Email", "Text message", "In the app"}
    if AXE.exists():
        await tab.browser.page.evaluate(f"{AXE.read_text()};true")
        assert await serious(tab) == []
    await keep(tab, "preferences")

    # By keyboard, and saved.
    await tab.browser.press("Tab")
    assert await tab.see("root.activeElement.getAttribute('role')") == "switch"
    await tab.browser.press("Space")
    await tab.until("root.querySelector('.heard[role=status]').textContent === 'Your choices are saved.'")
    chosen = (await reader.sender.client.get(path)).json()
    first = chosen["channels"]["email"]["categories"]
    assert list(first.values()) == [False]
    # Changed elsewhere meanwhile: it is made from the present version.
    etag = (await reader.sender.client.get(path)).headers["etag"]
    elsewhere = {"timezone": "Asia/Kabul"}
    assert (
        await reader.sender.client.patch(path, json=elsewhere, headers={"If-Match": etag})
    ).status_code == 200
    await tab.browser.press("Space")
    await tab.until("root.activeElement.checked")
    await until_chosen(reader, path, "email", next(iter(first)), wanted=True)
    # Refused: undone, with a sentence.
    async with reader.world.http.as_platform() as operator:
        tenant = f"/internal/v1/tenants/{reader.sender.tenant_id}"
        assert (await operator.post(f"{tenant}/freeze")).status_code == 200
        await tab.browser.press("Space")
        await tab.until("root.querySelector('[role=alert]').textContent.startsWith('That did not work')")
        await tab.until("root.activeElement.checked")
        assert (await operator.post(f"{tenant}/unfreeze")).status_code == 200
    # Consent, and everything off.
    await tab.browser.click(f"{ROOT}.querySelector('.preferences fieldset:last-of-type input')")
    await until_consent(reader, path)
    await tab.browser.click(f"{ROOT}.querySelector('.preferences .none')")
    await tab.until(
        "root.querySelector('.preferences .banner').textContent.startsWith('You have unsubscribed')"
    )
    assert await tab.see("root.querySelectorAll('.preferences input:checked').length") == 0
    assert await tab.see("root.querySelector('.preferences .none').hidden") is True
    # Back to the list, where they came from.
    await tab.browser.press("Escape")
    await tab.until("!root.querySelector('.preferences') && root.querySelectorAll('article').length === 2")
    assert await tab.see("root.activeElement.getAttribute('part')") == "button settings"
    assert await tab.see("root.querySelector('.panel').hidden") is False


async def until_chosen(
    reader: InboxReaderAtShop, path: str, channel: str, category: str, *, wanted: bool
) -> None:
    async with asyncio.timeout(30):
        while True:
            channels = (await reader.sender.client.get(path)).json()["channels"]
            if channels[channel]["categories"].get(category) is wanted:
                return
            await asyncio.sleep(0.02)


async def until_consent(reader: InboxReaderAtShop, path: str) -> None:
    async with asyncio.timeout(30):
        while True:
            consent = (await reader.sender.client.get(path)).json()["marketing_consent"]
            if consent["granted"]:
                assert consent["source"] == "inbox"
                return
            await asyncio.sleep(0.02)


async def test_preferences_fit_a_telephone_from_right_to_left_in_the_dark(reader: InboxReaderAtShop) -> None:
    await sends_news(reader, locale="ps-AF")
    tab = await reader.open("lang=ps-AF&theme=dark", width=NARROW, height=640, dark=True)
    await tab.open_bell(2)
    await tab.open_preferences()
    wide = "[...root.querySelectorAll('.preferences, fieldset')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert await tab.see(wide) == 0
    small = (
        "[...root.querySelectorAll('.preferences label, .preferences button')].filter((one) => one.checkVisibility())"
        f".filter((one) => one.offsetHeight < {THUMB} || one.offsetWidth < {THUMB}).length"
    )
    assert await tab.see(small) == 0
    said = await tab.see("root.querySelector('.preferences').textContent")
    assert "_" not in said
    box, label = await tab.see(
        "[root.querySelector('.choices input').getBoundingClientRect().left,"
        " root.querySelector('.choices label').getBoundingClientRect().left]"
    )
    assert box > label
    if AXE.exists():
        await tab.browser.page.evaluate(f"{AXE.read_text()};true")
        assert await serious(tab) == []
    await keep(tab, "preferences-ps-AF-dark")
    await tab.browser.click(f"{ROOT}.querySelector('.preferences [part~=back]')")
    await tab.until("root.querySelectorAll('article').length === 2 && !root.querySelector('.preferences')")


async def test_the_pictures_are_there_and_small() -> None:
    kept = {file.stem: file.stat().st_size for file in PICTURES.glob("*.png")}
    assert {"bell", "bell-dark", "bell-fa-AF", "later", "page-dark", "phone-ps-AF", "undo-dark"} <= set(kept)
    assert {"preferences", "preferences-ps-AF-dark"} <= set(kept)
    assert sum(kept.values()) < 700_000
