"""The health of the installation as JSON."""

from collections import Counter
from typing import Literal

from msgspec import Struct

from tidings.contracts.backoffice import AlertSeverity
from tidings.contracts.conditions import Condition, HealthReport, ProcessHealth
from tidings.contracts.moments import Moment
from tidings.kernel.mapping import by_name


class LateJobView(Struct, frozen=True, kw_only=True):
    """A job whose turn is overdue."""

    job: str
    seconds: int


class ProcessView(Struct, frozen=True, kw_only=True):
    """A process of this installation, as it last reported."""

    id: str
    #: `api`, `jobs`, or both with a plus between.
    role: str
    services: str
    version: str
    host: str
    pid: int
    #: `stopped`: it said that it ends; `gone`: it has said nothing for a minute.
    state: Literal["running", "stopped", "gone"]
    started_at: Moment
    seen_at: Moment
    #: How many jobs it runs.
    jobs: int
    late_jobs: list[LateJobView]

    @classmethod
    def of(cls, process: ProcessHealth) -> "ProcessView":
        """The process."""
        late = [LateJobView(job=one.job, seconds=one.seconds) for one in process.late_jobs]
        return by_name(cls, process, late_jobs=late)


class FigureView(Struct, frozen=True, kw_only=True):
    """A number of how a part is."""

    #: `queue_depth`, `queue_seconds`, `outbox_seconds`, `partitions_missing`, `circuits_not_closed` and the like.
    name: str
    #: Of what, where there are several: the schema of an outbox.
    about: str
    value: int


class ConditionView(Struct, frozen=True, kw_only=True):
    """Something of the platform's is wrong."""

    category: str
    severity: AlertSeverity
    facts: dict[str, str | int]

    @classmethod
    def of(cls, condition: Condition) -> "ConditionView":
        """The condition."""
        return by_name(cls, condition, facts=dict(condition.facts))


class TenantTrouble(Struct, frozen=True, kw_only=True):
    """How many tenants have an open matter of a category."""

    category: str
    tenants: int


class HealthView(Struct, frozen=True, kw_only=True):
    """How the installation is."""

    looked_at: Moment
    #: Those that run, and those that ended within an hour.
    processes: list[ProcessView]
    figures: list[FigureView]
    #: What is wrong with the platform.
    conditions: list[ConditionView]
    #: What is wrong with tenants' own things, counted.
    of_tenants: list[TenantTrouble]
    #: Parts that could not be looked at.
    blind: list[str]

    @classmethod
    def of(cls, report: HealthReport) -> "HealthView":
        """The report."""
        troubled = {(one.category, one.tenant_id) for one in report.conditions if one.tenant_id}
        tenants = Counter(category for category, _ in troubled)
        return cls(
            looked_at=report.looked_at,
            processes=[ProcessView.of(one) for one in report.processes],
            figures=[by_name(FigureView, one) for one in report.figures],
            conditions=[ConditionView.of(one) for one in report.conditions if one.tenant_id is None],
            of_tenants=[
                TenantTrouble(category=category, tenants=count) for category, count in sorted(tenants.items())
            ],
            blind=list(report.blind),
        )
