"""Webhooks as JSON: what answers show."""

from datetime import date
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.kernel.mapping import by_name
from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.notify.webhooks.model import StoredWebhook


class WebhookTlsView(Struct, frozen=True, kw_only=True):
    """Which certificates a webhook has."""

    #: Whether one is shown to the endpoint.
    client_certificate: bool
    #: Whether only those of given authorities are trusted.
    ca_certificates: bool


class WebhookOAuthView(Struct, frozen=True, kw_only=True):
    """The OAuth 2 client of a webhook."""

    token_url: str
    client_id: str
    scope: str | None


class WebhookCredentialsView(Struct, frozen=True, kw_only=True):
    """How calls prove themselves beyond the signature."""

    tls: WebhookTlsView | None = None
    oauth2: WebhookOAuthView | None = None


class WebhookView(Struct, frozen=True, kw_only=True):
    """A webhook."""

    id: str
    name: str
    url: str
    events: list[str]
    condition: str | None
    #: `disabled`: it failed too often, or answered 410; `disabled_reason` says which.
    status: Literal["active", "paused", "disabled"]
    disabled_reason: Literal["failures", "gone"] | None
    disabled_at: Moment | None
    ordered: bool
    max_in_flight: int
    max_per_minute: int | None
    timeout_seconds: int
    disable_after: int
    #: Names of further headers; their values are not shown.
    header_names: list[str]
    #: Until then calls are signed with the secret before as well.
    previous_secret_until: Moment | None
    #: What of further credentials is no secret.
    credentials: WebhookCredentialsView
    transform: dict[str, Any] | None
    #: Of events that are published in several versions it is told the newest one of that day.
    api_version: date
    #: Whose endpoint it is, as you call that customer; null: your own.
    customer: str | None
    #: Made with a test key: it hears of tests alone.
    is_test: bool
    consecutive_failures: int
    last_success_at: Moment | None
    last_failure_at: Moment | None
    #: After failures it is left alone until then.
    resting_until: Moment | None
    created_at: Moment
    updated_at: Moment
    version: int

    @classmethod
    def of(cls, webhook: StoredWebhook) -> "WebhookView":
        """The webhook as it is shown."""
        return cls(**_shown(webhook))


class NewWebhook(WebhookView, frozen=True, kw_only=True):
    """A webhook with its secret, which is shown this once."""

    #: What calls are signed with. Null when an Idempotency-Key repeats the answer.
    secret: str | None

    @classmethod
    def made(cls, webhook: StoredWebhook, secret: str) -> "NewWebhook":
        """The webhook as it is shown to who made it, or its secret."""
        return cls(**_shown(webhook), secret=secret)

    def again(self) -> "NewWebhook":
        """The answer to a repeated request; the secret is not kept in the open, so it can't be in it."""
        return msgspec.structs.replace(self, secret=None)

    def __repr__(self) -> str:
        return f"NewWebhook({self.id}, ***)"


class WebhookTrialView(Struct, frozen=True, kw_only=True):
    """What became of a call about nothing."""

    delivered: bool
    #: What the webhook answered; null where it did not.
    status: int | None
    #: Why it was not taken, in the words of deliveries.
    reason: str | None

    @classmethod
    def of(cls, called: WebhookResult) -> "WebhookTrialView":
        """The call as it is shown."""
        return by_name(cls, called)


def _shown(webhook: StoredWebhook) -> dict[str, Any]:
    settings, health = webhook.settings, webhook.health
    return {
        "id": webhook.id,
        "name": settings.name,
        "url": settings.target_url,
        "events": list(settings.event_types),
        "condition": settings.condition,
        "status": webhook.status.value,
        "disabled_reason": webhook.disabled_reason,
        "disabled_at": webhook.disabled_at,
        "ordered": settings.ordered,
        "max_in_flight": settings.max_in_flight,
        "max_per_minute": settings.max_per_minute,
        "timeout_seconds": settings.timeout_seconds,
        "disable_after": settings.disable_after,
        "header_names": list(settings.header_names),
        "previous_secret_until": webhook.signing_secret_prev_until,
        "credentials": msgspec.convert(settings.credentials_shown or {}, WebhookCredentialsView),
        "transform": settings.transform,
        "api_version": settings.api_version,
        "customer": settings.customer,
        "is_test": webhook.is_test,
        "consecutive_failures": health.consecutive_failures,
        "last_success_at": health.last_success_at,
        "last_failure_at": health.last_failure_at,
        "resting_until": health.resting_until,
        "created_at": webhook.created_at,
        "updated_at": webhook.updated_at,
        "version": webhook.version,
    }
