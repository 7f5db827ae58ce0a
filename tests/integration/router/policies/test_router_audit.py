"""The router's audit through HTTP: read by those who may, page by page, each tenant its own."""

import httpx2
import pytest

from tests.integration.router.policies.world import AUDIT, HOME, PolicyWorld, made, policy_world
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.db import Database


async def test_pages_follow_each_other(client: httpx2.AsyncClient) -> None:
    for use_case in ("otp", "txn", "alert", "marketing", "conversational"):
        await made(client, use_case=use_case)

    whole = (await client.get(AUDIT)).json()["items"]
    first = (await client.get(AUDIT, params={"limit": "3"})).json()
    second = (await client.get(AUDIT, params={"limit": "3", "cursor": first["next_cursor"]})).json()

    assert [row["id"] for row in (*first["items"], *second["items"])] == [row["id"] for row in whole]
    assert {row["id"].rpartition("_")[0] for row in whole} == {"chan_audit"}
    assert second["next_cursor"] is None


async def test_nobody_reads_anothers(world: PolicyWorld, client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    other = await world.http.tenant()

    async with world.http.as_tenant(other.id) as stranger:
        rows = (await stranger.get(AUDIT, params={"entity_id": policy["id"]})).json()["items"]

    assert rows == []


async def test_the_platform_reads_its_own_and_that_of_a_tenant_it_names(fresh_db: Database) -> None:
    """In a database of its own: an account of the platform is everybody's."""
    world = policy_world(fresh_db)
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        policy = await made(client)
    command = ConfigureAccount(vendor="http", secret_ref="file://x", renew=True)
    async with world.http.db.platform() as tx:
        await world.http.system.router.adapter_configs.configure_platform(tx, [command], actor="test")

    async with world.http.as_platform() as platform:
        own = (await platform.get(AUDIT, params={"entity_type": "adapter_config"})).json()["items"]
        theirs = (await platform.get(AUDIT, headers={"X-Tenant-Id": tenant.id})).json()["items"]

    assert {row["tenant_id"] for row in own} == {None}
    assert [(row["entity_id"], row["tenant_id"]) for row in theirs] == [(policy["id"], tenant.id)]


@pytest.mark.parametrize(
    ("wish", "status"),
    [
        ({"scopes": ["router:write"]}, 403),
        ({"role": "tenant.viewer"}, 403),
        ({"scopes": ["audit:read"]}, 200),
    ],
)
async def test_who_may_read_it(world: PolicyWorld, wish: dict[str, object], status: int) -> None:
    tenant = await world.http.tenant()

    async with world.http.as_tenant(tenant.id, **wish) as client:
        answer = await client.get(AUDIT)

    assert answer.status_code == status


async def test_what_is_personal_in_a_description_is_masked(client: httpx2.AsyncClient) -> None:
    await made(client, description="ask laila@example.test about it")

    answer = await client.get(AUDIT, params={"entity_type": "fallback_policy"})

    assert "about it" in answer.text
    assert "laila@" not in answer.text
    assert "laila@" in (await client.get(HOME)).text


async def test_a_kind_of_thing_that_there_is_not(client: httpx2.AsyncClient) -> None:
    answer = await client.get(AUDIT, params={"entity_type": "foo"})
    known = await client.get(AUDIT, params={"entity_type": "profile"})

    assert (answer.status_code, known.status_code) == (400, 200)
    [error] = answer.json()["errors"]
    assert error["field"] == "entity_type"
    assert "fallback_policy" in error["remedy"]
    assert "callback" in error["remedy"]
