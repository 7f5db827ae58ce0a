"""Profiles as callers see them: shown, told by hand, forgotten, listed; each change in the audit."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.people import PeopleWorld, rows
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TenantId
from tidings.router.profiles.model import Observation
from tidings.router.profiles.store import learn, load

HOME = "/api/v1/router/profiles"


async def teach(
    world: PeopleWorld, tenant_id: TenantId, who: RecipientId, channel: Channel, *arrived: bool
) -> None:
    now = world.system.clock.now()
    seen = [Observation(recipient_id=who, channel=channel, delivered=one, at=now) for one in arrived]
    async with world.db.tenant(tenant_id) as tx:
        await learn(tx, seen, now=now)


async def audited(world: PeopleWorld, tenant_id: TenantId) -> list[dict[str, Any]]:
    return await rows(
        world.db,
        tenant_id,
        "SELECT entity_id, action, actor, before::text, after::text FROM chan.audit "
        "WHERE entity_type = 'profile' ORDER BY seq",
    )


async def test_somebody_is_shown_as_they_become_known(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    async with world.http.as_tenant(tenant.id) as client:
        unseen = await client.get(f"{HOME}/{who}")
        await teach(world, tenant.id, who, "sms", True, True, True, False)
        await teach(world, tenant.id, who, "whatsapp", False)
        stable = await client.get(f"{HOME}/{who}")
        # A month later it counts half.
        await world.system.clock.advance(timedelta(days=30))  # type: ignore[attr-defined]
        later = await client.get(f"{HOME}/{who}")

    assert (unseen.status_code, unseen.headers["etag"]) == (200, '"v0"')
    assert (unseen.json()["discovery_state"], unseen.json()["channels"]) == ("UNSEEN", [])
    assert stable.headers["etag"] == '"v2"'
    told = stable.json()
    assert told["discovery_state"] == "STABLE"
    assert told["last_successful_channel"] == "sms"
    assert [(one["channel"], one["score"], one["discovery_state"]) for one in told["channels"]] == [
        ("sms", 0.6667, "LEARNING"),
        ("whatsapp", 0.3333, "LEARNING"),
    ]
    assert [one["score"] for one in later.json()["channels"]] == [0.625, 0.4]


async def test_who_is_nobody_here_has_no_profile(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    theirs = await world.recipient(other.id, ("sms", "+93701234567"))
    await teach(world, other.id, theirs, "sms", True)
    made_up = RECIPIENT.new(world.system.clock.now())
    async with world.http.as_tenant(tenant.id) as client:
        for who in (theirs, made_up):
            for answer in (
                await client.get(f"{HOME}/{who}"),
                await client.patch(f"{HOME}/{who}", json={"email_verified": True}),
                await client.delete(f"{HOME}/{who}"),
            ):
                assert (answer.status_code, answer.json()["code"]) == (404, "profile_not_found")
        bad = await client.get(f"{HOME}/rcp_1")

    assert (bad.status_code, bad.json()["errors"][0]["field"]) == (400, "recipient_id")
    assert await rows(world.db, tenant.id, "SELECT FROM chan.recipient_profiles") == []


async def test_facts_are_told_by_hand_and_the_later_word_counts(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    yesterday = (world.system.clock.now() - timedelta(days=1)).isoformat()
    async with world.http.as_tenant(tenant.id) as client:
        first = await client.patch(
            f"{HOME}/{who}", json={"has_whatsapp_business": "KNOWN_NO", "email_verified": True}
        )
        older = await client.patch(
            f"{HOME}/{who}",
            json={
                "has_whatsapp_business": "KNOWN_YES",
                "voice_otp_supported": "KNOWN_YES",
                "observed_at": yesterday,
            },
        )

    assert first.status_code == 200, first.text
    assert first.headers["etag"] == '"v1"'
    told = older.json()
    assert (told["has_whatsapp_business"], told["voice_otp_supported"]) == ("KNOWN_NO", "KNOWN_YES")
    assert (told["email_verified"], told["discovery_state"]) == (True, "UNSEEN")
    assert told["learned_at"].keys() == {"has_whatsapp_business", "voice_otp_supported", "email_verified"}
    [one, other] = await audited(world, tenant.id)
    assert (one["entity_id"], one["action"]) == (who, "told")
    assert one["actor"].startswith("key_")
    assert '"fact":"email_verified","known":"UNKNOWN"' in one["before"].replace(" ", "")
    assert '"fact":"email_verified","known":true' in one["after"].replace(" ", "")
    assert '"fact":"voice_otp_supported","known":"KNOWN_YES"' in other["after"].replace(" ", "")


async def test_what_is_known_from_later_changes_nothing(world: PeopleWorld) -> None:
    """Neither its version nor the audit speaks of a change that there was not."""
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    yesterday = (world.system.clock.now() - timedelta(days=1)).isoformat()
    async with world.http.as_tenant(tenant.id) as client:
        first = await client.patch(f"{HOME}/{who}", json={"has_whatsapp_business": "KNOWN_NO"})
        older = await client.patch(
            f"{HOME}/{who}", json={"has_whatsapp_business": "KNOWN_YES", "observed_at": yesterday}
        )
        stale = await client.patch(
            f"{HOME}/{who}",
            json={"has_whatsapp_business": "KNOWN_YES", "observed_at": yesterday},
            headers={"If-Match": '"v9"'},
        )

    assert older.status_code == 200, older.text
    assert older.json() == first.json()
    assert older.headers["etag"] == first.headers["etag"]
    assert stale.status_code == 412
    assert len(await audited(world, tenant.id)) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"observed_at": "2020-01-01T00:00:00Z"}, ""),
        ({"email_verified": True, "observed_at": "2199-01-01T00:00:00Z"}, "observed_at"),
        ({"has_whatsapp_business": "MAYBE"}, "has_whatsapp_business"),
        ({"email_verified": "yes"}, "email_verified"),
        ({"viber_id": "x"}, "viber_id"),
    ],
)
async def test_what_can_t_be_taken_is_named(world: PeopleWorld, body: dict[str, Any], field: str) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    async with world.http.as_tenant(tenant.id) as client:
        answer = await client.patch(f"{HOME}/{who}", json=body)

    assert answer.status_code == 400, answer.text
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert await rows(world.db, tenant.id, "SELECT FROM chan.recipient_profiles") == []


async def test_a_change_from_an_old_version_is_refused_where_one_is_named(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    path = f"{HOME}/{who}"
    async with world.http.as_tenant(tenant.id) as client:
        fresh = await client.patch(path, json={"email_verified": True}, headers={"If-Match": '"v0"'})
        await teach(world, tenant.id, who, "sms", True)
        stale = await client.patch(path, json={"email_verified": False}, headers={"If-Match": '"v1"'})
        also = await client.delete(path, headers={"If-Match": '"v1"'})
        right = await client.patch(
            path, json={"voice_otp_supported": "KNOWN_NO"}, headers={"If-Match": '"v2"'}
        )

    assert fresh.status_code == 200, fresh.text
    assert {stale.status_code, also.status_code} == {412}
    assert (right.status_code, right.json()["version"]) == (200, 3)
    assert [row["action"] for row in await audited(world, tenant.id)] == ["told", "told"]


async def test_what_was_learned_is_forgotten_and_the_person_stays(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    await teach(world, tenant.id, who, "sms", *[True] * 6)
    async with world.http.as_tenant(tenant.id) as client:
        gone = await client.delete(f"{HOME}/{who}")
        again = await client.delete(f"{HOME}/{who}")
        shown = await client.get(f"{HOME}/{who}")
        # What comes next is learned anew.
        await teach(world, tenant.id, who, "sms", True)
        anew = await client.get(f"{HOME}/{who}")

    assert (gone.status_code, again.status_code) == (204, 204)
    assert shown.json()["discovery_state"] == "UNSEEN"
    assert (anew.json()["discovery_state"], anew.json()["version"]) == ("LEARNING", 1)
    [entry] = await audited(world, tenant.id)
    assert (entry["entity_id"], entry["action"]) == (who, "forgotten")


async def test_lists_go_by_how_well_people_are_known(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    several = [await world.recipient(tenant.id, ("sms", f"+9370123456{n}")) for n in range(5)]
    for n, who in enumerate(several):
        await teach(world, tenant.id, who, "sms", *[True] * (6 if n % 2 else 1))
        await world.system.clock.advance(timedelta(seconds=1))  # type: ignore[attr-defined]
    async with world.http.as_tenant(tenant.id) as client:
        learning = await client.get(HOME, params={"discovery_state": "LEARNING", "limit": 2})
        rest = await client.get(
            HOME,
            params={"discovery_state": "LEARNING", "limit": 2, "cursor": learning.json()["next_cursor"]},
        )
        everybody = await client.get(HOME)
        bad = await client.get(HOME, params={"discovery_state": "KNOWN"})

    assert [one["recipient_id"] for one in learning.json()["items"]] == [several[4], several[2]]
    assert [one["recipient_id"] for one in rest.json()["items"]] == [several[0]]
    assert rest.json()["next_cursor"] is None
    assert [one["recipient_id"] for one in everybody.json()["items"]] == several[::-1]
    assert bad.status_code == 400


async def test_who_may_only_read_changes_nothing(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    who = await world.recipient(tenant.id, ("sms", "+93701234567"))
    async with world.http.as_tenant(tenant.id, scopes=["router:read"]) as client:
        assert (await client.get(f"{HOME}/{who}")).status_code == 200
        refused = await client.patch(f"{HOME}/{who}", json={"email_verified": True})
        also = await client.delete(f"{HOME}/{who}")
    async with world.http.as_tenant(tenant.id, scopes=["recipients:read"]) as client:
        nothing = await client.get(f"{HOME}/{who}")

    assert {refused.status_code, also.status_code, nothing.status_code} == {403}
    async with world.db.tenant(tenant.id) as tx:
        assert await load(tx, [who]) == {}
