"""What messages cost, by day: added with attempts, corrected by receipts, summed without a look at either."""

import asyncio
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from tests.support.http import http_over, http_world
from tests.support.system import system_over
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId, time_of
from tidings.router.executions.model import EXECUTION, moment
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.receipts import Receipt
from tidings.router.spend import store
from tidings.router.spend.correct_spend import correct
from tidings.router.spend.model import By, SpendSum, UnpricedCalls, day_of, estimated
from tidings.router.spend.record_spend import add
from tidings.router.spend.routes import spend
from tidings.router.state_machine.model import ATTEMPT

HOME = "/api/v1/router/spend"
CLOCK = SystemClock()


class Ledger:
    """Attempts of a tenant, and what vendors say that they cost."""

    def __init__(self, db: Database, tenant_id: TenantId) -> None:
        self.db = db
        self.tenant_id = tenant_id
        self.now = moment(CLOCK)
        self._told = 0

    async def attempt(self, micros: int, currency: str | None = "USD", *, stripe: int = 0) -> str:
        """One that was reckoned to cost so much."""
        attempt_id = ATTEMPT.new(self.now)
        async with self.db.tenant(self.tenant_id) as tx:
            await tx.connection.execute(
                "INSERT INTO chan.delivery_attempts (tenant_id, id, started_at, step_index, execution_id, channel, provider, "
                "status, cost_micros, cost_currency) VALUES ($1, $2, $3, 1, $4, 'sms', 'http', 'accepted', $5, $6)",
                self.tenant_id,
                attempt_id,
                self.now,
                EXECUTION.new(self.now),
                micros,
                currency if micros else None,
            )
            if micros and currency:
                made = estimated(
                    started_at=self.now, channel="sms", vendor="http", currency=currency, micros=micros
                )
                await add(tx, [made], stripe=stripe)
        return attempt_id

    async def told(
        self, attempt_id: str, micros: int | None, currency: str = "USD", *, at: datetime | None = None
    ) -> None:
        """A receipt that was not known before, with what the vendor takes."""
        self._told += 1
        receipt = Receipt(
            id=INBOUND_WEBHOOK_EVENT.new(self.now + timedelta(milliseconds=self._told)),
            attempt_id=attempt_id,
            execution_id=EXECUTION.new(self.now),
            attempt_started_at=self.now,
            status="delivered",
            occurred_at=at,
            cost_micros=micros,
            cost_currency=None if micros is None else currency,
        )
        async with self.db.tenant(self.tenant_id) as tx:
            await tx.connection.execute(
                "INSERT INTO chan.delivery_attempt_events (tenant_id, id, recorded_at, occurred_at, attempt_id, execution_id, "
                "status, cost_micros, cost_currency) VALUES ($1, $2, $3, $4, $5, $6, 'delivered', $7, $8)",
                self.tenant_id,
                receipt.id,
                time_of(receipt.id),
                at,
                attempt_id,
                receipt.execution_id,
                micros,
                receipt.cost_currency,
            )
            await correct(tx, [receipt], stripe=3)

    async def sums(self) -> dict[str, tuple[int, int, int, int]]:
        """By currency: messages, estimated, real, corrected."""
        today = day_of(self.now)
        async with self.db.tenant(self.tenant_id) as tx:
            found: list[SpendSum] = await store.sum_spent(tx, since=today, until=today, by="vendor")
        return {one.currency: (one.messages, one.estimated, one.real, one.corrected) for one in found}


@pytest.fixture
def ledger(db: Database, tenant_id: TenantId) -> Ledger:
    return Ledger(db, tenant_id)


async def test_a_price_that_is_told_twice_counts_once_and_one_that_changes_corrects(ledger: Ledger) -> None:
    attempt = await ledger.attempt(100)
    await ledger.attempt(50, stripe=7)
    steps = [await ledger.sums()]

    for micros in (130, 130, 90, None):
        await ledger.told(attempt, micros)
        steps.append(await ledger.sums())

    assert [step["USD"] for step in steps] == [
        (2, 150, 150, 0),
        (2, 150, 180, 1),
        (2, 150, 180, 1),
        (2, 150, 140, 1),
        (2, 150, 140, 1),
    ]


async def test_of_several_prices_the_one_that_happened_last_is_right(ledger: Ledger) -> None:
    """In whatever order they came."""
    attempt = await ledger.attempt(100)
    await ledger.told(attempt, 300, at=ledger.now + timedelta(seconds=9))

    await ledger.told(attempt, 200, at=ledger.now + timedelta(seconds=1))

    assert await ledger.sums() == {"USD": (1, 100, 300, 1)}


async def test_two_who_bring_the_same_price_at_once_count_it_once(ledger: Ledger) -> None:
    attempt = await ledger.attempt(100)

    await asyncio.gather(*(ledger.told(attempt, 130) for _ in range(4)))

    assert await ledger.sums() == {"USD": (1, 100, 130, 1)}


async def test_another_currency_and_an_attempt_without_a_price(ledger: Ledger) -> None:
    await ledger.told(await ledger.attempt(100), 70, "EUR")
    await ledger.told(await ledger.attempt(0), 5, "EUR")

    assert await ledger.sums() == {"USD": (1, 100, 0, 0), "EUR": (1, 0, 75, 2)}


async def test_messages_without_a_price_are_counted_apart(ledger: Ledger) -> None:
    """Not those that cost something, and not those whose price the vendor has said since."""
    await ledger.attempt(100)
    await ledger.attempt(0)
    await ledger.attempt(0)
    await ledger.told(await ledger.attempt(0), 70)
    today = day_of(ledger.now)
    async with ledger.db.tenant(ledger.tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO chan.delivery_attempts (tenant_id, id, started_at, step_index, execution_id, channel, provider, "
            "status) VALUES ($1, $2, $3, 1, $4, 'sms', 'http', 'rejected_by_provider')",
            ledger.tenant_id,
            ATTEMPT.new(ledger.now),
            ledger.now,
            EXECUTION.new(ledger.now),
        )
        ways: tuple[By, ...] = ("day", "channel", "vendor")
        found = {by: await store.count_unpriced(tx, since=today, until=today, by=by, most=100) for by in ways}
        few = await store.count_unpriced(tx, since=today, until=today, by="vendor", most=1)
        before = await store.count_unpriced(
            tx, since=today - timedelta(days=2), until=today - timedelta(days=1), by="day", most=100
        )

    assert found == {
        "day": [UnpricedCalls(part=today.isoformat(), messages=2)],
        "channel": [UnpricedCalls(part="sms", messages=2)],
        "vendor": [UnpricedCalls(part="http", messages=2)],
    }
    assert few == [UnpricedCalls(part="http", messages=1)]
    assert before == []


async def test_what_was_spent_over_http(ledger: Ledger) -> None:
    today = day_of(ledger.now)
    async with ledger.db.tenant(ledger.tenant_id) as tx:
        await add(tx, [])
        await add(
            tx,
            [
                _spent("sms", "twilio", "USD", 100, day=today),
                _spent("sms", "http", "EUR", 50, day=today),
                _spent("voice", "twilio", "USD", 10, day=today - timedelta(days=1)),
                _spent("sms", "http", "USD", 999, day=today - timedelta(days=40)),
            ],
        )
    system = system_over(ledger.db, clock=CLOCK, TIDINGS_CURRENCY_RATES="USD EUR=0.5")
    http = http_over(system, only=[spend])

    async with http.calling(ledger.tenant_id) as client:
        by_day = (await client.get(HOME, params={"until": today.isoformat()})).json()
        by_vendor = (await client.get(HOME, params={"by": "vendor", "since": today.isoformat()})).json()
        wrong = [
            await client.get(HOME, params={"since": "2026-01-02", "until": "2026-01-01"}),
            await client.get(HOME, params={"since": "2020-01-01"}),
            await client.get(HOME, params={"by": "moon"}),
        ]
    async with http.calling(TENANT.new(CLOCK.now())) as stranger:
        theirs = (await stranger.get(HOME)).json()

    assert [(one["part"], one["currency"], one["real_micros"]) for one in by_day["items"]] == [
        ((today - timedelta(days=1)).isoformat(), "USD", 10),
        (today.isoformat(), "EUR", 50),
        (today.isoformat(), "USD", 100),
    ]
    assert [(one["currency"], one["real_micros"], one["messages"]) for one in by_day["totals"]] == [
        ("EUR", 50, 1),
        ("USD", 110, 2),
    ]
    assert by_day["converted"] == {"currency": "USD", "estimated_micros": 210, "real_micros": 210}
    assert [(one["part"], one["real_micros"]) for one in by_vendor["items"]] == [
        ("http", 50),
        ("twilio", 100),
    ]
    assert [one.status_code for one in wrong] == [400, 400, 400]
    assert (theirs["items"], theirs["totals"]) == ([], [])


def _spent(channel: str, vendor: str, currency: str, micros: int, *, day: date) -> Any:
    at = datetime.combine(day, datetime.min.time(), tzinfo=CLOCK.now().tzinfo)
    return estimated(started_at=at, channel=channel, vendor=vendor, currency=currency, micros=micros)


async def test_it_is_summed_by_template_where_nothing_was_sent(db: Database) -> None:
    world = http_world(db)
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as key:
        shown = (await key.get(f"{HOME}?by=template")).json()
    assert (shown["by"], shown["items"], shown["newest_only"]) == ("template", [], False)
