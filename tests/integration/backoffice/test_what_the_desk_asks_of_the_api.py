"""What the support desk needs of the API: attested erasures and releases, links made by hand, people by their ids."""

from tests.integration.backoffice.sent import ConsoleWorld
from tests.support.people import unused


async def test_erasing_and_releasing_in_bulk_take_a_second_factor_of_now(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    person = await sent.recipient(house, ("email", f"{unused()}@example.test"))
    held = await admin.post(
        "/api/v1/suppressions", {"channel": "email", "address": f"{unused()}@example.test"}
    )
    release = {"ids": [held.json()["id"]]}

    refused = [
        await admin.post(f"/api/v1/recipients/{person}/erase", {}),
        await admin.post("/api/v1/suppressions/release", release),
        await admin.post("/api/v1/suppressions/release", release, attested="recipient.erase"),
    ]
    released = await admin.post("/api/v1/suppressions/release", release, attested="suppression.release_many")
    erased = await admin.post(f"/api/v1/recipients/{person}/erase", {}, attested="recipient.erase")

    assert {(one.status_code, one.json()["code"]) for one in refused} == {(403, "attestation_required")}
    assert released.json() == {"released": 1, "passed_over": 0}
    assert erased.json()["statement"]["recipient_id"] == person
    async with sent.http.as_tenant(house) as key:
        other = await sent.recipient(house, ("email", f"{unused()}@example.test"))
        assert (await key.post(f"/api/v1/recipients/{other}/erase", json={})).status_code == 200


async def test_a_link_to_preferences_is_made_by_hand(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    viewer = await sent.operator(house, "tenant.viewer")
    person = await sent.recipient(
        house, ("sms", "+93700123456"), ("email", f"{unused()}@example.test"), display_name="Laila"
    )
    nobody = await sent.recipient(house)
    path = f"/api/v1/recipients/{person}/preference-link"

    made = await admin.post(path)
    by_text = await admin.post(path, {"channel": "sms"})
    page = await admin.browser.client.get(made.json()["url"])
    refused = await viewer.post(path)
    missing = [
        await admin.post(path, {"channel": "viber"}),
        await admin.post(f"/api/v1/recipients/{nobody}/preference-link"),
    ]
    await admin.post(f"/api/v1/recipients/{person}/erase", {}, attested="recipient.erase")
    gone = await admin.post(path)

    assert (made.status_code, made.json()["channel"], by_text.json()["channel"]) == (201, "email", "sms")
    assert made.json()["url"] != by_text.json()["url"]
    assert page.status_code == 200
    assert made.headers["cache-control"] == "no-store"
    assert refused.status_code == 403
    assert {(one.status_code, one.json()["errors"][0]["field"]) for one in missing} == {(400, "channel")}
    assert gone.json()["code"] == "recipient_erased"
    async with sent.db.tenant(house) as tx:
        audited = await sent.system.kernel.audit.read_recent(tx, entity_type="recipient", entity_id=person)
    assert [row.action for row in audited].count("preference_link_made") == 2


async def test_people_are_listed_by_their_ids_and_no_neighbours(sent: ConsoleWorld) -> None:
    house, other = await sent.house(), await sent.house()
    admin = await sent.operator(house)
    mine = [await sent.recipient(house, display_name=f"P{place}") for place in range(3)]
    theirs = await sent.recipient(other, display_name="Stranger")
    path = "/api/v1/recipients"

    found = (await admin.get(f"{path}?ids={mine[0]},{mine[2]},{theirs},{mine[0]}")).json()
    page = (await admin.get(f"{path}?ids={','.join(mine)}&limit=2")).json()
    rest = (await admin.get(f"{path}?ids={','.join(mine)}&limit=2&cursor={page['next_cursor']}")).json()
    wrong = [
        await admin.get(f"{path}?ids=rcp_none"),
        await admin.get(f"{path}?ids={mine[0]}&tag=vip"),
        await admin.get(f"{path}?ids={','.join([mine[0]] * 101)}"),
    ]

    newest = sorted(mine, reverse=True)
    assert {(one["id"], one["display_name"]) for one in found["items"]} == {(mine[2], "P2"), (mine[0], "P0")}
    assert [one["id"] for one in (*page["items"], *rest["items"])] == newest
    assert {(one.status_code, one.json()["errors"][0]["field"]) for one in wrong} == {(400, "ids")}
