"""The router over a test's database and the real sandbox; only notify's side of the port is played."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tests.support.clock import ManualClock
from tests.support.kms import MemoryKms
from tests.support.people import unused
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.delivery import (
    OUTCOME_SUBJECT,
    Begin,
    DeliveryOutcome,
    HandOff,
    PreparedStep,
    ReadyStep,
    Route,
    StepAsk,
    StepPreparer,
)
from tidings.contracts.enums import UseCase
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId
from tidings.contracts.messages import OutboundMessage
from tidings.contracts.prices import PriceModel
from tidings.contracts.receipts import RECEIPT_SUBJECT, ReceiptTold
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimingJob, ClaimSettings
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.outbox import Outbox
from tidings.kernel.secrets import FileSecrets, SecretsByScheme
from tidings.router.adapters.egress import Guard, anywhere
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.sent import SentNotes
from tidings.router.executions import receipts
from tidings.router.executions.advance import Advancer
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.history import StoredHistory
from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS
from tidings.router.executions.model import Begun, NoExecutionObserver
from tidings.router.executions.plan import Planner
from tidings.router.executions.receipts import Applied, Receipt
from tidings.router.executions.record import Recorder
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.policies.change import PolicyChanger
from tidings.router.policies.check import Adapters
from tidings.router.policies.model import Policy, PolicyStep, Terms
from tidings.router.policies.policies import Policies
from tidings.router.prices.rates import Rates
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.retry_policy import STEP_RETRY_POLICIES, StepRetryPolicy
from tidings.router.status_map.meanings import Meanings
from tidings.router.traffic.board import Traffic
from tidings.router.vendors.accounts import Accounts
from tidings.router.vendors.opened import OpenAdapters
from tidings.router.vendors.vendors import Vendors
from tidings.sandbox import Sandbox

EMAIL = Route(channel="email", vendor="smtp")
EMAIL_ELSEWHERE = Route(channel="email", vendor="http")
SMS = Route(channel="sms", vendor="http")

T = TypeVar("T")


def now_clock() -> ManualClock:
    """A clock that begins now, so that its rows find their partitions."""
    return ManualClock(SystemClock().now())


class PlayedPreparer:
    """Notify's side of the port: fixed words for everybody, unless a test has said otherwise."""

    def __init__(self) -> None:
        self.asked: list[StepAsk] = []
        #: What to answer, by notification and step.
        self.answers: dict[tuple[str, int], PreparedStep] = {}
        self.to = "laila@example.test"
        #: For all channels but e-mail, where it is set.
        self.number: str | None = None
        self.fails: Exception | None = None

    async def prepare(self, tenant_id: TenantId, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each."""
        self.asked += asks
        if self.fails is not None:
            raise self.fails
        return [
            self.answers.get((ask.notification_id, ask.step))
            or ready(tenant_id, ask.notification_id, ask.channel, to=self._to(ask))
            for ask in asks
        ]

    def _to(self, ask: StepAsk) -> str:
        return self.to if ask.channel == "email" or self.number is None else self.number


def ready(
    tenant_id: str, notification_id: str, channel: str = "email", *, to: str = "laila@example.test"
) -> ReadyStep:
    """A step that may be sent."""
    return ReadyStep(message=message(tenant_id, notification_id, channel, to=to))


def message(tenant_id: str, notification_id: str, channel: str, *, to: str) -> OutboundMessage:
    """Fixed words for that address."""
    return replace(MESSAGE, message_id=notification_id, tenant_id=tenant_id, channel=channel, to=to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A hand-off, with its first step where that is ready."""

    hand_off: HandOff
    first: ReadyStep | None = None


class Worker:
    """One process' router: its own adapters, its own name among the workers."""

    def __init__(
        self,
        world: "LadderWorld",
        *,
        preparer: StepPreparer | None = None,
        settings: ClaimSettings | None = None,
    ) -> None:
        db, clock = world.db, world.clock
        self.id = WORKER.new(clock.now())
        self.due_timer = DueTimer()
        self.preparer = PlayedPreparer()
        self.accounts = Accounts(db, vendors=frozenset(ADAPTERS), clock=clock)
        adapters = OpenAdapters(world.secrets, clock=clock, tenant_guard=world.tenant_guard)
        self.vendors = Vendors(self.accounts, adapters)
        observer = NoExecutionObserver()
        luck = world.luck
        ladder = ExecutionStateMachine(world.retry_policies)
        self.traffic = Traffic(world.limits, clock=clock)
        self.policies = Policies(db, clock=clock)
        planner = Planner(
            db,
            policies=self.policies,
            accounts=self.accounts,
            rates=world.rates,
            traffic=self.traffic,
            clock=clock,
            random_unit=luck,
        )
        booking = AttemptReserver(
            self.accounts, self.traffic, senders=adapters, rates=world.rates, clock=clock, random_unit=luck
        )
        sent = SentNotes(
            AddressHashes(db, Keyring(world.kms, clock=clock)), outbox=Outbox("chan"), clock=clock
        )
        self.recorder = recorder = Recorder(
            db,
            ladder=ladder,
            clock=clock,
            jitter=luck,
            due_timer=self.due_timer,
            note_sent=sent.note_sent,
            observer=observer,
        )
        caller = VendorCaller(
            self.vendors,
            recorder,
            traffic=self.traffic,
            meanings=Meanings(db, clock=clock),
            policies=self.policies,
            clock=clock,
            observer=observer,
        )
        self.router = ExecutionRouter(
            planner,
            booking,
            caller,
            ladder=ladder,
            worker_id=lambda: self.id,
            clock=clock,
            due_timer=self.due_timer,
        )
        advancer = Advancer(
            db, caller, preparer or self.preparer, booking, ladder=ladder, clock=clock, observer=observer
        )
        self.due = ClaimingJob(
            db,
            DUE_EXECUTIONS,
            advancer.advance,
            name="due",
            worker_id=lambda: self.id,
            clock=clock,
            due_timer=self.due_timer,
            settings=settings or replace(DUE_SETTINGS, longest_sleep=600.0),
        )
        self._db = db

    async def announce(self) -> None:
        """The others know it from now on."""
        async with self._db.worker() as tx:
            await tx.connection.execute("INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", self.id)

    async def booked(self, tenant_id: TenantId, wishes: Sequence[Wish]) -> Sequence[Begin]:
        """Up to the transaction, as notify's dispatcher does it."""
        plans = await self.router.plan(tenant_id, [wish.hand_off for wish in wishes])
        begins = [
            Begin(hand_off=wish.hand_off, plan=plan, first=wish.first if plan.first is not None else None)
            for wish, plan in zip(wishes, plans, strict=True)
        ]
        return await self.router.book(tenant_id, begins)

    async def begin(self, tenant_id: TenantId, wishes: Sequence[Wish]) -> Begun:
        """Up to the commit."""
        booked = await self.booked(tenant_id, wishes)
        async with self._db.tenant(tenant_id) as tx:
            return await self.router.begin(tx, booked)

    async def send(self, tenant_id: TenantId, wishes: Sequence[Wish]) -> None:
        """As notify's dispatcher does it."""
        await self.router.carry_out(await self.begin(tenant_id, wishes))


class LadderWorld:
    """A tenant, the platform's accounts with a sandbox, and what became of things."""

    def __init__(
        self, db: Database, folder: Path, sandbox: Sandbox, tenant_id: TenantId, clock: Clock | None = None
    ) -> None:
        self.db = db
        self.folder = folder
        self.kms = MemoryKms()
        self.sandbox = sandbox
        self.tenant_id = tenant_id
        self.manual = now_clock()
        self.clock: Clock = clock or self.manual
        self.secrets = SecretsByScheme({"file": FileSecrets(folder)})
        self.configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()},
            audit=AuditLog("chan", self.clock),
            clock=self.clock,
        )
        self.tenant_guard: Guard = anywhere
        self.retry_policies: dict[UseCase, StepRetryPolicy] = dict(STEP_RETRY_POLICIES)
        self.history = StoredHistory(self.clock)
        self.limits = LocalHotState(db, self.clock).limits
        self.rates = Rates()
        self.luck: Callable[[], float] = lambda: 0.5

    async def account(self, vendor: str, settings: dict[str, Any] | str) -> None:
        """An account of the tenant's own, changed where there is one."""
        name = f"{vendor}-{unused()}"
        place = self.folder / self.tenant_id
        place.mkdir(exist_ok=True)
        (place / name).write_text(settings if isinstance(settings, str) else json.dumps(settings))
        command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{name}")
        async with self.db.tenant(self.tenant_id) as tx:
            await self.configs.configure(tx, [command], actor="test")

    async def accounts(self) -> None:
        """Accounts that lead to the sandbox."""
        await self.account("smtp", self.smtp())
        await self.account(
            "http",
            {
                "url": f"{self.sandbox.url}/http/messages",
                "message_id_path": "id",
                "error_code_path": "error.code",
                "timeout_seconds": 5.0,
            },
        )

    async def vendor(self, vendor: str, *, prices: PriceModel | None = None, **more: Any) -> None:
        """An account under a name of its own that leads to the sandbox and sends receipts."""
        settings = {
            "url": f"{self.sandbox.url}/http/messages",
            "message_id_path": "id",
            "error_code_path": "error.code",
            "timeout_seconds": 5.0,
            "receipts": True,
            "callback_secret": "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0",
            **more,
        }
        await self.account(vendor, settings)
        if prices is not None:
            async with self.db.tenant(self.tenant_id) as tx:
                await tx.connection.execute(
                    "UPDATE chan.channel_adapter_configs SET pricing_model = $1::jsonb WHERE provider = $2",
                    msgspec.json.encode(prices).decode(),
                    vendor,
                )

    async def policy(self, use_case: UseCase, *ladder: PolicyStep, **more: Any) -> Policy:
        """A policy in force, as its route makes it."""
        changer = PolicyChanger(
            adapters=Adapters(kinds=ADAPTERS, find=kind_of),
            accounts=Accounts(self.db, vendors=frozenset(ADAPTERS), clock=self.clock),
            rates=self.rates,
            audit=AuditLog("chan", self.clock),
            clock=self.clock,
            grace=timedelta(days=30),
        )
        async with self.db.tenant(self.tenant_id) as tx:
            made = await changer.create(tx, use_case, Terms(ladder=ladder, **more), actor="test")
        return made.policy

    async def hear(self, worker: Worker, attempt: dict[str, Any], status: Canonical, **more: Any) -> Applied:
        """A vendor says what became of an attempt."""
        now = self.clock.now()
        receipt = Receipt(
            id=more.pop("id", None) or INBOUND_WEBHOOK_EVENT.new(now),
            attempt_id=attempt["id"],
            execution_id=attempt["execution_id"],
            attempt_started_at=attempt["started_at"],
            status=status,
            **more,
        )
        async with self.db.tenant(self.tenant_id, by_index=True) as tx:
            applied = await receipts.apply(tx, [receipt], now=now)
        if applied.woken:
            worker.due_timer.expect(now)
        return applied

    def smtp(self, **more: Any) -> dict[str, Any]:
        """Settings of the sandbox's mail server."""
        return {"host": "127.0.0.1", "port": self.sandbox.smtp_port, "security": "none", **more}

    def hand_off(self, *routes: Route, **more: Any) -> HandOff:
        """To somebody new."""
        now = self.clock.now()
        more.setdefault("expires_at", now + timedelta(days=1))
        return HandOff(
            notification_id=NOTIFICATION.new(now),
            recipient_id=RECIPIENT.new(now),
            use_case=more.pop("use_case", "txn"),
            priority=more.pop("priority", "normal"),
            routes=routes,
            **more,
        )

    def begin(self, *routes: Route, to: str | None = None, **more: Any) -> Wish:
        """With the first step ready."""
        hand_off = self.hand_off(*(routes or (EMAIL,)), **more)
        channel = hand_off.routes[0].channel
        address = to or f"{hand_off.notification_id.lower()}@example.test"
        first = ready(self.tenant_id, hand_off.notification_id, channel, to=address)
        return Wish(hand_off=hand_off, first=first)

    async def outcomes(self) -> list[DeliveryOutcome]:
        """All ends that were announced of this tenant, in order."""
        return await self._announced(OUTCOME_SUBJECT, DeliveryOutcome)

    async def told(self) -> list[ReceiptTold]:
        """All receipts that were announced of this tenant, in order."""
        return await self._announced(RECEIPT_SUBJECT, ReceiptTold)

    async def _announced(self, subject: str, kind: type[T]) -> list[T]:
        async with self.db.worker() as tx:
            found = await tx.connection.fetch(
                "SELECT subject, payload FROM chan.outbox WHERE tenant_id = $1 ORDER BY seq", self.tenant_id
            )
        assert {row["subject"] for row in found} <= {
            OUTCOME_SUBJECT,
            RECEIPT_SUBJECT,
            "conversation.opened.v1",
        }
        return [msgspec.json.decode(row["payload"], type=kind) for row in found if row["subject"] == subject]

    async def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """What the tenant itself finds."""
        async with self.db.tenant(self.tenant_id) as tx:
            return [dict(row) for row in await tx.connection.fetch(query, *values)]

    async def live(self) -> list[dict[str, Any]]:
        """Ladders under way."""
        return await self.rows("SELECT * FROM chan.executions_live ORDER BY id")

    async def attempts_of(self, notification_id: NotificationId) -> list[tuple[int, str, str | None]]:
        """Step, status and reason of each, in order."""
        async with self.db.tenant(self.tenant_id) as tx:
            found = await self.history.of_notifications(tx, [notification_id])
        return [(a.step, a.status, a.reason) for record in found[notification_id] for a in record.attempts]

    async def rescue(self) -> int:
        """Free what nobody alive has in hand; whether others' rows are among it is not ours to say."""
        async with self.db.worker() as tx:
            return await DUE_EXECUTIONS.free_orphans(tx, worker=None, held=(), fresh=None)
