"""The audit through HTTP: read by those who may, page by page, each tenant its own."""

from tests.support.http import HttpWorld

AUDIT, KEYS, TENANTS = "/api/v1/audit", "/api/v1/api-keys", "/internal/v1/tenants"


async def test_a_tenant_reads_what_happened_to_its_keys(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        made = (await client.post(KEYS, json={"name": "x", "role": "tenant.viewer"})).json()
        await client.delete(f"{KEYS}/{made['key']['id']}")

        answer = await client.get(AUDIT, params={"entity_type": "api_key", "entity_id": made["key"]["id"]})

    rows = answer.json()["items"]
    assert [row["action"] for row in rows] == ["revoked", "created"]
    assert rows[0]["after"]["revoked_at"] is not None
    assert rows[1]["before"] is None
    assert rows[0]["prev_hash"] == rows[1]["record_hash"]
    assert made["api_key"].rsplit("_", 1)[1] not in answer.text
    assert answer.json()["next_cursor"] is None


async def test_pages_follow_each_other_without_gap_or_twin(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        for n in range(6):
            await client.post(KEYS, json={"name": f"key {n}", "role": "tenant.viewer"})
        whole = [row["id"] for row in (await client.get(AUDIT)).json()["items"]]
        paged: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = (await client.get(AUDIT, params={"limit": "2", **cursor})).json()
            paged += [row["id"] for row in page["items"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}

    assert paged == whole
    assert len(set(whole)) == 7


async def test_nobody_reads_anothers(world: HttpWorld) -> None:
    mine, other = await world.tenant(), await world.tenant()
    async with world.as_tenant(other.id) as client:
        await client.post(KEYS, json={"name": "x", "role": "tenant.viewer"})
        theirs = (await client.get(AUDIT, params={"limit": "1"})).json()
    async with world.as_tenant(mine.id) as client:
        found = (await client.get(AUDIT)).json()["items"]
        by_cursor = await client.get(AUDIT, params={"cursor": theirs["next_cursor"]})

    assert {row["tenant_id"] for row in found} == {mine.id}
    assert {row["tenant_id"] for row in by_cursor.json()["items"]} <= {mine.id}


async def test_the_platform_reads_its_own_and_acts_for_a_tenant_audibly(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_platform() as client:
        own = (await client.get(AUDIT, params={"entity_type": "tenant", "entity_id": tenant.id})).json()
        acting = (await client.get(AUDIT, headers={"X-Tenant-Id": tenant.id})).json()

    assert [(row["action"], row["tenant_id"]) for row in own["items"]] == [("created", None)]
    assert acting["items"][0]["action"] == "platform.acted"
    assert acting["items"][0]["after"]["operation"] == "GET /api/v1/audit"


async def test_a_viewer_may_not(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id, role="tenant.viewer") as client:
        refused = await client.get(AUDIT)
        written = await client.post(AUDIT, json={})

    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
    assert written.status_code == 405
