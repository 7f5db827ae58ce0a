"""The metrics of a process, every one of them declared here and listed in `docs/metrics.md`.

Labels are few and closed: a part, a role, a status. Never a tenant's words, an address or a free text.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

#: What the API counts: requests and their keys. All else is counted where jobs run, or where either does.
_OF_THE_API = frozenset(
    {"tidings_http_requests", "tidings_http_request_seconds", "tidings_api_key_seals_broken"}
)
_OF_BOTH = frozenset(
    {
        # Vendors call the API; some tell over a connection of the worker's.
        "tidings_callbacks_received",
        "tidings_callbacks_refused",
        "tidings_job_failures",
        "tidings_job_overdue_seconds",
        "tidings_hot_state_degraded",
        "tidings_hot_state_changes",
    }
)

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
        self.api_key_seals_broken = Counter(
            "tidings_api_key_seals_broken_total",
            "Look-ups of API keys whose row was not written by Tidings; nobody was let in.",
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
        self.hot_state_degraded = Gauge(
            "tidings_hot_state_degraded",
            "1 while Postgres counts limits because Redis failed; 0 otherwise.",
            registry=self.registry,
        )
        self.hot_state_changes = Counter(
            "tidings_hot_state_changes_total",
            "Changes of who counts limits, by who does from then on: redis or postgres.",
            ("hand",),
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
        self.job_overdue = Gauge(
            "tidings_job_overdue_seconds",
            "How long the next turn of a job has been due; 0 where it is not due yet.",
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
        self.outcomes_missed = Counter(
            "tidings_outcomes_missed_total",
            "Outcomes that did not reach their notification within half an hour: settled by a sweeper, or failed.",
            ("became",),
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

        self.circuits_not_closed = Gauge(
            "tidings_circuits_not_closed",
            "Vendor accounts whose circuit is open or being tried again.",
            ("state",),
            registry=self.registry,
        )
        self.circuit_changes = Counter(
            "tidings_circuit_changes_total",
            "Changes of circuits, by the state from then on.",
            ("vendor", "state"),
            registry=self.registry,
        )
        self.weight_points_moved = Counter(
            "tidings_weight_points_moved_total",
            "Points of a channel's traffic moved from one vendor to another.",
            ("channel",),
            registry=self.registry,
        )

        self.callbacks_received = Counter(
            "tidings_callbacks_received_total",
            "Events that vendors reported, new or repeated.",
            ("vendor", "kind"),
            registry=self.registry,
        )
        self.callbacks_refused = Counter(
            "tidings_callbacks_refused_total",
            "Callback requests that were not taken, by why; and receipts over a vendor's connection that nobody could read.",
            ("vendor", "reason"),
            registry=self.registry,
        )
        self.callbacks_applied = Counter(
            "tidings_callbacks_applied_total",
            "Events that found their attempts.",
            registry=self.registry,
        )
        self.callbacks_lag = Histogram(
            "tidings_callbacks_lag_seconds",
            "Oldest event of a set that was applied: from its arrival to its attempt.",
            buckets=(*_FAST, 60, 600, 3600),
            registry=self.registry,
        )
        self.callbacks_late = Counter(
            "tidings_callbacks_late_total",
            "Looks for an event's attempt that found none yet.",
            registry=self.registry,
        )
        self.callbacks_dead = Counter(
            "tidings_callbacks_dead_total",
            "Events that were given up because no attempt is theirs.",
            registry=self.registry,
        )
        self.callbacks_waiting = Gauge(
            "tidings_callbacks_waiting_seconds",
            "How long the oldest event that was never looked at has waited; 0 where there is none.",
            registry=self.registry,
        )
        self.bounce_mails = Counter(
            "tidings_bounce_mails_total",
            "Mails that came back, by how they came and what became of them.",
            ("via", "result"),
            registry=self.registry,
        )

        self.inbound_taken = Counter(
            "tidings_inbound_messages_total",
            "What people wrote: taken into a conversation, nobody's, or given up.",
            ("kind",),
            registry=self.registry,
        )
        self.inbound_lag = Histogram(
            "tidings_inbound_lag_seconds",
            "Oldest inbound message of a set: from its arrival to its conversation.",
            buckets=(*_FAST, 60, 600, 3600),
            registry=self.registry,
        )
        self.inbound_waiting = Gauge(
            "tidings_inbound_waiting_seconds",
            "How long the oldest inbound message that was never looked at has waited; 0 where there is none.",
            registry=self.registry,
        )
        self.inbound_keywords = Counter(
            "tidings_inbound_keywords_total",
            "STOP, START and HELP, in whatever language.",
            ("keyword",),
            registry=self.registry,
        )
        self.keyword_confirmations = Counter(
            "tidings_keyword_confirmations_total",
            "Confirmations of keywords, by what became of them.",
            ("outcome",),
            registry=self.registry,
        )
        self.inbound_deliveries = Counter(
            "tidings_inbound_deliveries_total",
            "Webhook calls with what people wrote to a tenant, by what became of them.",
            ("outcome",),
            registry=self.registry,
        )

        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        """Prometheus sees no increase in a counter that is new to it: what one of them alarms about is there from the start."""
        for kind in ("taken", "unmatched", "dead"):
            self.inbound_taken.labels(kind)
        self.inbound_deliveries.labels("dead")
        for log in ("notification", "chan"):
            self.audit_broken.labels(log)
        for became in ("settled", "failed"):
            self.outcomes_missed.labels(became)

    def counted_by(self, family: str) -> frozenset[str]:
        """The roles whose processes count it: `api` (`tidings serve`), `jobs` (`tidings work`); `tidings up` has both."""
        if family in _OF_BOTH:
            return frozenset({"api", "jobs"})
        return frozenset({"api"} if family in _OF_THE_API else {"jobs"})

    def render(self) -> bytes:
        """The text that a Prometheus server reads."""
        return generate_latest(self.registry)
