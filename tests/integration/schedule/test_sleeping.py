"""The schedule sleeps while nothing can be taken from it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tests.support.statements import counting
from tidings.contracts.ids import NOTIFICATION
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import Claim, ClaimingJob, SetAnswered
from tidings.kernel.durable.wakeup import DueTimer, Wakeup
from tidings.kernel.ids import TenantId
from tidings.notify.ids import SCHEDULED_WORK
from tidings.notify.schedule.release import SCHEDULE_SETTINGS, SCHEDULED

_NOW = SystemClock().now()


class _NotedWake(Wakeup):
    """Notes how long the job wants to sleep, does not sleep, and stops it after some looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks
        self.pauses: list[float] = []

    async def wait(self, stop: asyncio.Event, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) == self._looks:
            stop.set()


async def _scheduled(
    db: Database,
    tenant_id: TenantId,
    *,
    due: datetime,
    claimed_until: datetime | None = None,
    planned: bool = False,
) -> None:
    async with db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.notification_scheduled "
            "(tenant_id, id, kind, notification_id, run_after, claimed_by, claimed_until) "
            "VALUES ($1, $2, 'scheduled_send', $3, $4, $5, $6)",
            tenant_id,
            SCHEDULED_WORK.new(_NOW),
            None if planned else NOTIFICATION.new(_NOW),
            due,
            "a worker that was killed" if claimed_until else None,
            claimed_until,
        )


async def _leave(_worker: str, claims: Sequence[Claim[str]], _answered: SetAnswered) -> None:
    """The worker dies with what it has claimed."""


async def _pauses(db: Database, *, looks: int = 3) -> list[float]:
    clock, wakeup = ManualClock(_NOW), _NotedWake(looks)
    job = ClaimingJob(
        db,
        SCHEDULED,
        work_on_set=_leave,
        name="schedule",
        worker_id=lambda: "wrk_1",
        clock=clock,
        due_timer=DueTimer(wakeup),
        settings=SCHEDULE_SETTINGS,
    )
    with counting(db) as asked:
        await job.run(asyncio.Event())
    assert asked.statements == 2 * looks, asked
    return wakeup.pauses


@pytest.mark.parametrize(
    ("row", "pause"),
    [
        pytest.param(
            {"claimed_until": _NOW + timedelta(seconds=10)}, 1.0, id="claimed by a worker that was killed"
        ),
        pytest.param({"claimed_until": _NOW + timedelta(seconds=0.4)}, 0.4, id="whose claim ends soon"),
        pytest.param({"planned": True}, 1.0, id="planned, and left by the worker that claimed it"),
        pytest.param(
            {"planned": True, "claimed_until": _NOW + timedelta(seconds=0.4)}, 0.4, id="planned and claimed"
        ),
    ],
)
async def test_what_nobody_can_take_wakes_nobody(
    fresh_db: Database,
    fresh_database: TestDatabase,
    tenant_id: TenantId,
    row: dict[str, Any],
    pause: float,
) -> None:
    """A row that is due and can't be claimed was looked at a thousand times a second."""
    await _scheduled(fresh_db, tenant_id, due=_NOW - timedelta(minutes=1), **row)

    assert await _pauses(fresh_db) == pytest.approx([pause] * 3)


async def test_the_next_one_is_waited_for(
    fresh_db: Database, fresh_database: TestDatabase, tenant_id: TenantId
) -> None:
    """Neither what is planned before it nor what is claimed hides what can be taken."""
    await _scheduled(fresh_db, tenant_id, due=_NOW - timedelta(hours=1), planned=True)
    await _scheduled(
        fresh_db, tenant_id, due=_NOW - timedelta(hours=1), claimed_until=_NOW + timedelta(seconds=14)
    )
    await _scheduled(fresh_db, tenant_id, due=_NOW + timedelta(seconds=0.25))

    assert await _pauses(fresh_db) == pytest.approx([0.25] * 3)


async def test_what_another_holds_this_moment_is_asked_for_calmly(
    fresh_db: Database, fresh_database: TestDatabase, tenant_id: TenantId
) -> None:
    """It is due, unclaimed and locked: 50 looks a second, not a thousand."""
    await _scheduled(fresh_db, tenant_id, due=_NOW - timedelta(minutes=1))
    async with fresh_database.runtime() as other, other.transaction():
        await other.execute("SELECT set_config('app.tenant_id', $1, true)", tenant_id)
        await other.execute("SELECT id FROM notification.notification_scheduled FOR UPDATE")

        pauses = await _pauses(fresh_db)

    assert pauses == pytest.approx([0.02] * 3)
