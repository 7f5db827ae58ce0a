"""Suppressions in the console: listed, found, added, released one by one and many by a code."""

import csv
import io

from tests.integration.backoffice.sent import ConsoleWorld, send_form, words_of
from tests.support.operators import SignedIn
from tests.support.people import unused

PAGES = "/console/suppressions"
API = "/api/v1/suppressions"
EVIL = "<script>alert(1)</script>"


async def _held(who: SignedIn, count: int = 1, **facts: str) -> list[str]:
    made = []
    for _ in range(count):
        answer = await who.post(API, {"channel": "email", "address": f"{unused()}@example.test", **facts})
        assert answer.status_code == 201, answer.text
        made.append(str(answer.json()["id"]))
    return made


async def test_the_list_has_filters_counts_and_hints_alone(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    [bounce] = await _held(admin, reason="hard_bounce", notes=EVIL)
    [opted] = await _held(admin, reason="opt_out")
    at = admin.browser
    await at.open(PAGES)
    assert f"{PAGES}/{bounce}" in at.html
    assert f"{PAGES}/{opted}" in at.html
    assert "@example.test" not in at.html
    await at.open(f"{PAGES}?reason=opt_out")
    assert f"{PAGES}/{bounce}" not in at.html
    await at.open(f"{PAGES}/{bounce}")
    assert EVIL not in at.html
    assert "&lt;script&gt;" in at.html
    assert (await at.open(f"{PAGES}?channel=pigeon")).status_code == 400
    assert (await at.open(f"{PAGES}/sup_{'0' * 26}")).status_code == 404


async def test_an_address_is_added_found_and_released(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    at, address = admin.browser, f"omar-{unused()}@example.test"
    await at.open(PAGES)
    await at.post(PAGES, channel="email", address=address, reason="complaint", notes="ticket 12")
    assert "The address is suppressed." in at.html
    assert address not in at.html
    made = str(at.last and at.last.url.path).rpartition("/")[2]
    wrong = await at.post(PAGES, channel="email", address="tomorrow", until="then")
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (400, True)
    await at.open(PAGES)
    found = await at.post(f"{PAGES}/find", channel="email", address=address)
    assert made in found.text
    assert address not in found.text
    nobody = await at.post(f"{PAGES}/find", channel="email", address=f"{unused()}@example.test")
    assert "never was" in nobody.text
    await at.open(f"{PAGES}/{made}")
    await at.post(f"{PAGES}/{made}/release", reason="they asked")
    assert "It was released" in at.html
    assert "they asked" in words_of(at.html)
    again = await at.post(f"{PAGES}/{made}/release")
    assert again.status_code == 409


async def test_a_whole_mail_domain_is_held_back(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    at = admin.browser
    await at.open(PAGES)
    await at.post(PAGES, channel="email", address="@traps.example", reason="manual", until="2999-01-01")

    assert "everybody @traps.example" in words_of(at.html)


async def test_many_are_released_by_a_code(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    ids = await _held(admin, 3)
    at = admin.browser
    chosen = {f"s:{one}": "on" for one in ids[:2]}
    await at.open(PAGES)
    nothing = await at.post(f"{PAGES}/release", code="000000")
    assert (nothing.status_code, "Choose at least one" in nothing.text) == (400, True)
    wrong = await send_form(at, f"{PAGES}/release", {**chosen, "code": "000000"})
    assert wrong.status_code == 403
    assert (await admin.get(f"{API}/stats")).json()["total"] == 3
    await send_form(at, f"{PAGES}/release", {**chosen, "code": await admin.who.code(), "reason": "moved"})

    assert "Released: 2" in at.html
    left = (await admin.get(API)).json()["items"]
    assert [one["id"] for one in left] == ids[2:]


async def test_a_viewer_looks_and_changes_nothing(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    [held] = await _held(admin)
    viewer = await sent.operator(house, "tenant.viewer")
    at = viewer.browser
    await at.open(PAGES)
    assert held in at.html
    assert 'type="checkbox"' not in at.html
    assert "Suppress an address" not in at.html
    for path, fields in (
        (PAGES, {"channel": "email", "address": "x@example.test"}),
        (f"{PAGES}/{held}/release", {}),
        (f"{PAGES}/release", {f"s:{held}": "on", "code": "000000"}),
    ):
        await at.open(PAGES)
        assert (await send_form(at, path, fields)).status_code == 403, path
    await at.open(PAGES)
    exported = await at.post(f"{PAGES}/export")
    rows = list(csv.reader(io.StringIO(exported.text)))
    assert exported.headers["content-type"].startswith("text/csv")
    assert len(rows) == 2
    assert "@example.test" not in exported.text
