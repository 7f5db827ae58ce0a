"""Events about tenants and deleted users come in over HTTP and reach the consumers that hear them; from those who may send them."""

import secrets
from typing import Any

from tests.integration.events.test_receiving import PATH, announced
from tests.support.cloud_events import BATCH, cloud_event
from tests.support.http import HttpWorld, http_world
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT


async def _everything_arrives(world: HttpWorld) -> None:
    jobs: Any = world.system.jobs()
    await jobs["relay_notification"].drain()
    for name in ("tenants", "tenant_keys", "erasure"):
        await jobs[name].drain()


def _about(tenant_id: str, what: str, version: int, **data: Any) -> dict[str, Any]:
    return cloud_event(
        source="/tenant-service",
        type=f"tenant.{what}.v1",
        subject=tenant_id,
        data={"tenant_id": tenant_id, "version": version, **data},
    )


async def test_another_service_makes_a_tenant_and_freezes_it(fresh_db: Database) -> None:
    world = http_world(fresh_db)
    tenant_id = TENANT.new(SystemClock().now())
    made = _about(tenant_id, "created", 1, name="Acme", region="eu-west-1", unknown="is left out")
    frozen = _about(tenant_id, "frozen", 2)

    async with world.as_platform() as platform:
        answers = [await platform.post(PATH, json=one) for one in (made, made)]
        await _everything_arrives(world)
        shown = await platform.get(f"/internal/v1/tenants/{tenant_id}")
        batch = await platform.post(PATH, json=[frozen, made, cloud_event()], headers=BATCH)
        await _everything_arrives(world)
        after = await platform.get(f"/internal/v1/tenants/{tenant_id}")

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[1].json() == {"id": answers[0].json()["id"], "duplicate": True}
    assert (shown.json()["name"], shown.json()["status"]) == ("Acme", "active")
    assert (shown.json()["frozen_at"], after.json()["frozen_at"] is None) == (None, False)
    assert (batch.json()["accepted"], batch.json()["duplicates"], batch.json()["refused"]) == (1, 1, 1)
    assert batch.json()["results"][2]["problem"]["errors"][0]["field"] == "X-Tenant-Id"


async def test_events_about_tenants_are_the_platforms(world: HttpWorld) -> None:
    tenant = await world.tenant()
    event = _about(tenant.id, "suspended", 99)
    narrow = ["events:write"]

    async with (
        world.as_tenant(tenant.id) as own,
        world.as_platform(**{"X-Tenant-Id": tenant.id}) as acting,
        world.client((await world.key(None, scopes=narrow))[1]) as lacking,
        world.client((await world.key(None, environment="test"))[1]) as testing,
    ):
        answers = [await one.post(PATH, json=event) for one in (own, acting, lacking, testing)]

    assert [(one.status_code, one.json()["code"]) for one in answers] == [
        (403, "not_allowed"),
        (403, "not_allowed"),
        (403, "missing_scope"),
        (403, "test_key"),
    ]


async def test_what_is_wrong_with_data_is_named(world: HttpWorld) -> None:
    wrong = _about("tnt_x", "created", 1, region="eu-west-1")
    nobody = _about("tnt_x", "frozen", 1)

    async with world.as_platform() as platform:
        answers = [await platform.post(PATH, json=one) for one in (wrong, nobody)]

    assert [one.json()["errors"][0]["field"] for one in answers] == ["data.name", "data.tenant_id"]


async def test_one_event_about_nobody_does_not_refuse_its_batch(world: HttpWorld) -> None:
    tenant = await world.tenant()
    batch = [_about("tnt_x", "frozen", 1), _about(tenant.id, "frozen", 99)]

    async with world.as_platform() as platform:
        answer = await platform.post(f"{PATH}/batch", json={"events": batch})

    assert answer.status_code == 202, answer.text
    refused, published = answer.json()["results"]
    assert [error["field"] for error in refused["problem"]["errors"]] == ["data.tenant_id"]
    assert published["duplicate"] is False


async def test_a_deleted_user_is_erased(world: HttpWorld) -> None:
    tenant = await world.tenant()
    user = f"u-{secrets.token_hex(4)}"
    person = {"identity": {"type": "user", "id": user}, "display_name": "Laila"}
    event = cloud_event(
        source="/iam",
        type="iam.user.deleted.v1",
        subject=user,
        data={"user_id": user, "mail": "l@example.test"},
    )

    async with (
        world.as_tenant(tenant.id) as client,
        world.as_tenant(tenant.id, scopes=["events:write"]) as lacking,
        world.as_tenant(tenant.id, environment="test") as testing,
    ):
        made = await client.post("/api/v1/recipients", json=person)
        assert made.status_code in (200, 201), made.text
        refused = [await one.post(PATH, json=event) for one in (lacking, testing)]
        answer = await client.post(PATH, json=event)
        told = await announced(world.db, tenant.id)
        await _everything_arrives(world)
        shown = await client.get(f"/api/v1/recipients/{made.json()['id']}")

    assert [one.json()["code"] for one in refused] == ["missing_scope", "test_key"]
    assert answer.status_code == 202, answer.text
    assert [(row["id"], row["subject"], row["payload"]) for row in told] == [
        (answer.json()["id"], "iam.user.deleted.v1", {"user_id": user})
    ]
    assert shown.json()["erased_at"] is not None


async def test_a_platform_key_names_the_tenant(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_platform() as platform:
        nowhere = await platform.post(PATH, json=cloud_event())
        there = await platform.post(PATH, json=cloud_event(), headers={"X-Tenant-Id": tenant.id})

    assert (nowhere.status_code, nowhere.json()["errors"][0]["field"]) == (400, "X-Tenant-Id")
    assert there.status_code == 202
    assert len(await announced(world.db, tenant.id)) == 1
