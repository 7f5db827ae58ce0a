"""One process' Tidings, built in stages: each takes the stages that it needs, and is made when a role first asks for it.

A role is a choice: `app` is what the API serves, `jobs()` is what a worker runs, and `tidings up` does both. A command
takes the stage it needs, and pays for no other. Tests build the same `System` over their own database.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from tidings.bootstrap.kernel import KernelStage
from tidings.bootstrap.services import BOTH, Service
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.apart import ApartStage
    from tidings.bootstrap.backoffice import BackofficeStage
    from tidings.bootstrap.batches import BatchesStage
    from tidings.bootstrap.callbacks import CallbacksStage
    from tidings.bootstrap.composition import CompositionStage
    from tidings.bootstrap.consumers import ConsumersStage
    from tidings.bootstrap.conversations import ConversationsStage
    from tidings.bootstrap.digests import DigestsStage
    from tidings.bootstrap.dispatch import DispatchStage
    from tidings.bootstrap.events import EventsStage
    from tidings.bootstrap.executions import ExecutionsStage
    from tidings.bootstrap.inbox import InboxStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.bootstrap.router import RouterStage
    from tidings.bootstrap.system_alerts import SystemAlertsStage
    from tidings.bootstrap.triggers import TriggersStage
    from tidings.bootstrap.vendors import VendorsStage
    from tidings.bootstrap.webhooks import WebhooksStage
    from tidings.contracts.delivery import EndedExecutions
    from tidings.contracts.operator_notices import InvitationMailer
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.http.app import HttpApp
    from tidings.kernel.http.health import Check
    from tidings.kernel.requests import Requests
    from tidings.notify.dispatch.untaken import UntakenSweeper
    from tidings.operations.platform_start import PlatformStart


class System:
    """The stages of one process; open it before use."""

    def __init__(
        self,
        settings: Settings,
        *,
        runtime_url: str,
        owner_url: str | None = None,
        clock: Clock | None = None,
        db: Database | None = None,
        base_url: str | None = None,
        services: Collection[Service] = BOTH,
        requests: "Requests | None" = None,
    ) -> None:
        """`services`: those that it runs; what it needs of the other one it asks for by `requests`, or over the settings' broker."""
        self.services = frozenset(services)
        self._requests = requests
        self.kernel = KernelStage(
            settings, runtime_url=runtime_url, owner_url=owner_url, clock=clock, db=db, base_url=base_url
        )
        self.settings, self.clock, self.db = settings, self.kernel.clock, self.kernel.db

    @cached_property
    def access(self) -> "AccessStage":
        """Tenants and their keys."""
        from tidings.bootstrap.access import AccessStage

        return AccessStage(self.kernel)

    @cached_property
    def router(self) -> "RouterStage":
        """What the router's parts share."""
        from tidings.bootstrap.router import RouterStage

        return RouterStage(self.kernel)

    @cached_property
    def notify(self) -> "NotifyStage":
        """What notify's parts share."""
        from tidings.bootstrap.notify import NotifyStage

        return NotifyStage(self.kernel, self.router)

    @cached_property
    def callbacks(self) -> "CallbacksStage":
        """What comes from the vendors."""
        from tidings.bootstrap.callbacks import CallbacksStage

        return CallbacksStage(self.kernel, self.router)

    @cached_property
    def vendors(self) -> "VendorsStage":
        """What goes to the vendors."""
        from tidings.bootstrap.vendors import VendorsStage

        inboxes = self.inbox.deliverer if self._runs_notify else self.apart.inboxes()
        return VendorsStage(self.kernel, self.router, self.callbacks, inboxes=inboxes)

    @cached_property
    def inbox(self) -> "InboxStage":
        """What people find in the application itself."""
        from tidings.bootstrap.inbox import InboxStage

        return InboxStage(self.kernel, self.access, self.notify, listeners=lambda: self.webhooks.registry)

    @cached_property
    def accept(self) -> "AcceptStage":
        """From a request into the queue."""
        from tidings.bootstrap.accept import AcceptStage

        return AcceptStage(self.kernel, self.access, self.notify)

    @cached_property
    def events(self) -> "EventsStage":
        """What other systems say."""
        from tidings.bootstrap.events import EventsStage

        return EventsStage(self.kernel, self.access, self.notify)

    @cached_property
    def composition(self) -> "CompositionStage":
        """What a message says."""
        from tidings.bootstrap.composition import CompositionStage

        return CompositionStage(self.kernel, self.notify, self.vendors)

    @cached_property
    def conversations(self) -> "ConversationsStage":
        """What becomes of what people write."""
        from tidings.bootstrap.conversations import ConversationsStage

        return ConversationsStage(
            self.kernel,
            self.router,
            self.notify,
            callbacks=self.callbacks,
            vendors=self.vendors,
            accept=self.accept,
        )

    @cached_property
    def executions(self) -> "ExecutionsStage":
        """From a step to its outcome."""
        from tidings.bootstrap.executions import ExecutionsStage

        return ExecutionsStage(
            self.kernel,
            self.router,
            self.vendors,
            preparer=self.composition.gate if self._runs_notify else self.apart.preparer(self.router),
            settler=self.notify.settler if self._runs_notify else None,
        )

    @cached_property
    def dispatch(self) -> "DispatchStage":
        """From the queue to the router."""
        from tidings.bootstrap.dispatch import DispatchStage

        # A stage registers its parts when it is made.
        _ = self.composition
        return DispatchStage(
            self.kernel,
            self.notify,
            self.accept,
            router=self.executions.router if self._runs_router else self.apart.hand_over(self.notify),
            untaken=self._untaken,
        )

    @cached_property
    def triggers(self) -> "TriggersStage":
        """What events send."""
        from tidings.bootstrap.triggers import TriggersStage

        return TriggersStage(self.kernel, self.notify, self.accept)

    @cached_property
    def digests(self) -> "DigestsStage":
        """From a window that is due to its digest."""
        from tidings.bootstrap.digests import DigestsStage

        return DigestsStage(self.kernel, self.access, self.notify, self.accept, self.composition)

    @cached_property
    def batches(self) -> "BatchesStage":
        """One template to many people."""
        from tidings.bootstrap.batches import BatchesStage

        return BatchesStage(self.kernel, self.notify, self.accept)

    @cached_property
    def webhooks(self) -> "WebhooksStage":
        """What tenants' own services are told."""
        from tidings.bootstrap.webhooks import WebhooksStage

        return WebhooksStage(self.kernel, self.access, self.notify)

    @cached_property
    def backoffice(self) -> "BackofficeStage":
        """Operators, their sessions, and the console."""
        from tidings.bootstrap.backoffice import BackofficeStage

        return BackofficeStage(
            self.kernel,
            self.access,
            most_upload_bytes=self.settings.http.max_import_bytes,
            health=lambda: self.system_alerts.health,
            mailer=self._invitation_mailer,
        )

    @cached_property
    def system_alerts(self) -> "SystemAlertsStage":
        """What Tidings watches of itself."""
        from tidings.bootstrap.system_alerts import SystemAlertsStage

        return SystemAlertsStage(self.kernel, self.services)

    @cached_property
    def consumers(self) -> "ConsumersStage":
        """What is heard over the bus."""
        from tidings.bootstrap.consumers import ConsumersStage

        return ConsumersStage(self.kernel, self.access, self.notify, self.accept, ends=self._ends)

    @cached_property
    def requests(self) -> "Requests | None":
        """How this process asks others, and answers them; None where it needs no other."""
        from tidings.bootstrap.apart import open_requests

        return self._requests or open_requests(self.kernel, self.services)

    @cached_property
    def apart(self) -> "ApartStage":
        """The service that runs elsewhere, and those that it is asked for from elsewhere."""
        from tidings.bootstrap.apart import ApartStage

        if self.requests is None:
            raise TypeError("a process of both services without a broker has all that it needs")
        return ApartStage(self.kernel, self.requests)

    @property
    def _runs_notify(self) -> bool:
        return "notify" in self.services

    @property
    def _runs_router(self) -> bool:
        return "router" in self.services

    @property
    def _ends(self) -> "EndedExecutions":
        if not self._runs_router:
            return self.apart.router_ledgers
        from tidings.router.executions.ended import StoredEnds

        return StoredEnds()

    @property
    def _untaken(self) -> "UntakenSweeper":
        """What was announced and is not taken is announced again, or taken here."""
        from tidings.notify.dispatch.untaken import AnnouncedAgain, UntakenSweeper

        parts = self.notify.parts
        if self._runs_router:
            taker = self.executions.request_taker
            return parts.get(UntakenSweeper, router=taker, again=taker.take, metrics=self.access.metrics)
        again = parts.get(AnnouncedAgain)
        return parts.get(
            UntakenSweeper, router=self.apart.router_ledgers, again=again, metrics=self.access.metrics
        )

    @cached_property
    def platform_start(self) -> "PlatformStart":
        """What a platform needs before its first tenant."""
        from tidings.operations.platform_start import PlatformStart

        return self.notify.parts.get(
            PlatformStart, engine=self.notify.authoring.of(None), ledger=self.access.key_ledger
        )

    @cached_property
    def app(self) -> "HttpApp":
        """What the API serves; a worker never builds it."""
        from tidings.bootstrap.application import application

        return application(self)

    async def __aenter__(self) -> Self:
        from tidings.kernel.keys.status import check_master_keys
        from tidings.router.adapters.registry import ADAPTERS
        from tidings.router.status_map.seed import seed

        kernel = self.kernel
        _ = kernel.blobs
        await kernel.__aenter__()
        try:
            otlp_url = self.settings.observability.otlp_url
            if otlp_url is not None:
                kernel.trace(otlp_url)
            # What a service finds in its own schema, before it is first needed; a process that lacks it leaves that schema alone.
            sent_notes = self.conversations.sent_notes if self._runs_router else None
            # A typo or a forgotten migration is found now, not when the statement is first needed.
            await self.db.check_statements()
            # Events that this process would leave on the other engine wait for nobody.
            await kernel.bus.check_place()
            if sent_notes is not None:
                async with self.db.platform() as tx:
                    await seed(tx, ADAPTERS.values(), now=self.clock.now())
                await sent_notes.get_ready()
                await self.router.return_tokens.get_ready()
            # A key file that is not the one the data was sealed with: better now than at the first person.
            await check_master_keys(self.db, kernel.kms)
            await kernel.origins.get_ready()
            # At once, and not at the first call: what is written until then would be sealed along with the others.
            if self._runs_notify:
                await self.access.key_ledger.seals.get_ready()
        except BaseException:
            await kernel.closing.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.kernel.closing.aclose()

    def register(self, roles: Collection[str]) -> "Job":
        """What keeps this process in the register of processes."""
        from tidings.kernel.durable.job_watch import LATE
        from tidings.kernel.durable.processes import ProcessRegister

        kernel = self.kernel
        return ProcessRegister(
            self.db,
            kernel.job_watch,
            clock=self.clock,
            roles=roles,
            services=self.services,
            late_after=LATE / 2,
        )

    #: Jobs that end after the others: as long as those deal with what they have claimed, this worker is alive.
    LAST_JOBS: ClassVar = frozenset({"presence"})

    def api_jobs(self) -> "Mapping[str, Job]":
        """The few jobs that a process needs for its own sake, though it only serves the API."""
        return {
            **self.kernel.api_jobs(),
            **self.access.api_jobs(),
            **self.events.api_jobs(),
            **self.inbox.api_jobs(),
            **self.backoffice.api_jobs(),
            **self.system_alerts.api_jobs(),
        }

    def warm_up(self, roles: Collection[str]) -> "Job":
        """What warms the caches of a process with these roles."""
        from tidings.bootstrap.warm_up import cache_warmer

        return cache_warmer(self, roles)

    def jobs(self) -> "Mapping[str, Job]":
        """What a worker of these services runs, beside the API or alone; any number of processes may run them at once."""
        return self._jobs

    @cached_property
    def _jobs(self) -> "Mapping[str, Job]":
        from tidings.kernel.durable.sweepers import SweepJob

        kernel, services = self.kernel, self.services
        stages = [*(self._notify_stages() if self._runs_notify else ())]
        stages += self._router_stages() if self._runs_router else ()
        stages.append(self.system_alerts)
        rescues = []
        if self._runs_notify:
            rescues += [
                self.dispatch.job.free_orphans,
                self.digests.free_orphans,
                self.batches.free_orphans,
                self.webhooks.free_orphans,
                self.backoffice.suggestions.free_orphans,
            ]
        if self._runs_router:
            rescues += [self.executions.free_orphans, self.conversations.free_orphans]
        kernel.presence.rescue(rescues, on_rescue=self._rescued)
        sweeps = {
            **kernel.sweeps(services),
            **{name: sweep for stage in stages for name, sweep in stage.sweeps().items()},
        }
        return {
            **kernel.jobs(services),
            **({**self.access.jobs(), **self.access.api_jobs()} if self._runs_notify else {}),
            "presence": kernel.presence,
            **{name: job for stage in stages for name, job in stage.jobs().items()},
            **(self._telling_jobs() if self._runs_notify else {}),
            **(self._jobs_for_others() if self.requests is not None else {}),
            "sweepers": SweepJob(sweeps, every=self.settings.jobs.sweep_every, metrics=kernel.metrics),
        }

    def _notify_stages(self) -> "Sequence[_WorkingStage]":
        return (
            self.notify,
            self.accept,
            self.events,
            self.triggers,
            self.dispatch,
            self.digests,
            self.batches,
            self.webhooks,
            self.inbox,
            self.backoffice,
            self.consumers,
        )

    def _router_stages(self) -> "Sequence[_WorkingStage]":
        return self.callbacks, self.conversations, self.vendors, self.executions

    def _invitation_mailer(self) -> "InvitationMailer":
        from tidings.notify.operator_notices.invite import AcceptedInvitations

        return AcceptedInvitations(self.accept.acceptor, self.clock)

    def _telling_jobs(self) -> "dict[str, Job]":
        """What tells operators of alerts, as recipients of their tenants."""
        from tidings.notify.operator_notices.send import AcceptedNotices

        notices = AcceptedNotices(self.accept.acceptor, self.clock)
        return self.system_alerts.telling_jobs(self.backoffice.parts, notices)

    def _jobs_for_others(self) -> "dict[str, Job]":
        """What processes of the other service need of this one."""
        jobs = self.apart.jobs()
        if self._runs_notify:
            self.apart.serve_steps(self.composition.gate)
            self.apart.serve_inboxes(self.inbox.deliverer)
        if self._runs_router:
            self.apart.serve_ledgers(self.executions)
            jobs["dispatch_requests"] = self.executions.requests
            jobs["urgent_dispatch_requests"] = self.executions.urgent_requests
        return jobs

    def checks(self) -> "Mapping[str, Check]":
        """What has to be well before a worker of these services is ready."""
        return {**self.kernel.checks(), **(self.apart.checks() if self.requests is not None else {})}

    def _rescued(self, count: int) -> None:
        self.kernel.metrics.claims_freed.inc(count)
        if self._runs_router:
            self.router.due_timer.look_now()
        if self._runs_notify:
            self.accept.dispatch_wake.set()
            self.batches.wake.set()
            self.webhooks.wake.set()


class _WorkingStage(Protocol):
    """A stage that has something to run."""

    def jobs(self) -> "dict[str, Job]":
        """By their names."""
        ...

    def sweeps(self) -> "dict[str, Sweep]":
        """By their names."""
        ...
