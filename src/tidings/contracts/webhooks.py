"""What happens to webhooks, as events; ids and facts, never an address, a header or what an endpoint answered."""

from typing import Final, Literal

from msgspec import Struct

WARNED_SUBJECT: Final = "webhook.endpoint.warned.v1"
DISABLED_SUBJECT: Final = "webhook.endpoint.disabled.v1"
DELIVERY_FAILED_SUBJECT: Final = "notification.webhook.delivery_failed.v1"


class WebhookEndpointWarned(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An endpoint fails again and again, and is on its way to be disabled."""

    subscription_id: str
    consecutive_failures: int
    #: So many disable it.
    disable_after: int
    #: How far it has come.
    percent: Literal[50, 70, 90]
    is_test: bool = False


class WebhookEndpointDisabled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An endpoint is not called any more; what happens from now on waits for it."""

    subscription_id: str
    #: `failures`: too many in a row; `gone`: it answered 410.
    reason: Literal["failures", "gone"]
    consecutive_failures: int
    is_test: bool = False


class WebhookDeliveryFailed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event was given up for an endpoint; it can be delivered again."""

    subscription_id: str
    delivery_id: str
    event_id: str
    event_type: str
    attempts: int
    #: Why the last call was not taken: `answered`, `gone`, `connection`, `timeout`, `tls`, `address`, `unanswered`.
    reason: str | None = None
    #: What was answered, where something was.
    status_code: int | None = None
    is_test: bool = False


WEBHOOK_EVENTS: dict[str, type[Struct]] = {
    WARNED_SUBJECT: WebhookEndpointWarned,
    DISABLED_SUBJECT: WebhookEndpointDisabled,
    DELIVERY_FAILED_SUBJECT: WebhookDeliveryFailed,
}
