"""An alert comes up while somebody looks, is acknowledged with a note by keyboard alone, and taken back."""

import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, to, type_
from tests.support.running import RunningTidings
from tidings.backoffice.alerts.model import NewAlert
from tidings.bootstrap import System
from tidings.kernel.ids import TenantId
from tidings.settings import load

pytestmark = pytest.mark.xdist_group("console")

SOON = NewAlert(
    dedup_key="api_key_expiring:key_e2e",
    category="api_key_expiring",
    severity="warning",
    property_id=None,
    source="e2e",
    facts={"key_id": "key_01M7TH1TX3DMWJTXS0RRDPDN6P", "days": 5},
)


async def test_an_alert_comes_up_is_acknowledged_and_taken_back(up: RunningTidings, inside: Browser) -> None:
    at, demo = inside, up.demo
    tenant_id = TenantId(demo["tenant_id"])
    await at.open(f"{demo['base_url']}/console/alerts", width=1280, height=900, mobile=False)

    # As another process would, in its own transaction.
    settings = load(TIDINGS_DATA_DIR=str(up.data_dir))
    async with System(settings, runtime_url=demo["database_url"]) as system:
        alerts = system.system_alerts.alerts
        async with system.db.tenant(tenant_id) as tx:
            [raised] = await alerts.raise_(tx, [SOON])
        await at.until(f"document.getElementById('{raised.id}')?.textContent.includes('What to do:')")

        card = f"#{raised.id}"
        await to(at, f"{card} details.confirm summary")
        await at.press("Enter")
        await to(at, f"{card} textarea")
        await type_(at, "Rotated with the next release")
        await to(at, f"{card} details.confirm[open] form button")
        said = await at.submit("document.querySelector('[role=status]').textContent")
        assert "You look after it." in said
        assert "Rotated with the next release" in await at.see(
            f"document.querySelector('{card}').textContent"
        )
        assert await at.see("document.getElementById('open-alerts').textContent.includes('open')")
        await keep(at, "alerts")
        await to(at, "[role=status] form button")
        said = await at.submit("document.querySelector('[role=status]').textContent")
        assert "don't look after it" in said

        async with system.db.tenant(tenant_id) as tx:
            await alerts.resolve(tx, [SOON.dedup_key])
    await at.open(f"{demo['base_url']}/console/alerts", width=390, height=844, mobile=True)
    assert await at.see(f"document.getElementById('{raised.id}') === null")
