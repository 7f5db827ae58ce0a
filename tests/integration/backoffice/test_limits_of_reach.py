"""What nobody reaches: connections that others need, names in a ledger, rows of another side, pages of a frozen tenant."""

import asyncio

import asyncpg
import pytest

from tests.support.http import HttpWorld, http_world
from tests.support.operators import SignedIn, an_operator, quick_passwords
from tests.support.postgres import TestDatabase
from tests.support.system import now_clock
from tidings.kernel.db import Database
from tidings.kernel.pool import PoolSettings
from tidings.notify.tenants.model import Tenant


async def test_invitations_at_once_leave_connections_for_others(worker_database: TestDatabase) -> None:
    async with worker_database.opened(PoolSettings(min_size=1, max_size=2)) as db:
        world = http_world(db, clock=now_clock())
        quick_passwords(world)
        admin = await an_operator(world, (await world.tenant()).id)
        one = {"X-Attestation": await admin.attest("operator.invite")}

        async def invite(number: int) -> int:
            body = {"name": "R", "email": f"r{number}@example.com", "role": "tenant.viewer"}
            return (await admin.post("/bff/v1/operators", body, **one)).status_code

        # Who held one connection and waited for a second was given up after ten seconds, and everybody else with them.
        invited = asyncio.gather(*(invite(number) for number in range(12)))
        others = asyncio.gather(*(admin.get("/api/v1/notifications") for _ in range(4)))

        assert {one.status_code for one in await others} == {200}
        assert sorted(await invited) == [201] + [403] * 11


async def test_an_answer_that_is_kept_names_nobody(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    wanted = {"name": "Zed Plain", "email": "zed.plain@example.com", "role": "tenant.viewer"}
    key = {"Idempotency-Key": "once"}
    first = await admin.post("/bff/v1/operators", wanted, attested="operator.invite", **key)

    async with db.tenant(tenant.id) as tx:
        kept = await tx.connection.fetch("SELECT response FROM bff_backoffice.idempotency_keys")

    assert (first.json()["operator"]["name"], first.json()["operator"]["email"]) == (
        "Zed Plain",
        "zed.plain@example.com",
    )
    assert len(kept) == 1
    assert "zed" not in str(kept[0]["response"]).lower()
    again = (await admin.post("/bff/v1/operators", wanted, **key)).json()
    assert again["operator"]["id"] == first.json()["operator"]["id"]
    assert (again["operator"]["name"], again["operator"]["email"], again["join_url"]) == (None, None, None)


async def test_keys_read_no_names(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    async with world.as_tenant(tenant.id) as key:
        for path in ("/bff/v1/operators", f"/bff/v1/operators/{admin.who.id}"):
            answer = await key.get(path)
            assert (answer.status_code, answer.json()["code"]) == (403, "operators_only")
            assert "Laila" not in answer.text


async def test_pages_of_a_frozen_tenant_change_nothing_but_what_ends_rights(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="v")
    async with db.platform() as tx:
        await tx.connection.execute(
            "UPDATE notification.tenants_local SET frozen_at = now() WHERE tenant_id = $1", tenant.id
        )
    world.system.access.gate.forget(tenant.id)
    at, page = admin.browser, f"/console/operators/{viewer.who.id}"
    await at.open("/console/operators")
    refused = await at.post(
        "/console/operators",
        name="F",
        email="f@example.com",
        role="tenant.viewer",
        code=await admin.who.code(),
    )
    assert refused.status_code == 403
    assert "is frozen" in refused.text
    for do in ("change", "invite", "enable", "unlock", "reset-mfa"):
        await at.open("/console/operators")
        answer = await at.post(page, do=do, role="tenant.admin", version="4", code=await admin.who.code())
        assert "is frozen" in answer.text, do
    assert (await viewer.who.row()).role == "tenant.viewer"

    await at.open("/console/operators")
    await at.post(page, do="disable", role="tenant.viewer", code=await admin.who.code())
    assert (await viewer.who.row()).status == "disabled"
    await at.open("/console/operators")
    assert (await at.post("/console/sign-out", follow=False)).status_code == 303


async def test_the_platform_role_writes_no_row_of_a_tenant(
    tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    for table, change in (
        ("operators", "role = 'tenant.viewer'"),
        ("sessions", "ended_at = now(), ended_reason = 'revoked'"),
        ("devices", "secret_hash = 'mine'"),
    ):
        async with db.platform() as tx:
            seen = await tx.connection.fetchval(
                f"SELECT count(*) FROM bff_backoffice.{table} WHERE tenant_id = $1", tenant.id
            )
            done = await tx.connection.execute(
                f"UPDATE bff_backoffice.{table} SET {change} WHERE tenant_id = $1", tenant.id
            )
        assert (seen >= 1, str(done)) == (True, "UPDATE 0"), table
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with db.platform() as tx:
            await tx.connection.execute(
                "INSERT INTO bff_backoffice.devices (id, tenant_id, secret_hash, created_at, last_used_at) "
                "VALUES ('dvc_01M7S5JHD8DNKHCGD4Q98BMSYX', $1, '', now(), now())",
                tenant.id,
            )
