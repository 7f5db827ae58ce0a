"""Whatever happens at its start or at its end, a process leaves nothing open."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.postgres import TestDatabase
from tidings import settings
from tidings.bootstrap import System
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.errors import DatabaseUnavailableError, NotConfiguredError
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.tracking.tokens import Mark


def _system(database: TestDatabase, folder: Path, **more: str) -> System:
    return System(settings.load({"TIDINGS_DATA_DIR": str(folder), **more}), runtime_url=database.runtime_url)


async def test_a_start_that_fails_closes_what_it_had_opened(
    fresh_database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is a collector, and the library that speaks with it is not installed."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    system = _system(fresh_database, tmp_path, TIDINGS_OTLP_URL="http://127.0.0.1:9/v1/traces")

    with pytest.raises(NotConfiguredError):
        await system.__aenter__()

    with pytest.raises(DatabaseUnavailableError):
        await system.db.ping()


def _visit(tenant_id: TenantId) -> Mark:
    return Mark(
        kind="opened",
        tenant_id=tenant_id,
        notification_id=NotificationId("ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G"),
        recipient_id=RecipientId("rcp_01JCQ8ZK6T9Y4M2V7N5B3D1F0G"),
        step=1,
    )


async def test_one_that_falls_while_it_is_closed_keeps_none_of_the_others_open(
    fresh_database: TestDatabase, tmp_path: Path
) -> None:
    """Somebody loses patience while the first of them waits for a visit that is kept up."""
    system = _system(fresh_database, tmp_path)
    await system.__aenter__()
    async with fresh_database.owner() as owner, owner.transaction():
        await owner.execute("LOCK TABLE notification.tenants_local IN ACCESS EXCLUSIVE MODE")
        system.notify.visits.note(_visit(TENANT.new(system.clock.now())), machine=False)
        closing = asyncio.ensure_future(system.__aexit__(None, None, None))
        while not await owner.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            await asyncio.sleep(0.01)
        closing.cancel()
        await asyncio.wait({closing})

    assert closing.cancelled()
    with pytest.raises(DatabaseUnavailableError):
        await system.db.ping()


async def test_a_visit_that_nobody_foresaw_keeps_nobody_from_waiting_for_the_others(
    fresh_database: TestDatabase, tmp_path: Path
) -> None:
    nobody: Any = None
    async with _system(fresh_database, tmp_path) as system, fresh_database.owner() as owner:
        async with owner.transaction():
            await owner.execute("LOCK TABLE notification.tenants_local IN ACCESS EXCLUSIVE MODE")
            system.notify.visits.note(_visit(TENANT.new(system.clock.now())), machine=False)
            system.notify.visits.note(_visit(nobody), machine=False)
            settling = asyncio.ensure_future(system.notify.visits.settle())
            while not await owner.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)

            assert not settling.done()

        await settling
