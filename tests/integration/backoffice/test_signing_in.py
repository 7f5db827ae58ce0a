"""Mail and password, then a code: what is refused, what it says, and how often it may be tried."""

import re
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import PASSWORD, QUICK, AtBrowser, SignedIn, Somebody, an_operator, invited, join
from tidings.backoffice.credentials import totp
from tidings.backoffice.credentials.passwords import MOST_WAITING, Passwords
from tidings.backoffice.ids import DEVICE
from tidings.backoffice.operators.model import LOCKED_FOR, MOST_FAILURES
from tidings.backoffice.sign_in.back_off import SignInLimits
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant

WRONG = "Mail or password is not right."


async def wait(world: HttpWorld, **time: float) -> None:
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(**time))


async def fail(who: Somebody, times: int) -> None:
    """Give wrong passwords, as seldom as the limits want it."""
    at = AtBrowser(who.world)
    await at.open("/console/sign-in")
    for _ in range(times):
        await wait(who.world, minutes=16)
        answer = await at.post("/console/sign-in", email=who.email, password="not-the-password")
        assert answer.status_code == 403
        assert WRONG in answer.text


async def test_password_and_code_open_a_session(admin: SignedIn) -> None:
    again = await admin.who.sign_in()

    assert again.session_id != admin.session_id
    assert again.device_id != admin.device_id
    home = await again.browser.open("/console")
    assert "Good to see you, Laila Noor" in home.text
    assert "Acme" in home.text


async def test_mail_is_found_however_it_is_typed(admin: SignedIn) -> None:
    admin.who.email = f" {admin.who.email.upper()} "

    await admin.who.sign_in()


async def test_an_unknown_mail_and_a_wrong_password_get_one_answer_and_the_same_work(
    world: HttpWorld, admin: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Counting:
        def hash(self, password: str) -> str:
            return QUICK.hash(password)

        def verify(self, kept: str, password: str) -> bool:
            asked.append(kept)
            return QUICK.verify(kept, password)

    monkeypatch.setattr(world.system.backoffice.parts.get(Passwords), "_hasher", Counting())
    pages = []
    for email in ("nobody@example.com", admin.who.email):
        at = AtBrowser(world)
        await at.open("/console/sign-in")
        answer = await at.post("/console/sign-in", email=email, password="not-the-password")
        pages.append((answer.status_code, answer.text.replace(email, "")))
    assert pages[0] == pages[1]
    assert pages[0][0] == 403
    assert WRONG in pages[0][1]
    assert len(asked) == 2


async def test_a_sign_in_that_would_wait_long_for_argon2_is_told_to_come_again(
    world: HttpWorld, admin: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    passwords = world.system.backoffice.parts.get(Passwords)
    monkeypatch.setattr(passwords, "_present", MOST_WAITING + 2)

    answer = await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)

    assert answer.status_code == 503
    assert "Too many tries. Wait a little" in answer.text


async def test_a_code_works_once(world: HttpWorld, admin: SignedIn) -> None:
    code = await admin.who.code()
    for expected in (303, 403):
        at = AtBrowser(world)
        await at.open("/console/sign-in")
        await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
        answer = await at.post("/console/code", follow=False, code=code)
        assert answer.status_code == expected


async def test_a_code_of_long_ago_and_one_of_tomorrow_are_none(world: HttpWorld, admin: SignedIn) -> None:
    await wait(world, minutes=5)
    now = totp.step_at(world.clock.now())
    for step in (now - 2, now + 2):
        at = AtBrowser(world)
        await at.open("/console/sign-in")
        await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
        answer = await at.post("/console/code", follow=False, code=totp.code_of(admin.who.secret, step))
        assert answer.status_code == 403


async def test_a_recovery_code_stands_in_once(world: HttpWorld, admin: SignedIn) -> None:
    spare = admin.who.codes[3]
    for expected in (303, 403):
        at = AtBrowser(world)
        await at.open("/console/sign-in")
        await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
        answer = await at.post("/console/code", follow=False, code=spare.upper().replace("-", " "))
        assert answer.status_code == expected
    assert len((await admin.who.row()).recovery_hashes) == 9


async def test_a_ticket_is_over_after_five_minutes_and_is_no_session(
    world: HttpWorld, admin: SignedIn
) -> None:
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
    assert at.cookie("tidings_session") is None
    await wait(world, minutes=5)

    answer = await at.post("/console/code", follow=False, code=await admin.who.code())

    assert answer.status_code == 410
    assert at.cookie("tidings_session") is None


async def test_a_ticket_is_over_once_the_password_is_another(world: HttpWorld, admin: SignedIn) -> None:
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
    await admin.browser.open("/console/account")
    changed = await admin.browser.post(
        "/console/account/password", old=PASSWORD, new="otter-lighthouse-77", code=await admin.who.code()
    )
    assert "Saved." in changed.text

    answer = await at.post("/console/code", follow=False, code=await admin.who.code())

    assert answer.status_code == 410
    assert at.cookie("tidings_session") is None


async def test_who_works_for_two_tenants_chooses_after_the_password(world: HttpWorld) -> None:
    first, second = await world.tenant(name="North"), await world.tenant(name="South")
    mail = f"both.{first.id[-8:].lower()}@example.com"
    await an_operator(world, first.id, email=mail)
    other = await an_operator(world, second.id, email=mail)
    at = AtBrowser(world)
    await at.open("/console/sign-in")

    shown = await at.post("/console/sign-in", email=mail, password=PASSWORD)

    assert "North" in shown.text
    assert "South" in shown.text
    await at.post("/console/code", code=await other.who.code(), operator=other.who.id)
    assert "South" in at.html
    assert "North" not in at.html


async def test_a_password_that_fits_elsewhere_is_audited_where_it_does_not(
    world: HttpWorld, db: Database
) -> None:
    first, second = await world.tenant(), await world.tenant()
    mail = f"both.{first.id[-8:].lower()}@example.com"
    other = await an_operator(world, second.id, email=mail)
    victim = await an_operator(world, first.id, email=mail)
    at = victim.browser
    await at.open("/console/account")
    await at.post(
        "/console/account/password", old=PASSWORD, new="otter-lighthouse-77", code=await victim.who.code()
    )
    assert "Saved." in at.html

    await other.who.sign_in()

    async with db.tenant(first.id) as tx:
        rows = await world.system.kernel.backoffice_audit.read_recent(tx, entity_type="operator")
    # By its name: rows of one moment come in no order.
    (refused,) = [row for row in rows if row.action == "password.refused"]
    assert '"counted":false' in str(refused.after).replace(" ", "")
    assert (await victim.who.row()).failures == 0


async def test_an_operator_that_was_not_offered_can_not_be_chosen(world: HttpWorld, admin: SignedIn) -> None:
    stranger = await an_operator(world, (await world.tenant()).id)
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)

    answer = await at.post("/console/code", code=await stranger.who.code(), operator=stranger.who.id)

    assert answer.status_code == 403


async def test_tries_get_seldom_for_a_mail_known_or_not(world: HttpWorld, admin: SignedIn) -> None:
    for email in (admin.who.email, f"nobody.{admin.who.id[-6:].lower()}@example.com"):
        at = AtBrowser(world)
        await at.open("/console/sign-in")
        seen = [
            (await at.post("/console/sign-in", email=email, password="not-the-password")).status_code
            for _ in range(6)
        ]
        assert seen == [403] * 5 + [429]
        assert "Too many tries" in at.html
        await wait(world, minutes=1)
        more = [
            (await at.post("/console/sign-in", email=email, password="not-the-password")).status_code
            for _ in range(5)
        ]
        assert more == [403] * 5
        await wait(world, minutes=1)
        # Twelve in a quarter of an hour.
        left = [
            (await at.post("/console/sign-in", email=email, password="not-the-password")).status_code
            for _ in range(3)
        ]
        assert left == [403, 403, 429] if email != admin.who.email else left[-1] in (403, 429)


async def test_one_place_is_slowed_down_whomever_it_names(world: HttpWorld, tenant: Tenant) -> None:
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    seen = [
        (
            await at.post("/console/sign-in", email=f"n{number}@example.com", password="not-the-password")
        ).status_code
        for number in range(31)
    ]
    assert seen[-1] == 429


async def test_too_many_failures_lock_and_time_unlocks(world: HttpWorld, admin: SignedIn) -> None:
    await fail(admin.who, MOST_FAILURES)
    assert (await admin.who.row()).status == "locked"
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password="not-the-password")
    assert WRONG in at.html, "a stranger is not told that the account is locked"

    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
    assert "your account is locked for half an hour" in at.html
    # What was open before goes on: a stranger's tries throw nobody out.
    assert (await admin.get("/bff/v1/session")).status_code == 200

    await wait(world, seconds=LOCKED_FOR.total_seconds())
    await admin.who.sign_in()
    row = await admin.who.row()
    assert (row.status, row.failures, row.locked_until) == ("active", 0, None)


async def test_a_lock_that_is_over_begins_the_count_anew(world: HttpWorld, admin: SignedIn) -> None:
    await fail(admin.who, MOST_FAILURES)
    await wait(world, seconds=LOCKED_FOR.total_seconds())

    await fail(admin.who, 1)

    row = await admin.who.row()
    assert (row.status, row.failures, row.locked_until) == ("active", 1, None)


async def test_wrong_passwords_of_strangers_keep_nobody_from_their_own_browser(
    world: HttpWorld, admin: SignedIn
) -> None:
    await fail(admin.who, MOST_FAILURES)
    assert (await admin.who.row()).status == "locked"

    # The session goes on, with all that it may do.
    await admin.attest("operator.status")
    assert (await admin.who.row()).status == "locked", "a code alone ends no lock of the password"
    at = admin.browser.copy("tidings_device")
    again = await admin.who.sign_in(at)
    assert again.device_id == admin.device_id
    assert (await admin.who.row()).status == "active"


async def test_a_device_of_somebody_else_is_no_browser_of_ones_own(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    other = await an_operator(world, tenant.id, email="other")
    await fail(admin.who, MOST_FAILURES)

    for at in (other.browser.copy("tidings_device"), AtBrowser(world)):
        await at.open("/console/sign-in")
        await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
        assert "your account is locked for half an hour" in at.html


async def test_wrong_codes_lock_sessions_and_ones_own_browser_too(world: HttpWorld, admin: SignedIn) -> None:
    for _ in range(MOST_FAILURES):
        answer = await admin.post("/bff/v1/attestations", {"action": "operator.status", "code": "000000"})
    assert answer.json()["code"] == "operator_locked"
    row = await admin.who.row()
    assert (row.status, row.failures, row.code_failures) == ("locked", 0, MOST_FAILURES)

    right = {"action": "operator.status", "code": await admin.who.code()}
    assert (await admin.post("/bff/v1/attestations", right)).json()["code"] == "operator_locked"
    at = admin.browser.copy("tidings_device")
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
    assert "your account is locked for half an hour" in at.html
    await wait(world, seconds=LOCKED_FOR.total_seconds())
    assert (await admin.attest("operator.status")).startswith("mfa_")


async def test_tries_of_strangers_do_not_use_up_those_of_the_own_browser_or_another_place(
    world: HttpWorld, admin: SignedIn
) -> None:
    stranger = AtBrowser(world)
    await stranger.open("/console/sign-in")
    for _ in range(6):
        answer = await stranger.post("/console/sign-in", email=admin.who.email, password="not-the-password")
    assert answer.status_code == 429

    for at in (admin.browser.copy("tidings_device"), AtBrowser(world, address="192.0.2.7")):
        await at.open("/console/sign-in")
        shown = await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
        assert "Enter your code" in shown.text


async def test_all_places_together_have_a_limit_for_one_mail(world: HttpWorld) -> None:
    limits = world.system.backoffice.parts.get(SignInLimits)

    waits = [await limits.wait_for("sha256:mail", f"place {number}", device_id=None) for number in range(31)]

    assert waits[:30] == [None] * 30
    assert waits[30] is not None
    assert waits[30] >= 1
    own = await limits.wait_for("sha256:mail", "place 1", device_id=DEVICE.new(world.clock.now()))
    assert own is None


async def test_an_admin_unlocks(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    other = await an_operator(world, tenant.id, email="other")
    await fail(other.who, MOST_FAILURES)

    answer = await admin.post(f"/bff/v1/operators/{other.who.id}/unlock", attested="operator.status")

    assert answer.json()["status"] == "active"
    await other.who.sign_in()


async def test_failures_are_audited_without_what_was_typed(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    await fail(admin.who, 1)

    async with db.tenant(tenant.id) as tx:
        rows = await world.system.kernel.backoffice_audit.read_recent(tx, entity_type="operator")
    assert rows[0].action == "password.refused"
    assert "not-the-password" not in str(rows)
    assert admin.who.email not in str(rows)
    assert {row.action for row in rows} >= {"invited", "password.chosen", "joined", "password.refused"}


async def test_operators_of_a_suspended_tenant_stay_outside(world: HttpWorld, admin: SignedIn) -> None:
    tenant_id = admin.who.tenant_id
    assert tenant_id is not None
    who, path = await invited(world, tenant_id, email="late")
    async with world.as_platform() as platform:
        done = await platform.post(f"/internal/v1/tenants/{tenant_id}/suspend")
        assert done.status_code == 200, done.text
    world.system.access.gate.forget(tenant_id)

    assert (await admin.get("/bff/v1/session")).json()["code"] == "tenant_suspended"
    assert "not open at the moment" in (await admin.browser.open("/console")).text
    assert "not open at the moment" in (await AtBrowser(world).open(path)).text
    at = AtBrowser(world)
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)
    answer = await at.post("/console/code", code=await admin.who.code(), follow=False)
    assert answer.status_code == 403
    assert "not open at the moment" in answer.text
    assert at.cookie("tidings_session") is None
    assert (await who.row()).status == "invited"


async def test_passwords_want_https_but_on_this_machine(world: HttpWorld) -> None:
    at = AtBrowser(world)
    at.client.base_url = "http://console.example"

    refused = await at.open("/console/sign-in")

    assert "needs https" in refused.text
    assert 'type="password"' not in refused.text
    at.client.base_url = "https://console.example"
    assert 'type="password"' in (await at.open("/console/sign-in")).text


async def test_cookies_are_kept_from_scripts_and_other_hosts(world: HttpWorld, admin: SignedIn) -> None:
    at = AtBrowser(world)
    at.client.base_url = "https://console.example"
    await at.open("/console/sign-in")
    await at.post("/console/sign-in", email=admin.who.email, password=PASSWORD)

    answer = await at.post("/console/code", code=await admin.who.code(), follow=False)

    cookies = answer.headers.get_list("set-cookie")
    assert [one.partition("=")[0] for one in cookies] == ["__Host-tidings_session", "__Host-tidings_device"]
    for one in cookies:
        assert {"Path=/", "HttpOnly", "SameSite=Strict", "Secure"} <= set(one.split("; "))
        assert "Domain" not in one
    assert await join_nothing(admin)


async def join_nothing(admin: SignedIn) -> bool:
    """The first session, on its own device, goes on."""
    return (await admin.get("/bff/v1/session")).status_code == 200


@pytest.mark.parametrize("path", ["/console/sign-in", "/console", "/console/account", "/console/operators"])
async def test_pages_hold_no_code_and_stand_in_no_frame(admin: SignedIn, path: str) -> None:
    answer = await admin.browser.client.get(path)

    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert "script-src 'self';" in policy
    # Code is in a file of ours; what stands in the page is data.
    assert (
        re.findall(
            r"<script(?! defer src=\"/console/static/| src=\"/console/static/| type=\"application/json\")",
            answer.text,
        )
        == []
    )
    assert " style=" not in answer.text
    assert "<style" not in answer.text
    assert " onclick" not in answer.text


async def test_without_a_session_pages_lead_to_the_sign_in(world: HttpWorld) -> None:
    for path in ("/console", "/console/account", "/console/operators"):
        answer = await AtBrowser(world).client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/sign-in")


async def test_joining_again_is_not_offered_to_who_has_joined(world: HttpWorld, tenant: Tenant) -> None:
    who, path = await invited(world, tenant.id)
    await join(who, path)

    assert (await AtBrowser(world).open(path)).status_code == 410
