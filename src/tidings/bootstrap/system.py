"""One process' Tidings, built in stages: each takes the stages that it needs, and is made when a role first asks for it.

A role is a choice: `app` is what the API serves, `jobs()` is what a worker runs, and `tidings up` does both. A command
takes the stage it needs, and pays for no other. Tests build the same `System` over their own database.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from tidings.bootstrap.kernel import KernelStage
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.callbacks import CallbacksStage
    from tidings.bootstrap.composition import CompositionStage
    from tidings.bootstrap.consumers import ConsumersStage
    from tidings.bootstrap.conversations import ConversationsStage
    from tidings.bootstrap.dispatch import DispatchStage
    from tidings.bootstrap.executions import ExecutionsStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.bootstrap.router import RouterStage
    from tidings.bootstrap.vendors import VendorsStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.http.app import HttpApp
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
    ) -> None:
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

        return VendorsStage(self.kernel, self.router, self.callbacks)

    @cached_property
    def accept(self) -> "AcceptStage":
        """From a request into the queue."""
        from tidings.bootstrap.accept import AcceptStage

        return AcceptStage(self.kernel, self.access, self.notify)

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
            preparer=self.composition.gate,
            settler=self.notify.settler,
        )

    @cached_property
    def dispatch(self) -> "DispatchStage":
        """From the queue to the router."""
        from tidings.bootstrap.dispatch import DispatchStage

        return DispatchStage(self.kernel, self.notify, self.accept, self.executions)

    @cached_property
    def consumers(self) -> "ConsumersStage":
        """What is heard over the bus."""
        from tidings.bootstrap.consumers import ConsumersStage

        return ConsumersStage(self.kernel, self.access, self.notify, self.accept)

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
            sent_notes = self.conversations.sent_notes
            # A typo or a forgotten migration is found now, not when the statement is first needed.
            await self.db.check_statements()
            async with self.db.platform() as tx:
                await seed(tx, ADAPTERS.values(), now=self.clock.now())
            await sent_notes.get_ready()
            # A key file that is not the one the data was sealed with: better now than at the first person.
            await check_master_keys(self.db, kernel.kms)
            await kernel.origins.get_ready()
            # At once, and not at the first call: what is written until then would be sealed along with the others.
            await self.access.key_ledger.seals.get_ready()
            await self.router.return_tokens.get_ready()
        except BaseException:
            await kernel.closing.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.kernel.closing.aclose()

    #: Jobs that end after the others: as long as those deal with what they have claimed, this worker is alive.
    LAST_JOBS: ClassVar = frozenset({"presence"})

    def api_jobs(self) -> "Mapping[str, Job]":
        """The few jobs that a process needs for its own sake, though it only serves the API."""
        return {**self.kernel.api_jobs(), **self.access.api_jobs()}

    def warm_up(self, roles: Collection[str]) -> "Job":
        """What warms the caches of a process with these roles."""
        from tidings.bootstrap.warm_up import cache_warmer

        return cache_warmer(self, roles)

    def jobs(self) -> "Mapping[str, Job]":
        """What a worker runs, beside the API or alone; any number of processes may run them at once."""
        return self._jobs

    @cached_property
    def _jobs(self) -> "Mapping[str, Job]":
        from tidings.kernel.durable.sweepers import SweepJob

        kernel, dispatch = self.kernel, self.dispatch
        sweeping = (
            kernel,
            self.notify,
            self.accept,
            self.callbacks,
            self.conversations,
            self.executions,
            dispatch,
            self.consumers,
        )
        kernel.presence.rescue(
            [dispatch.job.free_orphans, self.executions.free_orphans, self.conversations.free_orphans],
            on_rescue=self._rescued,
        )
        return {
            **kernel.jobs(),
            **self.access.jobs(),
            **self.notify.jobs(),
            **self.access.api_jobs(),
            "presence": kernel.presence,
            **dispatch.jobs(),
            **self.executions.jobs(),
            **self.vendors.jobs(),
            **self.callbacks.jobs(),
            **self.conversations.jobs(),
            **self.consumers.jobs(),
            "sweepers": SweepJob(
                {name: sweep for stage in sweeping for name, sweep in stage.sweeps().items()},
                every=self.settings.jobs.sweep_every,
                metrics=kernel.metrics,
            ),
        }

    def _rescued(self, count: int) -> None:
        self.kernel.metrics.claims_freed.inc(count)
        self.router.due_timer.look_now()
        self.accept.dispatch_wake.set()
