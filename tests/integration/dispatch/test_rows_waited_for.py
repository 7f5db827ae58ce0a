"""A row that somebody else changes just now: it is waited for, and what was to be written is written all the same."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from tidings.contracts.delivery import OUTCOME_SUBJECT, AttemptTold, DeliveryOutcome
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.outbox import Outbox
from tidings.notify.accept.events import moved_event
from tidings.notify.dispatch import outcome, store
from tidings.notify.dispatch.store import Move
from tidings.notify.erasure import store as erasure
from tidings.router.state_machine.model import ATTEMPT

_CLOCK = SystemClock()
_NOW = _CLOCK.now()
_WORKER, _OTHER = WORKER.new(_NOW), WORKER.new(_NOW)
_PERSON = RECIPIENT.new(_NOW)

Change = Callable[[TenantTx], Awaitable[object]]


async def _stored(db: Database, tenant_id: TenantId, count: int, status: str) -> list[NotificationId]:
    """All of one person, with words of the caller beside them."""
    ids = [NOTIFICATION.new(_NOW) for _ in range(count)]
    async with db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.notifications (tenant_id, id, retention_class, created_at, expires_at, status, "
            "channel, category, use_case, recipient_id, template_id, template_version_id, template_key, template_semver, "
            "variables_hash, metadata) "
            "SELECT $1, g.id, 'standard', g.at, $4, $5, 'email', 'transactional', 'txn', $6, 'tpl_x', 'tpv_x', 'k', "
            "'1.0.0', 'h', '{}' FROM unnest($2::text[], $3::timestamptz[]) AS g (id, at)",
            tenant_id,
            ids,
            [time_of(id_) for id_ in ids],
            _NOW + timedelta(days=1),
            status,
            _PERSON,
        )
    return ids


async def _queue(db: Database, tenant_id: TenantId, ids: list[NotificationId], *, worker: str) -> None:
    async with db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.dispatch_queue (tenant_id, notification_id, priority, weight, claimed_by) "
            "SELECT $1, unnest($2::text[]), 2, 1, $3",
            tenant_id,
            ids,
            worker,
        )


async def _meet(
    db: Database, tenant_id: TenantId, change: Change, work: Callable[[], Awaitable[object]]
) -> None:
    """`change` is written and not committed until `work` waits for its row; then both come to their end."""
    async with db.tenant(tenant_id) as held:
        await change(held)
        waiting = asyncio.ensure_future(work())
        async with asyncio.timeout(30):
            while not waiting.done() and not await _somebody_waits(db, tenant_id):
                await asyncio.sleep(0.01)
        assert not waiting.done(), "it was to wait"
    await waiting


async def _somebody_waits(db: Database, tenant_id: TenantId) -> bool:
    async with db.tenant(tenant_id) as tx:
        return bool(
            await tx.connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
        )


async def _rows(db: Database, tenant_id: TenantId, text: str) -> list[Any]:
    async with db.tenant(tenant_id) as tx:
        return [tuple(row) for row in await tx.connection.fetch(text)]


async def _told(db: Database) -> list[Any]:
    async with db.worker() as tx:
        found = await tx.connection.fetch(
            "SELECT ordering_key, subject FROM notification.outbox ORDER BY ordering_key"
        )
    return [tuple(row) for row in found]


_STATUSES = "SELECT id, status FROM notification.notifications ORDER BY id"
_COUNTED = "SELECT name, n FROM notification.counters"
_QUEUED = "SELECT notification_id FROM notification.dispatch_queue"


async def _forget(tx: TenantTx) -> None:
    """Erasure: it changes rows and leaves their status."""
    await erasure.forget_metadata(tx, _PERSON)


def _changing(text: str, *values: object) -> Change:
    async def change(tx: TenantTx) -> None:
        assert await tx.connection.execute(text, *values) in {"UPDATE 1", "UPDATE 2"}

    return change


# --- settle


def _delivered(tenant_id: TenantId, notification_id: NotificationId) -> Event:
    attempt = AttemptTold(
        id=ATTEMPT.new(_NOW),
        step=1,
        channel="email",
        vendor="smtp",
        status="accepted",
        started_at=_NOW,
        ended_at=_NOW,
    )
    told = DeliveryOutcome(
        notification_id=notification_id,
        recipient_id=_PERSON,
        execution_id="exec_told",
        result="DELIVERED",
        ended_at=_NOW,
        evidence="accepted",
        final_channel="email",
        reason=None,
        attempts=(attempt,),
    )
    return new_event(
        OUTCOME_SUBJECT,
        told,
        tenant_id=tenant_id,
        ordering_key=notification_id,
        source="/tidings/router",
        clock=_CLOCK,
    )


def _settling(
    db: Database, tenant_id: TenantId, ids: list[NotificationId]
) -> Callable[[], Awaitable[object]]:
    handle = outcome.NotificationSettler(outbox=Outbox("notification"), clock=_CLOCK).apply

    async def settle() -> None:
        async with db.tenant(tenant_id, by_index=True) as tx:
            await handle(tx, [_delivered(tenant_id, id_) for id_ in ids])

    return settle


_NAMED = "SELECT id FROM notification.notifications WHERE delivering_attempt_id IS NOT NULL ORDER BY id"


async def test_an_outcome_waits_for_an_erasure(fresh_db: Database, tenant_id: TenantId) -> None:
    ids = await _stored(fresh_db, tenant_id, 2, "dispatched")
    await _meet(fresh_db, tenant_id, _forget, _settling(fresh_db, tenant_id, ids))
    assert await _rows(fresh_db, tenant_id, _STATUSES) == [(id_, "delivered") for id_ in sorted(ids)]
    assert await _told(fresh_db) == [(id_, "notification.delivered.v1") for id_ in sorted(ids)]
    assert await _rows(fresh_db, tenant_id, _COUNTED) == [("delivered", 2)]
    assert await _rows(fresh_db, tenant_id, _NAMED) == [(id_,) for id_ in sorted(ids)]


async def test_an_outcome_that_waits_for_one_of_two_settles_each_once(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    free, held = await _stored(fresh_db, tenant_id, 2, "dispatched")
    change = _changing("UPDATE notification.notifications SET metadata = NULL WHERE id = $1", held)
    await _meet(fresh_db, tenant_id, change, _settling(fresh_db, tenant_id, [free, held]))
    both = sorted((free, held))
    assert await _rows(fresh_db, tenant_id, _STATUSES) == [(id_, "delivered") for id_ in both]
    assert await _told(fresh_db) == [(id_, "notification.delivered.v1") for id_ in both]
    assert await _rows(fresh_db, tenant_id, _COUNTED) == [("delivered", 2)]
    assert await _rows(fresh_db, tenant_id, _NAMED) == [(id_,) for id_ in both]


async def test_an_outcome_finds_it_over_after_the_wait(fresh_db: Database, tenant_id: TenantId) -> None:
    ids = await _stored(fresh_db, tenant_id, 1, "dispatched")
    change = _changing("UPDATE notification.notifications SET status = 'superseded'")
    await _meet(fresh_db, tenant_id, change, _settling(fresh_db, tenant_id, ids))
    assert await _rows(fresh_db, tenant_id, _STATUSES) == [(ids[0], "superseded")]
    assert await _told(fresh_db) == await _rows(fresh_db, tenant_id, _COUNTED) == []


# --- move


def _moving(
    db: Database, tenant_id: TenantId, ids: list[NotificationId], moved: set[NotificationId]
) -> Callable[[], Awaitable[object]]:
    async def move() -> None:
        async with db.tenant(tenant_id, by_index=True) as tx:
            pending = list((await store.load_pending(tx, ids)).values())
            moves = [Move(pending=p, status=NotificationStatus.DISPATCHED, trace="t+;e+") for p in pending]
            events = [moved_event(tenant_id, p, "dispatched", clock=_CLOCK) for p in pending]
            done = await store.move(tx, moves, events, worker=_WORKER, now=_NOW, stripe=0)
            moved.update(id_ for _, id_ in done)

    return move


async def test_a_turn_waits_for_an_erasure(fresh_db: Database, tenant_id: TenantId) -> None:
    ids = await _stored(fresh_db, tenant_id, 2, "queued")
    await _queue(fresh_db, tenant_id, ids, worker=_WORKER)
    moved: set[NotificationId] = set()
    await _meet(fresh_db, tenant_id, _forget, _moving(fresh_db, tenant_id, ids, moved))
    assert moved == set(ids)
    assert await _rows(fresh_db, tenant_id, _STATUSES) == [(id_, "dispatched") for id_ in sorted(ids)]
    assert await _told(fresh_db) == [(id_, "notification.dispatched.v1") for id_ in sorted(ids)]
    assert await _rows(fresh_db, tenant_id, _COUNTED) == [("dispatched", 2)]
    assert await _rows(fresh_db, tenant_id, _QUEUED) == []


async def test_a_turn_that_waits_for_one_of_two_moves_each_once(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    free, held = ids = await _stored(fresh_db, tenant_id, 2, "queued")
    await _queue(fresh_db, tenant_id, ids, worker=_WORKER)
    change = _changing("UPDATE notification.notifications SET metadata = NULL WHERE id = $1", held)
    moved: set[NotificationId] = set()
    await _meet(fresh_db, tenant_id, change, _moving(fresh_db, tenant_id, ids, moved))
    assert moved == {free, held}
    assert await _told(fresh_db) == [(id_, "notification.dispatched.v1") for id_ in sorted(ids)]
    assert await _rows(fresh_db, tenant_id, _COUNTED) == [("dispatched", 2)]
    assert await _rows(fresh_db, tenant_id, _QUEUED) == []


async def test_a_turn_finds_it_over_after_the_wait_and_leaves_the_queue(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    ids = await _stored(fresh_db, tenant_id, 1, "queued")
    await _queue(fresh_db, tenant_id, ids, worker=_WORKER)
    change = _changing("UPDATE notification.notifications SET status = 'superseded'")
    moved: set[NotificationId] = set()
    await _meet(fresh_db, tenant_id, change, _moving(fresh_db, tenant_id, ids, moved))
    assert moved == set()
    assert await _rows(fresh_db, tenant_id, _STATUSES) == [(ids[0], "superseded")]
    assert await _told(fresh_db) == await _rows(fresh_db, tenant_id, _QUEUED) == []


async def test_a_turn_whose_claim_is_lost_while_it_waits_writes_nothing(
    fresh_db: Database, tenant_id: TenantId
) -> None:
    ids = await _stored(fresh_db, tenant_id, 1, "queued")
    await _queue(fresh_db, tenant_id, ids, worker=_WORKER)
    change = _changing("UPDATE notification.dispatch_queue SET claimed_by = $1", _OTHER)
    moved: set[NotificationId] = set()
    await _meet(fresh_db, tenant_id, change, _moving(fresh_db, tenant_id, ids, moved))
    assert moved == set()
    assert await _rows(fresh_db, tenant_id, _STATUSES) == [(ids[0], "queued")]
    assert await _rows(fresh_db, tenant_id, _QUEUED) == [(ids[0],)]


# --- note_step


@pytest.mark.parametrize(("becomes", "kept"), [("dispatched", "2.h+"), ("delivered", None)])
async def test_what_a_step_said_waits_and_is_kept_while_it_is_under_way(
    fresh_db: Database, tenant_id: TenantId, becomes: str, kept: str | None
) -> None:
    ids = await _stored(fresh_db, tenant_id, 2, "dispatched")

    async def note() -> None:
        async with fresh_db.tenant(tenant_id, by_index=True) as tx:
            pending = (await store.load_pending(tx, ids)).values()
            moves = [Move(pending=p, status=p.status, trace="2.h+") for p in pending]
            await store.note_steps(tx, moves, now=_NOW)

    change = _changing("UPDATE notification.notifications SET status = $1", becomes)
    await _meet(fresh_db, tenant_id, change, note)
    found = await _rows(fresh_db, tenant_id, "SELECT status, decision_trace FROM notification.notifications")
    assert found == [(becomes, kept)] * 2
