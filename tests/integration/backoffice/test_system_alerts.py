"""What Tidings sees of itself becomes an alert while it lasts: raised by a real state, once, and resolved by itself."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.backoffice.test_alerts import an_alert, rows
from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn
from tests.support.rows import Table, insert_row, make_row, read_tables
from tidings.backoffice.system_alerts.decide import LOOKS_TO_END
from tidings.backoffice.system_alerts.watch import SystemAlerts
from tidings.backoffice.system_alerts.webhook_letters import handler
from tidings.contracts.conditions import Condition, ConditionSource, Look
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.webhooks import DELIVERY_FAILED_SUBJECT, WebhookDeliveryFailed
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.job_watch import JobWatch
from tidings.kernel.durable.processes import ProcessRegister
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.events import new_event
from tidings.kernel.ids import DEAD_LETTER, EVENT, TenantId
from tidings.notify.tenants.model import Tenant
from tidings.operations.conditions.bus import BusConditions
from tidings.operations.conditions.partitions import PartitionConditions
from tidings.router.ids import INBOUND_WEBHOOK_EVENT

#: The source of alerts that other tests raise.
BY_HAND = an_alert().source


@pytest.fixture
def db(fresh_db: Database) -> Database:
    """Of one test alone: what the platform is told counts rows of all tenants."""
    return fresh_db


@pytest.fixture
def watch(world: HttpWorld) -> SystemAlerts:
    stage = world.system.system_alerts
    return stage.watch(stage.sources)


def source(world: HttpWorld, name: str) -> ConditionSource:
    return next(one for one in world.system.system_alerts.sources if one.name.startswith(name))


async def open_alerts(world: HttpWorld, tenant_id: TenantId | None, category: str) -> list[dict[str, Any]]:
    """Those that a look raised: other tests raise alerts of the platform by hand."""
    found = await rows(world, tenant_id)
    return [
        row
        for row in found
        if row["category"] == category and row["resolved_at"] is None and row["source"] != BY_HAND
    ]


async def looks(world: HttpWorld, watch: SystemAlerts, name: str, times: int = 1) -> None:
    for _ in range(times):
        await watch.look_at(source(world, name))


async def ran(world: HttpWorld, tenant_id: TenantId, statement: str, *arguments: Any) -> None:
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(statement, *arguments)


async def put(world: HttpWorld, tenant_id: TenantId, table: str, **values: Any) -> Mapping[str, Any]:
    """A row with these values, and whatever else its table asks for."""
    async with world.db.tenant(tenant_id) as tx:
        known: Table = next(one for one in await read_tables(tx.connection) if one.name == table)
        ulid = EVENT.new(world.clock.now())[4:]
        row = {**make_row(known, tenant_id, ulid, {}), **values}
        await insert_row(tx.connection, table, row)
    return row


async def test_a_vendor_that_takes_no_messages(world: HttpWorld, tenant: Tenant, watch: SystemAlerts) -> None:
    row = await put(world, tenant.id, "chan.channel_adapter_configs", circuit_state="OPEN", provider="twilio")

    await looks(world, watch, "vendors", 2)
    [alert] = await open_alerts(world, tenant.id, "circuit_open")
    assert (alert["severity"], alert["times_seen"]) == ("critical", 1)
    assert row["id"] in alert["facts"]
    # On its way back: neither a second alert, nor the end of this one.
    update = "UPDATE chan.channel_adapter_configs SET circuit_state = $1"
    await ran(world, tenant.id, update, "HALF_OPEN")
    await looks(world, watch, "vendors", LOOKS_TO_END + 1)
    assert len(await open_alerts(world, tenant.id, "circuit_open")) == 1

    await ran(world, tenant.id, update, "CLOSED")
    await looks(world, watch, "vendors", LOOKS_TO_END - 1)
    assert len(await open_alerts(world, tenant.id, "circuit_open")) == 1
    await looks(world, watch, "vendors")
    assert await open_alerts(world, tenant.id, "circuit_open") == []


async def test_what_flaps_is_one_alert(world: HttpWorld, tenant: Tenant, watch: SystemAlerts) -> None:
    await put(world, tenant.id, "chan.channel_adapter_configs", circuit_state="OPEN")
    update = "UPDATE chan.channel_adapter_configs SET circuit_state = $1"

    for _ in range(5):
        await ran(world, tenant.id, update, "OPEN")
        await looks(world, watch, "vendors")
        await ran(world, tenant.id, update, "CLOSED")
        await looks(world, watch, "vendors", LOOKS_TO_END - 1)

    assert len([row for row in await rows(world, tenant.id) if row["category"] == "circuit_open"]) == 1


async def test_many_bounces_and_complaints(world: HttpWorld, tenant: Tenant, watch: SystemAlerts) -> None:
    count = (
        "INSERT INTO notification.counters (tenant_id, day, stripe, name, channel, category, n) "
        "VALUES ($1, $2, 0, $3, $4, 'reminder', $5) "
        "ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = excluded.n"
    )
    today = world.clock.now().date()
    for name, channel, n in (
        ("delivered", "email", 900),
        ("bounced", "email", 100),
        ("complaint", "email", 1),
        ("delivered", "sms", 20),
        ("bounced", "sms", 20),
    ):
        await ran(world, tenant.id, count, tenant.id, today, name, channel, n)

    await looks(world, watch, "tenants")
    [bounces] = await open_alerts(world, tenant.id, "bounce_rate")
    assert (bounces["severity"], bounces["facts"]) == (
        "critical",
        '{"channel":"email","messages":1000,"bounced":100}',
    )
    assert await open_alerts(world, tenant.id, "complaint_rate") == []
    await ran(world, tenant.id, count, tenant.id, today, "complaint", "email", 4)
    await ran(world, tenant.id, count, tenant.id, today, "delivered", "email", 9_900)
    await looks(world, watch, "tenants", LOOKS_TO_END)
    assert await open_alerts(world, tenant.id, "bounce_rate") == []
    # Not enough to begin an alert, and enough to keep one.
    assert await open_alerts(world, tenant.id, "complaint_rate") == []
    await ran(world, tenant.id, count, tenant.id, today, "complaint", "email", 12)
    await looks(world, watch, "tenants")
    assert len(await open_alerts(world, tenant.id, "complaint_rate")) == 1


async def test_a_disabled_webhook(world: HttpWorld, tenant: Tenant, watch: SystemAlerts) -> None:
    now = world.clock.now()
    row = await put(
        world,
        tenant.id,
        "notification.webhook_subscriptions",
        status="disabled",
        disabled_at=now,
        disabled_reason="failures",
        is_test=False,
    )
    await looks(world, watch, "tenants")
    [alert] = await open_alerts(world, tenant.id, "webhook_disabled")
    assert row["id"] in alert["facts"]

    resumed = "UPDATE notification.webhook_subscriptions SET status = 'active', disabled_at = NULL, disabled_reason = NULL"
    await ran(world, tenant.id, resumed)
    await looks(world, watch, "tenants", LOOKS_TO_END)
    assert await open_alerts(world, tenant.id, "webhook_disabled") == []


async def test_a_key_that_ends_soon(world: HttpWorld, tenant: Tenant, watch: SystemAlerts) -> None:
    key, _ = await world.key(tenant.id, expires_at=world.clock.now() + timedelta(days=10))
    await world.key(tenant.id, expires_at=world.clock.now() + timedelta(days=100))

    await looks(world, watch, "tenants")
    [alert] = await open_alerts(world, tenant.id, "api_key_expiring")
    assert (alert["severity"], key.id in alert["facts"]) == ("warning", True)
    await moved(world, timedelta(days=9))
    await looks(world, watch, "tenants")
    [alert] = await open_alerts(world, tenant.id, "api_key_expiring")
    assert alert["severity"] == "critical"
    await moved(world, timedelta(days=2))
    await looks(world, watch, "tenants", LOOKS_TO_END)
    assert await open_alerts(world, tenant.id, "api_key_expiring") == []


async def test_a_draft_of_a_model_that_nobody_approves(
    world: HttpWorld, tenant: Tenant, watch: SystemAlerts
) -> None:
    written = world.clock.now() - timedelta(hours=30)
    template = await put(world, tenant.id, "notification.templates", category="transactional")
    await put(
        world,
        tenant.id,
        "notification.template_versions",
        template_id=template["id"],
        source="ai_drafted",
        ai_provenance='{"model": "m"}',
        updated_at=written,
    )
    await looks(world, watch, "drafts")
    [alert] = await open_alerts(world, tenant.id, "approval_waiting")
    assert '"hours":30' in alert["facts"]

    await ran(world, tenant.id, "UPDATE notification.template_versions SET approver_user_id = 'oper_1'")
    await looks(world, watch, "drafts", LOOKS_TO_END)
    assert await open_alerts(world, tenant.id, "approval_waiting") == []


async def test_messages_that_no_worker_takes_up(
    world: HttpWorld, tenant: Tenant, watch: SystemAlerts
) -> None:
    await ran(
        world,
        tenant.id,
        "INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, queued_at) VALUES ($1, $2, 1, $3)",
        tenant.id,
        f"ntf_{tenant.id[4:]}",
        world.clock.now() - timedelta(minutes=3),
    )
    await looks(world, watch, "queue")
    [alert] = await open_alerts(world, None, "queue_waiting")
    assert alert["severity"] == "warning"

    await ran(world, tenant.id, "DELETE FROM notification.dispatch_queue")
    await looks(world, watch, "queue", LOOKS_TO_END)
    assert await open_alerts(world, None, "queue_waiting") == []


async def test_events_and_receipts_that_were_given_up(world: HttpWorld, watch: SystemAlerts) -> None:
    now = world.clock.now()
    letter, receipt = DEAD_LETTER.new(now), INBOUND_WEBHOOK_EVENT.new(now)
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "INSERT INTO kernel.dead_letters (id, group_name, position, event_id, subject, lane, envelope, payload, attempts, error, "
            "died_at, expires_at) VALUES ($1, 'notify.outcomes', 1, $2, 's', 'l', '{}', '{}', 9, 'e', $3, $3)",
            letter,
            EVENT.new(now),
            now,
        )
    async with world.db.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO chan.webhook_inbound_events (id, received_at, webhook_inbound_id, vendor, adapter, vendor_message_id, type, status) "
            "VALUES ($1, $2, 'whi_1', 'twilio', 'twilio', 'm', 'delivered', 'dlq')",
            receipt,
            now,
        )
    await looks(world, watch, "bus")
    await looks(world, watch, "vendors")
    told = {one["dedup_key"] for one in await open_alerts(world, None, "dead_letters")}
    assert told >= {"dead_letters:events:notify.outcomes", "dead_letters:receipts"}

    async with world.db.worker() as tx:
        await tx.connection.execute("DELETE FROM kernel.dead_letters WHERE id = $1", letter)
    await looks(world, watch, "bus", LOOKS_TO_END)
    told = {one["dedup_key"] for one in await open_alerts(world, None, "dead_letters")}
    assert "dead_letters:events:notify.outcomes" not in told


async def test_a_webhook_that_takes_no_events_until_a_day_is_quiet(
    world: HttpWorld, tenant: Tenant, watch: SystemAlerts
) -> None:
    def failed(is_test: bool = False) -> Any:
        told = WebhookDeliveryFailed(
            subscription_id="whs_1",
            delivery_id="whd_1",
            event_id="evt_1",
            event_type="notification.delivered.v1",
            attempts=9,
            is_test=is_test,
        )
        return new_event(
            DELIVERY_FAILED_SUBJECT,
            told,
            tenant_id=tenant.id,
            ordering_key="k",
            source=NOTIFY_SOURCE,
            clock=world.clock,
        )

    handle = handler(world.system.system_alerts.alerts)
    async with world.db.tenant(tenant.id) as tx:
        await handle(tx, [failed(), failed(), failed(is_test=True)])
    async with world.db.tenant(tenant.id) as tx:
        await handle(tx, [failed()])
    [alert] = await open_alerts(world, tenant.id, "webhook_dead_letters")
    assert (alert["times_seen"], alert["facts"]) == (2, '{"subscription_id":"whs_1","given_up":1}')

    await moved(world, timedelta(hours=23))
    await watch.run_once()
    assert len(await open_alerts(world, tenant.id, "webhook_dead_letters")) == 1
    await moved(world, timedelta(hours=2))
    await watch.run_once()
    assert await open_alerts(world, tenant.id, "webhook_dead_letters") == []


async def test_a_worker_that_was_killed(world: HttpWorld, watch: SystemAlerts) -> None:
    """Killed: it reports no more, and has not said that it ends."""
    async with world.db.worker() as tx:
        await tx.connection.execute("DELETE FROM kernel.processes")
    victim = asyncio.create_task(register(world, "jobs").run(asyncio.Event()))
    while not await reported(world):
        await asyncio.sleep(0.01)
    await looks(world, watch, "processes", 3)
    assert await open_alerts(world, None, "no_worker") == []
    victim.cancel()
    with suppress(asyncio.CancelledError):
        await victim

    await moved(world, timedelta(seconds=90))
    await looks(world, watch, "processes", 2)
    [gone] = await open_alerts(world, None, "process_gone")
    assert '"role":"jobs"' in gone["facts"]
    assert await open_alerts(world, None, "no_worker") == []
    await looks(world, watch, "processes")
    [nobody] = await open_alerts(world, None, "no_worker")
    assert nobody["severity"] == "critical"

    # Another takes its place; the server's clock stands still for us, so it comes from the future.
    await register(world, "jobs").report()
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE kernel.processes SET seen_at = now() + '100 s', started_at = now() + '90 s' WHERE id = (SELECT max(id) FROM kernel.processes)"
        )
    await looks(world, watch, "processes", LOOKS_TO_END)
    assert await open_alerts(world, None, "no_worker") == []
    assert await open_alerts(world, None, "process_gone") == []


async def test_who_ends_in_order_is_not_missed_and_late_jobs_are(
    world: HttpWorld, watch: SystemAlerts
) -> None:
    async with world.db.worker() as tx:
        await tx.connection.execute("DELETE FROM kernel.processes")
    stop = asyncio.Event()
    stop.set()
    await register(world, "api").run(stop)
    late = JobWatch(now=iter([0.0, *[1_000.0] * 9]).__next__)
    with late.follow("due"):
        await register(world, "jobs", late).report()

    await moved(world, timedelta(seconds=30))
    await looks(world, watch, "processes")
    [alert] = await open_alerts(world, None, "job_overdue")
    assert '"job":"due"' in alert["facts"]
    await moved(world, timedelta(seconds=90))
    await looks(world, watch, "processes")
    assert "api" not in str([one["facts"] for one in await open_alerts(world, None, "process_gone")])


class Once:
    """A source that sees the same, for as long as somebody looks."""

    name = "made_up"
    every = timedelta(0)

    def __init__(self, tenant_id: TenantId | None) -> None:
        self.tenant_id = tenant_id
        self.looks = 0

    async def look(self) -> Look:
        self.looks += 1
        found = Condition(category="made_up", about="x", severity="info", tenant_id=self.tenant_id)
        return Look(conditions=[found])


async def test_two_processes_at_once_look_once_and_raise_one(world: HttpWorld, tenant: Tenant) -> None:
    made = Once(tenant.id)
    stages = [world.system.system_alerts.watch([made]) for _ in range(3)]

    await asyncio.gather(*(one.run_once() for one in stages))
    assert made.looks == 1
    # And where the lease is of no use, the table sees to it.
    await asyncio.gather(*(one.look_at(made) for one in stages))
    assert len(await open_alerts(world, tenant.id, "made_up")) == 1


async def test_a_source_that_fails_keeps_its_alerts_and_others_their_turn(
    world: HttpWorld, tenant: Tenant
) -> None:
    class Broken(Once):
        name = "broken"

        async def look(self) -> Look:
            raise DatabaseUnavailableError("away")

    made = Once(tenant.id)
    made.name = "made_up_beside_a_broken_one"
    await world.system.system_alerts.watch([Broken(None), made]).run_once()

    assert len(await open_alerts(world, tenant.id, "made_up")) == 1


def register(world: HttpWorld, role: str, watch: JobWatch | None = None) -> ProcessRegister:
    return ProcessRegister(
        world.db, watch or JobWatch(), clock=world.clock, roles=[role], services=["notify"], late_after=450
    )


async def reported(world: HttpWorld) -> bool:
    async with world.db.worker() as tx:
        return bool(await tx.connection.fetchval("SELECT count(*) FROM kernel.processes"))


async def moved(world: HttpWorld, by: timedelta) -> None:
    clock: Clock = world.clock
    assert isinstance(clock, ManualClock)
    await clock.advance(by)


async def test_partitions_that_nobody_made(world: HttpWorld, watch: SystemAlerts) -> None:
    a_year_ahead = ManualClock(world.clock.now() + timedelta(days=365))

    await watch.look_at(PartitionConditions(world.db, a_year_ahead))
    [alert] = await open_alerts(world, None, "partition_missing")
    assert alert["severity"] == "critical"
    await looks(world, watch, "partitions", LOOKS_TO_END)
    assert await open_alerts(world, None, "partition_missing") == []


class Late:
    """What waits, as the bus would say it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def oldest_in_outboxes(self) -> Mapping[str, float]:
        return {"chan": self.seconds}

    async def oldest_of_groups(self) -> Mapping[str, float]:
        return {"notify.outcomes": self.seconds * 10}


async def test_events_that_nobody_moves_or_reads(world: HttpWorld, watch: SystemAlerts) -> None:
    late = Late()
    bus = BusConditions(world.db, late, world.clock, ["test"])

    for seconds, severity, count in (
        (20.0, "", 0),
        (40.0, "warning", 1),
        (400.0, "critical", 1),
        (20.0, "critical", 1),
    ):
        late.seconds = seconds
        await watch.look_at(bus)
        found = [one["severity"] for one in await open_alerts(world, None, "outbox_lag")]
        assert found == [severity] * count
        behind = await open_alerts(world, None, "group_behind")
        assert [one["severity"] for one in behind] == [severity] * count
    late.seconds = 0.0
    for _ in range(LOOKS_TO_END):
        await watch.look_at(bus)
    assert await open_alerts(world, None, "outbox_lag") == []
    # The real ones are asked too.
    assert "outbox_seconds" in str(await source(world, "bus").look())


async def test_a_budget_that_is_nearly_spent(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, watch: SystemAlerts
) -> None:
    spent = (
        "INSERT INTO chan.spend_daily (tenant_id, day, stripe, channel, vendor, currency, messages, estimated_micros, real_micros) "
        "VALUES ($1, $2, 0, 'sms', 'twilio', 'EUR', 1, $3, $3) "
        "ON CONFLICT (tenant_id, day, stripe, channel, vendor, currency) DO UPDATE SET real_micros = excluded.real_micros"
    )
    today = world.clock.now().date()
    at = "/bff/v1/alerts/budgets"
    assert (await admin.send("PUT", f"{at}/EUR", {"micros": 100_000_000})).status_code == 204
    assert (await admin.send("PUT", f"{at}/euro", {"micros": 1})).json()["errors"][0]["field"] == "currency"
    await ran(world, tenant.id, spent, tenant.id, today, 79_000_000)
    await looks(world, watch, "budgets")
    assert await open_alerts(world, tenant.id, "spend_near_cap") == []

    await ran(world, tenant.id, spent, tenant.id, today, 85_000_000)
    await looks(world, watch, "budgets")
    [alert] = await open_alerts(world, tenant.id, "spend_near_cap")
    assert (alert["severity"], alert["facts"]) == ("warning", '{"currency":"EUR","percent":85}')
    await ran(world, tenant.id, spent, tenant.id, today, 120_000_000)
    await looks(world, watch, "budgets")
    assert [one["severity"] for one in await open_alerts(world, tenant.id, "spend_near_cap")] == ["critical"]

    page = admin.browser
    await page.open("/console/alerts/telling")
    assert "Budget of a month" in page.html
    wrong = await page.post("/console/alerts/budgets", amount="much", currency="EUR")
    assert wrong.status_code == 400
    await page.post("/console/alerts/budgets", amount="500,50", currency="eur")
    assert (await admin.get(at)).json() == {"items": [{"currency": "EUR", "micros": 500_500_000}]}
    await looks(world, watch, "budgets", LOOKS_TO_END)
    assert await open_alerts(world, tenant.id, "spend_near_cap") == []
    await page.post("/console/alerts/budgets", amount="", currency="EUR")
    assert (await admin.get(at)).json() == {"items": []}
