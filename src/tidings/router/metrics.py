"""What the router counts: calls of vendors, circuits, callbacks, mails that came back, what people wrote."""

from typing import Final

from tidings.kernel.metrics import API, FAST, JOBS, Metrics, begin_at_zero

_SLOW: Final = (*FAST, 60, 600, 3600)


class RouterMetrics:
    """The router's metrics in the registry of the process."""

    def __init__(self, metrics: Metrics) -> None:
        #: The kernel's, which the router's jobs count too.
        self.job_failures = metrics.job_failures

        self.vendor_calls = metrics.counter(
            "tidings_vendor_calls_total",
            "Messages handed to vendors, by what came of it.",
            ("vendor", "status"),
        )
        self.vendor_seconds = metrics.histogram(
            "tidings_vendor_set_seconds",
            "Time a vendor took for a set of messages.",
            ("vendor",),
            buckets=(*FAST, 30, 60, 180),
        )
        self.outcomes = metrics.counter(
            "tidings_outcomes_total", "Notifications that came to an end.", ("result",)
        )
        self.claims_lost = metrics.counter(
            "tidings_claims_lost_total",
            "Answers of vendors that came when the work was another worker's already.",
        )
        self.answers_recovered = metrics.counter(
            "tidings_answers_recovered_total",
            "Answers of vendors that were found in the journal of a worker that had died before it recorded them.",
        )

        self.statistics_rolled_up = metrics.counter(
            "tidings_statistics_rolled_up_total",
            "Ended executions that were added to the statistics.",
        )

        self.circuits_not_closed = metrics.gauge(
            "tidings_circuits_not_closed",
            "Vendor accounts whose circuit is open or being tried again.",
            ("state",),
        )
        self.circuit_changes = metrics.counter(
            "tidings_circuit_changes_total",
            "Changes of circuits, by the state from then on.",
            ("vendor", "state"),
        )
        self.weight_points_moved = metrics.counter(
            "tidings_weight_points_moved_total",
            "Points of a channel's traffic moved from one vendor to another.",
            ("channel",),
        )

        # Vendors call the API; some report over a connection of the worker's.
        self.callbacks_received = metrics.counter(
            "tidings_callbacks_received_total",
            "Events that vendors reported, new or repeated.",
            ("vendor", "kind"),
            by=API | JOBS,
        )
        self.callbacks_refused = metrics.counter(
            "tidings_callbacks_refused_total",
            "Callback requests that were refused, by reason; and unreadable receipts over a vendor's connection.",
            ("vendor", "reason"),
            by=API | JOBS,
        )
        self.callbacks_applied = metrics.counter(
            "tidings_callbacks_applied_total", "Events that found their attempts."
        )
        self.callbacks_lag = metrics.histogram(
            "tidings_callbacks_lag_seconds",
            "Oldest event of a set that was applied: from its arrival to its attempt.",
            buckets=_SLOW,
        )
        self.callbacks_late = metrics.counter(
            "tidings_callbacks_late_total", "Looks for an event's attempt that found none yet."
        )
        self.callbacks_dead = metrics.counter(
            "tidings_callbacks_dead_total", "Events that were given up because no attempt is theirs."
        )
        self.callbacks_waiting = metrics.gauge(
            "tidings_callbacks_waiting_seconds",
            "How long the oldest event that was never looked at has waited; 0 where there is none.",
        )
        self.bounce_mails = metrics.counter(
            "tidings_bounce_mails_total",
            "Mails that came back, by how they came and what became of them.",
            ("via", "result"),
        )

        self.inbound_taken = metrics.counter(
            "tidings_inbound_messages_total",
            "Inbound messages: stored in a conversation, unmatched, or dead.",
            ("kind",),
        )
        self.inbound_lag = metrics.histogram(
            "tidings_inbound_lag_seconds",
            "Oldest inbound message of a set: from its arrival to its conversation.",
            buckets=_SLOW,
        )
        self.inbound_waiting = metrics.gauge(
            "tidings_inbound_waiting_seconds",
            "How long the oldest inbound message that was never looked at has waited; 0 where there is none.",
        )
        self.inbound_keywords = metrics.counter(
            "tidings_inbound_keywords_total", "STOP, START and HELP, in whatever language.", ("keyword",)
        )
        self.keyword_confirmations = metrics.counter(
            "tidings_keyword_confirmations_total",
            "Confirmations of keywords, by what became of them.",
            ("outcome",),
        )
        self.inbound_deliveries = metrics.counter(
            "tidings_inbound_deliveries_total",
            "Webhook calls with what people wrote to a tenant, by what became of them.",
            ("outcome",),
        )
        begin_at_zero(self.inbound_taken, "taken", "unmatched", "dead")
        begin_at_zero(self.inbound_deliveries, "dead")
