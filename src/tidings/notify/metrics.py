"""What notify counts."""

from tidings.kernel.metrics import API, Metrics, begin_at_zero


class NotifyMetrics:
    """Notify's metrics in the registry of the process."""

    def __init__(self, metrics: Metrics) -> None:
        self.api_key_seals_broken = metrics.counter(
            "tidings_api_key_seals_broken_total",
            "Look-ups of API keys whose row was not written by Tidings; each was refused.",
            by=API,
        )
        self.outcomes_missed = metrics.counter(
            "tidings_outcomes_missed_total",
            "Outcomes that did not reach their notification within half an hour: settled by a sweeper, or failed.",
            ("became",),
        )
        begin_at_zero(self.outcomes_missed, "settled", "failed")
        self.inbox_items = metrics.counter(
            "tidings_inbox_items_total",
            "Items of in-app inboxes, by what became of them: stored, read, acted, returned from a snooze, or expired.",
            ("became",),
        )
        begin_at_zero(self.inbox_items, "stored", "read", "acted", "returned", "expired")
        self.inbox_streams = metrics.gauge(
            "tidings_inbox_streams",
            "Live streams of inboxes that are open in this process, by transport: sse or ws.",
            ("transport",),
            by=API,
        )
        self.inbox_streams_refused = metrics.counter(
            "tidings_inbox_streams_refused_total",
            "Live streams that were not opened, by the limit that was reached: person, tenant or process.",
            ("limit",),
            by=API,
        )
        begin_at_zero(self.inbox_streams_refused, "person", "tenant", "process")
        self.inbox_streams_ended = metrics.counter(
            "tidings_inbox_streams_ended_total",
            "Live streams that ended, by why: client, token_expired, token_voided, tenant_closed, restarting or too_slow.",
            ("reason",),
            by=API,
        )
        begin_at_zero(self.inbox_streams_ended, "client", "too_slow")
        self.inbox_streams_reset = metrics.counter(
            "tidings_inbox_streams_reset_total",
            "Live streams that were told to reload, because they were too far behind.",
            by=API,
        )
        self.inbox_frames = metrics.counter(
            "tidings_inbox_frames_total", "Messages that live streams were given.", by=API
        )
        self.digests_flushed = metrics.counter(
            "tidings_digests_flushed_total",
            "Digest windows that were flushed, by how they ended: digest, single, empty or apart.",
            ("result",),
        )
        self.digests_overdue = metrics.gauge(
            "tidings_digest_overdue_seconds",
            "How long the oldest digest has been due that no worker has flushed; 0 where none is due.",
        )
        self.digests_open = metrics.gauge(
            "tidings_digest_windows_open", "Digest windows that are being gathered, at the last sweep."
        )
        self.webhook_calls = metrics.counter(
            "tidings_webhook_calls_total",
            "Calls of webhooks, by what became of the delivery: delivered, again or dead.",
            ("outcome",),
        )
        begin_at_zero(self.webhook_calls, "delivered", "again", "dead")
        self.webhooks_disabled = metrics.counter(
            "tidings_webhooks_disabled_total",
            "Webhooks that were disabled by themselves: after too many failures, or because they answered 410.",
            ("reason",),
        )
        begin_at_zero(self.webhooks_disabled, "failures", "gone")
        self.webhooks_overdue = metrics.gauge(
            "tidings_webhook_overdue_seconds",
            "How long the oldest webhook has been due that no worker has called; 0 where none is due.",
        )
        self.hand_overs_repeated = metrics.counter(
            "tidings_hand_overs_repeated_total",
            "Hand-overs that no router had taken some minutes after they were announced, and that were announced again.",
        )
        self.event_messages = metrics.counter(
            "tidings_event_messages_total",
            "Messages that other systems published and an event subscription brought, by what became of them: accepted, "
            "repeated or refused.",
            ("subscription", "result"),
        )
        self.event_subscriptions_troubled = metrics.gauge(
            "tidings_event_subscriptions_troubled",
            "Event subscriptions whose turn to be read is at this process, and which it can't read.",
        )
