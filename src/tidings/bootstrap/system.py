"""One process' Tidings, put together: what its parts share, then the parts, then how all of it opens and closes.

A role is a choice: `app` is what the API serves, `jobs()` is what a worker runs, and `tidings up` does both.
Tests build the same `System` over their own database.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import cached_property
from types import TracebackType
from typing import ClassVar, Self
from urllib.parse import urlsplit

from tidings.bootstrap.accepting import Accepting
from tidings.bootstrap.application import application
from tidings.bootstrap.background import api_jobs, jobs
from tidings.bootstrap.climbing import Climbing
from tidings.bootstrap.composing import Composing
from tidings.bootstrap.consumers import Consumers
from tidings.bootstrap.conversing import Conversing
from tidings.bootstrap.dispatching import Dispatching
from tidings.bootstrap.inbound import Inbound
from tidings.bootstrap.observers import BusMetrics, HotStateMetrics
from tidings.bootstrap.outbound import Outbound
from tidings.bootstrap.secret_stores import open_secrets, open_vault
from tidings.bootstrap.stripes import Stripe, stripe
from tidings.kernel import tracing
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.audit.origins import Origins
from tidings.kernel.blobs.store import BlobStore, open_blobs
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, PoolSettings, WorkerTx
from tidings.kernel.dns import DnsResolver
from tidings.kernel.durable.job_watch import JobWatch
from tidings.kernel.durable.jobs import Job
from tidings.kernel.durable.presence import Presence
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.flags.flags import Flags
from tidings.kernel.hot_state_url import HOT_STATE_CHANNEL, HOT_STATE_PAYLOAD, open_hot_state
from tidings.kernel.http.app import HttpApp
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import open_kms
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.keys.status import check_master_keys
from tidings.kernel.metrics import Metrics
from tidings.kernel.outbox import Outbox
from tidings.kernel.postgres_bus import PostgresBus
from tidings.notify.access.authenticate import KeyAuthenticator
from tidings.notify.access.last_used import LastUsed
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.seals import KeySeals
from tidings.notify.categories.registry import Categories
from tidings.notify.erasure.erase import Eraser
from tidings.notify.imports.engine import Importer
from tidings.notify.metrics import NotifyMetrics
from tidings.notify.notifications.attachments import Attachments
from tidings.notify.preference_center.links import UnsubscribeLinks
from tidings.notify.render.engine import V8Renderer
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.resolve import (
    Templates,
)
from tidings.notify.tenants.change import TenantChanger
from tidings.notify.tenants.states import ProjectedStates
from tidings.notify.tracking.record import VisitRecorder
from tidings.operations.partitions.job import PartitionJob
from tidings.operations.partitions.readiness import PartitionReadiness
from tidings.operations.platform_start import PlatformStart
from tidings.router.adapters.egress import public_and
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.bounces.tokens import ReturnTokens
from tidings.router.callbacks.forget import CallbackForgetter
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations.forget import ConversationForgetter
from tidings.router.executions.history import StoredHistory
from tidings.router.forget import ForgetAll
from tidings.router.metrics import RouterMetrics
from tidings.router.policies.policies import Policies
from tidings.router.profiles.forget import ProfileForgetter
from tidings.router.sealed_secrets.resolve import SealedSecrets
from tidings.router.status_map.seed import seed
from tidings.settings import (
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
        self.notify_metrics, self.router_metrics = NotifyMetrics(self.metrics), RouterMetrics(self.metrics)
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
        self.secrets = open_secrets(settings, self.vault, self.clock, SealedSecrets(self.db, self.keyring))
        self.resolver = DnsResolver([address_and_port(s, 53) for s in words(settings.channels.dns_servers)])

        self.outbox = Outbox("notification")
        self.origins = Origins(self._platform_pepper)
        self.audit = AuditLog("notification", self.clock, origins=self.origins)
        self.router_audit = AuditLog("chan", self.clock, origins=self.origins)
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

        self.gate = TenantGate(self.tenant_states, clock=self.clock)
        self.tenants = TenantChanger(outbox=self.outbox, audit=self.audit, clock=self.clock)
        self.last_used = LastUsed(self.db)
        self.key_ledger = KeyLedger(
            outbox=self.outbox, audit=self.audit, clock=self.clock, seals=KeySeals(self.db, self.keyring)
        )
        self.keys = KeyAuthenticator(
            self.db,
            clock=self.clock,
            last_used=self.last_used,
            seals=self.key_ledger.seals,
            on_broken_seal=self.notify_metrics.api_key_seals_broken.inc,
        )
        self.categories = Categories(self.db, clock=self.clock)
        self.own_hosts = _own_hosts(settings.http)
        #: How the outside reaches us, where somebody has said so.
        self.public_url = base_url or settings.http.public_url
        self.base_url = self.public_url or f"http://{self.own_hosts[0]}:{settings.http.port}"
        self.links = UnsubscribeLinks(self.base_url, clock=self.clock)
        # Their child processes start when they are first needed: a process that renders nothing never pays for them.
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

        self.attachments = Attachments(lambda: self.blobs)
        self.history = StoredHistory(self.clock)
        self.eraser = Eraser(
            keyring=self.keyring,
            signer=self.kms,
            history=self.history,
            router=ForgetAll(
                ProfileForgetter(), ConversationForgetter(outbox=Outbox("chan"), clock=self.clock)
            ),
            callbacks=CallbackForgetter(self.clock),
            outbox=self.outbox,
            audit=self.audit,
            clock=self.clock,
            backups_kept=settings.stores.backups_kept,
            stripe=stripe(Stripe.ERASE),
        )
        self.visits = VisitRecorder(
            db=self.db, outbox=self.outbox, clock=self.clock, stripe=stripe(Stripe.VISITS)
        )

        self.presence = Presence(
            runtime_url,
            self.db,
            clock=self.clock,
            free_orphans=[self._free_claims, self._free_ladders, self._free_conversing],
            on_rescue=self._rescued,
        )
        self.partitions = PartitionJob(
            url=owner_url or runtime_url,
            may_make=owner_url is not None,
            every=settings.jobs.partitions_every,
            clock=self.clock,
            metrics=self.metrics,
        )
        self.partition_readiness = PartitionReadiness(self.db, clock=self.clock)
        #: How the jobs of this process are, once they run.
        self.job_watch = JobWatch(self.clock.monotonic)
        self.due_timer = DueTimer()
        self.policies = Policies(self.db, clock=self.clock)
        self.tenant_guard = public_and(words(settings.channels.tenant_networks))
        self._build_parts()

    def _build_parts(self) -> None:
        """Each needs those above it; a process that only serves the API builds them too, and runs none of them."""
        self.authoring = Authoring(own_hosts=self.own_hosts)
        self.accepting = Accepting(self)
        self.outbound = Outbound(self)
        self.inbound = Inbound(self)
        self.conversing = Conversing(self, self.inbound.conversation_wakeups)
        self.composing = Composing(self)
        self.climbing = Climbing(self)
        self.dispatching = Dispatching(self)
        self.consumers = Consumers(self)

    @cached_property
    def platform_start(self) -> PlatformStart:
        """What a platform needs before its first tenant."""
        return PlatformStart(
            self.db,
            engine=self.authoring,
            outbox=self.outbox,
            audit=self.audit,
            ledger=self.key_ledger,
            clock=self.clock,
        )

    @cached_property
    def return_tokens(self) -> ReturnTokens:
        """What return paths of mails carry."""
        return ReturnTokens(self._platform_pepper)

    @cached_property
    def tenant_states(self) -> ProjectedStates:
        """How tenants stand, for the gate; which metadata is searchable, for accepting."""
        return ProjectedStates(self.db)

    @cached_property
    def app(self) -> HttpApp:
        """What the API serves; a worker never builds it."""
        return application(self)

    async def _free_claims(self, tx: WorkerTx) -> int:
        return await self.dispatching.dispatch.free_orphans(tx)

    async def _free_ladders(self, tx: WorkerTx) -> int:
        return await self.climbing.free_orphans(tx)

    async def _free_conversing(self, tx: WorkerTx) -> int:
        return await self.conversing.free_orphans(tx)

    async def _platform_pepper(self) -> Pepper:
        async with self.db.platform() as tx:
            return await self.keyring.platform_pepper(tx)

    def _rescued(self, count: int) -> None:
        self.metrics.claims_freed.inc(count)
        self.due_timer.look_now()
        self.accepting.dispatch_wake.set()

    @cached_property
    def blobs(self) -> BlobStore:
        """Opened at the first use: a command that keeps no blob must not make a folder for them."""
        return open_blobs(self.settings.blobs_url())

    async def __aenter__(self) -> Self:
        _ = self.blobs
        await self.db.open()
        try:
            otlp_url = self.settings.observability.otlp_url
            if otlp_url is not None:
                self._flush_traces = tracing.configure(otlp_url)
            # A typo or a forgotten migration is found now, not when the statement is first needed.
            await self.db.prepare_all()
            async with self.db.platform() as tx:
                await seed(tx, ADAPTERS.values(), now=self.clock.now())
            await self.conversing.sent_notes.get_ready()
            # A key file that is not the one the data was sealed with: better now than at the first person.
            await check_master_keys(self.db, self.kms)
            await self.origins.get_ready()
            # At once, and not at the first call: what is written until then would be sealed along with the others.
            await self.key_ledger.seals.get_ready()
            await self.return_tokens.get_ready()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        """From the bottom up, each before what it needs; one that falls keeps none of the others open."""
        async with AsyncExitStack() as closing:
            if self._flush_traces is not None:
                # The last spans may wait for a collector that hangs; nobody else has to.
                closing.push_async_callback(asyncio.to_thread, self._flush_traces)
            closing.push_async_callback(self.db.close)
            closing.push_async_callback(self.hot_state.close)
            closing.push_async_callback(self.renderer.close)
            closing.push_async_callback(self.authoring.close)
            closing.push_async_callback(self.outbound.vendors.close)
            closing.push_async_callback(self.conversing.close)
            closing.push_async_callback(self.visits.settle)

    #: Jobs that end after the others: as long as those deal with what they have claimed, this worker is alive.
    LAST_JOBS: ClassVar = frozenset({"presence"})

    def jobs(self) -> Mapping[str, Job]:
        """What a worker runs, beside the API or alone; any number of processes may run them at once."""
        return jobs(self)

    def api_jobs(self) -> Mapping[str, Job]:
        """The few of them that a process needs for its own sake, though it only serves the API."""
        return api_jobs(self)


def _own_hosts(http: HttpSettings) -> tuple[str, ...]:
    """The hosts of links to ourselves, which every message may hold."""
    host = urlsplit(http.public_url).hostname if http.public_url else http.host
    if host in {None, "", "localhost", "0.0.0.0", "::"}:  # noqa: S104  # as links name it
        host = "127.0.0.1"
    return (f"[{host}]", host) if ":" in host else (host,)
