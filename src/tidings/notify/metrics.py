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
