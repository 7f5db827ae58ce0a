"""What Tidings watches of itself: the sources of each service, and the job that makes alerts of them."""

from datetime import timedelta
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tidings.backoffice.alerts.alerts import Alerts
    from tidings.backoffice.system_alerts.watch import SystemAlerts
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.services import Service
    from tidings.contracts.conditions import ConditionSource, SystemHealth
    from tidings.contracts.operator_notices import OperatorNotices
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.parts import Parts
    from tidings.kernel.translations import Catalogue


#: Longer than anything is reminded of.
_NOTICES_KEPT: Final = timedelta(days=31)
#: Where the texts of alerts stand: what the console says, messages say too.
_TEXTS: Final = "tidings.backoffice.console.alerts"


def title_of(category: str, language: str) -> str:
    """What an alert of a category is called; in English where a language does not know it."""
    known = _catalogues()
    texts = known.get(language.partition("-")[0], known["en"]).texts
    return texts.get(f"alerts.title.{category}", category.replace("_", " "))


@cache
def _catalogues() -> "Mapping[str, Catalogue]":
    from tidings.kernel.translations import read_catalogues

    return read_catalogues(_TEXTS)


class SystemAlertsStage:
    """A part of the back office that runs wherever anything does."""

    def __init__(self, kernel: "KernelStage", services: "Collection[Service]") -> None:
        self._kernel = kernel
        self._services = services

    @cached_property
    def alerts(self) -> "Alerts":
        """Raises and ends them; a worker loads no more of the back office than that takes."""
        from tidings.backoffice.alerts.alerts import Alerts
        from tidings.backoffice.announcements.tell import DeviceAnnouncements

        kernel = self._kernel
        return Alerts(
            outbox=kernel.backoffice_outbox,
            announcements=DeviceAnnouncements(clock=kernel.clock),
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
            from tidings.notify.conditions.drafts import DraftConditions
            from tidings.notify.conditions.queue import QueueConditions
            from tidings.notify.conditions.tenants import TenantConditions

            found += [
                QueueConditions(kernel.db, kernel.clock),
                TenantConditions(kernel.db, kernel.clock),
                DraftConditions(kernel.db, kernel.clock),
            ]
        if "router" in self._services:
            from tidings.router.conditions.vendors import VendorConditions

            found.append(VendorConditions(kernel.db, kernel.clock))
            found.append(self._budgets)
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

    def telling_jobs(self, parts: "Parts", notices: "OperatorNotices") -> "dict[str, Job]":
        """What tells operators of alerts; `parts`: those of the back office, `notices`: notify's way in."""
        from tidings.backoffice.alert_notices.subscribe import AlertSubscriber
        from tidings.backoffice.alert_notices.tell import AlertTeller
        from tidings.backoffice.operators.people import OperatorPeople
        from tidings.backoffice.own_url import ConsoleUrl
        from tidings.kernel.ids import TENANT

        kernel = self._kernel
        tenant = kernel.settings.jobs.alerts_tenant
        teller = AlertTeller(
            db=kernel.db,
            leases=kernel.hot_state.leases,
            people=parts.get(OperatorPeople),
            subscriber=parts.get(AlertSubscriber),
            notices=notices,
            url=parts.get(ConsoleUrl),
            clock=kernel.clock,
            title_of=title_of,
            of_platform=None if tenant is None else TENANT.parse(tenant, field="TIDINGS_ALERTS_TENANT"),
        )
        return {"alert_notices": teller}

    def api_jobs(self) -> "dict[str, Job]":
        """What a process runs that only serves the API: somebody has to see that no worker is left."""
        return {"system_alerts": self.watch(self._everywhere)}

    def sweeps(self) -> "dict[str, Sweep]":
        """Processes that are long gone."""
        from tidings.backoffice.alert_notices.store import sweep_notices
        from tidings.kernel.durable.processes import sweep_processes

        async def notices(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                before = self._kernel.clock.now() - _NOTICES_KEPT
                return await sweep_notices(tx, before=before, limit=most)

        async def processes(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                return await sweep_processes(tx, limit=most)

        if "notify" not in self._services:
            return {"processes": processes}
        return {"processes": processes, "alert_notices": notices}

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

    @property
    def _budgets(self) -> "ConditionSource":
        from tidings.backoffice.system_alerts.budgets import BudgetConditions, Budgets
        from tidings.router.spend.tell_spend import StoredSpend

        kernel = self._kernel
        budgets = Budgets(audit=kernel.backoffice_audit, clock=kernel.clock)
        return BudgetConditions(kernel.db, kernel.clock, budgets, StoredSpend())

    @cached_property
    def _everywhere(self) -> "Sequence[ConditionSource]":
        from tidings.operations.conditions.partitions import PartitionConditions
        from tidings.operations.conditions.processes import ProcessConditions

        kernel = self._kernel
        return [ProcessConditions(kernel.db, kernel.clock), PartitionConditions(kernel.db, kernel.clock)]
