"""API keys through HTTP: made, shown, rotated, revoked; never more given than held."""

import asyncio
from datetime import timedelta

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database

KEYS = "/api/v1/api-keys"
VIEWER = {"name": "reader", "role": "tenant.viewer"}


async def test_a_new_key_works_and_its_secret_is_shown_once(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as admin:
        made = await admin.post(KEYS, json=VIEWER)
        listed = await admin.get(KEYS)
        shown = await admin.get(f"{KEYS}/{made.json()['key']['id']}")
    async with world.client(made.json()["api_key"]) as client:
        whoami = await client.get("/api/v1/tenant")

    assert made.status_code == 201
    assert made.headers["location"] == f"{KEYS}/{made.json()['key']['id']}"
    assert made.headers["cache-control"] == "no-store"
    secret = made.json()["api_key"].rsplit("_", 1)[1]
    assert secret not in listed.text + shown.text
    assert "sha256" not in made.text + listed.text + shown.text
    assert whoami.json()["caller"]["id"] == made.json()["key"]["id"]
    assert whoami.json()["tenant"]["id"] == tenant.id


async def test_a_key_can_t_give_what_it_lacks(world: HttpWorld) -> None:
    tenant = await world.tenant()
    narrow = ["api_keys:read", "api_keys:write", "notifications:read"]
    attempts = [
        ({"role": "tenant.admin", "scopes": ["notifications:write"]}, "scopes"),
        ({"role": "tenant.admin", "scopes": ["notifications:read", "audit:read"]}, "scopes"),
    ]

    async with world.as_tenant(tenant.id, scopes=narrow) as client:
        for attempt, field in attempts:
            refused = await client.post(KEYS, json={"name": "more", **attempt})
            assert (refused.status_code, refused.json()["code"]) == (403, "escalation")
            assert refused.json()["errors"][0]["field"] == field
        fine = await client.post(KEYS, json={"name": "all I have", "role": "tenant.admin"})
    async with world.as_tenant(tenant.id, environment="test") as client:
        live = await client.post(KEYS, json={"name": "x", "role": "tenant.admin", "environment": "live"})
    async with world.as_tenant(tenant.id) as client:
        platform = await client.post(KEYS, json={"name": "x", "role": "platform.support"})

    assert fine.json()["key"]["scopes"] == narrow
    assert (live.status_code, live.json()["code"]) == (403, "test_key")
    assert (platform.status_code, platform.json()["errors"][0]["field"]) == (400, "role")


async def test_rotating_a_wider_key_is_an_escalation_too(world: HttpWorld) -> None:
    tenant = await world.tenant()
    wide, _ = await world.key(tenant.id)

    async with world.as_tenant(tenant.id, scopes=["api_keys:write"]) as client:
        refused = await client.post(f"{KEYS}/{wide.id}/rotate", json={})

    assert (refused.status_code, refused.json()["code"]) == (403, "escalation")


async def test_both_keys_work_until_the_overlap_ends(db: Database) -> None:
    clock = ManualClock(SystemClock().now())
    world = http_world(db, clock=clock)
    tenant = await world.tenant()
    old, carried = await world.key(tenant.id)

    async with world.client(carried) as client:
        rotated = await client.post(f"{KEYS}/{old.id}/rotate", json={"overlap_seconds": 60})
        async with world.client(rotated.json()["api_key"]) as successor:
            await clock.advance(timedelta(seconds=59))
            during = [(await c.get("/api/v1/tenant")).status_code for c in (client, successor)]
            shown = (await successor.get(f"{KEYS}/{old.id}")).json()
            await clock.advance(timedelta(seconds=1))
            after = [(await c.get("/api/v1/tenant")).status_code for c in (client, successor)]

    assert during == [200, 200]
    assert after == [401, 200]
    assert (shown["state"], shown["rotated_to"]) == ("rotated", rotated.json()["key"]["id"])
    assert rotated.json()["key"]["rotated_from"] == old.id
    assert rotated.json()["key"]["scopes"] == sorted(old.scopes)


async def test_of_two_rotations_at_once_one_wins(world: HttpWorld) -> None:
    tenant = await world.tenant()
    old, carried = await world.key(tenant.id)

    async with world.client(carried) as client:
        answers = await asyncio.gather(*(client.post(f"{KEYS}/{old.id}/rotate", json={}) for _ in range(4)))
        listed = (await client.get(KEYS)).json()["items"]

    assert sorted(a.status_code for a in answers) == [201, 409, 409, 409]
    assert {a.json().get("code") for a in answers} == {None, "key_already_rotated"}
    assert len(listed) == 2


async def test_a_revoked_key_stops_within_a_second_in_every_process(db: Database) -> None:
    clock = ManualClock(SystemClock().now())
    here, there = http_world(db, clock=clock), http_world(db, clock=clock)
    tenant = await here.tenant()
    leaked, carried = await here.key(tenant.id)

    async with (
        here.as_tenant(tenant.id) as admin,
        there.client(carried) as thief,
        here.client(carried) as thief_here,
    ):
        assert (await thief.get("/api/v1/tenant")).status_code == 200
        assert (await thief_here.get("/api/v1/tenant")).status_code == 200
        revoked = await admin.delete(f"{KEYS}/{leaked.id}")
        again = await admin.delete(f"{KEYS}/{leaked.id}")
        at_once = await thief_here.get("/api/v1/tenant")
        await clock.advance(timedelta(seconds=1))
        elsewhere = await thief.get("/api/v1/tenant")

    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    assert again.json() == revoked.json()
    assert (at_once.status_code, at_once.json()["detail"]) == (401, "This API key was revoked.")
    assert elsewhere.status_code == 401
    assert elsewhere.headers["www-authenticate"].startswith("Bearer")


async def test_an_ended_key_can_t_be_rotated(world: HttpWorld) -> None:
    tenant = await world.tenant()
    key, _ = await world.key(tenant.id)

    async with world.as_tenant(tenant.id) as admin:
        await admin.delete(f"{KEYS}/{key.id}")
        refused = await admin.post(f"{KEYS}/{key.id}/rotate", json={})

    assert (refused.status_code, refused.json()["code"]) == (409, "key_ended")


async def test_pages_hold_every_key_once(world: HttpWorld) -> None:
    tenant = await world.tenant()
    made = {(await world.key(tenant.id))[0].id for _ in range(7)}
    seen: list[str] = []
    cursor: str | None = None

    async with world.as_tenant(tenant.id) as client:
        while True:
            query = {"limit": "3", **({"cursor": cursor} if cursor else {})}
            page = (await client.get(KEYS, params=query)).json()
            seen += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break

    assert len(seen) == len(set(seen)) == 8
    assert made <= set(seen)
    assert seen == sorted(seen, reverse=True)


async def test_no_key_of_another_tenant_can_be_seen_or_touched(world: HttpWorld) -> None:
    ours, theirs = await world.tenant(), await world.tenant()
    their_key, carried = await world.key(theirs.id)
    platform_key, _ = await world.key(None)

    async with world.as_tenant(ours.id) as client:
        for target in (their_key.id, platform_key.id):
            for answer in [
                await client.get(f"{KEYS}/{target}"),
                await client.post(f"{KEYS}/{target}/rotate", json={}),
                await client.delete(f"{KEYS}/{target}"),
            ]:
                assert (answer.status_code, answer.json()["code"]) == (404, "key_not_found")
        listed = await client.get(KEYS)
        other = await client.get("/api/v1/tenant", headers={"X-Tenant-Id": theirs.id})
    async with world.client(carried) as client:
        still = await client.get("/api/v1/tenant")

    assert their_key.id not in listed.text
    assert (other.status_code, other.json()["code"]) == (403, "wrong_tenant")
    assert still.status_code == 200


async def test_a_platform_key_manages_its_own_keys_and_those_of_the_tenant_it_names(world: HttpWorld) -> None:
    tenant = await world.tenant()
    tenants_key, _ = await world.key(tenant.id)

    async with world.as_platform() as client:
        own = await client.post(KEYS, json={"name": "ops", "role": "platform.support"})
        unseen = await client.get(f"{KEYS}/{tenants_key.id}")
        acting = {"X-Tenant-Id": tenant.id}
        made = await client.post(KEYS, json={"name": "first", "role": "tenant.admin"}, headers=acting)
        listed = await client.get(KEYS, headers=acting)
    async with world.client(made.json()["api_key"]) as client:
        whoami = await client.get("/api/v1/tenant")

    assert own.json()["key"]["tenant_id"] is None
    assert unseen.status_code == 404
    assert {item["id"] for item in listed.json()["items"]} == {tenants_key.id, made.json()["key"]["id"]}
    assert whoami.json()["tenant"]["id"] == tenant.id


async def test_acting_for_a_tenant_is_in_the_tenant_s_audit(world: HttpWorld) -> None:
    tenant = await world.tenant()
    key, carried = await world.key(None, role="platform.support")

    async with world.client(carried, **{"X-Tenant-Id": tenant.id}) as client:
        for _ in range(3):
            assert (await client.get(KEYS)).status_code == 200
        await client.get("/api/v1/tenant")
    async with world.db.tenant(tenant.id) as tx:
        rows = await world.system.kernel.audit.read_recent(tx, entity_type="platform_access")

    assert {row.actor for row in rows} == {key.id}
    assert sorted(row.after or "" for row in rows) == [
        '{"operation":"GET /api/v1/api-keys","role":"platform.support"}',
        '{"operation":"GET /api/v1/tenant","role":"platform.support"}',
    ]


async def test_every_change_is_audited_and_published_with_it(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as admin:
        made = (await admin.post(KEYS, json=VIEWER)).json()["key"]["id"]
        await admin.post(f"{KEYS}/{made}/rotate", json={"overlap_seconds": 5})
        await admin.delete(f"{KEYS}/{made}")
        await admin.delete(f"{KEYS}/{made}")
    async with world.db.tenant(tenant.id) as tx:
        audited = await world.system.kernel.audit.read_recent(tx, entity_type="api_key", entity_id=made)
    async with worker_database.runtime() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        published = await connection.fetch(
            "SELECT subject FROM notification.outbox WHERE tenant_id = $1 AND ordering_key = $2 ORDER BY seq",
            tenant.id,
            made,
        )

    assert [row.action for row in reversed(audited)] == ["created", "rotated", "revoked"]
    assert [row["subject"] for row in published] == [
        "api_key.created.v1",
        "api_key.rotated.v1",
        "api_key.revoked.v1",
    ]


async def test_the_last_use_is_written_later_and_once_a_minute(db: Database) -> None:
    clock = ManualClock(SystemClock().now())
    world = http_world(db, clock=clock)
    tenant = await world.tenant()
    key, carried = await world.key(tenant.id)

    async with world.client(carried) as client:
        await client.get("/api/v1/tenant")
        before = (await client.get(f"{KEYS}/{key.id}")).json()["last_used_at"]
        written = [await world.system.access.last_used.flush()]
        first = (await client.get(f"{KEYS}/{key.id}")).json()["last_used_at"]
        await clock.advance(timedelta(seconds=30))
        await client.get("/api/v1/tenant")
        written.append(await world.system.access.last_used.flush())
        await clock.advance(timedelta(seconds=31))
        await client.get("/api/v1/tenant")
        written.append(await world.system.access.last_used.flush())

    assert before is None
    assert first is not None
    assert written == [1, 0, 1]


async def test_the_job_writes_what_is_left_when_it_is_told_to_stop(world: HttpWorld) -> None:
    tenant = await world.tenant()
    key, carried = await world.key(tenant.id)
    stop = asyncio.Event()
    job = asyncio.create_task(world.system.access.last_used.run(stop))

    async with world.client(carried) as client:
        await client.get("/api/v1/tenant")
        stop.set()
        await job
        shown = await client.get(f"{KEYS}/{key.id}")

    assert shown.json()["last_used_at"] is not None


async def test_a_repeated_request_makes_one_key_and_does_not_repeat_its_secret(world: HttpWorld) -> None:
    tenant = await world.tenant()
    header = {"Idempotency-Key": f"first-{tenant.id}"}

    async with world.as_tenant(tenant.id) as admin:
        first = await admin.post(KEYS, json=VIEWER, headers=header)
        again = await admin.post(KEYS, json=VIEWER, headers=header)
        other = await admin.post(KEYS, json={**VIEWER, "name": "other"}, headers=header)
        listed = (await admin.get(KEYS)).json()["items"]

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json()["key"] == first.json()["key"]
    assert again.json()["api_key"] is None
    assert again.headers["idempotency-replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert len(listed) == 2


async def test_a_key_that_could_do_nothing_is_refused(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id, scopes=["api_keys:write"]) as client:
        answer = await client.post(KEYS, json=VIEWER)

    assert (answer.status_code, answer.json()["code"]) == (403, "escalation")
    assert answer.json()["errors"][0]["field"] == "scopes"
    assert "tenant.viewer" in answer.json()["detail"]


async def test_a_rotated_key_names_its_successor(world: HttpWorld) -> None:
    tenant = await world.tenant()
    key, _ = await world.key(tenant.id)
    async with world.as_tenant(tenant.id) as client:
        first = await client.post(f"{KEYS}/{key.id}/rotate", json={})
        second = await client.post(f"{KEYS}/{key.id}/rotate", json={})

    successor = first.json()["key"]["id"]
    assert second.json()["detail"] == f"The key {key.id} was rotated to {successor}; rotate that one."


async def test_of_many_at_once_with_one_idempotency_key_one_works(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        answers = await asyncio.gather(
            *(client.post(KEYS, json=VIEWER, headers={"Idempotency-Key": "one"}) for _ in range(8))
        )
        spelt_otherwise = await client.post(f"{KEYS}/", json=VIEWER, headers={"Idempotency-Key": "one"})
        listed = (await client.get(KEYS)).json()["items"]

    made = {a.json()["key"]["id"] for a in answers if a.status_code == 201}
    told_to_wait = [a for a in answers if a.status_code == 409]
    assert len(made) == 1
    assert all(a.headers["retry-after"] == "1" for a in told_to_wait)
    assert {a.json()["code"] for a in told_to_wait} <= {"idempotency_in_progress"}
    assert spelt_otherwise.json()["key"]["id"] in made
    assert len(listed) == 2
