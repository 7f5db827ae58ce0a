"""The only file that names concrete classes: read it and you know everything that Tidings touches.

A role is a choice: `app` is what the API serves, `jobs()` is what a worker runs, and `tidings up` does both.
Tests build the same `System` over their own database.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from secrets import SystemRandom
from types import TracebackType
from typing import ClassVar, Self
from urllib.parse import urlsplit

from litestar import Router
from litestar.handlers import HTTPRouteHandler

from tidings import __version__
from tidings.bootstrap.background import jobs
from tidings.bootstrap.conversing import Conversing
from tidings.bootstrap.inbound import Inbound
from tidings.bootstrap.observers import (
    BusMetrics,
    HotStateMetrics,
    RouterMetrics,
    TrafficMetrics,
)
from tidings.bootstrap.secret_stores import open_secrets, open_vault
from tidings.bootstrap.stripes import Stripe, stripe
from tidings.bootstrap.surface import routers
from tidings.contracts.callback_forms import Reading
from tidings.kernel import tracing
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.blobs.store import BlobStore, open_blobs
from tidings.kernel.bus import Subscription
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, PoolSettings, WorkerTx
from tidings.kernel.dns import DnsResolver
from tidings.kernel.flags.flags import Flags
from tidings.kernel.hot_state_url import HOT_STATE_CHANNEL, HOT_STATE_PAYLOAD, open_hot_state
from tidings.kernel.http.app import HttpApp, build_app
from tidings.kernel.http.asgi import App
from tidings.kernel.http.callers import Authenticator, Door
from tidings.kernel.http.health import Check
from tidings.kernel.http.request_ids import Answered
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.in_hand import InHand
from tidings.kernel.jobs import Job
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import open_kms
from tidings.kernel.keys.status import check_master_keys
from tidings.kernel.metrics import Metrics
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import PostgresBus
from tidings.kernel.postgres_bus.wakeups import Wake
from tidings.kernel.workers import Presence
from tidings.notify.access.authenticate import AnyAuthenticator, KeyAuthenticator
from tidings.notify.access.last_used import LastUsed
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.witness import AuditingWitness
from tidings.notify.categories.registry import Categories
from tidings.notify.correspondence.correspondents import StoredCorrespondents
from tidings.notify.correspondence.replies import IntakeReplier
from tidings.notify.dispatch import outcome
from tidings.notify.dispatch.claim import Turns
from tidings.notify.dispatch.compose import Composer
from tidings.notify.dispatch.job import EXPRESS_NAME, QUEUE_CHANNEL, QUEUE_NAME, DispatchJob
from tidings.notify.dispatch.prepare import StepGate
from tidings.notify.dispatch.schedule import ScheduleJob
from tidings.notify.dispatch.steps import StepMaker
from tidings.notify.dispatch.turn import TurnTaker
from tidings.notify.erasure.erase import Eraser
from tidings.notify.facts.load import FactsLoader
from tidings.notify.imports import routes as imports_routes
from tidings.notify.imports.engine import Importer
from tidings.notify.notifications.accept import Acceptor
from tidings.notify.notifications.attachments import Attachments
from tidings.notify.notifications.front import BODY_LIMIT, BULK_PATH, ONE_PATH, NotificationsFront
from tidings.notify.notifications.intake import Intake
from tidings.notify.notifications.order import OrderDesk
from tidings.notify.preference_center import confirmations
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.receipts import consumer as receipts_consumer
from tidings.notify.receipts.effects import AddressEffects
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.render.engine import V8Renderer
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.templates.bundle.routes import BODY_LIMITS as TEMPLATE_ZIP_LIMITS
from tidings.notify.templates.resolve import (
    Templates,
)
from tidings.notify.tenants.change import TenantChanger
from tidings.notify.tenants.states import ProjectedStates
from tidings.notify.tracking.record import VisitRecorder
from tidings.notify.tracking.watch import Tracker
from tidings.router.adapters.egress import public_and
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.channel_configs.store import StoredAccount
from tidings.router.conversations.forget import ConversationForgetter
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.sent import SentNotes
from tidings.router.executions.advance import Advancer
from tidings.router.executions.alarm import Alarm
from tidings.router.executions.booking import Booking
from tidings.router.executions.call import Caller as VendorCaller
from tidings.router.executions.history import StoredHistory
from tidings.router.executions.jobs import DueJob
from tidings.router.executions.plan import Planner
from tidings.router.executions.record import Recorder
from tidings.router.executions.rescue import Rescuer
from tidings.router.executions.router import ExecutionRouter
from tidings.router.forget import ForgetAll
from tidings.router.ladder.decide import Ladder
from tidings.router.policies.policies import Policies
from tidings.router.prices.rates import Rates
from tidings.router.profiles.forget import ProfileForgetter
from tidings.router.status_map.meanings import Meanings
from tidings.router.status_map.seed import seed
from tidings.router.traffic.board import Traffic
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.job import TrafficJob
from tidings.router.vendors.accounts import Accounts
from tidings.router.vendors.desk import Desk
from tidings.router.vendors.listening import ListeningJob
from tidings.router.vendors.opened import OpenAdapters
from tidings.router.vendors.vendors import Vendors
from tidings.settings import (
    AuthSettings,
    HttpSettings,
    Settings,
    address_and_port,
    words,
)


class System:
    """One process' Tidings, put together; open it before use."""

    def __init__(
        self,
        settings: Settings,
        *,
        runtime_url: str,
        owner_url: str | None = None,
        clock: Clock | None = None,
        db: Database | None = None,
        base_url: str | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.metrics = Metrics()
        self.runtime_url = runtime_url
        self.owner_url = owner_url

        database = settings.database
        self.db = db or Database(
            runtime_url,
            PoolSettings(
                min_size=database.pool_min,
                max_size=database.pool_max,
                statement_timeout=database.statement_timeout,
                lock_timeout=database.lock_timeout,
            ),
        )
        self._flush_traces: Callable[[], None] | None = None
        self.kms = open_kms(settings.kms_url())
        self.keyring = Keyring(self.kms, clock=self.clock)
        self.vault = open_vault(settings.vault, self.clock)
        self.secrets = open_secrets(settings, self.vault, self.clock)
        channels = settings.channels
        self.resolver = DnsResolver([address_and_port(s, 53) for s in words(channels.dns_servers)])

        self.outbox = Outbox("notification")
        self.audit = AuditLog("notification", self.clock)
        self.router_audit = AuditLog("chan", self.clock)
        self.idempotency = Idempotency("notification", self.clock)
        self.flags = Flags(self.db, self.audit, self.clock)
        self.bus = PostgresBus(runtime_url, self.db, clock=self.clock, observer=BusMetrics(self.metrics))
        hot_state_url = settings.stores.hot_state_url
        self.hot_state = open_hot_state(
            hot_state_url,
            self.db,
            self.clock,
            observer=HotStateMetrics(self.metrics),
            wake=self.bus.wakeups.on(HOT_STATE_CHANNEL, HOT_STATE_PAYLOAD) if hot_state_url else None,
        )

        self.gate = TenantGate(ProjectedStates(self.db), clock=self.clock)
        self.tenants = TenantChanger(outbox=self.outbox, audit=self.audit, clock=self.clock)
        self.last_used = LastUsed(self.db)
        self.keys = KeyAuthenticator(self.db, clock=self.clock, last_used=self.last_used)
        self.key_ledger = KeyLedger(outbox=self.outbox, audit=self.audit, clock=self.clock)
        self.categories = Categories(self.db, clock=self.clock)
        self.own_hosts = _own_hosts(settings.http)
        self.base_url = (
            base_url or settings.http.public_url or f"http://{self.own_hosts[0]}:{settings.http.port}"
        )
        self.links = UnsubscribeLinks(self.base_url, clock=self.clock)
        # Loads V8 at its first message: a process that renders nothing never pays for it.
        self.renderer = V8Renderer(own_hosts=self.own_hosts)
        self.templates = Templates(self.db, clock=self.clock)
        self.adapter_configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()},
            audit=self.router_audit,
            clock=self.clock,
        )

        self.suppressor = Suppressor(
            keyring=self.keyring, outbox=self.outbox, audit=self.audit, clock=self.clock
        )
        self.importer = Importer(db=self.db, keyring=self.keyring, audit=self.audit, clock=self.clock)

        # A dispatcher in this process is told at once; one elsewhere hears it from the database.
        self.dispatch_wake = self.bus.wakeups.on(QUEUE_CHANNEL, QUEUE_NAME)
        self.express_wake = self.bus.wakeups.on(QUEUE_CHANNEL, EXPRESS_NAME)
        self.bus.wakeups.on(QUEUE_CHANNEL, EXPRESS_NAME, self.dispatch_wake)
        self.schedule_wake = Wake()
        self.attachments = Attachments(lambda: self.blobs)
        self.desk = OrderDesk(templates=self.templates, categories=self.categories, clock=self.clock)
        self.acceptor = Acceptor(
            upserter=RecipientUpserter(keyring=self.keyring, clock=self.clock),
            keyring=self.keyring,
            clock=self.clock,
            stripe=stripe(Stripe.ACCEPT),
        )
        self.intake = Intake(
            db=self.db,
            acceptor=self.acceptor,
            idempotency=self.idempotency,
            clock=self.clock,
            wake=self._wake_dispatch,
        )
        self.effects = AddressEffects(keyring=self.keyring, suppressor=self.suppressor, clock=self.clock)
        self.correspondents = StoredCorrespondents(
            keyring=self.keyring,
            upserter=RecipientUpserter(keyring=self.keyring, clock=self.clock),
            suppressor=self.suppressor,
            outbox=self.outbox,
            clock=self.clock,
        )
        self.replier = IntakeReplier(desk=self.desk, intake=self.intake, clock=self.clock)
        self._build_pipeline()

    @cached_property
    def app(self) -> HttpApp:
        """What the API serves; a worker never builds it."""
        return self.build_app()

    def _build_pipeline(self) -> None:
        """From the queue to the vendors; a process that only serves the API builds it too, and runs none of it."""
        in_hand = InHand()
        rescuer = Rescuer(in_hand, worker_id=self._worker_id, clock=self.clock)
        self.presence = Presence(
            self.runtime_url,
            self.db,
            clock=self.clock,
            free_orphans=[self._free_claims, rescuer.free_orphans, self._free_conversing],
            on_rescue=self._rescued,
        )
        self.facts = FactsLoader(self.db, keyring=self.keyring, categories=self.categories, clock=self.clock)
        self.composer = Composer(templates=self.templates, renderer=self.renderer)
        self.history = StoredHistory(self.clock)
        self.eraser = Eraser(
            keyring=self.keyring,
            signer=self.kms,
            history=self.history,
            router=ForgetAll(
                ProfileForgetter(), ConversationForgetter(outbox=Outbox("chan"), clock=self.clock)
            ),
            outbox=self.outbox,
            audit=self.audit,
            clock=self.clock,
            backups_kept=self.settings.stores.backups_kept,
            stripe=stripe(Stripe.ERASE),
        )
        self.tracker = Tracker(self.facts, self.base_url)
        self.visits = VisitRecorder(
            db=self.db, outbox=self.outbox, clock=self.clock, stripe=stripe(Stripe.VISITS)
        )
        steps = StepMaker(
            tracker=self.tracker,
            composer=self.composer,
            limits=self.hot_state.limits,
            attachments=self.attachments,
            links=self.links,
            clock=self.clock,
        )
        self.step_gate = StepGate(
            db=self.db, loader=self.facts, keyring=self.keyring, steps=steps, clock=self.clock
        )
        observer = RouterMetrics(self.metrics)
        self.ladder = Ladder()
        luck = SystemRandom().random
        self.rates = Rates.read(self.settings.channels.currency_rates)
        self.accounts = Accounts(self.db, vendors=frozenset(ADAPTERS), clock=self.clock)
        self.tenant_guard = public_and(words(self.settings.channels.tenant_networks))
        adapters = OpenAdapters(
            self.secrets,
            clock=self.clock,
            tenant_guard=self.tenant_guard,
            hear=self._hear,
            max_age=self.settings.channels.secrets_max_age,
        )
        self.vendors = Vendors(self.accounts, adapters)
        self.vendor_desk = Desk(self.vendors, adapters)
        self.policies = Policies(self.db, clock=self.clock)
        self.traffic = Traffic(self.hot_state.limits, clock=self.clock)
        self.traffic_changer = TrafficChanger(
            self.db, audit=self.router_audit, outbox=Outbox("chan"), clock=self.clock
        )
        self.traffic_job = TrafficJob(
            self.db,
            self.traffic,
            self.traffic_changer,
            clock=self.clock,
            observer=TrafficMetrics(self.metrics),
        )
        self.planner = Planner(
            self.db,
            policies=self.policies,
            accounts=self.accounts,
            rates=self.rates,
            traffic=self.traffic,
            clock=self.clock,
            luck=luck,
        )
        booking = Booking(self.accounts, self.traffic, rates=self.rates, clock=self.clock, luck=luck)
        self.alarm = Alarm()
        self.address_hashes = AddressHashes(self.db, self.keyring)
        self.sent_notes = SentNotes(self.address_hashes, outbox=Outbox("chan"), clock=self.clock)
        recorder = Recorder(
            self.db,
            ladder=self.ladder,
            clock=self.clock,
            luck=luck,
            alarm=self.alarm,
            note_sent=self.sent_notes.note_sent,
            observer=observer,
            stripe=stripe(Stripe.SPEND),
        )
        caller = VendorCaller(
            self.vendors,
            recorder,
            traffic=self.traffic,
            meanings=Meanings(self.db, clock=self.clock),
            policies=self.policies,
            clock=self.clock,
            observer=observer,
        )
        self.router = ExecutionRouter(
            self.planner,
            booking,
            caller,
            ladder=self.ladder,
            worker_id=self._worker_id,
            clock=self.clock,
            alarm=self.alarm,
            in_hand=in_hand,
        )
        self.due = DueJob(
            self.db,
            Advancer(
                self.db,
                caller,
                self.step_gate,
                booking,
                ladder=self.ladder,
                clock=self.clock,
                observer=observer,
            ),
            worker_id=self._worker_id,
            clock=self.clock,
            alarm=self.alarm,
            known=self.presence.known,
            in_hand=in_hand,
        )
        self.dispatch = DispatchJob(
            db=self.db,
            turns=Turns(self.db),
            taker=TurnTaker(
                db=self.db,
                loader=self.facts,
                keyring=self.keyring,
                limits=self.hot_state.limits,
                steps=steps,
                router=self.router,
                clock=self.clock,
                stripe=stripe(Stripe.DISPATCH),
            ),
            router=self.router,
            presence=self.presence,
            wakeups=self.bus.wakeups,
            wake=self.dispatch_wake,
            express=self.express_wake,
            metrics=self.metrics,
        )
        self.schedule = ScheduleJob(
            self.db,
            clock=self.clock,
            presence=self.presence,
            wake=self.schedule_wake,
            wake_dispatcher=self.dispatch_wake.set,
        )
        self.outcomes = self.bus.consumer(
            Subscription(
                group=outcome.GROUP,
                subjects=outcome.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenant_events=outcome.handler(
                    outbox=self.outbox,
                    clock=self.clock,
                    stripe=stripe(Stripe.OUTCOMES),
                    effects=self.effects,
                ),
            )
        )

        self.receipts = self.bus.consumer(
            Subscription(
                group=receipts_consumer.GROUP,
                subjects=receipts_consumer.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenant_events=receipts_consumer.handler(
                    outbox=self.outbox,
                    effects=self.effects,
                    clock=self.clock,
                    stripe=stripe(Stripe.RECEIPTS),
                ),
            )
        )
        self.confirmations = self.bus.consumer(
            Subscription(
                group=confirmations.GROUP,
                subjects=confirmations.SUBJECTS,
                ledger="notification",
                on_tenant_events=confirmations.handler(
                    desk=self.desk,
                    acceptor=self.acceptor,
                    keyring=self.keyring,
                    links=self.links,
                    clock=self.clock,
                ),
            )
        )

        self.inbound = Inbound(self)
        self.conversing = Conversing(self, self.inbound.conversation_bell)
        self.listening = ListeningJob(
            self.db,
            adapters,
            kinds=frozenset(kind.name for kind in ADAPTERS.values() if kind.listens),
            clock=self.clock,
        )

    async def _hear(self, account: StoredAccount, said: Reading) -> None:
        await self.inbound.hear(account, said)

    def _worker_id(self) -> str:
        return self.presence.id

    async def _free_claims(self, tx: WorkerTx) -> int:
        return await self.dispatch.free_orphans(tx)

    async def _free_conversing(self, tx: WorkerTx) -> int:
        return await self.conversing.free_orphans(tx)

    def _rescued(self, count: int) -> None:
        self.metrics.claims_freed.inc(count)
        self.alarm.look_now()
        self.dispatch_wake.set()

    def _wake_dispatch(self, *, express: bool) -> None:
        if express:
            self.express_wake.set()
        self.dispatch_wake.set()
        self.schedule_wake.set()

    @cached_property
    def blobs(self) -> BlobStore:
        """Opened at the first use: a command that keeps no blob must not make a folder for them."""
        return open_blobs(self.settings.blobs_url())

    async def __aenter__(self) -> Self:
        _ = self.blobs
        await self.db.open()
        otlp_url = self.settings.observability.otlp_url
        if otlp_url is not None:
            self._flush_traces = tracing.configure(otlp_url)
        try:
            # A typo or a forgotten migration is found now, not when the statement is first needed.
            await self.db.prepare_all()
            async with self.db.platform() as tx:
                await seed(tx, ADAPTERS.values(), now=self.clock.now())
            await self.sent_notes.get_ready()
            # A key file that is not the one the data was sealed with: better now than at the first person.
            await check_master_keys(self.db, self.kms)
        except BaseException:
            await self.db.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.visits.settle()
        await self.conversing.close()
        await self.vendors.close()
        await self.renderer.close()
        await self.hot_state.close()
        await self.db.close()
        if self._flush_traces is not None:
            # The last spans may wait for a collector that hangs; nobody else has to.
            await asyncio.to_thread(self._flush_traces)

    #: Jobs that end after the others: as long as those deal with what they have claimed, this worker is alive.
    LAST_JOBS: ClassVar = frozenset({"presence"})

    def jobs(self) -> Mapping[str, Job]:
        """What runs beside the API; any number of processes may run them at once."""
        return jobs(self)

    def build_app(
        self,
        *,
        more_routers: Sequence[Router | HTTPRouteHandler] = (),
        raw_routes: Callable[[Door], Mapping[tuple[str, str], App]] | None = None,
        tokens: Authenticator | None = None,
        checks: Mapping[str, Check] | None = None,
        on_answer: Callable[[Answered], None] | None = None,
    ) -> HttpApp:
        """The application; a test adds routes of its own and listens in."""
        door = Door(
            authenticator=AnyAuthenticator(
                keys=self.keys, tokens=tokens or _tokens(self.settings.auth, self.clock)
            ),
            gate=self.gate,
            witness=AuditingWitness(self.db, audit=self.audit, clock=self.clock),
        )
        front = NotificationsFront(
            door=door,
            desk=self.desk,
            intake=self.intake,
            attachments=self.attachments,
            clock=self.clock,
        )
        return build_app(
            routers=[*routers(self, front), *more_routers],
            door=door,
            clock=self.clock,
            version=__version__,
            checks=checks if checks is not None else self._checks(),
            raw_routes={**front.routes(), **(raw_routes(door) if raw_routes else {})},
            body_limits={
                **TEMPLATE_ZIP_LIMITS,
                **dict.fromkeys(
                    (ONE_PATH, BULK_PATH, f"{ONE_PATH}/simulate"),
                    max(BODY_LIMIT, self.settings.http.max_body_bytes),
                ),
                **dict.fromkeys(imports_routes.UPLOAD_PATHS, self.settings.http.max_import_bytes),
            },
            render_metrics=self.metrics.render,
            body_limit=self.settings.http.max_body_bytes,
            tracer=tracing.tracer("http") if self.settings.observability.otlp_url else None,
            on_answer=on_answer or self._count,
        )

    def _checks(self) -> Mapping[str, Check]:
        hot_state = {"hot_state": self.hot_state.check} if self.settings.stores.hot_state_url else {}
        return {"database": self.db.ping, **hot_state}

    def _count(self, answered: Answered) -> None:
        self.metrics.requests.labels(answered.method, answered.route, str(answered.status)).inc()
        self.metrics.request_seconds.labels(answered.method, answered.route).observe(answered.seconds)


def _own_hosts(http: HttpSettings) -> tuple[str, ...]:
    """The hosts of links to ourselves, which every message may hold."""
    host = urlsplit(http.public_url).hostname if http.public_url else http.host
    if host in {None, "", "localhost", "0.0.0.0", "::"}:  # noqa: S104  # as links name it
        host = "127.0.0.1"
    return (f"[{host}]", host) if ":" in host else (host,)


def _tokens(auth: AuthSettings, clock: Clock) -> Authenticator | None:
    if auth.jwks_url is None or auth.issuer is None or auth.audience is None:
        return None
    # Imported only where tokens are used: the library behind it is a tenth of a second of every start.
    from tidings.notify.access.jwks import Jwks
    from tidings.notify.access.jwt import JwtAuthenticator, JwtSettings

    return JwtAuthenticator(
        Jwks(auth.jwks_url, clock=clock),
        settings=JwtSettings(issuer=auth.issuer, audience=auth.audience),
        clock=clock,
    )
