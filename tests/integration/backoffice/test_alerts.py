"""An alert is raised once, however many see its cause, counted while it is open, and resolved with its cause."""

import asyncio
from datetime import timedelta

import pytest

from tests.integration.backoffice.test_sessions import events
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn
from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import Alert, NewAlert
from tidings.backoffice.alerts.store import sweep_alerts
from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.model import Tenant


def an_alert(
    key: str = "device_offline:dvc_1", severity: AlertSeverity = "warning", **facts: str | int
) -> NewAlert:
    return NewAlert(
        dedup_key=key,
        category=key.partition(":")[0],
        severity=severity,
        property_id=None,
        source="devices",
        facts=facts,
    )


async def raised(world: HttpWorld, tenant_id: TenantId | None, *given: NewAlert) -> list[Alert]:
    alerts = world.system.backoffice.parts.get(Alerts)
    async with world.db.scoped(tenant_id) as tx:
        return await alerts.raise_(tx, given)


async def resolved(world: HttpWorld, tenant_id: TenantId | None, *keys: str) -> list[Alert]:
    alerts = world.system.backoffice.parts.get(Alerts)
    async with world.db.scoped(tenant_id) as tx:
        return await alerts.resolve(tx, keys)


async def rows(world: HttpWorld, tenant_id: TenantId | None) -> list[dict[str, object]]:
    async with world.db.scoped(tenant_id) as tx:
        found = await tx.connection.fetch(
            "SELECT * FROM bff_backoffice.alerts WHERE tenant_id IS NOT DISTINCT FROM $1 ORDER BY resolved_at NULLS LAST, id",
            tenant_id,
        )
    return [dict(row) for row in found]


async def test_an_open_alert_is_counted_and_its_next_one_is_a_new_row(
    world: HttpWorld, tenant: Tenant
) -> None:
    [first] = await raised(world, tenant.id, an_alert(device_id="dvc_1"), an_alert(device_id="dvc_1"))
    assert await raised(world, tenant.id, an_alert(severity="critical", minutes=9)) == []
    assert await raised(world, tenant.id, an_alert(severity="info", minutes=9)) == []

    [row] = await rows(world, tenant.id)
    assert (row["id"], row["times_seen"], row["severity"], row["facts"]) == (
        first.id,
        3,
        "critical",
        '{"minutes":9}',
    )

    [ended] = await resolved(world, tenant.id, "device_offline:dvc_1", "another:key")
    assert (ended.id, ended.status, ended.resolved_by) == (first.id, "resolved", "system")
    assert await resolved(world, tenant.id, "device_offline:dvc_1") == []
    [again] = await raised(world, tenant.id, an_alert())
    assert again.id != first.id
    assert [row["status"] for row in await rows(world, tenant.id)] == ["resolved", "raised"]

    async with world.db.tenant(tenant.id) as tx:
        heard = await tx.connection.fetch(
            "SELECT facts FROM bff_backoffice.announcements WHERE channel = 'alerts'"
        )
    assert ['"status":"resolved"' in row["facts"] for row in heard].count(True) == 1
    told = await events(world.db, "backoffice.alert.raised.v1", tenant.id)
    assert [first.id in told[0], again.id in told[1], len(told)] == [True, True, 2]
    assert len(await events(world.db, "backoffice.alert.resolved.v1", tenant.id)) == 1


@pytest.mark.parametrize("whose", ["a tenant's", "the platform's"])
async def test_two_processes_at_once_raise_one(world: HttpWorld, tenant: Tenant, whose: str) -> None:
    tenant_id = tenant.id if whose == "a tenant's" else None
    key = f"worker_gone:{tenant.id}"

    made = await asyncio.gather(
        *(raised(world, tenant_id, an_alert(key), an_alert(f"{key}.b")) for _ in range(6))
    )

    assert sorted(len(one) for one in made) == [0, 0, 0, 0, 0, 2]
    mine = [row for row in await rows(world, tenant_id) if str(row["dedup_key"]).startswith(key)]
    assert [row["times_seen"] for row in mine] == [6, 6]
    ended = await asyncio.gather(*(resolved(world, tenant_id, key, f"{key}.b") for _ in range(4)))
    assert sorted(len(one) for one in ended) == [0, 0, 0, 2]


async def test_nobody_sees_the_alerts_of_another(world: HttpWorld, tenant: Tenant) -> None:
    other = await world.tenant()
    await raised(world, tenant.id, an_alert())
    await raised(world, None, an_alert(f"of_platform:{tenant.id}"))

    for tenant_id in (other.id, tenant.id):
        async with world.db.tenant(tenant_id) as tx:
            seen = await tx.connection.fetch("SELECT tenant_id FROM bff_backoffice.alerts")
        assert {row["tenant_id"] for row in seen} <= {tenant.id} & {tenant_id}
    async with world.db.platform() as tx:
        seen = await tx.connection.fetch("SELECT DISTINCT tenant_id FROM bff_backoffice.alerts")
    assert {row["tenant_id"] for row in seen} == {None}
    assert await resolved(world, other.id, "device_offline:dvc_1") == []


@pytest.mark.parametrize("value", ["Leyla Ahmadi", "leyla@example.com", "", "+49 151 123"])
def test_a_fact_is_an_id_or_a_number(value: str) -> None:
    with pytest.raises(ValueError, match="neither an id nor a number"):
        an_alert(name=value)


async def test_alerts_that_are_long_over_are_swept(world: HttpWorld, tenant: Tenant) -> None:
    await raised(world, tenant.id, an_alert(), an_alert("stays:1"))
    await resolved(world, tenant.id, "device_offline:dvc_1")

    async with world.db.worker() as tx:
        await sweep_alerts(tx, before=world.clock.now() - timedelta(days=1), limit=100)
    assert len(await rows(world, tenant.id)) == 2
    async with world.db.worker() as tx:
        await sweep_alerts(tx, before=world.clock.now(), limit=100)
    assert [row["dedup_key"] for row in await rows(world, tenant.id)] == ["stays:1"]


async def test_a_session_on_another_device_raises_one(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    thief = admin.browser.copy("tidings_session")

    assert (await thief.client.get("/bff/v1/session")).status_code == 401

    [row] = await rows(world, tenant.id)
    assert (row["category"], row["severity"]) == ("session_on_other_device", "critical")
    assert admin.session_id in str(row["facts"])
