"""Recipients, addresses and preferences through HTTP."""

import asyncio

import pytest

from tests.support.people import PeopleWorld, rows, told, unused
from tidings.contracts.ids import RECIPIENT

RECIPIENTS = "/api/v1/recipients"


def laila(**more: object) -> dict[str, object]:
    return {
        "identity": {"type": "guest", "id": f"g-{unused()}"},
        "display_name": "Laila",
        "locale": "fa-AF",
        "addresses": [{"channel": "email", "address": "laila@example.test"}],
        **more,
    }


async def test_a_recipient_is_made_shown_changed_and_listed(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    body = laila(tags=["vip"], attributes={"floor": 3})
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=body)
        again = await client.post(RECIPIENTS, json=body)
        path = made.headers["location"]
        shown = await client.get(path)
        changed = await client.patch(
            path,
            json={"display_name": None, "timezone": "Asia/Kabul"},
            headers={"If-Match": shown.headers["etag"]},
        )
        stale = await client.patch(path, json={"locale": "ar"}, headers={"If-Match": shown.headers["etag"]})
        blind = await client.patch(path, json={"locale": "ar"})
        listed = await client.get(RECIPIENTS, params={"tag": "vip", "identity_type": "guest"})
        none = await client.get(RECIPIENTS, params={"tag": "other"})
        identity = {"identity_type": "guest", "identity_id": made.json()["identity"]["id"]}
        found = await client.get(RECIPIENTS, params=identity)
        half = await client.get(RECIPIENTS, params={"identity_id": identity["identity_id"]})

    assert (made.status_code, again.status_code) == (201, 200)
    view = shown.json()
    assert (view["display_name"], view["locale"], view["tags"], view["attributes"]) == (
        "Laila", "fa-AF", ["vip"], {"floor": 3},
    )  # fmt: skip
    assert [(a["address"], a["primary"]) for a in view["addresses"]] == [("l…@e….test", True)]
    assert "status" not in view["addresses"][0], "its suppressions say whether it may be written to"
    assert (changed.json()["display_name"], changed.json()["timezone"], changed.json()["version"]) == (
        None, "Asia/Kabul", 2,
    )  # fmt: skip
    assert (stale.status_code, blind.status_code) == (412, 428)
    assert [item["id"] for item in listed.json()["items"]] == [view["id"]]
    assert "addresses" not in listed.json()["items"][0]
    assert none.json()["items"] == []
    assert [item["id"] for item in found.json()["items"]] == [view["id"]]
    assert (half.status_code, half.json()["errors"][0]["field"]) == (400, "identity_type")


async def test_addresses_are_shown_in_the_clear_only_to_those_who_may_and_that_is_audited(
    world: PeopleWorld,
) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
        path = made.headers["location"]
        revealed = await client.get(path, params={"reveal": "true"})
        listed = await client.get(f"{path}/addresses", params={"reveal": "true"})
    async with world.http.as_tenant(tenant.id, role="tenant.viewer") as viewer:
        hidden = await viewer.get(path)
        refused = await viewer.get(path, params={"reveal": "true"})

    assert revealed.json()["addresses"][0]["address"] == "laila@example.test"
    assert listed.json()["items"][0]["address"] == "laila@example.test"
    assert hidden.json()["addresses"][0]["address"] == "l…@e….test"
    assert hidden.json()["display_name"] == "Laila"
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
    audited = await rows(
        world.db, tenant.id, "SELECT action FROM notification.audit WHERE entity_id = $1", made.json()["id"]
    )
    assert [row["action"] for row in audited] == ["addresses_revealed"] * 2


async def test_addresses_come_and_go(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
        path = f"{made.headers['location']}/addresses"
        work = await client.post(
            path, json={"channel": "email", "address": "laila@work.test", "primary": True}
        )
        same = await client.post(
            path, json={"channel": "email", "address": "LAILA@work.test", "verified": True}
        )
        phone = await client.post(path, json={"channel": "sms", "address": "+93 70 123 4567"})
        before = (await client.get(path)).json()["items"]
        gone = await client.delete(f"{path}/{work.json()['id']}")
        again = await client.delete(f"{path}/{work.json()['id']}")
        after = (await client.get(path)).json()["items"]

    assert work.status_code == 201
    assert (same.json()["id"], same.json()["verified"]) == (work.json()["id"], True)
    assert phone.json()["address"] == "+…67"
    assert [(a["channel"], a["primary"]) for a in before] == [
        ("email", True),
        ("sms", True),
        ("email", False),
    ]
    assert (gone.status_code, again.status_code, again.json()["code"]) == (204, 404, "address_not_found")
    assert [(a["address"], a["primary"]) for a in after] == [("l…@e….test", True), ("+…67", True)]


async def test_a_repeated_request_makes_one_recipient(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    body = {"addresses": [{"channel": "email", "address": f"{unused()}@example.test"}]}
    async with world.http.as_tenant(tenant.id) as client:
        first = await client.post(RECIPIENTS, json=body)
        second = await client.post(RECIPIENTS, json=body)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {""}),
        ({"identity": {"type": "robot", "id": "r"}}, {"identity.type"}),
        ({"identity": {"type": "user", "id": "u"}, "locale": "klingon!"}, {"locale"}),
        ({"identity": {"type": "user", "id": "u"}, "timezone": "Mars/Olympus"}, {"timezone"}),
        ({"identity": {"type": "user", "id": "u"}, "colour": "red"}, {"colour"}),
        ({"addresses": [{"channel": "pigeon", "address": "x"}]}, {"addresses[0].channel"}),
        ({"addresses": [{"channel": "email", "address": "nobody"}, {"channel": "sms", "address": "abc"}]},
         {"addresses[0].address", "addresses[1].address"}),
        ({"id": "rcp_nobody"}, {"id"}),
    ],
)  # fmt: skip
async def test_bad_input_names_every_field_and_writes_nothing(
    world: PeopleWorld, body: dict[str, object], fields: set[str]
) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.post(RECIPIENTS, json=body)

    assert refused.status_code == 400
    assert {error["field"] for error in refused.json()["errors"]} == fields
    assert "nobody" not in refused.text.replace("rcp_nobody", "")
    assert await rows(world.db, tenant.id, "SELECT id FROM notification.recipients") == []


async def test_nobody_sees_another_tenants_people(world: PeopleWorld) -> None:
    one, two = await world.tenant(), await world.tenant()
    async with world.http.as_tenant(one.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
    path = made.headers["location"]
    async with world.http.as_tenant(two.id) as client:
        answers = [
            await client.get(path),
            await client.get(f"{path}/preferences"),
            await client.patch(path, json={"locale": "ar"}, headers={"If-Match": "*"}),
            await client.put(f"{path}/preferences", json={}, headers={"If-Match": "*"}),
            await client.post(f"{path}/addresses", json={"channel": "sms", "address": "+93701234567"}),
            await client.post(RECIPIENTS, json={"id": made.json()["id"]}),
        ]

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {
        (404, "recipient_not_found")
    }


PREFERENCES = {
    "channels": {"email": {"allow": False, "categories": {"social": True}}, "sms": {"categories": {"marketing": False}}},
    "quiet_hours": [{"days": ["mon", "sun"], "start": "22:00", "end": "07:00"}],
    "digest_schedule": {},
    "marketing_consent": {"granted": True, "source": "front desk form", "evidence": "form-17"},
    "timezone": "Asia/Kabul",
}  # fmt: skip


async def test_preferences_are_versioned_told_and_audited(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
        mother = await client.post(RECIPIENTS, json=laila())
        path = f"{made.headers['location']}/preferences"
        fresh = await client.get(path)
        saved = await client.put(path, json=PREFERENCES, headers={"If-Match": fresh.headers["etag"]})
        shown = await client.get(path)
        same = await client.put(path, json=PREFERENCES, headers={"If-Match": saved.headers["etag"]})
        guardian = {"guardian_id": mother.json()["id"], "mode": "copy"}
        patched = await client.patch(
            path, json={"guardian_routing": guardian}, headers={"If-Match": saved.headers["etag"]}
        )

    assert (fresh.headers["etag"], fresh.json()["marketing_consent"]) == ('"v0"', {"granted": False})
    assert saved.json() == shown.json()
    assert saved.json()["marketing_consent"]["at"] is not None
    assert {k: v for k, v in saved.json().items() if k in PREFERENCES and k != "marketing_consent"} == {
        k: v for k, v in PREFERENCES.items() if k != "marketing_consent"
    }
    assert (same.status_code, same.headers["etag"]) == (200, '"v1"')
    assert (patched.json()["guardian_routing"]["guardian_id"], patched.json()["version"]) == (
        mother.json()["id"],
        2,
    )
    assert patched.json()["channels"] == saved.json()["channels"]
    events = await told(world.db, tenant.id, "preferences.")
    assert [(subject, payload["version"]) for subject, payload in events] == [
        ("preferences.updated.v1", 1),
        ("preferences.updated.v1", 2),
    ]
    assert set(events[0][1]) == {"recipient_id", "preferences_id", "version"}
    audited = await rows(
        world.db,
        tenant.id,
        "SELECT action FROM notification.audit WHERE entity_type = 'preferences' AND entity_id = $1",
        made.json()["id"],
    )
    assert len(audited) == 2


async def test_what_can_not_act_says_so(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
        path = f"{made.headers['location']}/preferences"
        digest = await client.patch(
            path,
            json={"digest_schedule": {"reminder": {"every": "week", "at": "08:00"}}},
            headers={"If-Match": '"v0"'},
        )
        source = await client.patch(
            path,
            json={"marketing_consent": {"granted": True, "source": "a\tb"}},
            headers={"If-Match": '"v0"'},
        )

    assert "expire after 24 hours" in digest.json()["errors"][0]["remedy"]
    assert "1 to 100 printable characters" in source.json()["errors"][0]["remedy"]


async def test_a_language_that_does_not_exist_is_nobodys(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila(locale="haz-AF"))
        refused = [
            await client.post(RECIPIENTS, json=laila(locale="zz-ZZZZ")),
            await client.patch(made.headers["location"], json={"locale": "xx"}, headers={"If-Match": '"v1"'}),
        ]

    assert made.status_code == 201
    assert [(a.status_code, a.json()["errors"][0]["field"]) for a in refused] == [(400, "locale")] * 2


async def test_of_two_changes_from_one_version_one_is_refused(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
        path = f"{made.headers['location']}/preferences"
        for version, language in enumerate(("fr", "de", "nl")):
            bodies = [{"locale": f"{language}-{region}"} for region in ("FR", "BE", "CH", "CA")]
            answers = await asyncio.gather(
                *(client.put(path, json=body, headers={"If-Match": f'"v{version}"'}) for body in bodies)
            )

            assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"channels": {"pigeon": {}}}, {"channels.pigeon"}),
        ({"channels": {"email": {"categories": {"weather": False}}}}, {"channels.email.categories.weather"}),
        ({"timezone": "Mars/Olympus"}, {"timezone"}),
        ({"quiet_hours": [{"days": ["mon", "mon"], "start": "22:00", "end": "22:00", "timezone": "Mars/Olympus"}]},
         {"quiet_hours[0].timezone", "quiet_hours[0].end", "quiet_hours[0].days"}),
        ({"quiet_hours": [{"days": [], "start": "25:00", "end": "7"}]},
         {"quiet_hours[0].days", "quiet_hours[0].start", "quiet_hours[0].end"}),
        ({"digest_schedule": {"social": {"every": "week"}, "transactional": {"every": "hour"}}},
         {"digest_schedule.social", "digest_schedule.transactional"}),
        ({"locale": "zz-ZZZZ"}, {"locale"}),
        ({"marketing_consent": {"granted": True, "source": "mina@hotel.test"}}, {"marketing_consent.source"}),
        ({"marketing_consent": {"granted": True, "source": "x" * 101}}, {"marketing_consent.source"}),
        ({"marketing_consent": {"granted": True, "source": " form"}}, {"marketing_consent.source"}),
        ({"marketing_consent": {"granted": True, "at": "2099-01-01T00:00:00Z"}},
         {"marketing_consent.source", "marketing_consent.at"}),
        ({"guardian_routing": {"guardian_id": "SELF", "mode": "copy"}}, {"guardian_routing.guardian_id"}),
        ({"guardian_routing": {"guardian_id": "STRANGER", "mode": "copy"}}, {"guardian_routing.guardian_id"}),
    ],
)  # fmt: skip
async def test_wrong_preferences_name_every_field(
    world: PeopleWorld, body: dict[str, object], fields: set[str]
) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(RECIPIENTS, json=laila())
        ids = {"SELF": made.json()["id"], "STRANGER": RECIPIENT.new(world.system.clock.now())}
        routing = body.get("guardian_routing")
        if isinstance(routing, dict):
            body = {"guardian_routing": {**routing, "guardian_id": ids[routing["guardian_id"]]}}
        refused = await client.put(
            f"{made.headers['location']}/preferences", json=body, headers={"If-Match": '"v0"'}
        )

    assert refused.status_code == 400
    assert {error["field"] for error in refused.json()["errors"]} == fields
    assert await rows(world.db, tenant.id, "SELECT id FROM notification.notification_preferences") == []


async def test_nothing_personal_lies_in_the_clear(world: PeopleWorld) -> None:
    """Every column of every row that was written, as text."""
    tenant = await world.tenant()
    secret = f"zarghuna{unused()}"
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(
            RECIPIENTS,
            json=laila(
                display_name=secret.title(),
                addresses=[
                    {"channel": "email", "address": f"{secret}@example.test"},
                    {"channel": "sms", "address": "+93701234567"},
                ],
            ),
        )
        await client.patch(
            made.headers["location"], json={"display_name": f"{secret} two"}, headers={"If-Match": "*"}
        )
        await client.get(made.headers["location"], params={"reveal": "true"})

    for table in ("recipients", "recipient_addresses", "audit"):
        found = await rows(world.db, tenant.id, f"SELECT t::text AS line FROM notification.{table} AS t")
        text = " ".join(str(row["line"]) for row in found).lower()
        assert found
        for needle in (secret, secret.encode().hex(), "93701234567", b"93701234567".hex()):
            assert needle.lower() not in text
