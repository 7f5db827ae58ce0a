"""People work in the console: they join, sign in and end sessions, by keyboard alone, on telephones, in the dark and from right to left.

`TIDINGS_TEST_KEEP_PICTURES=1` writes what is seen to `docs/images/console`.
"""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, needs_axe, serious, speak, to, type_
from tests.support.running import RunningTidings, run_tidings
from tidings.backoffice.credentials import totp

pytestmark = pytest.mark.xdist_group("console")
#: The narrowest telephone there is (WCAG 2.2, 1.4.10).
NARROW = 320
PASSWORD = "lighthouse-77-otter"
MAIL = "laila@example.com"


async def test_people_join_sign_in_and_end_sessions_by_keyboard_alone(
    up: RunningTidings, at: Browser
) -> None:
    invited = run_tidings(
        "operator", "invite", "--tenant", "demo", "--email", MAIL, "--name", "Laila Noor", "--json",
        "--data-dir", str(up.data_dir),
    )  # fmt: skip
    join = json.loads(invited.stdout)["join_url"]
    path = join[join.index("/console/") :]
    base = up.demo["base_url"]

    # Join.
    await at.open(f"{base}{path}", width=1280, height=800, mobile=False)
    await keep(at, "join")
    await to(at, "input[name=password]")
    await type_(at, PASSWORD)
    key = await at.submit("document.querySelector('code.secret').textContent")
    await keep(at, "authenticator")
    text = key.replace(" ", "")
    secret = base64.b32decode(text + "=" * (-len(text) % 8))
    await to(at, "input[name=code]")
    await type_(at, totp.code_of(secret, totp.step_at(datetime.now(UTC))))
    codes = await at.submit("[...document.querySelectorAll('ul.codes li')].map((one) => one.textContent)")
    assert len(codes) == 10
    await keep(at, "codes")
    await to(at, "a.button")
    assert "Laila Noor" in await at.submit("document.querySelector('h1').textContent")
    await keep(at, "home")

    # Sign out, and in again with a recovery code.
    await to(at, ".top form.out button")
    await at.submit("true")
    # A page takes the focus a frame after it is complete.
    await at.until("document.activeElement?.name === 'email'")
    await keep(at, "sign-in")
    await type_(at, MAIL)
    await to(at, "input[name=password]")
    await type_(at, PASSWORD)
    await at.submit("true")
    await to(at, "input[name=code]")
    await type_(at, codes[0])
    assert "Laila Noor" in await at.submit("document.querySelector('h1').textContent")

    # A second session elsewhere is ended from here.
    other = await _elsewhere(up, codes[1])
    await at.open(f"{base}/console/account", width=1280, height=800, mobile=False)
    assert await at.see("document.querySelectorAll('ul.rows li').length") == 2
    await keep(at, "account")
    await to(at, "ul.rows li:not(:has(.tag)) button")
    assert "Saved." in await at.submit("document.querySelector('[role=status]').textContent")
    assert await at.see("document.querySelectorAll('ul.rows li').length") == 1
    assert (await other.get("/console", follow_redirects=False)).status_code == 303
    await other.aclose()
    assert await at.faults() == []


async def test_it_fits_every_screen_in_the_dark_and_from_right_to_left(
    up: RunningTidings, at: Browser
) -> None:
    base = up.demo["base_url"]
    for language, direction, sizes in (
        ("en", "ltr", (NARROW, 1280)),
        ("ar", "rtl", (NARROW,)),
        ("fa-AF", "rtl", (1280,)),
    ):
        await speak(at, language)
        for page in ("/account", "/operators"):
            for width in sizes:
                dark = width == NARROW
                await at.open(
                    f"{base}/console{page}", width=width, height=720, dark=dark, mobile=width == NARROW
                )
                assert await at.see("document.documentElement.dir") == direction
                assert await at.see("document.documentElement.scrollWidth") <= width
                await keep(at, f"{page.strip('/') or 'home'}-{language}-{width}")
    await speak(at, "en")
    small = (
        "[...document.querySelectorAll('button, nav a, input:not([type=hidden], [type=checkbox]), label.check, select, summary')]"
        ".filter((one) => one.checkVisibility()).map((one) => [one.outerHTML, one.offsetHeight])"
        ".filter(([, height]) => height < 44)"
    )
    await at.open(f"{base}/console/operators", width=NARROW, height=720)
    assert await at.see(small) == []
    assert await at.faults() == []


@needs_axe
async def test_axe_finds_nothing_serious(up: RunningTidings, at: Browser) -> None:
    base = up.demo["base_url"]
    for path in ("/console", "/console/account", "/console/operators", "/console/sign-in"):
        for dark in (False, True):
            await at.open(f"{base}{path}", width=1280, height=800, dark=dark, mobile=False)
            assert await serious(at) == [], (path, dark)


async def test_the_printed_link_opens_the_console_once(up: RunningTidings, at: Browser) -> None:
    assert up.demo["console_url"] in up.output
    # Each link takes the place of the one before, and other tests of this installation have made some.
    made = run_tidings("operator", "link", "--json", "--data-dir", str(up.data_dir))
    url = json.loads(made.stdout)["console_url"]
    await at.open(url, width=1280, height=800, mobile=False)
    await to(at, "main button")
    assert "Demo operator" in await at.submit("document.querySelector('h1').textContent")
    await at.open(url, width=1280, height=800, mobile=False)
    await to(at, "main button")
    assert "no longer" in await at.submit("document.querySelector('[role=alert]').textContent")
    again = run_tidings("operator", "link", "--json", "--data-dir", str(up.data_dir))
    assert json.loads(again.stdout)["console_url"].startswith(f"{up.demo['public_url']}/console/open/")


async def _elsewhere(up: RunningTidings, code: str) -> Any:
    import re

    import httpx2

    client = httpx2.AsyncClient(base_url=up.demo["base_url"])
    shown = await client.post("/console/sign-in", data={"email": MAIL, "password": PASSWORD})
    ticket = re.search(r'name="ticket" value="([^"]*)"', shown.text)
    assert ticket is not None, shown.text
    done = await client.post("/console/code", data={"ticket": ticket[1], "code": code})
    assert done.status_code == 303, done.text
    return client
