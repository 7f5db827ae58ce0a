"""Observers that count what happens in the kernel. They import nothing of the router, for commands that need only the bus."""

from tidings.kernel.bus import BusObserver
from tidings.kernel.metrics import Metrics


class HotStateMetrics:
    """Tells who counts limits."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def changed(self, leader: str, reason: str) -> None:  # noqa: ARG002  # the log has it
        self._metrics.hot_state_changes.labels(leader).inc()
        self._metrics.hot_state_degraded.set(leader == "postgres")


class BusMetrics(BusObserver):
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
        # There before the first letter: Prometheus sees no increase in a counter that is new to it.
        self._metrics.dead_letters.labels(group)

    def engine_connected(self, connected: bool) -> None:  # noqa: FBT001  # its only argument
        self._metrics.bus_degraded.set(not connected)
