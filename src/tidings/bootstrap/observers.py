"""Observers that count what happens in the services, each in the words of the part that it watches."""

from collections.abc import Sequence

from tidings.notify.event_subscriptions.reader import SubscriptionObserver
from tidings.notify.ids import EventSubscriptionId
from tidings.notify.metrics import NotifyMetrics
from tidings.notify.webhooks.observer import WebhookObserver
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.conversations.model import ConversationObserver
from tidings.router.executions.model import ExecutionObserver
from tidings.router.metrics import RouterMetrics
from tidings.router.traffic.observe import TrafficObserver
from tidings.router.traffic.traffic_state import AccountCircuit


class ExecutionMetrics(ExecutionObserver):
    """Counts what becomes of messages."""

    def __init__(self, metrics: RouterMetrics) -> None:
        self._metrics = metrics

    def called(self, vendor: str, status: str, count: int, seconds: float) -> None:
        self._metrics.vendor_calls.labels(vendor, status).inc(count)
        self._metrics.vendor_seconds.labels(vendor).observe(seconds)

    def ended(self, result: str, count: int) -> None:
        self._metrics.outcomes.labels(result).inc(count)

    def lost(self, count: int) -> None:
        self._metrics.claims_lost.inc(count)

    def recovered(self, count: int) -> None:
        self._metrics.answers_recovered.inc(count)

    def failed(self, part: str) -> None:
        self._metrics.job_failures.labels(part).inc()


class TrafficMetrics(TrafficObserver):
    """Counts what becomes of vendors."""

    def __init__(self, metrics: RouterMetrics) -> None:
        self._metrics = metrics

    def circuits(self, barred: Sequence[AccountCircuit]) -> None:
        for state in ("OPEN", "HALF_OPEN"):
            count = sum(one.circuit.state == state for one in barred)
            self._metrics.circuits_not_closed.labels(state).set(count)

    def changed(self, vendor: str, state: str) -> None:
        self._metrics.circuit_changes.labels(vendor, state).inc()

    def moved(self, channel: str, frm: str, to: str, points: int) -> None:  # noqa: ARG002
        self._metrics.weight_points_moved.labels(channel).inc(points)


class CallbackMetrics(CallbackObserver):
    """Counts what vendors tell later."""

    def __init__(self, metrics: RouterMetrics) -> None:
        self._metrics = metrics

    def received(self, vendor: str, count: int, repeated: int) -> None:
        self._metrics.callbacks_received.labels(vendor, "new").inc(count)
        self._metrics.callbacks_received.labels(vendor, "repeated").inc(repeated)
        # There from the start, so that the first one is an increase that an alert sees.
        self._metrics.callbacks_refused.labels(vendor, "unreadable")

    def refused(self, vendor: str, code: str) -> None:
        self._metrics.callbacks_refused.labels(vendor, code).inc()

    def applied(self, count: int, seconds: float) -> None:
        self._metrics.callbacks_applied.inc(count)
        self._metrics.callbacks_lag.observe(seconds)

    def late(self, count: int) -> None:
        self._metrics.callbacks_late.inc(count)

    def died(self, count: int) -> None:
        self._metrics.callbacks_dead.inc(count)

    def waiting(self, seconds: float) -> None:
        self._metrics.callbacks_waiting.set(seconds)

    def failed(self, part: str) -> None:
        self._metrics.job_failures.labels(part).inc()


class BounceMetrics:
    """Counts mails that come back."""

    def __init__(self, metrics: RouterMetrics) -> None:
        self._metrics = metrics

    def mail(self, via: str, result: str) -> None:
        self._metrics.bounce_mails.labels(via, result).inc()


class ConversationMetrics(ConversationObserver):
    """Counts how conversations fare."""

    def __init__(self, metrics: RouterMetrics) -> None:
        self._metrics = metrics

    def taken(self, count: int, seconds: float) -> None:
        self._metrics.inbound_taken.labels("taken").inc(count)
        self._metrics.inbound_lag.observe(seconds)

    def unmatched(self, count: int) -> None:
        self._metrics.inbound_taken.labels("unmatched").inc(count)

    def died(self, count: int) -> None:
        self._metrics.inbound_taken.labels("dead").inc(count)

    def keyword(self, action: str, count: int) -> None:
        self._metrics.inbound_keywords.labels(action).inc(count)

    def confirmed(self, outcome: str, count: int) -> None:
        self._metrics.keyword_confirmations.labels(outcome).inc(count)

    def delivered(self, outcome: str, count: int) -> None:
        self._metrics.inbound_deliveries.labels(outcome).inc(count)

    def waiting(self, seconds: float) -> None:
        self._metrics.inbound_waiting.set(seconds)

    def failed(self, part: str) -> None:
        self._metrics.job_failures.labels(part).inc()


class SubscriptionMetrics(SubscriptionObserver):
    """Counts what others publish."""

    def __init__(self, metrics: NotifyMetrics) -> None:
        self._metrics = metrics
        self._troubled: set[EventSubscriptionId] = set()

    def taken(
        self, subscription_id: EventSubscriptionId, *, accepted: int, repeated: int, refused: int
    ) -> None:
        counter = self._metrics.event_messages
        for result, count in (("accepted", accepted), ("repeated", repeated), ("refused", refused)):
            counter.labels(subscription_id, result).inc(count)

    def troubled(self, subscription_id: EventSubscriptionId, *, troubled: bool) -> None:
        (self._troubled.add if troubled else self._troubled.discard)(subscription_id)
        self._metrics.event_subscriptions_troubled.set(len(self._troubled))

    def stopped(self, subscription_id: EventSubscriptionId) -> None:
        self.troubled(subscription_id, troubled=False)


class WebhookMetrics(WebhookObserver):
    """Counts what becomes of calls of webhooks."""

    def __init__(self, metrics: NotifyMetrics) -> None:
        self._metrics = metrics

    def called(self, outcome: str, count: int) -> None:
        self._metrics.webhook_calls.labels(outcome).inc(count)

    def disabled(self, reason: str) -> None:
        self._metrics.webhooks_disabled.labels(reason).inc()
