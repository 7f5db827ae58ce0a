"""Parts that count what happens, each in the words of whoever it watches."""

from tidings.kernel.metrics import Metrics


class RouterMetrics:
    """Counts what becomes of messages."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def called(self, vendor: str, status: str, count: int, seconds: float) -> None:
        self._metrics.vendor_calls.labels(vendor, status).inc(count)
        self._metrics.vendor_seconds.labels(vendor).observe(seconds)

    def ended(self, result: str, count: int) -> None:
        self._metrics.outcomes.labels(result).inc(count)

    def lost(self, count: int) -> None:
        self._metrics.claims_lost.inc(count)

    def failed(self, part: str) -> None:
        self._metrics.job_failures.labels(part).inc()


class BusMetrics:
    """Counts what happens on the bus."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def relayed(self, outbox: str, count: int, lag_seconds: float) -> None:
        self._metrics.relayed.labels(outbox).inc(count)
        self._metrics.relay_lag.observe(lag_seconds)

    def consumed(self, group: str, count: int) -> None:
        self._metrics.consumed.labels(group).inc(count)

    def parked(self, group: str, count: int) -> None:
        self._metrics.parked.labels(group).inc(count)

    def died(self, group: str, count: int) -> None:
        self._metrics.dead_letters.labels(group).inc(count)

    def took_over(self, group: str) -> None:
        self._metrics.takeovers.labels(group).inc()

    def failed(self, part: str) -> None:
        self._metrics.job_failures.labels(part).inc()

    def waiting(self, outbox: str, seconds: float) -> None:
        self._metrics.outbox_waiting.labels(outbox).set(seconds)

    def behind(self, group: str, seconds: float) -> None:
        self._metrics.group_behind.labels(group).set(seconds)
