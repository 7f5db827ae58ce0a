"""The router over a test's database and the real sandbox; only notify's side of the port is played."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tests.support.people import unused
from tests.support.system import LOOPBACK, announce, now_clock, system_over
from tests.support.vendors import MESSAGE
from tidings.bootstrap import System
from tidings.bootstrap.executions import ExecutionsStage
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.delivery import (
    OUTCOME_SUBJECT,
    DeliveryOutcome,
    DeliveryRoute,
    HandOff,
    PlannedDelivery,
    PreparedStep,
    ReadyStep,
    SendFirstSteps,
    StepAsk,
    StepPreparer,
)
from tidings.contracts.enums import UseCase
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId
from tidings.contracts.messages import OutboundMessage
from tidings.contracts.prices import PriceModel
from tidings.contracts.receipts import RECEIPT_SUBJECT, ReceiptTold
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimSettings
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.executions import receipts
from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.policies.change import PolicyChanger
from tidings.router.policies.check import AvailableAdapters
from tidings.router.policies.model import Policy, PolicyStep, PolicyTerms
from tidings.router.receipts import Applied, Receipt
from tidings.sandbox import Sandbox

EMAIL = DeliveryRoute(channel="email", vendor="smtp")
EMAIL_ELSEWHERE = DeliveryRoute(channel="email", vendor="http")
SMS = DeliveryRoute(channel="sms", vendor="http")

T = TypeVar("T")


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
        #: Notifications for which it fails, and so for a set with one of them.
        self.fails_for: set[str] = set()

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each."""
        self.asked += asks
        if self.fails is not None:
            raise self.fails
        if any(ask.notification_id in self.fails_for for ask in asks):
            raise RuntimeError
        return [
            self.answers.get((ask.notification_id, ask.step))
            or ready(ask.tenant_id, ask.notification_id, ask.channel, to=self._to(ask))
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
    # As from notify in the same process, with the recipient's key; of somebody who was erased, so that no answer is kept.
    return replace(
        MESSAGE,
        message_id=notification_id,
        tenant_id=tenant_id,
        channel=channel,
        to=to,
        key=DataKey(tenant_id, "rcp_erased", {}, 1),
    )


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
        self.system = system = world.system()
        self.id = system.kernel.presence.id
        # It may claim, even where the others take it for dead.
        system.kernel.presence.known.set()
        self.due_timer = system.router.due_timer
        self.preparer = PlayedPreparer()
        self.vendors = system.vendors.vendors
        self.traffic = system.vendors.traffic
        system.router.parts.add(RandomUnit, lambda: 0.5)
        stage = ExecutionsStage(
            system.kernel, system.router, system.vendors, preparer=preparer or self.preparer
        )
        stage.due_settings = settings or replace(DUE_SETTINGS, longest_sleep=600.0)
        self.recorder, self.router, self.due = stage.recorder, stage.router, stage.due
        self.journal, self.sweep_journals = stage.journal, stage.sweeps()["answer_journals"]
        self._db = world.db

    async def announce(self) -> None:
        """The others know it from now on."""
        await announce(self.system)

    async def booked(self, tenant_id: TenantId, wishes: Sequence[Wish]) -> Sequence[PlannedDelivery]:
        """Up to the transaction, as notify's dispatcher does it."""
        plans = await self.router.plan([wish.hand_off for wish in wishes])
        begins = [
            PlannedDelivery(
                hand_off=wish.hand_off, plan=plan, first=wish.first if plan.first is not None else None
            )
            for wish, plan in zip(wishes, plans, strict=True)
        ]
        return await self.router.reserve(begins)

    async def begin(self, tenant_id: TenantId, wishes: Sequence[Wish]) -> SendFirstSteps:
        """Up to the commit."""
        booked = await self.booked(tenant_id, wishes)
        async with self._db.tenant(tenant_id) as tx:
            return await self.router.start_in(tx, booked)

    async def begin_set(self, wishes: Sequence[Wish]) -> SendFirstSteps:
        """The same for wishes of several tenants, in one transaction."""
        tenants = {wish.hand_off.tenant_id for wish in wishes}
        booked = await self.booked(wishes[0].hand_off.tenant_id, wishes)
        async with self._db.tenants(tenants, by_index=True) as tx:
            return await self.router.start_in(tx, booked)

    async def send(self, tenant_id: TenantId, wishes: Sequence[Wish]) -> None:
        """As notify's dispatcher does it."""
        send = await self.begin(tenant_id, wishes)
        await send()


class LadderWorld:
    """A tenant, the platform's accounts with a sandbox, and what became of things."""

    def __init__(
        self, db: Database, folder: Path, sandbox: Sandbox, tenant_id: TenantId, clock: Clock | None = None
    ) -> None:
        self.db = db
        self.folder = folder
        self.sandbox = sandbox
        self.tenant_id = tenant_id
        self.manual = now_clock()
        self.clock: Clock = clock or self.manual
        #: Where the tenant's own accounts may lead to, beside the public internet.
        self.tenant_networks = LOOPBACK
        router = self.system().router
        self.configs, self.history = router.adapter_configs, router.history

    def system(self) -> System:
        """A further process."""
        return system_over(
            self.db,
            self.folder,
            self.clock,
            TIDINGS_SECRETS_DIR=str(self.folder),
            TIDINGS_TENANT_NETWORKS=self.tenant_networks,
        )

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
        system = self.system()
        changer = PolicyChanger(
            adapters=AvailableAdapters(kinds=ADAPTERS, find=kind_of),
            accounts=system.vendors.accounts,
            rates=system.vendors.rates,
            audit=system.kernel.router_audit,
            clock=self.clock,
            grace=timedelta(days=30),
        )
        async with self.db.tenant(self.tenant_id) as tx:
            made = await changer.create(tx, use_case, PolicyTerms(ladder=ladder, **more), actor="test")
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

    def hand_off(self, *routes: DeliveryRoute, **more: Any) -> HandOff:
        """To somebody new."""
        now = self.clock.now()
        more.setdefault("expires_at", now + timedelta(days=1))
        return HandOff(
            tenant_id=more.pop("tenant_id", self.tenant_id),
            notification_id=NOTIFICATION.new(now),
            recipient_id=RECIPIENT.new(now),
            use_case=more.pop("use_case", "txn"),
            priority=more.pop("priority", "normal"),
            routes=routes,
            **more,
        )

    def begin(self, *routes: DeliveryRoute, to: str | None = None, **more: Any) -> Wish:
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
