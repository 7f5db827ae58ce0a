"""Addresses and domains that no tenant may write to, over HTTP."""

from tests.support.people import PeopleWorld, unused

PATH = "/internal/v1/platform-suppressions"


async def test_a_domain_is_suppressed_for_all_listed_and_released(world: PeopleWorld) -> None:
    domain = f"{unused()}.test"
    async with world.http.as_platform() as client:
        added = await client.post(PATH, json={"channel": "email", "mail_domain": domain.upper()})
        again = await client.post(PATH, json={"channel": "email", "mail_domain": domain})
        [listed, *_] = (await client.get(PATH, params={"limit": 1})).json()["items"]
        released = await client.delete(f"{PATH}/{listed['id']}", params={"reason": "a mistake"})
        twice = await client.delete(f"{PATH}/{listed['id']}")
        [after, *_] = (await client.get(PATH, params={"limit": 1})).json()["items"]
        bad = await client.post(PATH, json={"channel": "sms", "mail_domain": domain})

    assert (added.status_code, again.status_code) == (201, 200)
    assert (listed["mail_domain"], listed["reason"], listed["released_at"]) == (domain, "compliance", None)
    assert (released.status_code, twice.status_code, twice.json()["code"]) == (
        204,
        404,
        "suppression_not_found",
    )
    assert after["released_by"].startswith("key_")
    assert (bad.status_code, bad.json()["errors"][0]["field"]) == (400, "mail_domain")


async def test_it_is_no_tenants_business(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        denied = await client.get(PATH)

    assert denied.status_code == 403
