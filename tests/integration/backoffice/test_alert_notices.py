"""Operators who want to be told of alerts get a message through Tidings itself, once for each outage."""

from datetime import timedelta
from typing import Any

import pytest

from tests.integration.backoffice.test_alerts import an_alert, raised, resolved
from tests.integration.backoffice.test_system_alerts import moved
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.platform_templates import publish_platform_template
from tidings.backoffice.alert_notices.tell import AlertTeller
from tidings.backoffice.alerts.model import NewAlert
from tidings.contracts.operator_notices import TEMPLATE
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.model import Tenant

TELLING = "/bff/v1/alerts/telling"
SETTLED = timedelta(seconds=40)


@pytest.fixture
async def teller(world: HttpWorld) -> AlertTeller:
    found: Any = world.system.jobs()["alert_notices"]
    assert isinstance(found, AlertTeller)
    await publish_platform_template(world, TEMPLATE)
    return found


async def chooses(who: SignedIn, severity: str | None, **more: str) -> None:
    answer = await who.send("PUT", TELLING, {"severity": severity, **more})
    assert answer.status_code == 200, answer.text


async def messages(world: HttpWorld, tenant_id: TenantId) -> list[dict[str, Any]]:
    async with world.db.tenant(tenant_id) as tx:
        found = await tx.connection.fetch(
            "SELECT template_key, channel, category, recipient_id, expires_at FROM notification.notifications ORDER BY id"
        )
    return [dict(row) for row in found]


async def test_each_outage_is_told_once_and_again_after_a_day(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, teller: AlertTeller
) -> None:
    await chooses(admin, "warning", language="fa-AF")
    await raised(world, tenant.id, an_alert("circuit_open:a", "critical"), an_alert("notice:b", "info"))

    assert await teller.run_once() == 0, "what is over at once disturbs nobody"
    await moved(world, SETTLED)
    assert await teller.run_once() == 1
    assert await teller.run_once() == 0
    [message] = await messages(world, tenant.id)
    assert (message["template_key"], message["category"]) == ("operator_alert", "security")
    async with world.as_tenant(tenant.id) as client:
        who = (await client.get(f"/api/v1/recipients/{message['recipient_id']}")).json()
    assert who["identity"]["id"] == f"operator:{admin.who.id}"
    assert who["locale"] == "fa-AF"

    # It flaps: the same outage, for an hour.
    for _ in range(3):
        await resolved(world, tenant.id, "circuit_open:a")
        await raised(world, tenant.id, an_alert("circuit_open:a", "critical"))
        await moved(world, SETTLED)
        assert await teller.run_once() == 0
    await moved(world, timedelta(minutes=60))
    assert await teller.run_once() == 1
    await moved(world, timedelta(hours=23))
    assert await teller.run_once() == 0
    await moved(world, timedelta(hours=2))
    assert await teller.run_once() == 1
    assert len(await messages(world, tenant.id)) == 3


async def test_several_alerts_are_one_message_and_who_looks_after_one_is_not_reminded(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, teller: AlertTeller
) -> None:
    await chooses(admin, "info", phone="+93701234567")
    [first] = await raised(world, tenant.id, an_alert("circuit_open:a", "critical"))
    await raised(world, tenant.id, *(an_alert(f"webhook_disabled:{n}") for n in range(5)))
    await moved(world, SETTLED)

    assert await teller.run_once() == 1
    await admin.send("POST", f"/bff/v1/alerts/{first.id}/acknowledge")
    await moved(world, timedelta(hours=25))
    assert await teller.run_once() == 1
    again = await admin.who.sign_in()
    await again.send("PUT", "/bff/v1/alerts/mutes/webhook_disabled", {"minutes": 44_000})
    await moved(world, timedelta(hours=25))
    assert await teller.run_once() == 0
    async with world.as_tenant(tenant.id) as client:
        recipient = (await messages(world, tenant.id))[0]["recipient_id"]
        known = (await client.get(f"/api/v1/recipients/{recipient}/addresses")).text
    assert '"sms"' in known


async def test_nobody_is_told_who_did_not_ask_or_may_not_see_it(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, teller: AlertTeller
) -> None:
    of_kabul = await an_operator(world, tenant.id, email="kabul", properties=("kabul",))
    disabled = await an_operator(world, tenant.id, email="disabled")
    await chooses(of_kabul, "info")
    await chooses(disabled, "info")
    done = await admin.send(
        "POST", f"/bff/v1/operators/{disabled.who.id}/disable", attested="operator.status"
    )
    assert done.status_code == 200
    herat = NewAlert(
        dedup_key="device_offline:h",
        category="device_offline",
        severity="critical",
        property_id="herat",
        source="devices",
    )
    await raised(world, tenant.id, herat)
    await moved(world, SETTLED)
    assert await teller.run_once() == 0

    await raised(world, tenant.id, an_alert("circuit_open:a", "critical"))
    await moved(world, SETTLED)
    assert await teller.run_once() == 1
    await chooses(of_kabul, None)
    assert (await of_kabul.get(TELLING)).json() == {"severity": None, "phone": None, "language": None}
    await moved(world, timedelta(hours=25))
    assert await teller.run_once() == 0


async def test_numbers_are_sealed_and_wrong_ones_refused(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await chooses(admin, "critical", phone="+93701234567", language="ar")

    assert (await admin.get(TELLING)).json() == {
        "severity": "critical",
        "phone": "+93701234567",
        "language": "ar",
    }
    async with world.db.tenant(tenant.id) as tx:
        kept = await tx.connection.fetch("SELECT * FROM bff_backoffice.alert_subscriptions")
    assert b"93701234567" not in kept[0]["phone_ciphertext"]
    leaves = await an_operator(world, tenant.id, email="leaves")
    await chooses(leaves, "critical", phone="+93701234568")
    erased = await admin.send("POST", f"/bff/v1/operators/{leaves.who.id}/erase", attested="operator.erase")
    assert erased.status_code == 200
    async with world.db.tenant(tenant.id) as tx:
        left = await tx.connection.fetch("SELECT operator_id FROM bff_backoffice.alert_subscriptions")
    assert [row["operator_id"] for row in left] == [admin.who.id]
    wrong = await admin.send("PUT", TELLING, {"severity": "critical", "phone": "0701"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "phone")


async def test_the_platform_is_told_through_a_tenant_of_its_own(
    world: HttpWorld, tenant: Tenant, teller: AlertTeller
) -> None:
    platform = await an_operator(world, None, email="of.notices")
    await chooses(platform, "critical")
    await raised(world, None, an_alert(f"no_worker:{tenant.id}", "critical"))
    await moved(world, SETTLED)

    assert await teller.run_once() == 0, "no tenant was named"
    teller._of_platform = tenant.id
    assert await teller.run_once() == 1
    assert await teller.run_once() == 0
    assert [one["template_key"] for one in await messages(world, tenant.id)] == ["operator_alert"]
    await chooses(platform, None)
    await resolved(world, None, f"no_worker:{tenant.id}")
