"""Statistics count every ended execution once: of late transactions, of a roll-up that died, of several at a time."""

import asyncio
import json
import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.http import http_over
from tests.support.system import system_over
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.metrics import Metrics
from tidings.router.executions.model import EXECUTION, moment
from tidings.router.metrics import RouterMetrics
from tidings.router.spend import store as spend_store
from tidings.router.spend.model import estimated
from tidings.router.spend.record_spend import add
from tidings.router.state_machine.model import ATTEMPT
from tidings.router.statistics import store
from tidings.router.statistics.model import BOUNDS
from tidings.router.statistics.roll_up import StatisticsJob
from tidings.router.statistics.routes import statistics, statistics_of_all

HOME = "/api/v1/statistics"
CLOCK = SystemClock()
INSERT = """
    INSERT INTO chan.fallback_executions (
        tenant_id, id, started_at, terminated_at, notification_id, recipient_id, use_case, strategy, ladder_snapshot,
        final_channel, outcome, evidence, fallback_path
    ) VALUES ($1, $2, $3, $4, $5, $6, 'otp', 'SEQUENTIAL', '{}', $7, $8, $9, $10)
"""


class History:
    """Ended executions of a tenant, and the job that rolls them up."""

    def __init__(self, db: Database, tenant_id: TenantId) -> None:
        self.db = db
        self.tenant_id = tenant_id
        self.now = moment(CLOCK)
        self.job = StatisticsJob(db, clock=CLOCK, metrics=RouterMetrics(Metrics()))

    def call(
        self, step: int, channel: str, status: str, *, vendor: str | None = None, ms: int = 20, code: str = ""
    ) -> dict[str, Any]:
        """A call or a skipped step, as the history keeps it."""
        ended = self.now + timedelta(milliseconds=ms)
        made = {"id": ATTEMPT.new(self.now), "step": step, "channel": channel, "status": status}
        times = {"started_at": self.now.isoformat(), "ended_at": ended.isoformat()}
        return {
            **made,
            **times,
            **({"vendor": vendor} if vendor else {}),
            **({"reason": code} if code else {}),
        }

    async def end(
        self, tx: TenantTx, *calls: dict[str, Any], channel: str | None, outcome: str = "DELIVERED"
    ) -> None:
        """An execution that ends in this transaction."""
        await tx.connection.execute(
            INSERT,
            self.tenant_id,
            EXECUTION.new(self.now),
            self.now,
            self.now,
            NOTIFICATION.new(self.now),
            RECIPIENT.new(self.now),
            channel,
            outcome,
            "delivered" if outcome == "DELIVERED" else None,
            json.dumps(calls),
        )

    async def end_simple(self, tx: TenantTx) -> None:
        await self.end(tx, self.call(1, "sms", "accepted", vendor="http"), channel="sms")

    async def rolled_up(self) -> None:
        """All that has been committed is counted: also where another test's transaction holds the horizon for a while."""
        async with self.db.tenant(self.tenant_id) as tx:
            last = await tx.connection.fetchval(
                "SELECT coalesce(max(recorded_in), 0) FROM chan.fallback_executions WHERE tenant_id = $1",
                self.tenant_id,
            )
        while True:
            await self.job.drain()
            async with self.db.worker() as tx:
                mark = await store.take_mark(tx, "executions")
            if mark is not None and mark.after_xid > last:
                return
            await asyncio.sleep(0.02)

    async def counted(self) -> int:
        first, last = self.now - timedelta(hours=2), self.now + timedelta(hours=2)
        async with self.db.tenant(self.tenant_id) as tx:
            sums = await store.sum_outcomes(tx, since=first, until=last, every="hour", use_case=None)
            steps = await store.sum_steps(tx, since=first, until=last)
        assert sum(one.reached for one in steps if one.step == 1) == sum(one.n for one in sums)
        return sum(one.n for one in sums)


@pytest.fixture
def history(db: Database, tenant_id: TenantId) -> History:
    return History(db, tenant_id)


async def test_a_transaction_that_commits_late_is_counted_once(history: History) -> None:
    async with history.db.tenant(history.tenant_id) as late:
        await history.end_simple(late)
        async with history.db.tenant(history.tenant_id) as early:
            await history.end_simple(early)
        await history.job.drain()
        before = await history.counted()

    await history.rolled_up()
    both = await history.counted()
    await history.job.drain()

    assert before <= 1
    assert both == 2
    assert await history.counted() == 2


async def test_a_roll_up_that_dies_has_counted_nothing(history: History) -> None:
    async with history.db.tenant(history.tenant_id) as tx:
        for _ in range(5):
            await history.end_simple(tx)

    with pytest.raises(ZeroDivisionError):
        async with history.db.worker() as tx:
            mark = None
            while mark is None:
                mark = await store.take_mark(tx, "executions")
            oldest = history.now - timedelta(days=1)
            await store.roll_up(
                tx, after=mark.after_xid, until=2**62, not_before=mark.not_before, oldest=oldest
            )
            await store.move_mark(tx, "executions", after=2**61)
            raise ZeroDivisionError
    assert await history.counted() == 0

    await asyncio.gather(history.rolled_up(), history.rolled_up(), history.job.drain())
    assert await history.counted() == 5


async def test_a_database_that_moved_elsewhere_counts_on(history: History) -> None:
    """A dump that is restored in another cluster has rows of transactions that are yet to come there."""
    await history.rolled_up()
    async with history.db.worker() as tx:
        mark = None
        while mark is None:
            mark = await store.take_mark(tx, "executions")
        await store.move_mark(tx, "executions", after=2**50)
    await history.job.drain()
    await asyncio.sleep(0.002)
    history.now = moment(CLOCK)

    async with history.db.tenant(history.tenant_id) as tx:
        await history.end_simple(tx)
    await history.rolled_up()

    assert await history.counted() == 1


@pytest.mark.parametrize("seed", range(3))
async def test_sums_are_what_the_history_has(history: History, seed: int) -> None:
    """Against a count of the rows in Python, in several transactions and roll-ups."""
    dice = random.Random(seed)
    reached: Counter[tuple[int, str]] = Counter()
    delivered: Counter[tuple[int, str]] = Counter()
    calls: Counter[str] = Counter()
    codes: Counter[tuple[str, str]] = Counter()
    slow = 0
    for _ in range(4):
        async with history.db.tenant(history.tenant_id) as tx:
            for _ in range(dice.randrange(1, 12)):
                path = []
                arrived: tuple[int, str] | None = None
                for step, channel in enumerate(("whatsapp", "sms", "email")[: dice.randrange(1, 4)], start=1):
                    reached[step, channel] += 1
                    for _ in range(dice.randrange(0, 2)):
                        path.append(history.call(step, channel, "failed_temp", vendor="http", code="503"))
                        calls[channel] += 1
                        codes[channel, "503"] += 1
                    ending = dice.choice(["accepted", "failed_perm", "step_skipped"])
                    ms = dice.choice([3, 700])
                    vendor = None if ending == "step_skipped" else "http"
                    path.append(history.call(step, channel, ending, vendor=vendor, ms=ms))
                    if vendor:
                        calls[channel] += 1
                        slow += ms > 500
                    if ending == "accepted":
                        arrived = step, channel
                        break
                    codes[channel, ending] += 1
                if arrived:
                    delivered[arrived] += 1
                await history.end(
                    tx,
                    *path,
                    channel=arrived[1] if arrived else None,
                    outcome="DELIVERED" if arrived else "FAILED",
                )
        await history.rolled_up()

    first, last = history.now - timedelta(hours=2), history.now + timedelta(hours=2)
    async with history.db.tenant(history.tenant_id) as tx:
        steps = await store.sum_steps(tx, since=first, until=last)
        vendors = await store.sum_vendors(tx, since=first, until=last)
        errors = await store.sum_errors(tx, since=first.date(), until=last.date(), limit=100)
    assert {(one.step, one.channel): one.reached for one in steps} == dict(reached)
    assert {(one.step, one.channel): one.delivered for one in steps if one.delivered} == dict(delivered)
    assert {one.channel: one.calls for one in vendors} == dict(calls)
    assert {(one.channel, one.code): one.n for one in errors} == dict(codes)
    assert sum(sum(one.latencies[BOUNDS.index(1_000) :]) for one in vendors) == slow


async def test_over_http_a_tenant_sees_its_own_and_the_platform_who_is_loud(history: History) -> None:
    async with history.db.tenant(history.tenant_id) as tx:
        refused = history.call(1, "whatsapp", "rejected_by_recipient", vendor="whatsapp_cloud", code="131026")
        await history.end(
            tx, refused, history.call(2, "sms", "accepted", vendor="http", ms=40), channel="sms"
        )
        await history.end_simple(tx)
        await history.end(
            tx, history.call(1, "email", "step_skipped", code="no_address"), channel=None, outcome="FAILED"
        )
    await history.rolled_up()
    http = http_over(system_over(history.db, clock=CLOCK), only=[statistics, statistics_of_all])
    day = str(history.now.date())

    async with http.calling(history.tenant_id) as client:
        asked = {
            name: (await client.get(f"{HOME}/{name}", params={"since": day, "until": day})).json()["items"]
            for name in ("steps", "vendors", "errors", "outcomes")
        }
        by_hour = await client.get(f"{HOME}/outcomes", params={"every": "hour", "since": day, "until": day})
        wrong = [
            await client.get(f"{HOME}/steps", params={"since": "2026-01-02", "until": "2026-01-01"}),
            await client.get(f"{HOME}/steps", params={"since": "2020-01-01"}),
            await client.get(
                f"{HOME}/outcomes", params={"every": "hour", "since": "2026-01-01", "until": "2026-02-01"}
            ),
            await client.get(f"{HOME}/outcomes", params={"every": "minute"}),
        ]
    async with http.calling(TENANT.new(CLOCK.now())) as stranger:
        theirs = (await stranger.get(f"{HOME}/steps")).json()["items"]
    async with http.as_platform() as platform:
        loud = (await platform.get("/internal/v1/statistics/tenants")).json()["items"]

    assert [(one["step"], one["channel"], one["reached"], one["delivered"]) for one in asked["steps"]] == [
        (1, "email", 1, 0),
        (1, "sms", 1, 1),
        (1, "whatsapp", 1, 0),
        (2, "sms", 1, 1),
    ]
    assert {(one["vendor"], one["calls"], one["p95_ms"]) for one in asked["vendors"]} == {
        ("http", 2, 48),
        ("whatsapp_cloud", 1, 24),
    }
    assert {(one["vendor"], one["code"]) for one in asked["errors"]} == {
        ("whatsapp_cloud", "131026"),
        ("", "no_address"),
    }
    assert {(one["channel"], one["outcome"], one["n"]) for one in asked["outcomes"]} == {
        ("sms", "DELIVERED", 2),
        ("", "FAILED", 1),
    }
    assert {datetime.fromisoformat(one["at"]).minute for one in by_hour.json()["items"]} == {0}
    assert [one.status_code for one in wrong] == [400, 400, 400, 400]
    assert theirs == []
    assert {"tenant_id": history.tenant_id, "n": 3, "delivered": 2, "failed": 1} in loud


async def test_costs_are_those_of_the_spend_report(history: History) -> None:
    day = history.now.date()
    async with history.db.tenant(history.tenant_id) as tx:
        spent = [
            estimated(
                started_at=history.now, channel=channel, vendor="http", currency=currency, micros=micros
            )
            for channel, currency, micros in (("sms", "USD", 70), ("sms", "USD", 30), ("voice", "EUR", 5))
        ]
        await add(tx, spent)
        found = await store.sum_costs(tx, since=day, until=day)
        report = await spend_store.sum_spent(tx, since=day, until=day, by="channel")
        before = await store.sum_costs(tx, since=day - timedelta(days=9), until=day - timedelta(days=1))
    assert [(one.channel, one.currency, one.messages, one.real_micros) for one in found] == [
        (one.part, one.currency, one.messages, one.real) for one in report
    ]
    assert {(one.day, one.vendor) for one in found} == {(day, "http")}
    assert before == []


async def test_what_is_old_is_removed(history: History) -> None:
    async with history.db.tenant(history.tenant_id) as tx:
        await history.end_simple(tx)
    await history.rolled_up()
    async with history.db.worker() as tx:
        early = history.now - timedelta(hours=3)
        assert await store.sweep(tx, steps_before=early, others_before=early, limit=100) == 0
    assert await history.counted() == 1
