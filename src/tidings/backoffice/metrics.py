"""What the back office counts."""

from tidings.kernel.metrics import API, JOBS, Metrics


class BackofficeMetrics:
    """The back office's metrics in the registry of the process."""

    def __init__(self, metrics: Metrics) -> None:
        self.upstream_calls = metrics.counter(
            "tidings_upstream_calls_total",
            "Calls of upstream services, each attempt by itself, by what became of them: answered, or why there was no usable "
            "answer (connection, timeout, broken_off, error, schema, refused, circuit_open, busy).",
            ("upstream", "result"),
            by=API | JOBS,
        )
        self.upstream_seconds = metrics.histogram(
            "tidings_upstream_seconds",
            "How long an attempt to reach an upstream service took.",
            ("upstream",),
            by=API | JOBS,
        )
        self.upstream_circuits = metrics.gauge(
            "tidings_upstream_circuits_not_closed",
            "Tenants for whom this process spares an upstream service after failures, or probes it.",
            ("upstream",),
            by=API | JOBS,
        )
        self.views = metrics.counter(
            "tidings_views_total",
            "Dashboards, boards and lists of properties that were asked for, by where they came from: this process' memory (hit, "
            "stale where they are made anew beside it), another request that was making it (joined), another process (shared), the "
            "upstream services (made).",
            ("view", "result"),
            by=API,
        )
        self.views_partial = metrics.counter(
            "tidings_views_partial_total",
            "Views that were made without the answer of an upstream service.",
            ("view", "upstream"),
            by=API,
        )
        self.view_cache_away = metrics.gauge(
            "tidings_view_cache_away",
            "1 while the shared cache of views (TIDINGS_CACHE_URL) does not answer and each process makes its own; 0 otherwise.",
            by=API | JOBS,
        )
        self.exports = metrics.counter(
            "tidings_exports_total", "Parquet files of ledgers that were written and read back.", ("ledger",)
        )
        self.export_failures = metrics.counter(
            "tidings_export_failures_total",
            "Exports of a ledger that ended in an error; the next hour tries again.",
            ("ledger",),
        )
        self.lock_actions_settled = metrics.counter(
            "tidings_lock_actions_settled_total",
            "Lock actions whose answer was not learned at once, by how they ended; unknown: a day went by.",
            ("outcome",),
        )
