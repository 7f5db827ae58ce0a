"""The platform's operators see which processes run, what waits and what is wrong; nobody else does."""

from tests.integration.backoffice.test_system_alerts import put, register
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant


async def test_the_platform_sees_processes_figures_and_what_is_wrong(
    world: HttpWorld, tenant: Tenant
) -> None:
    platform = await an_operator(world, None, email="of.health")
    await register(world, "jobs").report()
    await put(world, tenant.id, "chan.channel_adapter_configs", circuit_state="OPEN")

    health = (await platform.get("/bff/v1/health")).json()

    [mine, *_] = health["processes"]
    assert (mine["role"], mine["state"], mine["late_jobs"]) == ("jobs", "running", [])
    known = {one["name"]: one["value"] for one in health["figures"]}
    assert {"workers", "queue_depth", "outbox_seconds", "partitions_missing", "receipts_seconds"} <= set(
        known
    )
    assert known["workers"] >= 1
    assert "circuit_open" in {one["category"] for one in health["of_tenants"]}
    assert health["blind"] == []
    assert tenant.id not in str(health)

    await platform.browser.open("/console/health")
    assert "Last sign of life" in platform.browser.html
    assert "A vendor takes no messages" in platform.browser.html


async def test_a_tenant_does_not_see_the_platform(admin: SignedIn) -> None:
    refused = await admin.get("/bff/v1/health")
    assert refused.status_code == 403
    assert (await admin.browser.open("/console/health")).status_code == 403
    assert "/console/health" not in (await admin.browser.open("/console")).text
