"""The first stage: what every part stands on, from the clock to the bus. It holds no part of a service."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from tidings.bootstrap.services import BOTH, SCHEMAS, Service
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.audit.origins import Origins
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import Kms, open_kms
from tidings.kernel.keys.platform_pepper import PlatformPepper
from tidings.kernel.outbox import Outbox
from tidings.kernel.parts import Parts
from tidings.settings import HttpSettings, Settings, address_and_port, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidings.kernel.announced_changes import AnnouncedChanges
    from tidings.kernel.blobs.store import BlobStore
    from tidings.kernel.bus import SubjectFilter
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.dns import DnsResolver
    from tidings.kernel.durable.job_watch import JobWatch
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.presence import Presence
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.event_versions.publish import EventVersions
    from tidings.kernel.flags.flags import Flags
    from tidings.kernel.hot_state_takeover import TakeoverHotState
    from tidings.kernel.http.health import Check
    from tidings.kernel.idempotency import Idempotency
    from tidings.kernel.journal.journal import Journal
    from tidings.kernel.local_hot_state import LocalHotState
    from tidings.kernel.metrics import Metrics
    from tidings.kernel.postgres_bus import PostgresBus
    from tidings.kernel.secrets import SecretsByScheme
    from tidings.kernel.secrets_vault_client import VaultClient
    from tidings.operations.partitions.job import PartitionJob
    from tidings.operations.partitions.readiness import PartitionReadiness

#: An anchor is made with a fifth of one core at most.
_ANCHOR_REST: Final = 4.0


class KernelStage:
    """The database, keys, events and counters of one process.

    What a command seldom needs is made, and imported, at its first use. A part that has to be closed says so by `closing`.
    """

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
        self.runtime_url = runtime_url
        self.owner_url = owner_url
        self.clock: Clock = clock or SystemClock()
        chosen = settings.database
        self.db = db or Database(
            runtime_url,
            PoolSettings(
                min_size=chosen.pool_min,
                max_size=chosen.pool_max,
                statement_timeout=chosen.statement_timeout,
                lock_timeout=chosen.lock_timeout,
            ),
        )
        self._flush_traces: Callable[[], None] | None = None
        #: Closed in the reverse order of their making, so each before what it needs; a failure leaves none of the others open.
        self.closing = AsyncExitStack()
        self.closing.push_async_callback(self._close_traces)
        if db is None:
            self.closing.push_async_callback(self.db.close)
        self.kms: Kms = open_kms(settings.kms_url())
        self.keyring = Keyring(self.kms, clock=self.clock)
        self.platform_pepper = PlatformPepper(self.db, self.keyring)
        self.origins = Origins(self.platform_pepper.get)
        self.outbox = Outbox("notification")
        self.router_outbox = Outbox("chan")
        self.backoffice_outbox = Outbox("bff_backoffice")
        self.audit = AuditLog("notification", self.clock, origins=self.origins)
        self.router_audit = AuditLog("chan", self.clock, origins=self.origins)
        self.backoffice_audit = AuditLog("bff_backoffice", self.clock, origins=self.origins)
        self.own_hosts = _own_hosts(settings.http)
        #: How the outside reaches us, where the settings say so.
        self.public_url = base_url or settings.http.public_url
        self.base_url = self.public_url or f"http://{self.own_hosts[0]}:{settings.http.port}"

    async def __aenter__(self) -> Self:
        """Open the database alone, as commands need it."""
        await self.db.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.closing.aclose()

    @cached_property
    def metrics(self) -> "Metrics":
        """What this process counts."""
        from tidings.kernel.metrics import Metrics

        return Metrics()

    @cached_property
    def idempotency(self) -> "Idempotency":
        """Which requests were answered, and how."""
        from tidings.kernel.idempotency import Idempotency

        return Idempotency("notification", self.clock)

    @cached_property
    def backoffice_idempotency(self) -> "Idempotency":
        """The same, for what operators do in the back office."""
        from tidings.kernel.idempotency import Idempotency

        return Idempotency("bff_backoffice", self.clock)

    @cached_property
    def vault(self) -> "VaultClient | None":
        """HashiCorp Vault, where the settings name one."""
        if self.settings.vault.url is None:
            return None
        from tidings.bootstrap.secret_stores import open_vault

        return open_vault(self.settings.vault, self.clock)

    @cached_property
    def secrets(self) -> "SecretsByScheme":
        """Where secrets are read from, by the scheme of their reference."""
        from tidings.bootstrap.secret_stores import open_secrets
        from tidings.router.sealed_secrets.resolve import SealedSecrets

        return open_secrets(self.settings, self.vault, self.clock, SealedSecrets(self.db, self.keyring))

    @cached_property
    def resolver(self) -> "DnsResolver":
        """The name servers of the settings."""
        from tidings.kernel.dns import DnsResolver

        return DnsResolver([address_and_port(s, 53) for s in words(self.settings.channels.dns_servers)])

    @cached_property
    def bus(self) -> "PostgresBus":
        """Events between services, and wake-ups between processes."""
        from tidings.bootstrap.kernel_observers import BusMetrics
        from tidings.kernel.bus_url import open_bus

        url = self.settings.stores.bus_url
        opened = open_bus(
            url,
            self.runtime_url,
            self.db,
            clock=self.clock,
            observer=BusMetrics(self.metrics),
            secrets=self.secrets if url is not None else None,
        )
        self.closing.push_async_callback(opened.close)
        return opened

    @cached_property
    def event_versions(self) -> "EventVersions":
        """Versions of events that are published side by side."""
        from tidings.contracts.event_versions import SUCCESSORS
        from tidings.kernel.event_versions.publish import EventVersions
        from tidings.notify.event_feed.migrations import known_readers

        async def own_groups(_: "WorkerTx") -> "Mapping[str, SubjectFilter]":
            return self.bus.groups

        return EventVersions(
            SUCCESSORS,
            db=self.db,
            outbox=self.outbox,
            clock=self.clock,
            groups=(own_groups, known_readers),
        )

    def _event_version_jobs(self) -> "dict[str, Job]":
        """None, as long as no event has a newer version."""
        subscription = self.event_versions.subscription()
        if subscription is None:
            return {}
        return {
            "event_versions": self.bus.consumer(subscription),
            "event_version_windows": self.event_versions,
        }

    @cached_property
    def changes(self) -> "AnnouncedChanges":
        """Tells the caches of this process which rows were changed."""
        from tidings.kernel.announced_changes import AnnouncedChanges

        return AnnouncedChanges(self.bus.wakeups)

    @cached_property
    def hot_state(self) -> "LocalHotState | TakeoverHotState":
        """Limits and leases that all processes count together."""
        from tidings.bootstrap.kernel_observers import HotStateMetrics
        from tidings.kernel.hot_state_url import HOT_STATE_CHANNEL, HOT_STATE_PAYLOAD, open_hot_state

        url = self.settings.stores.hot_state_url
        opened = open_hot_state(
            url,
            self.db,
            self.clock,
            observer=HotStateMetrics(self.metrics),
            wake=self.bus.wakeups.on(HOT_STATE_CHANNEL, HOT_STATE_PAYLOAD) if url else None,
        )
        self.closing.push_async_callback(opened.close)
        return opened

    @cached_property
    def blobs(self) -> "BlobStore":
        """Opened at the first use: a command that keeps no blob must not make a folder for them."""
        from tidings.kernel.blobs.store import open_blobs

        return open_blobs(self.settings.blobs_url())

    @cached_property
    def flags(self) -> "Flags":
        """Switches that operators set."""
        from tidings.kernel.flags.flags import Flags

        return Flags(self.db, self.audit, self.clock)

    @cached_property
    def presence(self) -> "Presence":
        """This process among the workers."""
        from tidings.kernel.durable.presence import Presence

        return Presence(self.runtime_url, self.db, clock=self.clock)

    @cached_property
    def journal(self) -> "Journal":
        """What this process knows and has not recorded yet, on the disk of its host."""
        from tidings.kernel.journal.journal import Journal

        opened = Journal(
            self.settings.journal_dir(),
            self.kms,
            name=self.worker_id,
            monotonic=self.clock.monotonic,
            on_missed=self.metrics.journal_missed.inc,
        )
        self.closing.push_async_callback(opened.close)
        return opened

    def worker_id(self) -> str:
        """What claims of this process are marked with; another after it was taken for dead."""
        return self.presence.id

    @cached_property
    def job_watch(self) -> "JobWatch":
        """How the jobs of this process are, once they run."""
        from tidings.kernel.durable.job_watch import JobWatch

        return JobWatch(self.clock.monotonic)

    @cached_property
    def partitions(self) -> "PartitionJob":
        """Makes the partitions of the next days, where the settings name the owner."""
        from tidings.operations.partitions.job import PartitionJob

        return PartitionJob(
            url=self.owner_url or self.runtime_url,
            may_make=self.owner_url is not None,
            every=self.settings.jobs.partitions_every,
            clock=self.clock,
            metrics=self.metrics,
        )

    @cached_property
    def partition_readiness(self) -> "PartitionReadiness":
        """Whether the partitions for the next days are there."""
        from tidings.operations.partitions.readiness import PartitionReadiness

        return PartitionReadiness(self.db, clock=self.clock)

    def service_parts(self, audit: AuditLog, outbox: Outbox) -> Parts:
        """What the classes of a service may name in their constructors; the audit log and the outbox are its own."""
        from tidings.kernel.announced_changes import AnnouncedChanges
        from tidings.kernel.blobs.store import BlobStore
        from tidings.kernel.dns import Resolver
        from tidings.kernel.durable.presence import Presence
        from tidings.kernel.hot_state import Leases, Limits
        from tidings.kernel.http.own_address import OwnAddress
        from tidings.kernel.idempotency import Idempotency
        from tidings.kernel.metrics import Metrics
        from tidings.kernel.postgres_bus.wakeups import Wakeups
        from tidings.kernel.secrets import SecretResolver

        return (
            Parts(self.db, self.keyring, self.platform_pepper, audit, outbox)
            .add(Clock, self.clock)
            .add(OwnAddress, OwnAddress(public_url=self.public_url, hosts=self.own_hosts))
            .add(Callable[[], str], self.worker_id)
            .add(Callable[[], BlobStore], lambda: self.blobs)
            .add_late(BlobStore, lambda: self.blobs)
            .add_late(Idempotency, lambda: self.idempotency)
            .add_late(Leases, lambda: self.hot_state.leases)
            .add_late(Limits, lambda: self.hot_state.limits)
            .add_late(Metrics, lambda: self.metrics)
            .add_late(Presence, lambda: self.presence)
            .add_late(Resolver, lambda: self.resolver)
            .add_late(SecretResolver, lambda: self.secrets)
            .add_late(AnnouncedChanges, lambda: self.changes)
            .add_late(Wakeups, lambda: self.bus.wakeups)
        )

    def trace(self, otlp_url: str) -> None:
        """Send spans there."""
        from tidings.kernel import tracing

        self._flush_traces = tracing.configure(otlp_url)

    async def _close_traces(self) -> None:
        """After all else: the last spans may wait for a collector that hangs."""
        if self._flush_traces is not None:
            await asyncio.to_thread(self._flush_traces)

    def checks(self) -> "Mapping[str, Check]":
        """What has to be well before this process is ready."""
        hot_state = {"hot_state": self.hot_state.check} if self.settings.stores.hot_state_url else {}
        bus = {"bus": self.bus.check} if self.settings.stores.bus_url else {}
        return {"database": self.db.ping, "partitions": self.partition_readiness.check, **hot_state, **bus}

    def api_jobs(self) -> "dict[str, Job]":
        """What a process needs that only serves the API: it hears of changes."""
        return {"wakeups": self.bus.wakeups, **self._vault_job()}

    def _vault_job(self) -> "dict[str, Job]":
        """What keeps this process' own token with Vault fresh."""
        return {"vault": self.vault} if self.vault is not None else {}

    def jobs(self, services: Collection[Service] = BOTH) -> "dict[str, Job]":
        """The bus with the relays of these services, partitions, the anchors of their audit, flags."""
        from tidings.kernel.audit.anchor import AnchorJob, AnchorKeeper
        from tidings.kernel.durable.invalidation import InvalidationJob
        from tidings.kernel.flags.flags import FLAGS_CHANNEL, FLAGS_PAYLOAD

        broken = self.metrics.audit_broken
        audits: dict[Service, list[AuditLog]] = {
            "notify": [self.audit, self.backoffice_audit],
            "router": [self.router_audit],
        }
        return {
            **self._vault_job(),
            # It hears of changes too.
            "bus": self.bus,
            # Apart, messages wait for hand-overs that it carries; together, for nothing that it does.
            **{
                f"relay_{schema}": self.bus.relay(schema, prompt=len(services) == 1)
                for one in services
                for schema in SCHEMAS[one]
            },
            "partitions": self.partitions,
            "audit_anchors": AnchorJob(
                [
                    AnchorKeeper(self.db, audit, self.kms, self.clock, rest=_ANCHOR_REST)
                    for one in services
                    for audit in audits[one]
                ],
                on_broken=lambda log: broken.labels(log).inc(),
            ),
            "flags": InvalidationJob(self.bus.wakeups.on(FLAGS_CHANNEL, FLAGS_PAYLOAD), self.flags),
            **self._event_version_jobs(),
        }

    def sweeps(self, services: Collection[Service] = BOTH) -> "dict[str, Sweep]":
        """What gets old in the kernel's own tables, and in its ledgers of these services."""
        from tidings.kernel.deduplicate import ConsumedEvents

        async def sweep_hot_state(most: int) -> int:
            return max((await self.hot_state.sweep(limit=most)).values())

        async def sweep_consumed(most: int) -> int:
            ledgers = [ConsumedEvents(schema) for one in services for schema in SCHEMAS[one]]
            return sum([await ledger.sweep(self.db, self.clock, limit=most) for ledger in ledgers])

        async def sweep_idempotency_keys(most: int) -> int:
            keys = (self.idempotency, self.backoffice_idempotency)
            return max([await one.sweep(self.db, limit=most) for one in keys])

        requests: dict[str, Sweep] = {"idempotency_keys": sweep_idempotency_keys}
        return {
            **(requests if "notify" in services else {}),
            "dead_letters": lambda most: self.bus.dead_letters.sweep(limit=most),
            "hot_state": sweep_hot_state,
            "consumed_events": sweep_consumed,
        }


def _own_hosts(http: HttpSettings) -> tuple[str, ...]:
    """The hosts of links to ourselves, which every message may hold."""
    host = urlsplit(http.public_url).hostname if http.public_url else http.host
    if host in {None, "", "localhost", "0.0.0.0", "::"}:  # noqa: S104  # as links name it
        host = "127.0.0.1"
    return (f"[{host}]", host) if ":" in host else (host,)
