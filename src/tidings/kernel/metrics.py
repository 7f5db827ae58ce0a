"""The registry of a process's metrics, and those of the kernel; each service declares its own in its `metrics.py`.

Labels are few and closed: a part, a role, a status. Never a tenant's words, an address or a free text.
`docs/metrics.md` lists every metric.
"""

from collections.abc import Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from tidings.kernel.audit.record import AUDIT_SCHEMAS

#: Buckets of a histogram for what takes milliseconds.
FAST: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

#: The roles whose processes count a metric: `tidings serve`, `tidings work`; `tidings up` has both.
API: Final = frozenset({"api"})
JOBS: Final = frozenset({"jobs"})


class Metrics:
    """One registry and what is in it; a test makes its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counted_by: dict[str, frozenset[str]] = {}
        self.requests = self.counter(
            "tidings_http_requests_total", "Requests answered.", ("method", "route", "status"), by=API
        )
        self.request_seconds = self.histogram(
            "tidings_http_request_seconds", "Time to answer.", ("method", "route"), by=API
        )
        self.relayed = self.counter(
            "tidings_bus_relayed_total", "Events moved from an outbox to the bus.", ("outbox",)
        )
        self.relay_lag = self.histogram(
            "tidings_bus_relay_lag_seconds", "Commit of an event to its place on the bus."
        )
        self.consumed = self.counter(
            "tidings_bus_consumed_total", "Events handled, by consumer group.", ("group",)
        )
        self.parked = self.counter(
            "tidings_bus_parked_total", "Events set aside to be tried again.", ("group",)
        )
        self.dead_letters = self.counter("tidings_bus_dead_letters_total", "Events given up on.", ("group",))
        self.takeovers = self.counter(
            "tidings_bus_lease_takeovers_total", "Leases taken over from a process that died.", ("group",)
        )
        self.outbox_waiting = self.gauge(
            "tidings_bus_outbox_waiting_seconds",
            "How long the oldest event in an outbox has waited for a relay; 0 where none waits.",
            ("outbox",),
        )
        self.group_behind = self.gauge(
            "tidings_bus_group_behind_seconds",
            "How long the oldest event that a consumer group has not read has been on the bus; 0 where there is none.",
            ("group",),
        )
        self.bus_degraded = self.gauge(
            "tidings_bus_degraded",
            "1 while NATS can't be reached and events wait in the outboxes; 0 otherwise.",
            by=API | JOBS,
        )
        self.hot_state_degraded = self.gauge(
            "tidings_hot_state_degraded",
            "1 while Postgres counts limits because Redis failed; 0 otherwise.",
            by=API | JOBS,
        )
        self.hot_state_changes = self.counter(
            "tidings_hot_state_changes_total",
            "Changes of who counts limits, by who does from then on: redis or postgres.",
            ("hand",),
            by=API | JOBS,
        )
        self.swept = self.counter(
            "tidings_swept_rows_total", "Expired rows removed, by sweeper.", ("sweeper",)
        )
        self.missing_partitions = self.gauge(
            "tidings_partitions_missing", "Partitions that should exist by now and do not.", ("parent",)
        )
        self.job_failures = self.counter(
            "tidings_job_failures_total", "Runs of a job that ended in an error.", ("job",), by=API | JOBS
        )
        self.job_overdue = self.gauge(
            "tidings_job_overdue_seconds",
            "How long the next turn of a job has been due; 0 where it is not due yet.",
            ("job",),
            by=API | JOBS,
        )
        self.audit_broken = self.counter(
            "tidings_audit_broken_total",
            "Times a log was not anchored because it is not as it was written.",
            ("log",),
        )
        begin_at_zero(self.audit_broken, *AUDIT_SCHEMAS)
        self.claims_freed = self.counter(
            "tidings_claims_freed_total", "Claims freed because their worker had died."
        )
        self.journal_missed = self.counter(
            "tidings_journal_missed_total",
            "Entries that could not be written to the journal on the local disk: a killed process forgets these.",
            by=API | JOBS,
        )
        self.activity = self.counter(
            "tidings_operator_activity_total",
            "Rows of the activity ledger, by where they went: database; journal, on the local disk while the database was away; missed, nowhere.",
            ("where",),
            by=API,
        )

    def counter(
        self, name: str, about: str, labels: Sequence[str] = (), *, by: frozenset[str] = JOBS
    ) -> Counter:
        """Declare a counter; its name ends in `_total`."""
        self._counted_by[name.removesuffix("_total")] = by
        return Counter(name, about, labels, registry=self.registry)

    def gauge(self, name: str, about: str, labels: Sequence[str] = (), *, by: frozenset[str] = JOBS) -> Gauge:
        """Declare a gauge."""
        self._counted_by[name] = by
        return Gauge(name, about, labels, registry=self.registry)

    def histogram(
        self,
        name: str,
        about: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float] = FAST,
        by: frozenset[str] = JOBS,
    ) -> Histogram:
        """Declare a histogram."""
        self._counted_by[name] = by
        return Histogram(name, about, labels, buckets=buckets, registry=self.registry)

    def counted_by(self, family: str) -> frozenset[str]:
        """The roles whose processes count it."""
        return self._counted_by[family]

    def render(self) -> bytes:
        """The text that a Prometheus server reads."""
        return generate_latest(self.registry)


def begin_at_zero(counter: Counter, *values: str) -> None:
    """Prometheus sees no increase in a counter that is new to it: what an alert rule asks about is there from the start."""
    for value in values:
        counter.labels(value)
