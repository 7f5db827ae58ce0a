"""A change of a row that processes remember is announced to all of them, when it commits."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.http import http_world
from tests.support.people import PeopleWorld, counted
from tests.support.postgres import TestDatabase
from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.postgres_bus import Wakeups
from tidings.kernel.refusals import UnauthenticatedError
from tidings.notify.access.authenticate import KeyAuthenticator
from tidings.notify.facts.model import TenantFacts
from tidings.notify.facts.tenants import KnownTenants

TABLES = {
    "bff_backoffice.alert_mutes",
    "bff_backoffice.alerts",
    "bff_backoffice.device_keys",
    "bff_backoffice.operators",
    "bff_backoffice.sessions",
    "chan.adapter_status_map",
    "chan.channel_adapter_configs",
    "chan.fallback_policies",
    "notification.api_keys",
    "notification.branding",
    "notification.categories",
    "notification.channels",
    "notification.notification_trigger_map",
    "notification.templates",
    "notification.tenants_local",
    "notification.trigger_choices",
    "notification.webhook_subscriptions",
    "notification_platform.categories",
    "notification_platform.event_subscriptions",
    "notification_platform.templates",
}
_PATIENCE = 20


@asynccontextmanager
async def listening(wakeups: Wakeups) -> AsyncIterator[None]:
    stop = asyncio.Event()
    running = asyncio.create_task(wakeups.run(stop))
    try:
        await asyncio.wait_for(wakeups.listening.wait(), _PATIENCE)
        yield
    finally:
        stop.set()
        await running


async def test_every_table_whose_rows_are_remembered_announces_them(db: Database) -> None:
    async with db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT format('%s.%s', n.nspname, c.relname) AS name FROM pg_trigger t "
            "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE t.tgname = 'announce_change'"
        )

    assert {row["name"] for row in rows} == TABLES


async def test_a_row_is_announced_by_its_table_and_key_when_it_commits(
    worker_database: TestDatabase, db: Database
) -> None:
    wakeups = Wakeups(worker_database.runtime_url, db)
    changes, world, heard = AnnouncedChanges(wakeups), http_world(db), asyncio.Queue[str | None]()
    changes.on("notification.tenants_local", heard.put_nowait)
    before = changes.live

    async with listening(wakeups):
        during = changes.live
        assert (
            await asyncio.wait_for(heard.get(), _PATIENCE) is None
        )  # Something may have been missed before.
        tenant = await world.tenant()

        while await asyncio.wait_for(heard.get(), _PATIENCE) != tenant.id:
            pass  # Another test's tenant.

    assert (before, during, changes.live) == (False, True, False)
    assert await asyncio.wait_for(heard.get(), _PATIENCE) is None


async def test_a_revoked_key_stops_in_another_process_at_once(
    worker_database: TestDatabase, db: Database
) -> None:
    # The clock stands still, so only the announcement can bring the news.
    clock = ManualClock(SystemClock().now())
    here, wakeups = http_world(db, clock=clock), Wakeups(worker_database.runtime_url, db)
    there = here.system.notify.parts.make(KeyAuthenticator, changes=AnnouncedChanges(wakeups))
    tenant = await here.tenant()
    leaked, carried = await here.key(tenant.id)

    async with listening(wakeups), here.as_tenant(tenant.id) as admin:
        assert (await there.authenticate(carried)).tenant_id == tenant.id
        await admin.delete(f"/api/v1/api-keys/{leaked.id}")
        with pytest.raises(UnauthenticatedError, match="revoked"):
            async with asyncio.timeout(_PATIENCE):
                while True:
                    await there.authenticate(carried)
                    await asyncio.sleep(0.01)


#: How a tenant sends, changed in each table that is remembered of it; and what dispatch sees then.
_CHANGED: dict[str, tuple[str, Callable[[TenantFacts], object], object]] = {
    "suspended": (
        "UPDATE notification.tenants_local SET status = 'suspended' WHERE tenant_id = $1",
        lambda tenant: tenant.status.value,
        "suspended",
    ),
    "channel": (
        "UPDATE notification.channels SET status = 'disabled' WHERE tenant_id = $1",
        lambda tenant: [channel.status for channel in tenant.channels.values()],
        ["disabled"],
    ),
    "branding": (
        "INSERT INTO notification.branding (tenant_id, branding, updated_by, version) VALUES ($1, '{}', 'test', 7)",
        lambda tenant: tenant.theme_etag.endswith("v7"),
        True,
    ),
    "category": (
        "INSERT INTO notification.categories (tenant_id, category, own, hidden) VALUES ($1, 'social', false, true)",
        lambda tenant: [(one.category, one.hidden) for one in tenant.categories],
        [("social", True)],
    ),
}


@pytest.mark.parametrize("what", _CHANGED)
async def test_how_a_tenant_sends_is_remembered_until_it_changes(
    worker_database: TestDatabase, db: Database, tmp_path: Path, what: str
) -> None:
    change, seen, expected = _CHANGED[what]
    # The clock stands still, so only the announcement can bring the news.
    here = PeopleWorld(db, tmp_path, clock=ManualClock(SystemClock().now()))
    wakeups = Wakeups(worker_database.runtime_url, db)
    there = here.system.notify.parts.make(KnownTenants, changes=AnnouncedChanges(wakeups))
    tenant = await here.tenant()
    await here.channel(tenant.id)

    async def known() -> tuple[TenantFacts, int]:
        async with db.tenants([tenant.id], by_index=True) as tx, counted(tx) as asked:
            found = await there.of(tx, [tenant.id])
        return found[tenant.id], len(asked)

    unheard = [(await known())[1] for _ in range(2)]
    async with listening(wakeups):
        before = [await known() for _ in range(3)]
        async with db.scoped(None if what == "suspended" else tenant.id) as tx:
            await tx.connection.execute(change, tenant.id)
        async with asyncio.timeout(_PATIENCE):
            while seen((await known())[0]) != expected:
                await asyncio.sleep(0.01)

    assert unheard == [1, 1]
    assert [asked for _, asked in before] == [1, 0, 0]
    assert seen(before[-1][0]) != expected
