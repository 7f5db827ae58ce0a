"""The metrics of a process, every one of them declared here and listed in `docs/metrics.md`.

Labels are few and closed: a part, a role, a status. Never a tenant's words, an address or a free text.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """One registry and what is in it; a test makes its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "tidings_http_requests_total",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.request_seconds = Histogram(
            "tidings_http_request_seconds",
            "Time to answer.",
            ("method", "route"),
            buckets=_FAST,
            registry=self.registry,
        )
        self.relayed = Counter(
            "tidings_bus_relayed_total",
            "Events moved from an outbox to the bus.",
            ("outbox",),
            registry=self.registry,
        )
        self.relay_lag = Histogram(
            "tidings_bus_relay_lag_seconds",
            "Commit of an event to its place on the bus.",
            buckets=_FAST,
            registry=self.registry,
        )
        self.consumed = Counter(
            "tidings_bus_consumed_total",
            "Events handled, by consumer group.",
            ("group",),
            registry=self.registry,
        )
        self.parked = Counter(
            "tidings_bus_parked_total",
            "Events set aside to be tried again.",
            ("group",),
            registry=self.registry,
        )
        self.dead_letters = Counter(
            "tidings_bus_dead_letters_total", "Events given up on.", ("group",), registry=self.registry
        )
        self.takeovers = Counter(
            "tidings_bus_lease_takeovers_total",
            "Leases taken over from a process that died.",
            ("group",),
            registry=self.registry,
        )
        self.outbox_waiting = Gauge(
            "tidings_bus_outbox_waiting_seconds",
            "How long the oldest event in an outbox has waited for a relay; 0 where none waits.",
            ("outbox",),
            registry=self.registry,
        )
        self.group_behind = Gauge(
            "tidings_bus_group_behind_seconds",
            "How long the oldest event that a consumer group has not read has been on the bus; 0 where there is none.",
            ("group",),
            registry=self.registry,
        )
        self.swept = Counter(
            "tidings_swept_rows_total",
            "Expired rows removed, by sweeper.",
            ("sweeper",),
            registry=self.registry,
        )
        self.missing_partitions = Gauge(
            "tidings_partitions_missing",
            "Partitions that should exist by now and do not.",
            ("parent",),
            registry=self.registry,
        )
        self.job_failures = Counter(
            "tidings_job_failures_total",
            "Runs of a job that ended in an error.",
            ("job",),
            registry=self.registry,
        )

        self.audit_broken = Counter(
            "tidings_audit_broken_total",
            "Times a log was not anchored because it is not as it was written.",
            ("log",),
            registry=self.registry,
        )

        self.vendor_calls = Counter(
            "tidings_vendor_calls_total",
            "Messages handed to vendors, by what came of it.",
            ("vendor", "status"),
            registry=self.registry,
        )
        self.vendor_seconds = Histogram(
            "tidings_vendor_set_seconds",
            "Time a vendor took for a set of messages.",
            ("vendor",),
            buckets=(*_FAST, 30, 60, 180),
            registry=self.registry,
        )
        self.outcomes = Counter(
            "tidings_outcomes_total",
            "Notifications that came to an end.",
            ("result",),
            registry=self.registry,
        )
        self.claims_freed = Counter(
            "tidings_claims_freed_total",
            "Claims freed because their worker had died.",
            registry=self.registry,
        )
        self.claims_lost = Counter(
            "tidings_claims_lost_total",
            "Answers of vendors that came when the work was another worker's already.",
            registry=self.registry,
        )

    def render(self) -> bytes:
        """The text that a Prometheus server reads."""
        return generate_latest(self.registry)
