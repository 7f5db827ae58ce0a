"""Recipients and what they chose, out of files."""

import json
from typing import Any

from tests.support.people import PeopleWorld, rows, told
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.ids import TenantId

CSV, LINES = "text/csv", "application/x-ndjson"


async def send(
    world: PeopleWorld, tenant_id: TenantId, kind: str, text: str, media_type: str = CSV, **query: str
) -> Any:
    async with world.http.as_tenant(tenant_id) as client:
        done = await client.post(
            f"/api/v1/{kind}/import", content=text, headers={"Content-Type": media_type}, params=query
        )
    return done.json()


PEOPLE = (
    "identity_type,identity_id,display_name,locale,timezone,email,sms,tags,attributes.city\n"
    "guest,g-1,Laila,fa-af,Asia/Kabul,laila@example.test,+93701234567,vip|autumn,Herat\n"
    "guest,g-2,Omar,,,omar@example.test,,,\n"
    "guest,g-2,Omar,,,omar@example.test,,,\n"
)


async def test_recipients_are_made_and_brought_up_to_date(world: PeopleWorld) -> None:
    tenant = await world.tenant()

    first = await send(world, tenant.id, "recipients", PEOPLE)
    again = await send(world, tenant.id, "recipients", PEOPLE)
    moved = await send(world, tenant.id, "recipients", PEOPLE.replace("Herat", "Kabul"))
    bad = await send(
        world, tenant.id, "recipients",
        "id,email,timezone\n,nobody,Mars/Base\nrcp_01JCQ000000000000000000000,,\n,new@example.test,\n",
    )  # fmt: skip
    async with world.http.as_tenant(tenant.id) as client:
        listed = await client.get("/api/v1/recipients", params={"tag": "vip"})

    assert (first["added"], first["unchanged"], first["refused"]) == (2, 1, 0)
    assert (again["added"], again["changed"], again["unchanged"]) == (0, 0, 3)
    assert (moved["changed"], moved["unchanged"]) == (1, 2)
    [laila] = listed.json()["items"]
    assert (laila["display_name"], laila["locale"], laila["attributes"]) == (
        "Laila",
        "fa-AF",
        {"city": "Kabul"},
    )
    assert [(p["line"], p["column"], p["code"]) for p in bad["first_problems"]] == [
        (2, "email", "bad_value"),
        (2, "timezone", "bad_value"),
        (3, "", "recipient_not_found"),
    ]
    assert bad["added"] == 1
    assert "nobody" not in json.dumps(bad)


async def test_recipients_as_json_lines_and_headings_that_mean_nothing(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    line = {
        "identity": {"type": "user", "id": "u-1"},
        "addresses": [{"channel": "email", "address": "u@example.test"}],
    }

    done = await send(world, tenant.id, "recipients", json.dumps(line) + '\n{"secret@x.test": 1}\n', LINES)
    tried = await send(world, tenant.id, "recipients", PEOPLE, dry_run="true")
    strange = await send(world, tenant.id, "recipients", "identity_id,emial\n1,x\n")

    assert (done["added"], done["refused"]) == (1, 1)
    assert "secret" not in json.dumps(done)
    assert tried["added"] == 2
    assert len(await rows(world.db, tenant.id, "SELECT id FROM notification.recipients")) == 1
    assert strange["code"] == "bad_value"
    assert "column 2" in strange["detail"]


CHOICES = (
    "identity_type,identity_id,channels.email.allow,channels.email.categories.social,marketing_consent.granted,"
    "marketing_consent.source,marketing_consent.evidence\n"
    "guest,g-1,false,yes,,,\n"
    "guest,g-2,,,true,signup_form,form 7\n"
    "guest,nobody,false,,,,\n"
)


async def test_preferences_are_merged_told_and_kept_in_the_ledger(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await send(world, tenant.id, "recipients", PEOPLE)

    first = await send(world, tenant.id, "preferences", CHOICES)
    again = await send(world, tenant.id, "preferences", CHOICES)
    more = await send(
        world, tenant.id, "preferences", "identity_type,identity_id,channels.sms.allow\nguest,g-1,no\n",
        emit_events="false",
    )  # fmt: skip

    assert (first["added"], first["refused"]) == (2, 1)
    assert [(p["line"], p["code"]) for p in first["first_problems"]] == [(4, "recipient_not_found")]
    assert (again["added"], again["changed"], again["unchanged"]) == (0, 0, 2)
    assert (more["added"], more["changed"]) == (0, 1)
    kept = await rows(
        world.db,
        tenant.id,
        "SELECT p.channels, p.version FROM notification.notification_preferences AS p "
        "JOIN notification.recipients AS r ON r.tenant_id = p.tenant_id AND r.id = p.recipient_id "
        "WHERE r.identity_id = 'g-1'",
    )
    assert kept[0]["version"] == 2
    assert json.loads(kept[0]["channels"]) == {
        "email": {"allow": False, "categories": {"social": True}},
        "sms": {"allow": False},
    }
    subjects = [subject for subject, _ in await told(world.db, tenant.id, "")]
    assert subjects.count("preferences.updated.v1") == 2
    assert subjects.count("optout.recorded.v1") == 1
    lines = await rows(
        world.db,
        tenant.id,
        "SELECT kind, source, evidence FROM notification.consent_events ORDER BY kind, id",
    )
    assert ("consent_granted", "signup_form", "form 7") in [
        (line["kind"], line["source"], line["evidence"]) for line in lines
    ]
    assert ("opted_out", "import", first["id"]) in [
        (line["kind"], line["source"], line["evidence"]) for line in lines
    ]


async def test_what_can_not_act_and_what_does_not_exist_are_refused_by_line(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await send(world, tenant.id, "recipients", PEOPLE)
    who = '"identity": {"type": "guest", "id": "g-1"}'
    lines = [
        f'{{{who}, "digest_schedule": {{"reminder": {{"every": "week", "at": "08:00"}}}}}}',
        f'{{{who}, "locale": "zz-ZZZZ"}}',
        f'{{{who}, "locale": "fa-AF"}}',
    ]

    told_of = await send(world, tenant.id, "preferences", "\n".join(lines), LINES)

    assert (told_of["added"], told_of["refused"]) == (1, 2)
    assert [(p["line"], p["column"]) for p in told_of["first_problems"]] == [
        (1, "digest_schedule.reminder"),
        (2, "locale"),
    ]


async def test_a_tenant_that_wants_consent_confirmed_wants_evidence(world: PeopleWorld) -> None:
    tenant = await world.tenant(NotificationPolicy(double_opt_in=True))
    await send(world, tenant.id, "recipients", PEOPLE)

    refused = await send(world, tenant.id, "preferences", CHOICES.replace("form 7", ""))
    taken = await send(world, tenant.id, "preferences", CHOICES)

    assert (3, "marketing_consent.evidence") in [(p["line"], p["column"]) for p in refused["first_problems"]]
    assert taken["added"] == 1


async def test_bad_preferences_are_named(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await send(world, tenant.id, "recipients", PEOPLE)

    done = await send(
        world, tenant.id, "preferences",
        "identity_type,identity_id,timezone,channels.email.allow,channels.email.categories.gossip\n"
        "guest,g-1,Mars/Base,,\nguest,g-1,,perhaps,\nguest,g-1,,,no\nguest,,,no,\n",
    )  # fmt: skip

    assert done["refused"] == 4
    assert [(p["line"], p["column"]) for p in done["first_problems"]] == [
        (2, "timezone"),
        (3, "channels.email.allow"),
        (4, "channels.email.categories.gossip"),
        (5, "id"),
    ]
