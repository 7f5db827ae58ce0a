"""Webhooks as JSON: what requests bring and answers show."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.contracts.text import Label
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.ids import EVENT
from tidings.kernel.mapping import by_name
from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.kernel.signed_webhooks.secrets import SIGNING_FORM, secrets_of, signs
from tidings.notify.ids import WEBHOOK_DELIVERY
from tidings.notify.webhooks.change import WebhookPlan
from tidings.notify.webhooks.credentials import WebhookCredentials, WebhookOAuth, WebhookTls
from tidings.notify.webhooks.delivery_store import ChosenDeliveries
from tidings.notify.webhooks.model import (
    StoredWebhook,
    WebhookCallRecord,
    WebhookDelivery,
    WebhookDeliveryStatus,
    WebhookSettings,
    WebhookStatus,
)
from tidings.notify.webhooks.redeliver import WebhookRedelivery

_Url = Annotated[str, Meta(min_length=8, max_length=2048, description="must be an https address")]
_Events = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(min_length=1, max_length=100)
]
_Condition = Annotated[str, Meta(min_length=1, max_length=2000)]
_InFlight = Annotated[int, Meta(ge=1, le=50)]
_PerMinute = Annotated[int, Meta(ge=1, le=60_000)]
_Timeout = Annotated[int, Meta(ge=1, le=30)]
_DisableAfter = Annotated[int, Meta(ge=1, le=1000)]
_Headers = Annotated[dict[str, str], Meta(max_length=20)]
_Secret = Annotated[str, Meta(min_length=16, max_length=200)]
_Status = Literal["queued", "blocked", "delivered", "dlq"]
#: A day: receivers have the time to take the new secret.
_OVERLAP_SECONDS = 86_400


_Pem = Annotated[str, Meta(min_length=1, max_length=100_000)]
_Line = Annotated[str, Meta(min_length=1, max_length=1000, pattern=r"^[!-~]([ -~]*[!-~])?\Z")]
_Transform = Annotated[dict[str, Any], Meta(min_length=1, max_length=100)]


class PutWebhookTls(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Certificates of the connection, in PEM."""

    #: What is shown to the endpoint (mTLS), and its private key without a passphrase.
    client_certificate: _Pem | None = None
    client_key: _Pem | None = None
    #: Whose certificates the endpoint's has to be from; those of public authorities, where it is left out.
    ca_certificates: _Pem | None = None

    def read(self) -> WebhookTls:
        """As they are kept."""
        return by_name(WebhookTls, self)

    def __repr__(self) -> str:
        return "PutWebhookTls(***)"


class PutWebhookOAuth(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A client of OAuth 2: calls carry the access token that its credentials are given."""

    token_url: _Url
    client_id: _Line
    client_secret: _Line
    scope: _Line | None = None

    def read(self) -> WebhookOAuth:
        """As it is kept."""
        return by_name(WebhookOAuth, self)

    def __repr__(self) -> str:
        return "PutWebhookOAuth(***)"


class PutWebhookCredentials(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How calls prove themselves beyond the signature."""

    tls: PutWebhookTls | None = None
    oauth2: PutWebhookOAuth | None = None

    def read(self) -> WebhookCredentials:
        """As they are kept."""
        return WebhookCredentials(
            tls=None if self.tls is None else self.tls.read(),
            oauth2=None if self.oauth2 is None else self.oauth2.read(),
        )

    def __repr__(self) -> str:
        return "PutWebhookCredentials(***)"


class CreateWebhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where what is to be told."""

    url: _Url
    #: Types of events: `notification.delivered.v1`, `notification.*.v1` (one word), `notification.>` (the rest).
    events: _Events
    #: A condition over `data.…`, `type` and `time`: `data.category = 'billing'`.
    condition: _Condition | None = None
    #: What you call it; the host, where it is left out.
    name: Label | None = None
    #: A secret of your own to sign with, `whsec_…`; one is made where it is left out.
    secret: _Secret | None = None
    #: Events of one key (a notification, a recipient, a batch) one after the other, each when the one before was taken or given up.
    ordered: bool = False
    #: Calls side by side.
    max_in_flight: _InFlight = 10
    #: Calls in a minute; no limit where it is left out.
    max_per_minute: _PerMinute | None = None
    #: How long a call may take.
    timeout_seconds: _Timeout = 15
    #: So many failures in a row disable it.
    disable_after: _DisableAfter = 20
    #: Further headers of each call. Their values are kept sealed, and never shown.
    headers: _Headers = {}
    #: A client certificate (mTLS), an OAuth 2 client; kept sealed, and never shown.
    credentials: PutWebhookCredentials | None = None
    #: The body in the place of the usual one: JSON, in which texts that begin with `$.` are paths into `$.id`, `$.type`, `$.timestamp`
    #: and `$.data`; `$$` is a dollar sign.
    transform: _Transform | None = None

    def plan(self) -> WebhookPlan:
        """What is wanted."""
        credentials = WebhookCredentials() if self.credentials is None else self.credentials.read()
        return WebhookPlan(
            credentials=credentials,
            settings=WebhookSettings(
                credentials_shown=credentials.shown(),
                transform=self.transform,
                name=self.name or _host_of(self.url),
                target_url=self.url,
                event_types=tuple(self.events),
                header_names=tuple(sorted(self.headers)),
                condition=self.condition,
                ordered=self.ordered,
                max_in_flight=self.max_in_flight,
                max_per_minute=self.max_per_minute,
                timeout_seconds=self.timeout_seconds,
                disable_after=self.disable_after,
            ),
            headers=self.headers,
        )

    def own_secret(self) -> str | None:
        """A secret that the caller brings."""
        return _checked_secret(self.secret)

    def __repr__(self) -> str:
        return "CreateWebhook(***)"


class ChangeWebhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is different from now on; what is left out stays."""

    url: _Url | UnsetType = UNSET
    events: _Events | UnsetType = UNSET
    #: Null: no condition any more.
    condition: _Condition | UnsetType | None = UNSET
    name: Label | UnsetType = UNSET
    ordered: bool | UnsetType = UNSET
    max_in_flight: _InFlight | UnsetType = UNSET
    #: Null: no limit any more.
    max_per_minute: _PerMinute | UnsetType | None = UNSET
    timeout_seconds: _Timeout | UnsetType = UNSET
    disable_after: _DisableAfter | UnsetType = UNSET
    #: All further headers of each call, in the place of those before.
    headers: _Headers | UnsetType = UNSET
    #: All further credentials, in the place of those before; null takes them away.
    credentials: PutWebhookCredentials | UnsetType | None = UNSET
    #: Null: the usual body.
    transform: _Transform | UnsetType | None = UNSET

    def plan(self, before: StoredWebhook) -> WebhookPlan:
        """What is wanted, the rest as it was."""
        given: Mapping[str, Any] = {
            field: value
            for field, name in _FIELDS.items()
            if not isinstance(value := getattr(self, name), UnsetType)
        }
        changes = dict(given)
        if "event_types" in changes:
            changes["event_types"] = tuple(changes["event_types"])
        headers = None if isinstance(self.headers, UnsetType) else self.headers
        if headers is not None:
            changes["header_names"] = tuple(sorted(headers))
        credentials: WebhookCredentials | None = None
        if not isinstance(self.credentials, UnsetType):
            credentials = WebhookCredentials() if self.credentials is None else self.credentials.read()
            changes["credentials_shown"] = credentials.shown()
        return WebhookPlan(
            settings=by_name(WebhookSettings, before.settings, **changes),
            headers=headers,
            credentials=credentials,
        )

    def __repr__(self) -> str:
        return "ChangeWebhook(***)"


#: Settings by the fields of a request.
_FIELDS = {
    "target_url": "url",
    "event_types": "events",
    "condition": "condition",
    "name": "name",
    "ordered": "ordered",
    "max_in_flight": "max_in_flight",
    "max_per_minute": "max_per_minute",
    "timeout_seconds": "timeout_seconds",
    "disable_after": "disable_after",
    "transform": "transform",
}


class RotateWebhookSecret(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a secret takes the place of another."""

    #: For so long calls are signed with both.
    overlap_seconds: Annotated[int, Meta(ge=0, le=2_592_000)] = _OVERLAP_SECONDS
    #: A secret of your own; one is made where it is left out.
    secret: _Secret | None = None

    def own_secret(self) -> str | None:
        """A secret that the caller brings."""
        return _checked_secret(self.secret)

    def __repr__(self) -> str:
        return "RotateWebhookSecret(***)"


class ResumeWebhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a webhook is opened again."""

    #: Do not tell what has waited; `redeliver` can still tell it later.
    discard_waiting: bool = False


class ListWebhooks(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which webhooks are wanted."""

    status: Annotated[
        Literal["active", "paused", "disabled"] | None, Meta(description="Only those of this status.")
    ] = None

    def wanted(self) -> WebhookStatus | None:
        """Which status."""
        return None if self.status is None else WebhookStatus(self.status)


class ListWebhookDeliveries(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries are wanted."""

    status: Annotated[_Status | None, Meta(description="`dlq`: given up, and can be delivered again.")] = None
    event_type: Annotated[str | None, Meta(description="Only events of this type.")] = None
    event_id: Annotated[str | None, Meta(description="Only this event, `evt_…`.")] = None

    def wanted(self) -> WebhookDeliveryStatus | None:
        """Which status."""
        return None if self.status is None else WebhookDeliveryStatus(self.status)

    def wanted_event(self) -> str | None:
        """Which event."""
        return None if self.event_id is None else EVENT.parse(self.event_id, field="event_id")


class RedeliverWebhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries are to be told once more; all that were given up, where nothing is said."""

    #: These and no others, whatever became of them.
    delivery_ids: Annotated[list[str], Meta(min_length=1, max_length=1000)] | UnsetType = UNSET
    status: Literal["delivered", "dlq", "any"] | UnsetType = UNSET
    #: Only events of these types.
    event_types: Annotated[list[str], Meta(min_length=1, max_length=100)] | UnsetType = UNSET
    #: Only what happened then or later.
    since: Moment | UnsetType = UNSET
    #: Only what happened before.
    until: Moment | UnsetType = UNSET
    #: Only say how many there are.
    dry_run: bool = False

    def chosen(self) -> ChosenDeliveries:
        """Which they are."""
        ended = [WebhookDeliveryStatus.DELIVERED, WebhookDeliveryStatus.DEAD]
        ids = _given(self.delivery_ids)
        if self.status == "any" or (ids is not None and isinstance(self.status, UnsetType)):
            # One that waits for its next attempt is told at once.
            statuses = [*ended, WebhookDeliveryStatus.QUEUED] if ids is not None else ended
        elif isinstance(self.status, UnsetType):
            statuses = [WebhookDeliveryStatus.DEAD]
        else:
            statuses = [WebhookDeliveryStatus(self.status)]
        return ChosenDeliveries(
            statuses=statuses,
            ids=None
            if ids is None
            else [
                WEBHOOK_DELIVERY.parse(text, field=f"delivery_ids[{place}]") for place, text in enumerate(ids)
            ],
            event_types=_given(self.event_types),
            since=_given(self.since),
            until=_given(self.until),
        )


class RecoverWebhook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a webhook has missed."""

    #: What happened then or later, and was not taken.
    since: Moment
    #: Only say how many there are.
    dry_run: bool = False


class WebhookRedeliveryView(Struct, frozen=True, kw_only=True):
    """What was ordered anew."""

    #: How many are told once more.
    redelivered: int
    #: How many wait anyway, up to 10,001.
    waiting: int
    #: There may be more: order it again.
    more: bool

    @classmethod
    def of(cls, made: WebhookRedelivery) -> "WebhookRedeliveryView":
        """As it is shown."""
        return cls(redelivered=made.count, waiting=made.waiting, more=made.more)


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


class WebhookCallView(Struct, frozen=True, kw_only=True):
    """One call of a delivery."""

    at: Moment
    #: What was answered; null where nothing was.
    status: int | None
    #: Why it was not taken; null where it was.
    reason: str | None
    milliseconds: int

    @classmethod
    def of(cls, record: WebhookCallRecord) -> "WebhookCallView":
        """The call as it is shown."""
        return by_name(cls, record)


class WebhookDeliveryView(Struct, frozen=True, kw_only=True):
    """An event on its way to a webhook."""

    id: str
    webhook_id: str
    #: Also the `webhook-id` of each call: the same however often it is told.
    event_id: str
    event_type: str
    #: `blocked`: behind an earlier event of its key; `dlq`: given up, and can be delivered again.
    status: _Status
    #: Calls since it was last ordered.
    attempts: int
    ordering_key: str
    happened_at: Moment
    created_at: Moment
    next_attempt_at: Moment | None
    first_attempted_at: Moment | None
    delivered_at: Moment | None
    #: What was answered last; null where nothing was.
    last_status: int | None
    #: `answered`, `connection`, `timeout`, `unanswered`, `tls`, `address`, `gone`, `discarded`, `token`, `too_large`, `unreadable`.
    last_reason: str | None
    #: Its last calls, the newest at the end.
    calls: list[WebhookCallView]

    @classmethod
    def of(cls, delivery: WebhookDelivery) -> "WebhookDeliveryView":
        """The delivery as it is shown."""
        return cls(**_shown_delivery(delivery))


class WebhookDeliveryDetail(WebhookDeliveryView, frozen=True, kw_only=True):
    """An event on its way to a webhook, with what is told."""

    #: The body of each call; null where it can't be read any more.
    body: dict[str, Any] | None

    @classmethod
    def with_body(cls, delivery: WebhookDelivery, body: bytes | None) -> "WebhookDeliveryDetail":
        """The delivery as it is shown by itself."""
        told = None if body is None else msgspec.json.decode(body)
        return cls(**_shown_delivery(delivery), body=told)


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


def _given(value: Any) -> Any:
    return None if isinstance(value, UnsetType) else value


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "webhook")[:200]
    except ValueError:
        return "webhook"


def _checked_secret(secret: str | None) -> str | None:
    if secret is not None and (not signs(secret) or len(secrets_of(secret)) != 1):
        raise BadValueError("secret", SIGNING_FORM)
    return secret


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
        "is_test": webhook.is_test,
        "consecutive_failures": health.consecutive_failures,
        "last_success_at": health.last_success_at,
        "last_failure_at": health.last_failure_at,
        "resting_until": health.resting_until,
        "created_at": webhook.created_at,
        "updated_at": webhook.updated_at,
        "version": webhook.version,
    }


def _shown_delivery(delivery: WebhookDelivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "webhook_id": delivery.subscription_id,
        "event_id": delivery.event_id,
        "event_type": delivery.event_type,
        "status": delivery.status.value,
        "attempts": delivery.attempts,
        "ordering_key": delivery.ordering_key,
        "happened_at": delivery.happened_at,
        "created_at": delivery.created_at,
        "next_attempt_at": delivery.next_attempt_at,
        "first_attempted_at": delivery.first_attempted_at,
        "delivered_at": delivery.delivered_at,
        "last_status": delivery.last_status_code,
        "last_reason": delivery.last_reason,
        "calls": [WebhookCallView.of(record) for record in delivery.calls],
    }
