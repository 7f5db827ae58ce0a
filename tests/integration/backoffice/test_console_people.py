"""Pages of people: least data by role, preferences with an undo, consent, archive, erasure by a code."""

import io
import zipfile

from tests.integration.backoffice.sent import ConsoleWorld, send_form, words_of
from tests.support.operators import SignedIn
from tests.support.people import unused
from tidings.kernel.ids import TenantId

PAGES = "/console/people"
EVIL = "<script>alert(1)</script>"


async def _person(sent: ConsoleWorld, house: TenantId, **facts: str) -> tuple[str, str]:
    """Their id, and their mail address."""
    address = f"laila-{unused()}@example.test"
    return await sent.recipient(house, ("email", address), ("sms", "+93700123456"), **facts), address


async def _actions(sent: ConsoleWorld, house: TenantId, person: str) -> list[str]:
    async with sent.db.tenant(house) as tx:
        rows = await sent.system.kernel.audit.read_recent(tx, entity_type="recipient", entity_id=person)
    return [row.action for row in rows]


async def test_people_are_listed_and_filtered_and_hostile_names_are_escaped(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person, address = await _person(sent, house, display_name=EVIL)
    at = admin.browser
    await at.open(PAGES)

    assert f"{PAGES}/{person}" in at.html
    assert "&lt;script&gt;" in at.html
    assert EVIL not in at.html
    assert address not in at.html
    assert person not in (await at.open(f"{PAGES}?tag=nobody")).text
    wrong = await at.open(f"{PAGES}?identity_id=7")
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (400, True)
    await at.open(f"{PAGES}/{person}")
    assert EVIL not in at.html
    assert (await at.open(f"{PAGES}/rcp_{'0' * 26}")).status_code == 404


async def test_an_address_is_shown_in_full_to_who_may_and_asks(sent: ConsoleWorld) -> None:
    house = await sent.house()
    person, address = await _person(sent, house)
    for role, may in (("tenant.viewer", False), ("tenant.support", True)):
        who = await sent.operator(house, role)
        at = who.browser
        for tab in ("overview", "preferences", "consents", "privacy"):
            shown = await at.open(f"{PAGES}/{person}?tab={tab}")
            assert shown.status_code == 200, (role, tab)
            assert address not in shown.text
            assert "+93700123456" not in shown.text
        await at.open(f"{PAGES}/{person}")
        assert ("Show in full" in at.html) is may
        answer = await at.post(f"{PAGES}/{person}/reveal")
        assert (answer.status_code == 200, address in answer.text) == (may, may)

    assert (await _actions(sent, house, person)).count("addresses_revealed") == 1


async def test_a_viewer_changes_nothing(sent: ConsoleWorld) -> None:
    house = await sent.house()
    person, _ = await _person(sent, house)
    viewer = await sent.operator(house, "tenant.viewer")
    at = viewer.browser
    shown = await at.open(f"{PAGES}/{person}?tab=preferences")

    assert "<select" not in shown.text
    for what in ("addresses", "preferences", "consent", "guardian", "link", "archive", "erase"):
        await at.open(f"{PAGES}/{person}")
        answer = await at.post(
            f"{PAGES}/{person}/{what}", channel="email", address="x@example.test", granted="no"
        )
        assert answer.status_code == 403, what


async def test_addresses_are_added_and_forgotten(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person, _ = await _person(sent, house)
    at = admin.browser
    await at.open(f"{PAGES}/{person}")
    await at.post(f"{PAGES}/{person}/addresses", channel="sms", address="+93 700 999 888", primary="on")
    assert "The address was added." in at.html
    wrong = await at.post(f"{PAGES}/{person}/addresses", channel="sms", address="tomorrow")
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (400, True)
    known = (await admin.get(f"/api/v1/recipients/{person}?reveal=true")).json()["addresses"]
    [old] = [one["id"] for one in known if one["address"] == "+93700123456"]
    await at.open(f"{PAGES}/{person}")
    await at.post(f"{PAGES}/{person}/addresses/{old}/delete")

    assert "The address was forgotten." in at.html
    left = (await admin.get(f"/api/v1/recipients/{person}?reveal=true")).json()["addresses"]
    assert {one["address"] for one in left} == {
        known[0]["address"],
        known[1]["address"],
        known[2]["address"],
    } - {"+93700123456"}


async def _preferences(admin: SignedIn, person: str) -> dict[str, object]:
    return dict((await admin.get(f"/api/v1/recipients/{person}/preferences")).json())


async def test_preferences_are_saved_undone_and_never_overwrite_a_colleagues(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person, _ = await _person(sent, house)
    at, path = admin.browser, f"{PAGES}/{person}/preferences"
    await at.open(f"{PAGES}/{person}?tab=preferences")
    hours = {"q0-mon": "on", "q0-start": "22:00", "q0-end": "07:00"}
    await send_form(at, path, {"c:email:social": "no", "quiet": "own", **hours})
    assert "The preferences were saved." in at.html
    saved = await _preferences(admin, person)
    assert saved["channels"] == {"email": {"categories": {"social": False}}}
    assert saved["quiet_hours"] == [{"days": ["mon"], "start": "22:00", "end": "07:00"}]

    before = at.html.split('name="before" value="')[1].split('"')[0].replace("&quot;", '"')
    await at.post(f"{path}/undo", version="1", before=before)
    assert "It is as it was before." in at.html
    undone = await _preferences(admin, person)
    assert (undone["channels"], undone["quiet_hours"], undone["version"]) == ({}, None, 2)

    late = await send_form(at, path, {"version": "1", "c:email:social": "no"})
    assert late.status_code == 412
    assert (await _preferences(admin, person))["version"] == 2
    wrong = await send_form(at, path, {"version": "2", "quiet": "own", "q0-start": "22:00"})
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (400, True)


async def test_consent_is_noted_with_its_source_and_withdrawn(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person, _ = await _person(sent, house)
    at, path = admin.browser, f"{PAGES}/{person}/consent"
    await at.open(f"{PAGES}/{person}?tab=consents")
    refused = await at.post(path, granted="yes", version="0", source="")
    assert refused.status_code == 400
    await at.post(
        path, granted="yes", version="0", source="front desk form", evidence="F-17 <script>alert(1)</script>"
    )
    assert "It was written into the ledger." in at.html
    assert "front desk form" in at.html
    assert EVIL not in at.html
    await at.post(path, granted="no", version="1")
    said = words_of(at.html)

    assert "consent withdrawn" in said
    assert "consent given" in said
    assert "not given" in said


async def test_a_guardian_is_named_and_taken_away(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person, _ = await _person(sent, house)
    guardian, _ = await _person(sent, house)
    at, path = admin.browser, f"{PAGES}/{person}/guardian"
    await at.open(f"{PAGES}/{person}?tab=preferences")
    await at.post(path, guardian=guardian, mode="instead")
    assert (await _preferences(admin, person))["guardian_routing"] == {
        "guardian_id": guardian,
        "mode": "instead",
    }
    await at.open(f"{PAGES}/{person}")
    assert f"{PAGES}/{guardian}" in at.html
    await at.open(f"{PAGES}/{person}?tab=preferences")
    await at.post(path, guardian="", version="1")

    assert (await _preferences(admin, person))["guardian_routing"] is None


async def test_archive_link_and_erasure(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person, address = await _person(sent, house, display_name="Laila")
    at = admin.browser
    await at.open(f"{PAGES}/{person}?tab=privacy")
    linked = await at.post(f"{PAGES}/{person}/link")
    url = linked.text.split('class="secret">')[1].split("<")[0]
    assert (await at.client.get(url)).status_code == 200
    archive = await at.post(f"{PAGES}/{person}/archive")
    assert archive.status_code == 200, words_of(archive.text)
    names = zipfile.ZipFile(io.BytesIO(archive.content)).namelist()
    assert archive.headers["content-disposition"] == f'attachment; filename="{person}.zip"'
    assert archive.headers["cache-control"] == "no-store"
    assert {"profile.json", "preferences.json", "consents.jsonl"} <= set(names)

    await at.open(f"{PAGES}/{person}?tab=privacy")
    refused = await at.post(f"{PAGES}/{person}/erase", code="000000")
    assert refused.status_code == 403
    assert "Erase this person" in refused.text
    await at.post(f"{PAGES}/{person}/erase", code=await admin.who.code(), reason="letter 12")
    said = words_of(at.html)
    assert "The person was erased." in said
    assert "Receipt of the erasure" in said
    assert "Laila" not in said.replace("Laila Noor", "")
    assert address not in at.html
    gone = await at.post(f"{PAGES}/{person}/archive")
    assert gone.status_code == 409
    assert "erased" in await _actions(sent, house, person)
