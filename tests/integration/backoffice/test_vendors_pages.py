"""Operators look after vendor accounts in the console: circuits, prices, pace, shares, the meaning of codes."""

from typing import Any

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

ROUTER = "/api/v1/router"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SETTINGS = {"url": "https://sms.example/send", "secrets": {"token": SECRET}}


async def an_account(who: SignedIn, kind: str = "http", suffix: str = "acme") -> Any:
    await who.send("PUT", f"{ROUTER}/secrets/acme", {"value": SETTINGS}, attested="credential.change")
    at = who.browser
    await at.open("/console/vendors/new")
    form = {"kind": kind, "suffix": suffix, "secret_ref": "sealed://acme", "code": await who.who.code()}
    await at.post("/console/vendors/new", True, **form)
    assert "The account is made." in at.html, at.html
    found = (await who.get(f"{ROUTER}/adapters")).json()["items"]
    return next(one for one in found if one["vendor"] == f"{kind}_{suffix}")


async def test_an_account_needs_a_code_and_shows_no_secret(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/vendors/new")
    refused = await at.post("/console/vendors/new", kind="http", secret_ref="sealed://acme", code="000000")
    assert refused.status_code == 403
    assert 'value="000000"' not in at.html

    made = await an_account(admin)
    assert SECRET not in (await at.open(f"/console/vendors/{made['id']}")).text


async def test_pace_and_prices_are_saved_and_what_is_wrong_is_named(admin: SignedIn) -> None:
    at, made = admin.browser, await an_account(admin)
    path = f"/console/vendors/{made['id']}"
    await at.open(path)
    prices = {"currency": "USD", "base": "0.04", "by_prefix": "+93 base=0.1 segment=0.02"}
    await at.post(path, True, per_second="7", version=str(made["version"]), **prices)
    assert "Pace and prices are saved." in at.html, at.html
    assert "+93 base=0.1 segment=0.02" in at.html
    shown = (await admin.get(f"{ROUTER}/adapters/{made['id']}")).json()
    assert shown["per_second"] == 7
    assert shown["prices"]["by_prefix"] == {"+93": {"base_micros": 100_000, "per_segment_micros": 20_000}}

    wrong = await at.post(path, True, per_second="quick<i>", version=str(made["version"] + 1), **prices)
    assert wrong.status_code == 400
    assert 'id="per_second-error"' in at.html
    assert "quick&lt;i&gt;" in at.html


async def test_a_circuit_is_held_with_a_reason_and_let_go(admin: SignedIn) -> None:
    at, made = admin.browser, await an_account(admin)
    path = f"/console/vendors/{made['id']}"
    await at.open(path)
    assert (await at.post(f"{path}/circuit", state="OPEN")).status_code == 400
    await at.post(f"{path}/circuit", state="OPEN", reason="they <told> us")
    assert "Held by hand" in at.html
    assert "they &lt;told&gt; us" in at.html
    await at.post(f"{path}/circuit/let-go")
    assert "follows the counts again" in at.html

    await at.post(f"{path}/active", version=str(made["version"]))
    assert "The account is switched off." in at.html


async def test_shares_are_points_of_a_hundred(admin: SignedIn) -> None:
    at = admin.browser
    await an_account(admin)
    await an_account(admin, suffix="other")
    await at.open("/console/vendors/weights")
    wrong = await at.post("/console/vendors/weights/sms", home="http_acme=60 http_other=60")
    assert wrong.status_code == 400
    await at.open("/console/vendors/weights")
    await at.post(
        "/console/vendors/weights/sms",
        version="",
        home="http_acme=60 http_other=40",
        by_prefix="+93 http_acme=100",
    )
    assert "The shares are saved." in at.html, at.html
    shown = (await admin.get(f"{ROUTER}/weights/sms")).json()
    assert (shown["home"], shown["by_prefix"]) == (
        {"http_acme": 60, "http_other": 40},
        {"+93": {"http_acme": 100}},
    )


async def test_a_code_gets_a_meaning_with_one_click_and_loses_it_again(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/vendors/codes")
    await at.post("/console/vendors/codes", adapter="http", vendor_code="X/77", canonical="bounced")
    assert "The code has its meaning" in at.html
    line = (await admin.get(f"{ROUTER}/status-map/http/X~77")).json()["tenant"]
    assert (line["canonical"], line["reason"]) == ("bounced", "hard_bounce")

    await at.post("/console/vendors/codes", adapter="http", vendor_code="X/77", canonical="complaint")
    assert "The code has its meaning" in at.html
    refused = await at.post(
        "/console/vendors/codes", adapter="http", vendor_code="X/77", canonical="nonsense"
    )
    assert refused.status_code == 400
    await at.post("/console/vendors/codes/remove", adapter="http", vendor_code="X/77", version="2")
    assert "The platform&#x27;s meaning counts again." in at.html


async def test_the_platform_sees_its_own_accounts_and_a_viewer_changes_none(
    world: HttpWorld, tenant: Tenant
) -> None:
    boss = await an_operator(world, None)
    for page in ("", "/weights", "/codes", "/new"):
        assert (await boss.browser.open(f"/console/vendors{page}")).status_code == 200, page
    viewer = await an_operator(world, tenant.id, role="tenant.viewer")
    assert "New account" not in (await viewer.browser.open("/console/vendors")).text
    refused = await viewer.browser.post(
        "/console/vendors/codes", csrf=viewer.csrf, adapter="http", vendor_code="X", canonical="bounced"
    )
    assert refused.status_code == 403


async def test_how_calls_went_is_empty_where_nothing_was_sent(admin: SignedIn) -> None:
    shown = (await admin.get(f"{ROUTER}/adapters/calls?hours=48")).json()
    assert (shown["items"], shown["more"]) == ([], False)
    assert (await admin.get(f"{ROUTER}/adapters/calls?hours=0")).status_code == 400
