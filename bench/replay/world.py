"""Everything between a vendor's callback and what is kept of it, over one database: hooks, ladders, bus, notify.

Only the vendors are played, and whoever writes the words. The clock stands where it is put.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.support.clock import ManualClock

from bench.replay.history import FULL_MAILBOX, OWN_ACCOUNTS, STEPS, TENANTS, USE_CASES, History, Kind, Message
from bench.replay.vendors import PUBLIC_URL, SETTINGS, PlayedAdapters, VendorsSide, number_of
from tidings import settings
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.delivery import (
    DeliveryRoute,
    HandOff,
    PlannedDelivery,
    PreparedStep,
    ReadyStep,
    SendFirstSteps,
    StepAsk,
)
from tidings.contracts.ids import NOTIFICATION, NotificationId, RecipientId
from tidings.contracts.messages import Address, OutboundMessage
from tidings.contracts.prices import PriceModel
from tidings.contracts.tenants import TenantCreated
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.blobs.store import open_blobs
from tidings.kernel.bus import Subscription
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.locked_sets import LockedSetSettings
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.durable.wakeup import DueTimer, Wakeup
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import open_kms
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.local_hot_state.attendance import AttendanceList
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import PostgresBus
from tidings.kernel.secrets import FileSecrets, SecretsByScheme
from tidings.notify.dispatch import outcome
from tidings.notify.receipts import consumer
from tidings.notify.receipts.address_effects import AddressEffects
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import AddressInput, IdentityInput, RecipientInput, spec_of
from tidings.notify.recipients.upsert import RecipientUpserter, UpsertResult
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.tenants.change import TenantChanger
from tidings.router.accounts.accounts import Accounts
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.callbacks.apply import Applier, Correlated
from tidings.router.callbacks.evidence import Evidence
from tidings.router.callbacks.hooks import CallbackHooks
from tidings.router.callbacks.intake import CallbackGroupCommit
from tidings.router.callbacks.jobs import CallbackJob
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.callbacks.receive_callback import CallbackEndpoint
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations.keep_inbound import InboundKeeper
from tidings.router.executions import receipts
from tidings.router.executions.advance import Advancer
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS
from tidings.router.executions.model import ExecutionObserver
from tidings.router.executions.record import Recorder
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.ids import InboundWebhookEventId
from tidings.router.policies.change import PolicyChanger
from tidings.router.policies.check import AvailableAdapters
from tidings.router.policies.model import PolicyStep, PolicyTerms
from tidings.router.policies.plan import Planner
from tidings.router.policies.policies import Policies
from tidings.router.prices.rates import Rates
from tidings.router.profiles.proven_facts import StoredMailboxNews
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.status_map import store as status_map
from tidings.router.status_map.meanings import Meanings
from tidings.router.status_map.model import StatusLine
from tidings.router.status_map.seed import seed
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.vendors.vendors import Vendors

#: The vendors are called within the first hours of a day, and call back later on the same day.
CALLBACKS_BEGIN: Final = timedelta(hours=5)
_SET: Final = 100
#: How often a mortal worker dies.
_DEATHS: Final = 0.15
#: Seconds of the longest sleep of a job: the clock that it sleeps by stands still.
_NAP: Final = 0.02
_MESSAGE: Final = OutboundMessage(
    message_id="", tenant_id="", channel="sms", sender=Address(value="Bench"), to="", text="Hello"
)
_PRICES: Final = {
    "http": PriceModel(currency="USD", base_micros=7000),
    "twilio": PriceModel(currency="USD", base_micros=7900),
}


class Heard(CallbackObserver):
    """Counts what the intake took, and what had to wait for its message."""

    def __init__(self) -> None:
        self.accepted = 0
        self.repeated = 0
        self.late_looks = 0
        self.failures: Counter[str] = Counter()

    def received(self, vendor: str, count: int, repeated: int) -> None:  # noqa: ARG002
        """New ones, and known ones."""
        self.accepted += count
        self.repeated += repeated

    def late(self, count: int) -> None:
        """They were looked for in vain."""
        self.late_looks += count

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""
        self.failures[part] += 1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Mortal(Applier):
    """Applies, and is sometimes gone before anybody could write down that it did: the same is applied again."""

    luck: Random

    async def apply(self, events: Sequence[Correlated], *, now: datetime) -> set[InboundWebhookEventId]:
        failed = await super().apply(events, now=now)
        if events and self.luck.random() < _DEATHS:
            raise DatabaseUnavailableError
        return failed


class World:
    """One run's."""

    def __init__(
        self, db: Database, history: History, *, run: str, runtime_url: str, folder: Path, day: datetime
    ) -> None:
        """`day`: its first moment; everything happens on it. Two worlds over one database share the folder."""
        self.db = db
        self.history = history
        self.begun_at = day + timedelta(minutes=30)
        self.clock = ManualClock(self.begun_at)
        self.side = VendorsSide(run, history, begun_at=self.begun_at, clock=self.clock)
        (folder / "keys").mkdir(mode=0o700, exist_ok=True)
        self.secrets = folder / "secrets"
        self.secrets.mkdir(exist_ok=True)
        chosen = settings.load({"TIDINGS_DATA_DIR": str(folder / "keys")})
        self.keyring = Keyring(open_kms(chosen.kms_url()), clock=self.clock)
        self.heard = Heard()
        self.tenants: list[TenantId] = []
        self.recipients: dict[int, RecipientId] = {}
        self.notifications: dict[int, NotificationId] = {}
        self._messages: dict[str, Message] = {}
        self._audit = AuditLog("chan", self.clock)
        self._wakeup = Wakeup()
        self._due_timer = DueTimer()
        blobs = open_blobs(f"file://{folder}/blobs")
        self.desk = CallbackEndpoint(
            CallbackHooks(db, SecretsByScheme({"file": FileSecrets(self.secrets)}), clock=self.clock),
            CallbackGroupCommit(
                db,
                blobs=lambda: blobs,
                keyring=self.keyring,
                clock=self.clock,
                wakeup=self._wakeup,
                wrote=InboundKeeper(Wakeup()),
                observer=self.heard,
            ),
            public_url=PUBLIC_URL,
            usual=GenericForm(),
            clock=self.clock,
            evidence=Evidence(clock=self.clock),
            observer=self.heard,
        )
        self._build_router()
        self._build_notify(runtime_url)

    def job(self, deaths: Random | None = None) -> CallbackJob:
        """A worker that applies callbacks; any number may be at work. With `deaths` it dies at times, before it can note what it did."""
        applier = Applier if deaths is None else partial(_Mortal, luck=deaths)
        return CallbackJob(
            self.db,
            applier(
                self.db, self.keyring, receipts.apply, on_woken=self._due_timer.expect, observer=self.heard
            ),
            wakeup=self._wakeup,
            clock=self.clock,
            observer=self.heard,
            settings=LockedSetSettings(longest_sleep=_NAP, longest_outage_pause=_NAP),
        )

    async def tell_notify(self, *, deaf: str | None = None) -> int:
        """Carry the router's events to notify; one of its groups may be deaf for now, and hears them later."""
        told = await self._relay.drain()
        for name, group in self._groups.items():
            if name != deaf:
                told += await group.drain()
        return told

    async def settle(self) -> None:
        """All that follows from what was applied."""
        while await self.due.drain() + await self.tell_notify():
            pass

    # --- before the callbacks

    async def begin(self) -> list[SendFirstSteps]:
        """Everybody known, every message handed over, and nothing of it said to a vendor yet."""
        async with self.db.worker() as tx:
            await tx.connection.execute("INSERT INTO kernel.workers (id, lock_key) VALUES ($1, 1)", self._id)
        await self._platform()
        begun = []
        for place in range(TENANTS):
            tenant_id = await self._tenant(place)
            people = list(range(place, len(self.history.people), TENANTS))
            for some in _sets(people):
                await self._people(tenant_id, some)
            messages = [one for one in self.history.messages if one.tenant == place]
            for few in _sets(messages):
                begun.append(await self._hand_over(tenant_id, few))
        return begun

    async def carry_out(self, begun: SendFirstSteps) -> None:
        """Vendors take a set."""
        await begun()

    async def _platform(self) -> None:
        vendors = {vendor for steps in STEPS.values() for _, vendor in steps} - OWN_ACCOUNTS
        async with self.db.platform() as tx:
            await seed(tx, ADAPTERS.values(), now=self.clock.now())
            made = await self._configs.configure_platform(
                tx, [self._account(one, self.secrets) for one in sorted(vendors)], actor="bench"
            )
        self.side.accounts |= {(vendor, -1): one.id for vendor, one in made.items() if vendor in vendors}

    async def _tenant(self, place: int) -> TenantId:
        async with self.db.platform() as platform:
            tenant_id = (await self._tenants.create(platform, _acme, actor="bench")).id
        self.tenants.append(tenant_id)
        folder = self.secrets / tenant_id
        folder.mkdir()
        async with self.db.tenant(tenant_id) as tx:
            await self.keyring.provision(tx)
            made = await self._configs.configure(
                tx, [self._account(one, folder) for one in sorted(OWN_ACCOUNTS)], actor="bench"
            )
            for kind, use_case in USE_CASES.items():
                await self._policies.create(tx, use_case, _terms(kind), actor="bench")
            line = StatusLine(
                platform=False,
                adapter="http",
                code=FULL_MAILBOX,
                canonical="failed_temp",
                reason="soft_bounce",
                version=1,
                updated_by="bench",
                updated_at=self.clock.now(),
            )
            await status_map.insert_line(tx, line)
        self.side.accounts |= {(one, place): made[one].id for one in OWN_ACCOUNTS}
        return tenant_id

    def _account(self, vendor: str, folder: Path) -> ConfigureAccount:
        (folder / vendor).write_text(json.dumps(SETTINGS[vendor]))
        return ConfigureAccount(vendor=vendor, secret_ref=f"file://{vendor}", prices=_PRICES.get(vendor))

    async def _people(self, tenant_id: TenantId, people: Sequence[int]) -> None:
        wishes = [spec_of(_somebody(one, self.history.people[one])) for one in people]
        async with self.db.tenant(tenant_id) as tx:
            found = (await self._upserter.upsert(tx, wishes)).results
        for person, one in zip(people, found, strict=True):
            if not isinstance(one, UpsertResult):
                raise TypeError("a person is refused")
            self.recipients[person] = one.recipient.id

    async def _hand_over(self, tenant_id: TenantId, messages: Sequence[Message]) -> SendFirstSteps:
        now = self.clock.now()
        for one in messages:
            id_ = NOTIFICATION.new(now)
            self.notifications[one.number] = id_
            self._messages[id_] = one
        hand_offs = [self._hand_off(tenant_id, one) for one in messages]
        plans = await self.router.plan(hand_offs)
        begins = [
            PlannedDelivery(
                hand_off=hand_off,
                plan=plan,
                first=self._ready(tenant_id, hand_off.notification_id, STEPS[one.kind][0][0]),
            )
            for one, hand_off, plan in zip(messages, hand_offs, plans, strict=True)
        ]
        booked = await self.router.reserve(begins)
        ids = [self.notifications[one.number] for one in messages]
        async with self.db.tenant(tenant_id, by_index=True) as tx:
            await tx.connection.execute(
                "INSERT INTO notification.notifications (tenant_id, id, retention_class, created_at, expires_at, "
                "status, channel, category, use_case, recipient_id, template_id, template_version_id, template_key, "
                "template_semver, variables_hash) SELECT $1, n.id, 'standard', n.created_at, $2, 'dispatched', "
                "n.channel, 'transactional', 'txn', n.recipient_id, 'tpl_x', 'tpv_x', 'k', '1.0.0', 'h' "
                "FROM unnest($3::text[], $4::timestamptz[], $5::text[], $6::text[]) "
                "AS n (id, created_at, channel, recipient_id)",
                tenant_id,
                now + timedelta(days=3),
                ids,
                [time_of(one) for one in ids],
                [hand_off.channel for hand_off in hand_offs],
                [self.recipients[one.person] for one in messages],
            )
            return await self.router.start_in(tx, booked)

    def _hand_off(self, tenant_id: TenantId, message: Message) -> HandOff:
        steps, use_case = STEPS[message.kind], USE_CASES.get(message.kind)
        return HandOff(
            tenant_id=tenant_id,
            notification_id=self.notifications[message.number],
            recipient_id=self.recipients[message.person],
            use_case=use_case or "txn",
            priority="normal",
            expires_at=self.clock.now() + timedelta(days=3),
            routes=tuple(DeliveryRoute(channel=channel, vendor=vendor) for channel, vendor in steps),
            channel=steps[0][0] if use_case is None else "auto",
        )

    def _ready(self, tenant_id: TenantId, notification_id: str, channel: str) -> ReadyStep:
        person = self._messages[notification_id].person
        to = _mail_of(person) if channel == "email" else number_of(person)
        return ReadyStep(
            message=replace(_MESSAGE, message_id=notification_id, tenant_id=tenant_id, channel=channel, to=to)
        )

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """Notify's side of the ladders: words that are there already."""
        return [self._ready(ask.tenant_id, ask.notification_id, ask.channel) for ask in asks]

    # --- the parts

    def _build_router(self) -> None:
        db, clock, luck = self.db, self.clock, Random(1).random
        self._id = WORKER.new(clock.now())
        accounts = Accounts(db, vendors=frozenset(ADAPTERS), clock=clock)
        traffic = VendorSelection(LocalHotState(db, clock).limits, clock=clock)
        rates, machine, observer = Rates(), ExecutionStateMachine(), ExecutionObserver()
        policies = Policies(db, clock=clock)
        played: Any = PlayedAdapters(self.side, self._messages.__getitem__)
        reserver = AttemptReserver(
            accounts, traffic, senders=played, rates=rates, clock=clock, random_unit=luck
        )
        planner = Planner(
            db,
            policies=policies,
            accounts=accounts,
            rates=rates,
            traffic=traffic,
            clock=clock,
            random_unit=luck,
            attendance=AttendanceList(db, clock),
        )
        recorder = Recorder(
            db,
            clock=clock,
            due_timer=self._due_timer,
            note_sent=_nobody_answers,
            observer=observer,
        )
        committer = TransitionCommitter(
            self.db, recorder, machine=machine, clock=clock, jitter=luck, observer=observer
        )
        caller = VendorCaller(
            self.db,
            Vendors(accounts, played),
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
            self.db,
            planner,
            reserver,
            caller,
            committer,
            machine=machine,
            worker_id=lambda: self._id,
            clock=clock,
            due_timer=self._due_timer,
        )
        self.due = ClaimingJob(
            db,
            DUE_EXECUTIONS,
            work_on_set=Advancer(
                db,
                caller,
                committer,
                self,
                reserver,
                machine=machine,
                jitter=luck,
                clock=clock,
                observer=observer,
            ).advance,
            name="due",
            worker_id=lambda: self._id,
            clock=clock,
            due_timer=self._due_timer,
            settings=replace(DUE_SETTINGS, longest_sleep=_NAP),
        )
        self._configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()}, audit=self._audit, clock=clock
        )
        self._policies = PolicyChanger(
            adapters=AvailableAdapters(kinds=ADAPTERS, find=kind_of),
            accounts=accounts,
            rates=rates,
            audit=self._audit,
            clock=clock,
            grace=timedelta(days=1),
        )

    def _build_notify(self, runtime_url: str) -> None:
        clock, outbox = self.clock, Outbox("notification")
        audit = AuditLog("notification", clock)
        self._tenants = TenantChanger(outbox=outbox, audit=audit, clock=clock)
        self._upserter = RecipientUpserter(keyring=self.keyring, mailboxes=StoredMailboxNews(), clock=clock)
        effects = AddressEffects(
            keyring=self.keyring,
            suppressor=Suppressor(keyring=self.keyring, outbox=outbox, audit=audit, clock=clock),
            clock=clock,
        )
        # Its leases are kept by the time of day.
        bus = PostgresBus(runtime_url, self.db, clock=SystemClock())
        self._relay = bus.relay("chan")
        handlers = {
            (outcome.GROUP, outcome.SUBJECTS): outcome.NotificationSettler(
                outbox=outbox, clock=clock, effects=effects
            ).apply,
            (consumer.GROUP, consumer.SUBJECTS): consumer.handler(
                outbox=outbox, clock=clock, effects=effects
            ),
        }
        self._groups = {
            group: bus.consumer(
                Subscription(
                    group=group,
                    subjects=subjects,
                    ledger="notification",
                    by_index=True,
                    on_tenant_events=handle,
                )
            )
            for (group, subjects), handle in handlers.items()
        }


def first_moment_of_today() -> datetime:
    """Partitions are there for it."""
    return SystemClock().now().replace(hour=0, minute=0, second=0, microsecond=0)


async def _nobody_answers(*_: object) -> None:
    """What people write is kept, and not taken on here."""


def _acme(tenant_id: TenantId) -> TenantCreated:
    return TenantCreated(tenant_id=tenant_id, version=1, name="Acme", region="eu-west-1")


def _terms(kind: Kind) -> PolicyTerms:
    return PolicyTerms(
        ladder=tuple(
            PolicyStep(channel=channel, deadline_seconds=86_400, retry_budget=0) for channel, _ in STEPS[kind]
        )
    )


def _somebody(person: int, kind: Kind) -> RecipientInput:
    return RecipientInput(
        identity=IdentityInput(type=IdentityType.USER, id=f"u-{person}"),
        addresses=[
            AddressInput(
                channel=channel, address=_mail_of(person) if channel == "email" else number_of(person)
            )
            for channel, _ in STEPS[kind]
        ],
    )


def _mail_of(person: int) -> str:
    return f"person-{person}@example.test"


def _sets(given: Sequence[Any]) -> list[Sequence[Any]]:
    return [given[place : place + _SET] for place in range(0, len(given), _SET)]
