"""What Tidings watches of itself: the sources of each service, and the job that makes alerts of them."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tidings.backoffice.alerts.alerts import Alerts
    from tidings.backoffice.system_alerts.watch import SystemAlerts
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.services import Service
    from tidings.contracts.conditions import ConditionSource, SystemHealth
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class SystemAlertsStage:
    """A part of the back office that runs wherever anything does."""

    def __init__(self, kernel: "KernelStage", services: "Collection[Service]") -> None:
        self._kernel = kernel
        self._services = services

    @cached_property
    def alerts(self) -> "Alerts":
        """Raises and ends them; a worker loads no more of the back office than that takes."""
        from tidings.backoffice.alerts.alerts import Alerts
        from tidings.backoffice.announcements.tell import Announcements

        kernel = self._kernel
        return Alerts(
            outbox=kernel.backoffice_outbox,
            announcements=Announcements(clock=kernel.clock),
            clock=kernel.clock,
        )

    @cached_property
    def sources(self) -> "Sequence[ConditionSource]":
        """Those that a worker of these services looks at."""
        from tidings.bootstrap.services import SCHEMAS
        from tidings.operations.conditions.bus import BusConditions

        kernel = self._kernel
        for service in self._services:
            for schema in SCHEMAS[service]:
                # A process without relays looks at their outboxes too.
                kernel.bus.backlog.watch_outbox(schema)
        found: list[ConditionSource] = [
            *self._everywhere,
            BusConditions(kernel.db, kernel.bus.backlog, kernel.clock, self._services),
        ]
        if "notify" in self._services:
            from tidings.notify.conditions.queue import QueueConditions
            from tidings.notify.conditions.tenants import TenantConditions

            found += [QueueConditions(kernel.db, kernel.clock), TenantConditions(kernel.db, kernel.clock)]
        if "router" in self._services:
            from tidings.router.conditions.vendors import VendorConditions

            found.append(VendorConditions(kernel.db, kernel.clock))
        return found

    def jobs(self) -> "dict[str, Job]":
        """What a worker runs."""
        from tidings.backoffice.system_alerts import webhook_letters
        from tidings.kernel.bus import Subscription

        jobs: dict[str, Job] = {"system_alerts": self.watch(self.sources)}
        if "notify" in self._services:
            jobs["webhook_letters"] = self._kernel.bus.consumer(
                Subscription(
                    webhook_letters.GROUP,
                    webhook_letters.SUBJECTS,
                    ledger="bff_backoffice",
                    on_tenant_events=webhook_letters.handler(self.alerts),
                )
            )
        return jobs

    def api_jobs(self) -> "dict[str, Job]":
        """What a process runs that only serves the API: somebody has to see that no worker is left."""
        return {"system_alerts": self.watch(self._everywhere)}

    def sweeps(self) -> "dict[str, Sweep]":
        """Processes that are long gone."""
        from tidings.kernel.durable.processes import sweep_processes

        async def processes(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                return await sweep_processes(tx, limit=most)

        return {"processes": processes}

    def watch(self, sources: "Sequence[ConditionSource]") -> "SystemAlerts":
        """The job over these sources."""
        from tidings.backoffice.system_alerts.watch import SystemAlerts

        kernel = self._kernel
        return SystemAlerts(
            sources,
            alerts=self.alerts,
            leases=kernel.hot_state.leases,
            db=kernel.db,
            clock=kernel.clock,
            metrics=kernel.metrics,
        )

    @cached_property
    def health(self) -> "SystemHealth":
        """How all of it is, for the platform's page."""
        from tidings.operations.conditions.health import StoredHealth

        return StoredHealth(self.sources, self._kernel.db, self._kernel.clock)

    @cached_property
    def _everywhere(self) -> "Sequence[ConditionSource]":
        from tidings.operations.conditions.partitions import PartitionConditions
        from tidings.operations.conditions.processes import ProcessConditions

        kernel = self._kernel
        return [ProcessConditions(kernel.db, kernel.clock), PartitionConditions(kernel.db, kernel.clock)]
