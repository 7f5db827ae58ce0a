"""Admins look after operators: each change needs an attestation, and none reaches another tenant."""

import json
import re
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import AtBrowser, SignedIn, an_operator, invited, join, open_people
from tidings.backoffice.attestations.actions import ACTIONS
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant


@pytest.fixture
async def viewer(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> SignedIn:
    return await an_operator(world, tenant.id, role="tenant.viewer", email="v", name="Vida Viewer")


async def change(
    admin: SignedIn, who: SignedIn, body: dict[str, object], **headers: str
) -> tuple[int, dict[str, object]]:
    shown = await admin.get(f"/bff/v1/operators/{who.who.id}")
    headers.setdefault("If-Match", shown.headers["etag"])
    answer = await admin.send(
        "PATCH", f"/bff/v1/operators/{who.who.id}", body, attested="operator.change", **headers
    )
    return answer.status_code, answer.json()


async def test_operators_are_listed_and_shown(admin: SignedIn, viewer: SignedIn) -> None:
    shown = (await admin.get("/bff/v1/operators")).json()["items"]
    assert [(one["name"], one["role"], one["status"]) for one in shown] == [
        ("Vida Viewer", "tenant.viewer", "active"),
        ("Laila Noor", "tenant.admin", "active"),
    ]
    one = (await admin.get(f"/bff/v1/operators/{viewer.who.id}")).json()
    assert one["email"] == viewer.who.email
    assert one["has_second_factor"] is True
    assert one["recovery_codes"] == 10
    assert (await viewer.get("/bff/v1/operators")).json()["code"] == "missing_scope"


async def test_new_rights_count_in_a_session_that_is_open(admin: SignedIn, viewer: SignedIn) -> None:
    status, changed = await change(admin, viewer, {"role": "tenant.support"})

    assert (status, changed["version"]) == (200, 5)
    me = (await viewer.get("/bff/v1/session")).json()
    assert me["role"] == "tenant.support"
    assert "notifications:write" in me["scopes"]


async def test_properties_are_given_and_taken_like_a_role(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    clerk = await an_operator(world, tenant.id, role="tenant.support", email="clerk", properties=("kabul",))
    assert (await clerk.get("/bff/v1/session")).json()["properties"] == ["kabul"]

    status, changed = await change(admin, clerk, {"properties": ["herat", "kabul", "herat"]})

    assert (status, changed["properties"], changed["role"]) == (200, ["herat", "kabul"], "tenant.support")
    assert (await clerk.get("/bff/v1/session")).json()["properties"] == ["herat", "kabul"]
    async with db.tenant(tenant.id) as tx:
        audited = await tx.connection.fetch(
            "SELECT before, after FROM bff_backoffice.audit WHERE entity_id = $1 AND action = 'changed'",
            clerk.who.id,
        )
    assert [
        (json.loads(row["before"])["properties"], json.loads(row["after"])["properties"]) for row in audited
    ] == [(["kabul"], ["herat", "kabul"])]
    wrong = await change(admin, clerk, {"properties": ["a b"]})
    assert (wrong[0], wrong[1]["errors"][0]["field"]) == (400, "properties[0]")  # type: ignore[index]


async def test_an_admin_of_one_property_gives_no_other(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    of_one = await an_operator(world, tenant.id, email="one", properties=("kabul",))
    body = {"name": "N", "email": "new@example.com", "role": "tenant.viewer", "properties": ["herat"]}
    refused = await of_one.post("/bff/v1/operators", body, attested="operator.invite")
    assert (refused.status_code, refused.json()["code"]) == (403, "escalation")
    assert refused.json()["errors"][0]["field"] == "properties"
    # They would take over what the other may see.
    reset = await of_one.post(f"/bff/v1/operators/{admin.who.id}/reset-mfa", attested="operator.reset_mfa")
    assert reset.json()["code"] == "escalation"
    made = await of_one.post(
        "/bff/v1/operators", {**body, "properties": ["kabul"]}, attested="operator.invite"
    )
    assert made.json()["operator"]["properties"] == ["kabul"]


async def test_the_page_of_operators_gives_properties(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    at = admin.browser
    await at.open("/console/operators")
    await at.post(
        "/console/operators",
        name="Omid",
        email="omid@example.com",
        role="tenant.viewer",
        properties="kabul, herat",
        code=await admin.who.code(),
    )
    shown = (await admin.get("/bff/v1/operators")).json()["items"][0]
    assert (shown["name"], shown["properties"]) == ("Omid", ["herat", "kabul"])

    html = (await at.open("/console/operators")).text
    assert 'value="herat kabul"' in html
    await at.post(
        f"/console/operators/{shown['id']}",
        do="change",
        role="tenant.viewer",
        properties="*",
        version=str(shown["version"]),
        code=await admin.who.code(),
    )
    shown = (await admin.get(f"/bff/v1/operators/{shown['id']}")).json()
    assert shown["properties"] == ["*"]
    assert "Every property" in at.html


async def test_a_change_names_the_version_it_is_made_from(admin: SignedIn, viewer: SignedIn) -> None:
    assert (await change(admin, viewer, {"role": "tenant.support"}, **{"If-Match": '"v1"'}))[0] == 412
    path = f"/bff/v1/operators/{viewer.who.id}"
    without = await admin.send("PATCH", path, {"role": "tenant.support"}, attested="operator.change")
    assert without.status_code == 428


@pytest.mark.parametrize("action", ["invite", "disable", "enable", "unlock", "reset-mfa", "erase"])
async def test_every_action_needs_an_attestation_of_its_own(
    admin: SignedIn, viewer: SignedIn, action: str
) -> None:
    path = f"/bff/v1/operators/{viewer.who.id}/{action}"
    assert (await admin.post(path)).json()["code"] == "attestation_required"
    other = await admin.post(path, attested="session.force_out")
    assert (other.status_code, other.json()["code"]) == (403, "attestation_required")
    assert "POST /bff/v1/attestations" in other.json()["detail"]


async def test_an_attestation_works_once_here_and_now(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, viewer: SignedIn
) -> None:
    path = f"/bff/v1/operators/{viewer.who.id}"
    made = await admin.attest("operator.status")
    second = await admin.who.sign_in()
    colleague = await an_operator(world, tenant.id, email="c")
    for thief in (second, colleague):
        refused = await thief.post(f"{path}/disable", **{"X-Attestation": made})
        assert refused.json()["code"] == "attestation_required"
    assert (await admin.post(f"{path}/disable", **{"X-Attestation": made})).status_code == 200
    assert (await admin.post(f"{path}/enable", **{"X-Attestation": made})).json()[
        "code"
    ] == "attestation_required"

    late = await admin.attest("operator.status")
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(minutes=5))
    assert (await admin.post(f"{path}/enable", **{"X-Attestation": late})).json()[
        "code"
    ] == "attestation_required"


async def test_of_two_at_once_one_gets_the_attestation(admin: SignedIn, viewer: SignedIn) -> None:
    import asyncio

    made = await admin.attest("session.force_out")
    body = {"scope": "operator", "target": viewer.who.id}

    answers = await asyncio.gather(
        *(admin.post("/bff/v1/force-logout", body, **{"X-Attestation": made}) for _ in range(4))
    )

    assert sorted(one.status_code for one in answers) == [200, 403, 403, 403]


async def test_a_wrong_code_attests_nothing_and_counts(admin: SignedIn) -> None:
    answer = await admin.post("/bff/v1/attestations", {"action": "operator.erase", "code": "000000"})

    assert answer.json()["code"] == "code_refused"
    assert (await admin.who.row()).code_failures == 1


async def test_who_is_disabled_is_out_at_once_and_can_come_back(admin: SignedIn, viewer: SignedIn) -> None:
    path = f"/bff/v1/operators/{viewer.who.id}"
    assert (await admin.post(f"{path}/disable", attested="operator.status")).json()["status"] == "disabled"
    assert (await viewer.get("/bff/v1/session")).status_code == 401
    at = AtBrowser(viewer.who.world)
    await at.open("/console/sign-in")
    refused = await at.post("/console/sign-in", email=viewer.who.email, password="umbrella-42-giraffe")
    assert "Mail or password is not right" in refused.text

    assert (await admin.post(f"{path}/enable", attested="operator.status")).json()["status"] == "active"
    await viewer.who.sign_in()
    again = await admin.post(f"{path}/enable", attested="operator.status")
    assert again.json()["code"] == "operator_status"


async def test_who_lost_the_authenticator_begins_anew(
    world: HttpWorld, admin: SignedIn, viewer: SignedIn
) -> None:
    old = viewer.who.secret
    answer = await admin.post(f"/bff/v1/operators/{viewer.who.id}/reset-mfa", attested="operator.reset_mfa")
    assert answer.json()["operator"]["status"] == "invited"
    assert (await viewer.get("/bff/v1/session")).status_code == 401

    anew = await join(viewer.who, "/console/" + answer.json()["join_url"].partition("/console/")[2])

    assert anew.who.secret != old
    assert (await viewer.who.row()).status == "active"


async def test_the_audit_tells_what_beginning_anew_took_away(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, viewer: SignedIn, db: Database
) -> None:
    await admin.post(f"/bff/v1/operators/{viewer.who.id}/reset-mfa", attested="operator.reset_mfa")

    async with db.tenant(tenant.id) as tx:
        rows = await world.system.kernel.backoffice_audit.read_recent(tx, entity_type="operator")
    told = next(row for row in rows if row.action == "mfa.reset")
    before, after = json.loads(str(told.before)), json.loads(str(told.after))
    assert (before["status"], before["has_second_factor"]) == ("active", True)
    assert (after["status"], after["has_second_factor"]) == ("invited", False)


async def test_what_is_erased_is_gone_and_the_id_stays(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, viewer: SignedIn, db: Database
) -> None:
    box = (await viewer.who.row()).name_ciphertext
    answer = await admin.post(f"/bff/v1/operators/{viewer.who.id}/erase", attested="operator.erase")

    erased = answer.json()
    assert (erased["name"], erased["email"], erased["status"]) == (None, None, "disabled")
    assert erased["erased_at"] is not None
    assert (await viewer.get("/bff/v1/session")).status_code == 401
    assert await open_people(world, viewer.who) is None
    # What a backup still holds can't be read either.
    async with db.tenant(tenant.id) as tx:
        await tx.connection.execute(
            "UPDATE bff_backoffice.operators SET name_ciphertext = $1, email_ciphertext = $1, erased_at = NULL, "
            "status = 'active' WHERE id = $2",
            box,
            viewer.who.id,
        )
    assert await open_people(world, viewer.who) is None
    # The mail is free again.
    await invited(world, tenant.id, email=viewer.who.email)
    again = await admin.post(f"/bff/v1/operators/{viewer.who.id}/erase", attested="operator.erase")
    assert again.status_code in (200, 409)


async def test_nobody_changes_themselves(admin: SignedIn) -> None:
    for action, attested in (
        ("disable", "operator.status"),
        ("reset-mfa", "operator.reset_mfa"),
        ("erase", "operator.erase"),
    ):
        answer = await admin.post(f"/bff/v1/operators/{admin.who.id}/{action}", attested=attested)
        assert (answer.status_code, answer.json()["code"]) == (409, "own_operator")


async def test_nobody_gives_or_touches_more_than_they_have(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, viewer: SignedIn
) -> None:
    platform = await admin.post(
        "/bff/v1/operators",
        {"name": "P", "email": "p@example.com", "role": "platform.support"},
        attested="operator.invite",
    )
    assert platform.status_code == 400
    assert platform.json()["errors"][0]["field"] == "role"


async def test_another_tenants_operators_are_not_there(world: HttpWorld, admin: SignedIn) -> None:
    stranger = await an_operator(world, (await world.tenant()).id)
    path = f"/bff/v1/operators/{stranger.who.id}"

    assert (await admin.get(path)).json()["code"] == "operator_not_found"
    assert stranger.who.id not in (await admin.get("/bff/v1/operators")).text
    for action, attested in (("disable", "operator.status"), ("erase", "operator.erase")):
        assert (await admin.post(f"{path}/{action}", attested=attested)).json()[
            "code"
        ] == "operator_not_found"
    ended = await admin.post(f"/bff/v1/sessions/{stranger.session_id}/revoke", attested="session.force_out")
    assert ended.json()["code"] == "session_not_found"
    forced = await admin.post(
        "/bff/v1/force-logout", {"scope": "operator", "target": stranger.who.id}, attested="session.force_out"
    )
    assert forced.json() == {"sessions": 0}
    assert (await stranger.get("/bff/v1/session")).status_code == 200
    page = await admin.browser.open("/console/operators")
    assert stranger.who.email not in page.text


async def test_the_platform_looks_after_a_tenants_operators_by_naming_it(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    platform = await an_operator(world, None, email=f"p.{tenant.id[-8:].lower()}@example.com")
    named = {"X-Tenant-Id": tenant.id}

    shown = (await platform.get("/bff/v1/operators", **named)).json()["items"]
    assert [one["id"] for one in shown] == [admin.who.id]
    done = await platform.post(
        f"/bff/v1/operators/{admin.who.id}/disable", attested="operator.status", **named
    )
    assert done.json()["status"] == "disabled"
    assert (await platform.get("/bff/v1/session")).json()["tenant_id"] is None


async def test_keys_are_no_operators(world: HttpWorld, tenant: Tenant) -> None:
    async with world.as_tenant(tenant.id) as key:
        assert (await key.get("/bff/v1/session")).json()["code"] == "operators_only"
        body = {"name": "X", "email": "x@example.com", "role": "tenant.admin"}
        assert (await key.post("/bff/v1/operators", json=body)).json()["code"] == "operators_only"
        made = await key.post("/bff/v1/attestations", json={"action": "operator.erase", "code": "123456"})
        assert made.json()["code"] == "operators_only"


async def test_the_openapi_documents_are_apart(world: HttpWorld) -> None:
    async with world.client() as client:
        own = (await client.get("/bff/v1/openapi.json")).json()
        public = (await client.get("/openapi.json")).json()

    assert "/bff/v1/operators/{operator_id}" in own["paths"]
    assert not any(path.startswith(("/bff", "/console")) for path in public["paths"])
    assert not any(path.startswith("/api") for path in own["paths"])
    enum = own["components"]["schemas"]["MakeAttestation"]["properties"]["action"]["enum"]
    assert sorted(enum) == sorted(ACTIONS)


async def test_admins_do_the_same_on_pages(world: HttpWorld, admin: SignedIn, viewer: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/operators")
    assert "Vida Viewer" in at.html
    wrong = await at.post(
        "/console/operators", name="O", email="o@example.com", role="tenant.viewer", code="000000"
    )
    assert wrong.status_code == 403
    assert "The code is not right" in wrong.text
    await at.post(
        "/console/operators",
        name="Omar",
        email="omar@example.com",
        role="tenant.viewer",
        code=await admin.who.code(),
    )
    assert "Pass this link on" in at.html
    assert "/console/join/" in at.html

    page = f"/console/operators/{viewer.who.id}"
    version = str((await viewer.who.row()).version)
    stale = await at.open("/console/operators") and await at.post(
        page, do="change", role="tenant.support", version="1", code=await admin.who.code()
    )
    assert stale.status_code == 403
    await at.open("/console/operators")
    await at.post(page, do="change", role="tenant.support", version=version, code=await admin.who.code())
    assert "Saved." in at.html
    await at.post(page, do="disable", role="tenant.support", code=await admin.who.code())
    assert (await viewer.get("/bff/v1/session")).status_code == 401
    await at.post(page, do="enable", role="tenant.support", code=await admin.who.code())
    await at.post(page, do="reset-mfa", role="tenant.support", code=await admin.who.code())
    assert "/console/join/" in at.html
    await at.open("/console/operators")
    await at.post(page, do="erase", role="tenant.support", code=await admin.who.code())
    assert "Vida Viewer" not in at.html


async def test_people_look_after_their_own_sign_in(world: HttpWorld, admin: SignedIn) -> None:
    second = await admin.who.sign_in()
    at = admin.browser
    await at.open("/console/account")
    assert "This device" in at.html
    await at.post(f"/console/account/sessions/{second.session_id}/revoke")
    assert (await second.get("/bff/v1/session")).status_code == 401

    await at.post("/console/account/codes", code=await admin.who.code())
    assert len(re.findall(r"<li>[2-9a-z]{5}-", at.html)) == 10
    old = admin.who.codes[0]
    await at.open("/console/account")
    assert (await at.post("/console/account/codes", code=old)).status_code == 403

    third = await admin.who.sign_in()
    await at.open("/console/account")
    new = "lighthouse-77-otter"
    weak = await at.post("/console/account/password", old="umbrella-42-giraffe", new="short", code="1")
    assert weak.status_code == 400
    wrong = await at.post(
        "/console/account/password", old="wrong-old-password", new=new, code=await admin.who.code()
    )
    assert wrong.status_code == 403
    await at.post(
        "/console/account/password", old="umbrella-42-giraffe", new=new, code=await admin.who.code()
    )
    assert "Saved." in at.html
    assert (await third.get("/bff/v1/session")).status_code == 401, "a stolen session ends with the password"
    fresh = AtBrowser(world)
    await fresh.open("/console/sign-in")
    assert (
        "Enter your code" in (await fresh.post("/console/sign-in", email=admin.who.email, password=new)).text
    )

    await at.open("/console")
    await at.post("/console/sign-out")
    assert at.cookie("tidings_session") is None
    assert "Sign in" in at.html
    assert (await admin.get("/bff/v1/session")).status_code == 401


@pytest.mark.parametrize(
    ("language", "said", "direction"),
    [("ar-EG,en", "تسجيل الدخول", "rtl"), ("xx, fa-AF", "ورود", "rtl"), ("de", "Sign in", "ltr")],
)
async def test_pages_speak_the_browsers_language(
    world: HttpWorld, language: str, said: str, direction: str
) -> None:
    page = await AtBrowser(world, language=language).open("/console/sign-in")

    assert said in page.text
    assert f'dir="{direction}"' in page.text
