"""The events that tell how endpoints are, and what was given up."""

from typing import Literal

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.webhooks import (
    DELIVERY_FAILED_SUBJECT,
    DISABLED_SUBJECT,
    WARNED_SUBJECT,
    WebhookDeliveryFailed,
    WebhookEndpointDisabled,
    WebhookEndpointWarned,
)
from tidings.kernel.clock import Clock
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.notify.ids import WebhookId
from tidings.notify.webhooks.delivery_store import ClaimedEndpoint, EndedCall
from tidings.notify.webhooks.model import DisabledReason


def warned_event(
    endpoint: ClaimedEndpoint, percent: Literal[50, 70, 90], failures: int, *, clock: Clock
) -> Event:
    """It is so far on its way to be disabled."""
    said = WebhookEndpointWarned(
        subscription_id=endpoint.id,
        consecutive_failures=failures,
        disable_after=endpoint.disable_after,
        percent=percent,
        is_test=endpoint.is_test,
    )
    return _event(WARNED_SUBJECT, said, endpoint.tenant_id, endpoint.id, clock)


def disabled_event(
    endpoint: ClaimedEndpoint, reason: DisabledReason, failures: int, *, clock: Clock
) -> Event:
    """It is not called any more."""
    said = WebhookEndpointDisabled(
        subscription_id=endpoint.id, reason=reason, consecutive_failures=failures, is_test=endpoint.is_test
    )
    return _event(DISABLED_SUBJECT, said, endpoint.tenant_id, endpoint.id, clock)


def delivery_failed_event(call: EndedCall, *, is_test: bool, clock: Clock) -> Event:
    """An event was given up for an endpoint."""
    due = call.due
    said = WebhookDeliveryFailed(
        subscription_id=due.subscription_id,
        delivery_id=due.id,
        event_id=due.event_id,
        event_type=due.event_type,
        attempts=due.attempts + 1,
        reason=call.reason,
        status_code=call.answer,
        is_test=is_test,
    )
    return _event(DELIVERY_FAILED_SUBJECT, said, due.tenant_id, due.subscription_id, clock)


def _event(subject: str, said: object, tenant_id: TenantId, webhook_id: WebhookId, clock: Clock) -> Event:
    """The events of one webhook keep their order."""
    return new_event(
        subject, said, tenant_id=tenant_id, ordering_key=webhook_id, source=NOTIFY_SOURCE, clock=clock
    )
