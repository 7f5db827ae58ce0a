"""Webhooks as JSON: what requests bring."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.text import Label
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.kernel.signed_webhooks.secrets import SIGNING_FORM, secrets_of, signs
from tidings.notify.webhooks.change import WebhookPlan
from tidings.notify.webhooks.credentials import WebhookCredentials, WebhookOAuth, WebhookTls
from tidings.notify.webhooks.model import StoredWebhook, WebhookSettings, WebhookStatus

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
_Customer = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]*\Z",
        description="must begin with a letter or a digit, and have letters, digits and . _ : / - alone",
    ),
]
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
    #: Of events that are published in several versions it is told the newest one of that day; today's, where it is left out.
    api_version: date | None = None
    #: Whose endpoint it is, as you call that customer: a portal link of it shows all webhooks of the customer.
    customer: _Customer | None = None

    def plan(self) -> WebhookPlan:
        """What is wanted."""
        credentials = WebhookCredentials() if self.credentials is None else self.credentials.read()
        return WebhookPlan(
            credentials=credentials,
            settings=WebhookSettings(
                credentials_shown=credentials.shown(),
                transform=self.transform,
                customer=self.customer,
                name=self.name or host_of(self.url),
                target_url=self.url,
                event_types=tuple(self.events),
                header_names=tuple(sorted(self.headers)),
                condition=self.condition,
                ordered=self.ordered,
                max_in_flight=self.max_in_flight,
                max_per_minute=self.max_per_minute,
                timeout_seconds=self.timeout_seconds,
                disable_after=self.disable_after,
                api_version=self.api_version,
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
    #: A later day: newer versions of events from now on.
    api_version: date | UnsetType = UNSET
    #: Null: your own. Portal links that were made for it end with the change.
    customer: _Customer | UnsetType | None = UNSET

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
    "api_version": "api_version",
    "customer": "customer",
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
    customer: Annotated[str | None, Meta(description="Only those of this customer.")] = None

    def wanted(self) -> WebhookStatus | None:
        """Which status."""
        return None if self.status is None else WebhookStatus(self.status)


def host_of(url: str) -> str:
    """What a webhook is called where nobody names it."""
    try:
        return (urlsplit(url).hostname or "webhook")[:200]
    except ValueError:
        return "webhook"


def _checked_secret(secret: str | None) -> str | None:
    if secret is not None and (not signs(secret) or len(secrets_of(secret)) != 1):
        raise BadValueError("secret", SIGNING_FORM)
    return secret
