"""A notification is settled in the transaction that records its outcome, and comes to the same as by the outcome's event."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.people import rows, unused
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.delivery import AttemptTold, DeliveryOutcome, TenantOutcome
from tidings.kernel.db import Database, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId, time_of
from tidings.notify.dispatch.outcome import NotificationSettler
from tidings.router.state_machine.model import ATTEMPT

pytestmark = pytest.mark.xdist_group("pipeline-settling")

#: What settling writes, without what is drawn by lot or taken from the clock.
_WRITTEN = {
    "notifications": "SELECT status, delivered_at IS NOT NULL AS delivered, failed_at IS NOT NULL AS failed, "
    "failure_reason, delivery_evidence, final_channel, delivering_attempt_id IS NOT NULL AS named, version "
    "FROM notification.notifications WHERE tenant_id = $1",
    "log": "SELECT outcome FROM notification.delivery_attempts WHERE tenant_id = $1",
    "counters": "SELECT name, channel, category, sum(n)::int AS n FROM notification.counters WHERE tenant_id = $1 "
    "GROUP BY name, channel, category",
    "early": "SELECT attempt_id, reason FROM notification.early_bounces WHERE tenant_id = $1",
}


async def _written(world: PipelineWorld, tenant_id: TenantId) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: sorted(str(row) for row in await rows(world.db, tenant_id, query, tenant_id))
        for name, query in _WRITTEN.items()
    }
    events = "SELECT subject FROM {} WHERE tenant_id = $1 AND (subject LIKE 'notification.%' OR subject LIKE 'delivery.%')"
    subjects: Counter[str] = Counter()
    async with world.db.worker() as tx:
        for table in ("notification.outbox", "chan.outbox", "kernel.bus_events"):
            subjects.update(
                row["subject"] for row in await tx.connection.fetch(events.format(table), tenant_id)
            )
    found["events"] = subjects
    return found


async def _sent(sender: Sender) -> list[str]:
    """One that arrives, and one that the vendor does not want."""
    ids = [(await sender.send(f"{unused()}@example.test"))["id"] for _ in range(2)]
    return [*ids, (await sender.send("permanent-failure@example.test"))["id"]]


async def test_settled_with_the_record_or_by_the_event_it_comes_to_the_same(world: PipelineWorld) -> None:
    async with world.sender() as near, world.sender() as apart:
        ids = await _sent(near)
        await world.system.dispatch.job.drain()
        at_once = [await near.status(one) for one in ids]
        await world.settle()
        with world.router_alone():
            far = await _sent(apart)
            await world.system.dispatch.job.drain()
            not_yet = [await apart.status(one) for one in far]
            await world.settle()
        by_event = [await apart.status(one) for one in far]
        assert (at_once, not_yet) == (by_event, ["dispatched"] * 3)
        assert at_once[0] == "delivered"
        assert await _written(world, near.tenant_id) == await _written(world, apart.tenant_id)


class _Refuses(NotificationSettler):
    async def settle_in(self, tx: TenantTx | TenantsTx, outcomes: Sequence[TenantOutcome]) -> None:
        await super().settle_in(tx, outcomes)
        raise RuntimeError


async def test_what_notify_can_not_settle_is_recorded_all_the_same(world: PipelineWorld) -> None:
    """The vendor has the message: it is sent once, its outcome is told, and the event settles it."""
    settler = _Refuses(outbox=world.system.kernel.outbox, clock=world.clock)
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        with world.router_alone():
            object.__setattr__(world.system.executions.recorder, "settler", settler)
            sent = (await sender.send(to))["id"]
            await world.system.dispatch.job.drain()
            before = await sender.status(sent)
            await world.settle()
        assert (before, await sender.status(sent)) == ("dispatched", "delivered")
        calls = await sender.rows("SELECT id FROM chan.delivery_attempts")
        by = await sender.rows("SELECT delivering_attempt_id AS id FROM notification.notifications")
    assert len(world.received(to)) == len(calls) == 1
    assert by == calls


@dataclass(kw_only=True)
class _Locker:
    """Somebody who locks the notifications of a tenant, until `free` is set."""

    db: Database
    tenant_id: TenantId
    free: asyncio.Event = field(default_factory=asyncio.Event)
    holders: list[asyncio.Task[None]] = field(default_factory=list)
    calls: int = 0

    async def lock(self) -> None:
        locked = asyncio.Event()
        self.holders.append(asyncio.create_task(self._hold(locked)))
        await locked.wait()

    async def _hold(self, locked: asyncio.Event) -> None:
        async with self.db.tenant(self.tenant_id) as tx:
            await tx.connection.execute(
                "SELECT 1 FROM notification.notifications WHERE tenant_id = $1 FOR UPDATE", self.tenant_id
            )
            locked.set()
            await self.free.wait()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _MeetsLock(NotificationSettler):
    locker: _Locker

    async def settle_in(self, tx: TenantTx | TenantsTx, outcomes: Sequence[TenantOutcome]) -> None:
        self.locker.calls += 1
        if not self.locker.holders:
            await self.locker.lock()
        await super().settle_in(tx, outcomes)


async def test_a_mixed_set_with_a_locked_notification_is_recorded_at_once_without_the_settler(
    world: PipelineWorld,
) -> None:
    async with world.sender() as held, world.sender() as other:
        locker = _Locker(db=world.db, tenant_id=held.tenant_id)
        settler = _MeetsLock(outbox=world.system.kernel.outbox, clock=world.clock, locker=locker)
        with world.router_alone():
            object.__setattr__(world.system.executions.recorder, "settler", settler)
            sent = [(one, (await one.send(f"{unused()}@example.test"))["id"]) for one in (held, other)]
            await world.system.dispatch.job.drain()
            ended = [await one.rows("SELECT outcome FROM chan.fallback_executions") for one, _ in sent]
            calls = locker.calls
            locker.free.set()
            await asyncio.gather(*locker.holders)
            await world.settle()
        assert (calls, [len(one) for one in ended]) == (1, [1, 1])
        assert [await one.status(id_) for one, id_ in sent] == ["delivered"] * 2


def _outcome(tenant_id: TenantId, notification_id: str, *, delivered: bool) -> TenantOutcome:
    at = time_of(notification_id)
    attempt = AttemptTold(
        id=ATTEMPT.new(at),
        step=1,
        channel="email",
        vendor="smtp",
        status="accepted" if delivered else "failed_perm",
        reason=None if delivered else "mailbox_full",
        started_at=at,
        ended_at=at,
    )
    outcome = DeliveryOutcome(
        notification_id=notification_id,
        recipient_id="rcp_somebody",
        execution_id="exec_told",
        result="DELIVERED" if delivered else "FAILED",
        ended_at=at,
        evidence="accepted" if delivered else None,
        final_channel="email" if delivered else None,
        reason=None if delivered else "mailbox_full",
        attempts=(attempt,),
    )
    return TenantOutcome(tenant_id=tenant_id, outcome=outcome)


async def _under_way(sender: Sender) -> list[TenantOutcome]:
    ids = [(await sender.send(f"{unused()}@example.test"))["id"] for _ in range(3)]
    return [_outcome(sender.tenant_id, one, delivered=place != 1) for place, one in enumerate(ids)]


async def test_a_mixed_set_settles_what_each_tenants_outcomes_settle_alone(world: PipelineWorld) -> None:
    settler = world.system.notify.settler
    async with world.sender() as alone, world.sender() as a, world.sender() as b:
        outcomes = {sender.tenant_id: await _under_way(sender) for sender in (alone, a, b)}
        async with world.db.tenant(alone.tenant_id, by_index=True) as tx:
            await settler.settle_in(tx, outcomes[alone.tenant_id])
        together = outcomes[a.tenant_id] + outcomes[b.tenant_id]
        async with world.db.tenants({a.tenant_id, b.tenant_id}, by_index=True) as mixed:
            await settler.settle_in(mixed, together)
        expected = await _written(world, alone.tenant_id)
        assert await _written(world, a.tenant_id) == await _written(world, b.tenant_id) == expected
        # Told again, nothing changes.
        async with world.db.tenants({a.tenant_id, b.tenant_id}, by_index=True) as mixed:
            await settler.settle_in(mixed, together)
        assert await _written(world, a.tenant_id) == expected
        await world.settle()


async def test_an_outcome_of_a_tenant_that_is_not_named_is_not_found(world: PipelineWorld) -> None:
    settler = world.system.notify.settler
    async with world.sender() as named, world.sender() as other:
        mine, foreign = await _under_way(named), await _under_way(other)
        before = await _written(world, other.tenant_id)
        async with world.db.tenants({named.tenant_id}, by_index=True) as tx:
            await settler.settle_in(tx, mine + foreign)
        assert await _written(world, other.tenant_id) == before
        # Nor is it under a name that is not its own.
        disguised = [TenantOutcome(tenant_id=named.tenant_id, outcome=one.outcome) for one in foreign]
        async with world.db.tenants({named.tenant_id}, by_index=True) as tx:
            await settler.settle_in(tx, disguised)
        assert await _written(world, other.tenant_id) == before
        await world.settle()
