"""The first page says what was sent and how it went, what needs somebody, and what to do where nothing was sent yet."""

import asyncio
from datetime import timedelta

import pytest

from tests.integration.router.statistics.test_roll_up import History
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant

COUNT = """
    INSERT INTO notification.counters (tenant_id, day, stripe, name, channel, category, n)
    VALUES ($1, $2, 0, $3, 'sms', 'security', $4)
"""


@pytest.fixture
def history(db: Database, tenant: Tenant) -> History:
    return History(db, tenant.id)


async def _sent(world: HttpWorld, tenant: Tenant, history: History) -> None:
    today = world.clock.now().date()
    async with history.db.tenant(tenant.id) as tx:
        for name, count, back in (
            ("accepted", 40, 0),
            ("delivered", 30, 0),
            ("failed", 7, 1),
            ("accepted", 5, 20),
        ):
            await tx.connection.execute(COUNT, tenant.id, today - timedelta(days=back), name, count)
        for _ in range(3):
            refused = history.call(1, "whatsapp", "failed_perm", vendor="whatsapp_cloud", code="131026")
            arrived = history.call(2, "sms", "accepted", vendor="http", ms=40)
            await history.end(tx, refused, arrived, channel="sms")
    await history.rolled_up()


async def test_a_new_tenant_is_shown_first_steps(world: HttpWorld, admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console")
    assert "First steps" in at.html
    for step in ("Connect a channel", "Make a template", "Send a test", "Invite a colleague"):
        assert step in at.html
    for path in ("/console/channels", "/console/templates", "/console/operators#invite"):
        assert f'href="{path}"' in at.html
    assert "All is as it should be." in at.html


async def test_it_says_how_sending_went(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, history: History
) -> None:
    await _sent(world, tenant, history)
    at = admin.browser
    shown = await at.open("/console")
    assert shown.status_code == 200
    assert "First steps" not in at.html
    assert "<strong>40</strong>" in at.html
    assert "75.0 %" in at.html
    assert 'href="/console/notifications?status=failed"' in at.html
    assert "1. WhatsApp" in at.html
    assert "2. Text" in at.html or "2. SMS" in at.html
    assert '<code dir="ltr">131026</code>' in at.html
    assert "whatsapp_cloud" in at.html
    assert "Notifications by what became of them" in at.html

    await at.open("/console?span=month")
    assert "<strong>45</strong>" in at.html
    assert 'href="/console?span=month" aria-current="page"' in at.html
    await at.open("/console?span=day")
    assert "Delivered by channel and hour (UTC)" in at.html
    await at.open("/console?span=<script>")
    assert 'href="/console?span=week" aria-current="page"' in at.html


async def test_what_is_not_well_leads_to_where_it_is_mended(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    made = await admin.send(
        "POST",
        "/api/v1/router/policies",
        {"use_case": "otp", "ladder": [{"channel": "sms", "deadline_seconds": 60}]},
    )
    assert made.status_code == 201, made.text
    at = admin.browser
    await at.open("/console")
    assert "Needs attention" in at.html
    assert "Open alerts" in at.html
    assert "Nothing is open." in at.html


async def test_the_platform_sees_who_is_loud_and_looks_closer(
    world: HttpWorld, tenant: Tenant, history: History
) -> None:
    await _sent(world, tenant, history)
    platform = await an_operator(world, None, email="of.overview")
    at = platform.browser
    await at.open("/console")
    assert "Tenants by what they send" in at.html
    assert f'value="{tenant.id}"' in at.html

    await at.post("/console/acting-for", tenant=tenant.id)
    await at.open("/console")
    assert "Notifications by what became of them" in at.html
    assert "<strong>40</strong>" in at.html


async def test_a_viewer_sees_it_and_it_is_small(world: HttpWorld, tenant: Tenant, history: History) -> None:
    await _sent(world, tenant, history)
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="v")
    shown = await asyncio.gather(
        *(viewer.browser.open(f"/console?span={span}") for span in ("week", "quarter"))
    )
    assert [one.status_code for one in shown] == [200, 200]
    assert max(len(one.content) for one in shown) < 200_000
