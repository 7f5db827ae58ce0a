"""`email_verified` follows the verified flag of people's mail addresses, in the transaction that changes it."""

from datetime import timedelta
from typing import Any

import httpx2

from tests.support.people import PeopleWorld

HOME = "/api/v1/recipients"


def _mail(name: str, **more: Any) -> dict[str, Any]:
    return {"channel": "email", "address": f"{name}@example.test", **more}


async def _later(world: PeopleWorld) -> None:
    """Of two words at one moment none is the later."""
    await world.system.clock.advance(timedelta(seconds=1))  # type: ignore[attr-defined]


async def _proven(client: httpx2.AsyncClient, who: str) -> bool:
    answer = await client.get(f"/api/v1/router/profiles/{who}")
    found: bool = answer.json()["email_verified"]
    return found


async def _changed(client: httpx2.AsyncClient, who: str, *addresses: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(HOME, json={"id": who, "addresses": list(addresses)})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_the_profile_follows_the_addresses(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(HOME, json={"addresses": [_mail("one", verified=True)]})
        who = made.json()["id"]
        from_the_start = await _proven(client, who)
        await _later(world)
        whole = await _changed(client, who, _mail("one", verified=False), _mail("two"))
        taken_back = await _proven(client, who)
        await _later(world)
        await client.post(f"{HOME}/{who}/addresses", json=_mail("two", verified=True))
        by_another = await _proven(client, who)
        two = next(a["id"] for a in whole["addresses"] if a["id"] != made.json()["addresses"][0]["id"])
        await _later(world)
        await client.delete(f"{HOME}/{who}/addresses/{two}")
        without_it = await _proven(client, who)

    assert (from_the_start, taken_back, by_another, without_it) == (True, False, True, False)


async def test_somebody_known_who_comes_again_with_a_proof(world: PeopleWorld) -> None:
    """By the upsert too, and only a change is written."""
    tenant = await world.tenant()
    who = {"identity": {"type": "guest", "id": "g-9"}}
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(HOME, json={**who, "addresses": [_mail("nine")]})
        before = await client.get(f"/api/v1/router/profiles/{made.json()['id']}")
        for _ in range(2):
            await client.post(HOME, json={**who, "addresses": [_mail("nine", verified=True)]})
        after = await client.get(f"/api/v1/router/profiles/{made.json()['id']}")

    assert (before.json()["email_verified"], before.headers["etag"]) == (False, '"v0"')
    assert (after.json()["email_verified"], after.headers["etag"]) == (True, '"v1"')
    assert "email_verified" in after.json()["learned_at"]


async def test_a_telephone_proves_no_mailbox(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        addresses = [{"channel": "sms", "address": "+93701234567", "verified": True}, _mail("three")]
        made = await client.post(HOME, json={"addresses": addresses})

        assert await _proven(client, made.json()["id"]) is False
