"""Events find the attempt that they are about, and its ladder is told once."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from tests.integration.router.callbacks.conftest import Attempt, CallbackWorld, event, events
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import ConstraintError, DatabaseBusyError, DatabaseUnavailableError
from tidings.kernel.ids import TenantId, time_of
from tidings.router.executions import receipts
from tidings.router.receipts import Applied, Receipt


async def test_a_receipt_stands_with_its_attempt(world: CallbackWorld, tenant_id: TenantId) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(
        attempt,
        "delivered",
        occurred_at="2026-11-15T10:00:00Z",
        code="D-1",
        reason="delivered to +1 500 555 0199 of laila@example.test",
        cost={"micros": 4200, "currency": "EUR"},
    )

    applied = await world.job().drain()

    assert applied == 1
    [told] = await world.receipts(tenant_id)
    [kept] = await world.events()
    assert told["id"] == kept["id"]
    assert (told["attempt_id"], told["execution_id"]) == (attempt.id, attempt.execution_id)
    assert (told["status"], told["provider_code"]) == ("delivered", "D-1")
    assert (told["cost_micros"], told["cost_currency"]) == (4200, "EUR")
    assert told["occurred_at"].isoformat() == "2026-11-15T10:00:00+00:00"
    assert "laila" not in told["reason"]
    assert "0199" not in told["reason"]
    assert (kept["status"], kept["tenant_id"], kept["attempt_id"]) == ("applied", tenant_id, attempt.id)
    assert [r["status"] for r in await world.requests()] == ["applied"]


async def test_details_are_removed_once_they_stand_with_the_attempt(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """The tenant reads its event; what was sealed for the platform is gone."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(attempt, "failed", code="7", reason="no such number")

    await world.job().drain()

    async with world.db.tenant(tenant_id) as tx:
        row = await tx.connection.fetchrow(
            "SELECT status, payload_ciphertext FROM chan.webhook_inbound_events"
        )
    assert row is not None
    assert (row["status"], row["payload_ciphertext"]) == ("applied", None)


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("accepted", "accepted"),
        ("sent", "sent"),
        ("delivered", "delivered"),
        ("READ", "delivered_read"),
        ("failed", "failed_perm"),
        ("rejected", "rejected_by_recipient"),
        ("bounced", "bounced"),
        ("complaint", "complaint"),
    ],
)
async def test_every_word(world: CallbackWorld, tenant_id: TenantId, word: str, means: str) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(attempt, word)

    await world.job().drain()

    assert [r["status"] for r in await world.receipts(tenant_id)] == [means]


async def test_a_ladder_under_way_is_woken(world: CallbackWorld, tenant_id: TenantId) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    await _live(world, attempt)
    await world.tell(attempt)
    assert world.next_look() > 0.0

    await world.job().drain()

    assert world.next_look() == 0.0


async def test_an_events_meaning_by_its_code(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """The tenant's own reading before everybody's, a vendor's own name before that of its kind."""
    account = await world.account(None, "http_acme")
    async with world.db.platform() as tx:
        await tx.connection.execute(
            "INSERT INTO chan.adapter_status_map (tenant_id, adapter, provider_code, canonical, reason, updated_by) VALUES "
            "(NULL, 'http', '21610', 'failed_temp', 'for all', 'test'), "
            "(NULL, 'http_acme', '30003', 'rejected_by_recipient', 'switched off', 'test'), "
            "(NULL, 'http', '30003', 'failed_temp', 'for all', 'test')"
        )
    async with world.db.tenant(other_tenant) as tenant_tx:
        await tenant_tx.connection.execute(
            "INSERT INTO chan.adapter_status_map (tenant_id, adapter, provider_code, canonical, reason, updated_by) "
            "VALUES ($1, 'http_acme', '30003', 'bounced', 'ours', 'test')",
            other_tenant,
        )
    mine = await world.attempt(tenant_id, account, vendor="http_acme")
    theirs = await world.attempt(other_tenant, account, vendor="http_acme")
    for attempt in (mine, theirs):
        await world.tell(attempt, "failed", code="30003")
    await world.tell(mine, "failed", code="21610")
    await world.tell(mine, "delivered", code="30003")
    await world.tell(mine, "failed", code="nobody said")

    await world.job().drain()

    assert sorted(r["status"] for r in await world.receipts(tenant_id)) == [
        "delivered",
        "failed_perm",
        "failed_temp",
        "rejected_by_recipient",
    ]
    assert [(r["status"], r["reason"]) for r in await world.receipts(other_tenant)] == [("bounced", "ours")]


async def test_a_tenants_own_account_speaks_about_nobody_elses_messages(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Signed rightly, through the tenant's own hook, and about another tenant's message."""
    mine = await world.account(tenant_id)
    theirs = await world.account(other_tenant)
    shared = await world.account(None)
    victims = [await world.attempt(other_tenant, account) for account in (theirs, shared)]
    for victim in victims:
        body = events(event(victim.message_id, "failed"), event(victim.id, "failed"))
        assert (await world.post(mine, body)).status_code == 200

    await world.job().drain()

    assert await world.receipts(other_tenant) == []
    assert {row["status"] for row in await world.events()} == {"late_correlate"}
    assert {row["tenant_id"] for row in await world.events()} == {None}


async def test_a_shared_account_serves_many_tenants_in_one_request(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(None)
    mine, theirs = await world.attempt(tenant_id, account), await world.attempt(other_tenant, account)

    await world.post(account, events(event(mine.message_id), event(theirs.message_id, "failed")))
    await world.job().drain()

    assert [r["attempt_id"] for r in await world.receipts(tenant_id)] == [mine.id]
    assert [r["attempt_id"] for r in await world.receipts(other_tenant)] == [theirs.id]
    async with world.db.tenant(tenant_id) as tx:
        seen = await tx.connection.fetch("SELECT attempt_id FROM chan.webhook_inbound_events")
    assert [row["attempt_id"] for row in seen] == [mine.id]


async def test_an_event_that_overtakes_its_attempt_waits_for_it(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Not found, not lost: found at the next look, a moment later."""
    account = await world.account(None)
    await world.post(account, events(event("early-bird")))
    job = world.job()

    first = await job.drain()
    attempt = await world.attempt(tenant_id, account, message_id="early-bird")
    too_soon = await job.drain()
    await world.later(seconds=0.3)
    second = await job.drain()

    assert (first, too_soon, second) == (0, 0, 1)
    assert [r["attempt_id"] for r in await world.receipts(tenant_id)] == [attempt.id]


async def test_what_is_never_found_is_looked_for_a_day_and_dies(world: CallbackWorld) -> None:
    account = await world.account(None)
    await world.post(account, events(event("nobody's")))
    job = world.job()
    began = world.clock.now()
    looks = 0

    while (await world.events())[0]["status"] != "dlq":
        turn = await job.turn()
        looks += turn.again + turn.dead
        next_at = (await world.events())[0]["next_correlate_at"]
        if next_at is not None:
            await world.clock.advance(next_at - world.clock.now())

    assert timedelta(hours=24) <= world.clock.now() - began < timedelta(hours=25)
    assert looks < 200
    assert [r["status"] for r in await world.requests()] == ["dlq"]
    assert world.counted("callbacks_dead_total") == 1


async def test_an_attempt_of_long_ago_is_not_meant(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Vendors use ids again; of two attempts the newest is meant, and one of last quarter never."""
    account = await world.account(None)
    old = await world.attempt(tenant_id, account, message_id="again")
    await world.later(minutes=10)
    new = await world.attempt(tenant_id, account, message_id="again")
    await world.tell(new)

    await world.job().drain()

    assert [r["attempt_id"] for r in await world.receipts(tenant_id)] == [new.id]
    assert old.id != new.id


async def test_two_workers_never_have_the_same_event(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Both look at once: each event is told by one of them."""
    account = await world.account(None)
    attempts = [await world.attempt(tenant_id, account) for _ in range(60)]
    await world.post(account, events(*(event(a.message_id) for a in attempts)))
    told: list[str] = []

    async def noting(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        told.extend(one.id for one in given)
        await asyncio.sleep(0.05)
        return await receipts.apply(tx, given, now=now)

    jobs = [world.job(noting, limit=10) for _ in range(3)]
    await asyncio.gather(*(job.drain() for job in jobs))

    assert len(told) == len(set(told)) == 60
    assert len(await world.receipts(tenant_id)) == 60
    assert {row["status"] for row in await world.events()} == {"applied"}


async def test_a_worker_that_dies_between_telling_and_marking(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """The receipt is written, the event is not marked: told again, taken once."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    await _live(world, attempt)
    await world.tell(attempt, "delivered", code="D-1")
    fresh: list[int] = []

    async def dying(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        async with world.db.tenant(tenant_id) as other:
            fresh.append(len((await receipts.apply(other, given, now=now)).fresh))
        raise DatabaseUnavailableError("the worker is gone")

    async def noting(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        applied = await receipts.apply(tx, given, now=now)
        fresh.append(len(applied.fresh))
        return applied

    with pytest.raises(DatabaseUnavailableError):
        await world.job(dying).turn()
    unmarked = [row["status"] for row in await world.events()]
    await world.job(noting).drain()

    assert unmarked == ["queued"]
    assert fresh == [1, 0]
    assert len(await world.receipts(tenant_id)) == 1
    assert [row["status"] for row in await world.events()] == ["applied"]


async def test_what_a_killed_worker_had_is_free_at_once(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Its locks go with its connection; nobody waits for a lease."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(attempt)
    hold = asyncio.Event()
    holding = asyncio.Event()

    async def hanging(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        holding.set()
        await hold.wait()
        raise AssertionError("it was killed")

    killed = asyncio.create_task(world.job(hanging).turn())
    await holding.wait()
    while_it_lives = await world.job().drain()
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    after = await world.job().drain()

    assert (while_it_lives, after) == (0, 1)


async def test_one_tenants_trouble_is_not_the_others(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """A tenant whose receipts can't be written waits; the others' are written, and its own later."""
    account = await world.account(None)
    mine, theirs = await world.attempt(tenant_id, account), await world.attempt(other_tenant, account)
    await world.post(account, events(event(mine.message_id), event(theirs.message_id)))
    busy = True

    async def troubled(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        if busy and tx.tenant_id == tenant_id:
            raise DatabaseBusyError
        return await receipts.apply(tx, given, now=now)

    job = world.job(troubled)
    await job.drain()
    at_first = len(await world.receipts(tenant_id)), len(await world.receipts(other_tenant))
    busy = False
    await world.later(seconds=1)
    await job.drain()

    assert at_first == (0, 1)
    assert len(await world.receipts(tenant_id)) == 1


async def test_an_event_that_can_never_be_written_does_not_hold_up_its_neighbours(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    account = await world.account(None)
    attempts = [await world.attempt(tenant_id, account) for _ in range(7)]
    await world.post(account, events(*(event(a.message_id) for a in attempts)))

    async def picky(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        if any(one.attempt_id == attempts[3].id for one in given):
            raise ConstraintError("ck_made_up")
        return await receipts.apply(tx, given, now=now)

    await world.job(picky).turn()

    told = {r["attempt_id"] for r in await world.receipts(tenant_id)}
    assert told == {a.id for a in attempts} - {attempts[3].id}


async def test_the_job_hears_the_bell_and_ends_when_told(world: CallbackWorld, tenant_id: TenantId) -> None:
    """In one process nobody is notified over the database, and nobody polls."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    stop = asyncio.Event()
    told = asyncio.Event()

    async def noting(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        told.set()
        return await receipts.apply(tx, given, now=now)

    world.system.callbacks.apply_receipts = noting
    running = asyncio.create_task(world.job().run(stop))
    await asyncio.sleep(0)
    assert world.wakeup.attended
    await world.tell(attempt)
    await asyncio.wait_for(told.wait(), 30)
    stop.set()
    await asyncio.wait_for(running, 30)

    assert not world.wakeup.attended


async def test_a_process_that_only_takes_in_notifies_the_others(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    heard = asyncio.Event()
    async with world.db.worker() as tx:
        url_connection = tx.connection
        await url_connection.add_listener("tidings_callbacks", lambda *_: heard.set())
    try:
        await world.tell(attempt)
        async with asyncio.timeout(30):
            while not heard.is_set():
                async with world.db.worker():
                    await asyncio.sleep(0.01)
    finally:
        url_connection.terminate()

    assert heard.is_set()


async def test_the_receipts_time_is_that_of_its_id(world: CallbackWorld, tenant_id: TenantId) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(attempt)

    await world.job().drain()

    [told] = await world.receipts(tenant_id)
    assert told["recorded_at"] == time_of(told["id"])


async def _live(world: CallbackWorld, attempt: Attempt) -> None:
    """Its ladder is under way."""
    now = world.clock.now()
    async with world.db.tenant(attempt.tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO chan.executions_live (tenant_id, id, started_at, due_at, notification_id, recipient_id, use_case, "
            "strategy, ladder_snapshot, state) VALUES ($1, $2, $3, $4, $5, $6, 'otp', 'SEQUENTIAL', '{}', '{}')",
            attempt.tenant_id,
            attempt.execution_id,
            now,
            now + timedelta(minutes=5),
            NOTIFICATION.new(now),
            RECIPIENT.new(now),
        )


async def test_a_mistake_of_ours_does_not_stop_the_queue(world: CallbackWorld, tenant_id: TenantId) -> None:
    """An event that makes the code behind us fall waits; the others are told."""
    account = await world.account(None)
    good, odd = await world.attempt(tenant_id, account), await world.attempt(tenant_id, account)
    await world.post(account, events(event(good.message_id), event(odd.message_id)))

    async def falling(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        if any(one.attempt_id == odd.id for one in given):
            raise KeyError("a mistake")
        return await receipts.apply(tx, given, now=now)

    world.system.callbacks.apply_receipts = falling
    await world.job().turn()

    assert [r["attempt_id"] for r in await world.receipts(tenant_id)] == [good.id]
    assert world.counted("job_failures_total", job="callbacks") == 1
