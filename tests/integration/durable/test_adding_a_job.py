"""The job of `docs/adding-a-job.md`, as it stands there, against Postgres."""

import importlib.util
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings.kernel import sql
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.metrics import Metrics

PAGE = Path(__file__).parents[3] / "docs" / "adding-a-job.md"
_NOW = SystemClock().now()


@pytest.fixture
async def page(fresh_database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that the page shows, beside its queries and its table."""
    monkeypatch.setattr(sql, "LOADED", [])
    files = dict(re.findall(r"```(?:sql|python) file=(\S+)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    async with fresh_database.owner() as owner:
        await owner.execute(files["migration.sql"])
        await owner.execute("CALL kernel.assert_protected()")
    spec = importlib.util.spec_from_file_location("reminders", tmp_path / "reminders.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _House:
    """A worker with the job, and what it called."""

    def __init__(self, db: Database, page: Any, metrics: Metrics) -> None:
        self.db = db
        self.clock = ManualClock(_NOW)
        self.called: list[str] = []
        self.refused: set[str] = set()
        self.job = ClaimingJob[str](
            db,
            page.REMINDERS,
            page.Reminder(db, self._call, clock=self.clock).remind,
            name="reminders",
            worker_id=lambda: "wrk_1",
            clock=self.clock,
            due_timer=DueTimer(),
            metrics=metrics,
        )

    async def _call(self, reminder_id: str) -> bool:
        self.called.append(reminder_id)
        if reminder_id == "poison":
            raise LookupError
        return reminder_id not in self.refused

    async def remind(self, tenant_id: TenantId, *ids: str, claimed_by: str | None = None) -> None:
        async with self.db.tenant(tenant_id) as tx:
            await tx.connection.executemany(
                "INSERT INTO chan.reminders (tenant_id, id, due_at, claimed_by) VALUES ($1, $2, $3, $4)",
                [(tenant_id, id_, _NOW, claimed_by) for id_ in ids],
            )

    async def statuses(self, tenant_id: TenantId) -> dict[str, str]:
        async with self.db.tenant(tenant_id) as tx:
            rows = await tx.connection.fetch("SELECT id, status FROM chan.reminders ORDER BY id")
        return {row["id"]: row["status"] for row in rows}


@pytest.fixture
def house(fresh_db: Database, page: Any) -> _House:
    return _House(fresh_db, page, Metrics())


async def test_it_is_done_once_retried_given_up_and_requeued(
    house: _House, page: Any, tenant_id: TenantId
) -> None:
    house.refused = {"b"}
    await house.remind(tenant_id, "a", "b")

    assert await house.job.drain() == 2
    assert await house.statuses(tenant_id) == {"a": "done", "b": "waiting"}
    for _ in range(3):
        await house.clock.advance(timedelta(hours=1))
        await house.job.drain()
    assert (house.called.count("a"), house.called.count("b")) == (1, 3)
    assert await house.statuses(tenant_id) == {"a": "done", "b": "dead"}

    audit = AuditLog("chan", house.clock)
    letters = DeadLetters[str](
        page.QUERIES.requeue, entity_type="reminder", status="dead", audit=audit, clock=house.clock
    )
    async with house.db.tenant(tenant_id) as tx:
        assert await letters.requeue(tx, actor="usr_1", tenant_id=tenant_id) == ["b"]
        lines = await tx.connection.fetch("SELECT entity_id, action, actor FROM chan.audit")
    assert [tuple(line) for line in lines] == [("b", "requeued", "usr_1")]
    house.refused = set()
    assert await house.job.drain() == 1
    assert await house.statuses(tenant_id) == {"a": "done", "b": "done"}


async def test_a_tenant_whose_work_fails_holds_up_nobody_and_its_claims_are_rescued(
    house: _House, tenant_id: TenantId
) -> None:
    other = TENANT.new(SystemClock().now())
    await house.remind(tenant_id, "poison")
    await house.remind(other, "fine")
    await house.remind(other, "orphan", claimed_by="a worker that was killed")

    with pytest.raises(LookupError):
        await house.job.drain()
    assert (await house.statuses(other))["fine"] == "done"
    async with house.db.worker() as tx:
        # The orphan of the dead worker, and what is claimed in our name and not in our hands.
        assert await house.job.free_orphans(tx) == 2
    house.called.clear()
    async with house.db.tenant(tenant_id) as tenant_tx:
        await tenant_tx.connection.execute("UPDATE chan.reminders SET status = 'done'")
    assert await house.job.drain() == 1
    assert house.called == ["orphan"]
