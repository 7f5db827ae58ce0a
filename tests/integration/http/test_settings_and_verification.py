"""A tenant changes what the platform leaves to it, and asks whether its audit is as it was written."""

import pytest

from tests.support.http import HttpWorld, http_world
from tests.support.postgres import TestDatabase
from tests.support.tampering import tampering
from tidings.kernel.db import Database

SETTINGS = "/api/v1/settings"
QUIET = {"days": ["mon"], "start": "22:00", "end": "07:00"}


@pytest.fixture
def world(db: Database) -> HttpWorld:
    return http_world(db)


async def test_a_tenant_changes_its_settings_from_the_version_that_it_read(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as key:
        read = await key.get(SETTINGS)
        body = {"quiet_hours": [QUIET], "limits": {"per_recipient_per_day": 3}, "double_opt_in": True}
        assert (await key.patch(SETTINGS, json=body)).status_code == 428
        done = await key.patch(SETTINGS, json=body, headers={"If-Match": read.headers["etag"]})
        assert done.status_code == 200, done.text
        assert done.json()["quiet_hours"] == [QUIET]
        late = await key.patch(SETTINGS, json=body, headers={"If-Match": read.headers["etag"]})
        assert late.json()["code"] == "stale_version"

        [row] = (await key.get("/api/v1/audit?entity_type=tenant_settings")).json()["items"]
        assert row["after"]["notification_policy"]["limits"] == {"per_recipient_per_day": 3}
    async with world.as_platform() as platform:
        shown = (await platform.get(f"/internal/v1/tenants/{tenant.id}")).json()
        assert shown["notification_policy"]["double_opt_in"] is True
        assert shown["version"] == done.json()["version"] == read.json()["version"] + 1


async def test_what_the_platform_grants_stays_and_is_no_field_of_a_tenant(world: HttpWorld) -> None:
    policy = {"limits": {"per_second": 7, "per_recipient_per_hour": 9}, "allowed_sender_ids": ["ACME"]}
    async with world.as_platform() as platform:
        tenant = await world.tenant()
        path = f"/internal/v1/tenants/{tenant.id}"
        etag = (await platform.get(path)).headers["etag"]
        granted = await platform.patch(path, json={"notification_policy": policy}, headers={"If-Match": etag})
        assert granted.status_code == 200, granted.text
    async with world.as_tenant(tenant.id) as key:
        match = {"If-Match": (await key.get(SETTINGS)).headers["etag"]}
        for greedy in ({"allowed_sender_ids": ["*"]}, {"limits": {"per_second": 9999}}, {"weight": 9}):
            assert (await key.patch(SETTINGS, json=greedy, headers=match)).status_code == 400
        done = await key.patch(SETTINGS, json={"limits": {}}, headers=match)
        assert done.json()["limits"] == {}
        assert (done.json()["per_second"], done.json()["allowed_sender_ids"]) == (7, ["ACME"])


async def test_what_is_wrong_is_named_and_changes_nothing(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as key:
        read = await key.get(SETTINGS)
        body = {"default_timezone": "Mars/Base", "quiet_hours": [{**QUIET, "end": "22:00"}]}
        wrong = await key.patch(SETTINGS, json=body, headers={"If-Match": read.headers["etag"]})
        assert {one["field"] for one in wrong.json()["errors"]} == {"default_timezone", "quiet_hours[0].end"}
        assert (await key.get(SETTINGS)).json() == read.json()
        same = await key.patch(
            SETTINGS, json={"double_opt_in": False}, headers={"If-Match": read.headers["etag"]}
        )
        assert same.json()["version"] == read.json()["version"]
    async with world.as_tenant(tenant.id, role="tenant.support") as support:
        refused = await support.patch(SETTINGS, json={}, headers={"If-Match": read.headers["etag"]})
        assert refused.status_code == 403


async def test_an_audit_is_verified_and_a_row_that_somebody_changed_is_named(
    world: HttpWorld, worker_database: TestDatabase
) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as key:
        await key.put("/api/v1/channels/inapp", json={"vendor": "inapp"})
        whole = (await key.post("/api/v1/audit/verify")).json()
        assert (whole["ok"], whole["complete"], whole["findings"]) == (True, True, [])
        assert whole["rows"] >= 1
        assert (await key.post("/api/v1/router/audit/verify")).json()["ok"] is True

        [row] = (await key.get("/api/v1/audit?entity_type=channel")).json()["items"]
        async with tampering(worker_database) as owner:
            await owner.execute("UPDATE notification.audit SET actor = 'nobody' WHERE id = $1", row["id"])
        broken = (await key.post("/api/v1/audit/verify")).json()
        assert broken["ok"] is False
        assert [(one["fault"], one["id"]) for one in broken["findings"]] == [("altered", row["id"])]
    async with world.as_tenant((await world.tenant()).id) as other:
        assert (await other.post("/api/v1/audit/verify")).json()["ok"] is True
