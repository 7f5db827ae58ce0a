"""Ladders through the real router and Postgres, with vendors that answer at once: one step, three steps, and deadlines.

The vendor is an adapter in this process, so that what is measured is ours: planning, reserver, transactions, receipts.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.delivery import (
    DeliveryRoute,
    HandOff,
    PlannedDelivery,
    PreparedStep,
    ReadyStep,
    StepAsk,
)
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.contracts.messages import Accepted, Address, OutboundMessage, Outcome
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.local_hot_state.attendance import AttendanceList
from tidings.router.accounts.accounts import Accounts
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.executions import receipts
from tidings.router.executions.advance import Advancer
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS
from tidings.router.executions.model import ExecutionObserver
from tidings.router.executions.record import Recorder
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.executions.snapshot import state_of
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.policies.change import PolicyChanger
from tidings.router.policies.check import AvailableAdapters
from tidings.router.policies.model import PolicyStep, PolicyTerms
from tidings.router.policies.plan import Planner
from tidings.router.policies.policies import Policies
from tidings.router.prices.rates import Rates
from tidings.router.receipts import Receipt
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.status_map.meanings import Meanings
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.vendors.vendors import Vendors

_SET = 100
_SETS = 20
#: Deadlines that lie in the future while the others are measured.
_OUTSTANDING = int(os.environ.get("TIDINGS_BENCH_DEADLINES", "1000000"))
_DUE_PER_SECOND = 1_000
_DUE_SECONDS = 10

_MESSAGE = OutboundMessage(
    message_id="",
    tenant_id="",
    channel="sms",
    sender=Address(value="Bench"),
    to="+4915100000000",
    text="Hello",
)
_ROUTES = (
    DeliveryRoute(channel="whatsapp", vendor="http_a"),
    DeliveryRoute(channel="viber", vendor="http_b"),
    DeliveryRoute(channel="sms", vendor="http_c"),
)


async def _nobody_answers(*_: object) -> None:
    """Its vendors take no answers."""


class _Takes:
    """A vendor that takes everything at once and tells later."""

    name = "http"
    channels = frozenset({"sms", "whatsapp", "viber"})
    capabilities = Capabilities(receipts=True)
    longest_send = timedelta(seconds=30)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,  # noqa: ARG002
        learned: list[Outcome] | None = None,  # noqa: ARG002
    ) -> Sequence[Outcome]:
        return [Accepted(provider_message_id=f"{m.channel}_{m.message_id}") for m in messages]

    async def check(self) -> Outcome | None:
        return None

    async def close(self) -> None:
        pass


class _Adapters:
    """As `OpenAdapters`, with one vendor for all."""

    @asynccontextmanager
    async def borrow(self, account: Any, tenant_id: TenantId) -> AsyncIterator[Adapter]:  # noqa: ARG002
        yield _Takes()

    async def fixed_senders(self, account: Any, tenant_id: TenantId) -> dict[str, str]:  # noqa: ARG002
        return {}

    def doubt(self, account_id: str) -> None:
        pass


class _Preparer:
    """Notify's side: words that are there already."""

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        return [
            ReadyStep(
                message=replace(
                    _MESSAGE, message_id=ask.notification_id, tenant_id=ask.tenant_id, channel=ask.channel
                )
            )
            for ask in asks
        ]


class _Router:
    """One worker with all that it needs."""

    def __init__(self, db: Database) -> None:
        clock, luck = SystemClock(), Random(1).random
        self.db, self.clock = db, clock
        self.id = WORKER.new(clock.now())
        self.due_timer = DueTimer()
        self.accounts = Accounts(db, vendors=frozenset(ADAPTERS), clock=clock)
        traffic = VendorSelection(LocalHotState(db, clock).limits, clock=clock)
        rates, machine, observer = Rates(), ExecutionStateMachine(), ExecutionObserver()
        policies = Policies(db, clock=clock)
        planner = Planner(
            db,
            policies=policies,
            accounts=self.accounts,
            rates=rates,
            traffic=traffic,
            clock=clock,
            random_unit=luck,
            attendance=AttendanceList(db, clock),
        )
        adapters = _Adapters()
        reserver = AttemptReserver(
            self.accounts, traffic, senders=adapters, rates=rates, clock=clock, random_unit=luck
        )
        recorder = Recorder(
            db,
            clock=clock,
            due_timer=self.due_timer,
            note_sent=_nobody_answers,
            observer=observer,
        )
        vendors = Vendors(self.accounts, adapters)  # type: ignore[arg-type]
        committer = TransitionCommitter(
            db, recorder, machine=machine, clock=clock, jitter=luck, observer=observer
        )
        caller = VendorCaller(
            db,
            vendors,
            committer,
            machine=machine,
            jitter=luck,
            traffic=traffic,
            meanings=Meanings(db, clock=clock),
            policies=policies,
            clock=clock,
            observer=observer,
        )
        self.router = ExecutionRouter(
            db,
            planner,
            reserver,
            caller,
            committer,
            machine=machine,
            worker_id=lambda: self.id,
            clock=clock,
            due_timer=self.due_timer,
        )
        self.due = ClaimingJob(
            db,
            DUE_EXECUTIONS,
            work_on_set=Advancer(
                db,
                caller,
                committer,
                _Preparer(),
                reserver,
                machine=machine,
                jitter=luck,
                clock=clock,
                observer=observer,
            ).advance,
            name="due",
            settings=DUE_SETTINGS,
            worker_id=lambda: self.id,
            clock=clock,
            due_timer=self.due_timer,
        )

    async def announce(self) -> None:
        async with self.db.worker() as tx:
            await tx.connection.execute("INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", self.id)

    async def tenant(self, *ladder: PolicyStep) -> TenantId:
        """With accounts at the three vendors, and a policy where steps are given."""
        tenant_id = TENANT.new(self.clock.now())
        audit = AuditLog("chan", self.clock)
        configs = AdapterConfigs(
            {k.name: k.channels for k in ADAPTERS.values()}, audit=audit, clock=self.clock
        )
        commands = [ConfigureAccount(vendor=route.vendor, secret_ref="file://none") for route in _ROUTES]
        async with self.db.tenant(tenant_id) as tx:
            await configs.configure(tx, commands, actor="bench")
            if ladder:
                changer = PolicyChanger(
                    adapters=AvailableAdapters(kinds=ADAPTERS, find=kind_of),
                    accounts=self.accounts,
                    rates=Rates(),
                    audit=audit,
                    clock=self.clock,
                    grace=timedelta(days=1),
                )
                await changer.create(tx, "otp", PolicyTerms(ladder=ladder), actor="bench")
        return tenant_id

    async def begin(self, tenant_id: TenantId, count: int, *routes: DeliveryRoute) -> None:
        now = self.clock.now()
        hand_offs = [
            HandOff(
                tenant_id=tenant_id,
                notification_id=NOTIFICATION.new(now),
                recipient_id=RECIPIENT.new(now),
                use_case="otp",
                priority="normal",
                expires_at=now + timedelta(days=1),
                routes=routes,
            )
            for _ in range(count)
        ]
        plans = await self.router.plan(hand_offs)
        prepared = await _Preparer().prepare(
            [
                StepAsk(
                    tenant_id=tenant_id,
                    notification_id=one.notification_id,
                    recipient_id=one.recipient_id,
                    step=1,
                    channel=plan.first or "sms",
                )
                for one, plan in zip(hand_offs, plans, strict=True)
            ],
        )
        begins = [
            PlannedDelivery(hand_off=one, plan=plan, first=first if isinstance(first, ReadyStep) else None)
            for one, plan, first in zip(hand_offs, plans, prepared, strict=True)
        ]
        booked = await self.router.reserve(begins)
        async with self.db.tenant(tenant_id, by_index=True) as tx:
            begun = await self.router.start_in(tx, booked)
        await begun()

    async def hear(self, tenant_id: TenantId, channel: str, status: Canonical) -> None:
        """All attempts of the last set on a channel came to that."""
        now = self.clock.now()
        async with self.db.tenant(tenant_id, by_index=True) as tx:
            live = await tx.connection.fetch(
                "SELECT id, state FROM chan.executions_live WHERE tenant_id = $1", tenant_id
            )
        told = [
            Receipt(
                id=INBOUND_WEBHOOK_EVENT.new(now),
                attempt_id=past.id,
                execution_id=row["id"],
                attempt_started_at=past.started_at,
                status=status,
            )
            for row in live
            for past in state_of(row["state"]).attempts
            if past.channel == channel
        ]
        async with self.db.tenant(tenant_id, by_index=True) as tx:
            await receipts.apply(tx, told, now=self.clock.now())
        await self.due.drain()


async def _one_step(router: _Router) -> float:
    tenant_id = await router.tenant()
    await router.begin(tenant_id, _SET, _ROUTES[2])
    started = time.perf_counter()
    for _ in range(_SETS):
        await router.begin(tenant_id, _SET, _ROUTES[2])
    return _SET * _SETS / (time.perf_counter() - started)


async def _three_steps(router: _Router) -> float:
    steps = [PolicyStep(channel=route.channel, deadline_seconds=60, retry_budget=0) for route in _ROUTES]
    tenant_id = await router.tenant(*steps)
    spent = 0.0
    for place in range(_SETS + 1):
        started = time.perf_counter()
        await router.begin(tenant_id, _SET, *_ROUTES)
        await router.hear(tenant_id, "whatsapp", "rejected_by_recipient")
        await router.hear(tenant_id, "viber", "failed_perm")
        await router.hear(tenant_id, "sms", "delivered")
        spent += (time.perf_counter() - started) if place else 0.0
    return _SET * _SETS / spent


async def _deadlines(router: _Router) -> dict[str, float]:
    """A million that are not due, and a thousand a second that are: how late each is taken up."""
    tenant_id = await router.tenant(PolicyStep(channel="sms", deadline_seconds=3600, retry_budget=0))
    await router.begin(tenant_id, 1, _ROUTES[2])
    for first in range(0, _OUTSTANDING, 50_000):
        await _copy(router, tenant_id, 8_000_000_000 + first, min(50_000, _OUTSTANDING - first), None)
    count = _DUE_PER_SECOND * _DUE_SECONDS
    begun = router.clock.now() + timedelta(seconds=3)
    await _copy(router, tenant_id, 9_000_000_000, count, begun)
    lateness = await _lateness(router, begun, count)
    return {
        "deadline_outstanding": float(_OUTSTANDING),
        "deadline_due_per_s": float(_DUE_PER_SECOND),
        "deadline_late_p50_ms": lateness[len(lateness) // 2] * 1000,
        "deadline_late_p99_ms": lateness[int(len(lateness) * 0.99)] * 1000,
    }


async def _copy(router: _Router, tenant_id: TenantId, base: int, count: int, begun: datetime | None) -> None:
    """More ladders like the one that waits: due one each millisecond, or far in the future."""
    async with router.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            """
            INSERT INTO chan.executions_live (
                tenant_id, id, started_at, expires_at, due_at, notification_id, recipient_id, use_case, priority,
                strategy, ladder_snapshot, state
            )
            SELECT one.tenant_id, 'exec_' || lpad(($1::bigint + n)::text, 26, '0'), one.started_at, one.expires_at,
                   coalesce($3::timestamptz, now() + interval '1 hour') + n * interval '1 millisecond',
                   'ntf_' || lpad(($1::bigint + n)::text, 26, '0'), one.recipient_id, one.use_case, one.priority,
                   one.strategy, one.ladder_snapshot, one.state
            FROM (
                SELECT * FROM chan.executions_live WHERE tenant_id = $4 AND id LIKE 'exec\\_01%' LIMIT 1
            ) AS one
            CROSS JOIN generate_series(1, $2::integer) AS n
            """,
            base,
            count,
            begun,
            tenant_id,
        )


async def _lateness(router: _Router, begun: datetime, count: int) -> list[float]:
    """Claimed as the job claims them, as soon as the alarm says; the rest of the ladder is measured above."""
    late: list[float] = []
    due_by_id = {
        f"exec_{9_000_000_000 + n:026d}": begun + timedelta(milliseconds=n) for n in range(1, count + 1)
    }
    while len(late) < count:
        async with router.db.worker(claims=True) as tx:
            claims = await DUE_EXECUTIONS.claim(tx, worker=router.id, now=router.clock.now(), limit=200)
            found = None if len(claims) >= 200 else await DUE_EXECUTIONS.next_due(tx, now=router.clock.now())
        now = router.clock.now()
        late += [(now - due_by_id[claim.id]).total_seconds() for claim in claims if claim.id in due_by_id]
        if found is not None:
            await asyncio.sleep(max(0.0, min((found - router.clock.now()).total_seconds(), 1.0)))
    return sorted(late)


async def measure(runtime_url: str) -> dict[str, float]:
    """One step, three steps, deadlines."""
    async with _open(runtime_url) as db:
        router = _Router(db)
        await router.announce()
        one = await _one_step(router)
        three = await _three_steps(router)
        deadlines = await _deadlines(router)
    return {
        "ladder_one_step_per_s": one,
        "ladder_three_steps_per_s": three,
        "ladder_three_steps_ratio_to_one": three / one,
        **deadlines,
    }


@asynccontextmanager
async def _open(url: str) -> AsyncIterator[Database]:
    db = Database(url, PoolSettings(min_size=2, max_size=8))
    await db.open()
    try:
        yield db
    finally:
        await db.close()
