"""A webhook subscription, its endpoint, who may look after it, and an event on its way there; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import msgspec

from tidings.kernel.bus import SubjectFilter
from tidings.kernel.events import Event
from tidings.kernel.expressions import Expression, parse
from tidings.kernel.ids import EventId, TenantId
from tidings.notify.ids import WebhookDeliveryId, WebhookId, WebhookPortalLinkId

#: The subject of the tenant's key that seals secrets, headers and what events say.
SEALED_FOR: Final = "_tenant/webhooks"
#: Webhooks of one tenant and environment at most.
MOST_WEBHOOKS: Final = 5_000
#: Another `api_version` counts so long after it was set: by then all processes know.
PIN_NOTICE: Final = timedelta(seconds=10)
#: What is never told by a webhook: it would be told of itself, again and again.
NEVER_TOLD: Final = "notification.webhook."
#: What is told to other endpoints than the one that it is about, and where its type is named.
ABOUT_ENDPOINTS: Final = "webhook.endpoint."


class WebhookStatus(StrEnum):
    """Whether an endpoint is called."""

    ACTIVE = "active"
    PAUSED = "paused"
    DISABLED = "disabled"


class WebhookDeliveryStatus(StrEnum):
    """Where an event is on its way."""

    QUEUED = "queued"
    BLOCKED = "blocked"
    DELIVERED = "delivered"
    DEAD = "dlq"


#: Why an endpoint was disabled.
DisabledReason: TypeAlias = Literal["failures", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """What a caller decides of a webhook."""

    name: str
    target_url: str = field(repr=False)
    #: Which events, as NATS writes subjects.
    event_types: tuple[str, ...]
    #: Over `type`, `time` and `data.…`; None: all events of these types.
    condition: str | None
    #: Events of one key one after the other.
    ordered: bool
    #: Calls side by side.
    max_in_flight: int
    #: Calls in a minute; None: no limit.
    max_per_minute: int | None
    timeout_seconds: int
    #: So many failures in a row disable it.
    disable_after: int
    #: Names of further headers; their values are sealed.
    header_names: tuple[str, ...]
    #: What of further credentials is no secret.
    credentials_shown: Mapping[str, Any] | None = None
    #: The body in the place of the usual one: JSON with paths into the event.
    transform: Mapping[str, Any] | None = None
    #: Of events that are published in several versions it is told the newest one of that day. None: of the day it is made.
    api_version: date | None = None
    #: Whose endpoint it is, as the tenant calls that customer; None: its own.
    customer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookHealth:
    """How an endpoint has answered."""

    consecutive_failures: int = 0
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    #: After failures it is left alone until then.
    resting_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWebhook:
    """A webhook as it stands."""

    tenant_id: TenantId
    id: WebhookId
    settings: WebhookSettings
    is_test: bool
    status: WebhookStatus
    disabled_at: datetime | None
    disabled_reason: str | None
    #: Until then calls are signed with the secret before as well.
    signing_secret_prev_until: datetime | None
    created_by: str
    created_at: datetime
    updated_at: datetime
    version: int
    health: WebhookHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPortalLink:
    """A link to the webhook portal, as it is kept."""

    tenant_id: TenantId
    id: WebhookPortalLinkId
    subscription_id: WebhookId
    #: Whose webhooks it shows; None: that one webhook.
    customer: str | None
    is_test: bool
    #: Otherwise it only shows.
    may_change: bool
    #: What its visitors may choose from.
    event_types: tuple[str, ...]
    locale: str | None
    embed_origins: tuple[str, ...]
    created_at: datetime
    expires_at: datetime

    @property
    def actor(self) -> str:
        """How audit rows and `created_by` name those who come by it."""
        return f"portal:{self.id}"

    def shows(self, webhook: StoredWebhook) -> bool:
        """Whether a webhook may be seen by it."""
        if webhook.is_test != self.is_test:
            return False
        if self.customer is None:
            return webhook.id == self.subscription_id
        return webhook.settings.customer == self.customer


class _SaysTest(msgspec.Struct):
    is_test: bool = False
    subscription_id: str | None = None


_facts_of = msgspec.json.Decoder(_SaysTest).decode
_decode = msgspec.json.Decoder().decode


class ToldEvent:
    """An event that webhooks may want; what it says is read once, and only where a condition asks."""

    __slots__ = ("__dict__", "event")

    def __init__(self, event: Event) -> None:
        self.event = event

    @cached_property
    def facts(self) -> _SaysTest:
        """Whether it is about a test, and which endpoint it is about."""
        return _facts_of(self.event.data)

    @cached_property
    def scope(self) -> Mapping[str, Any]:
        """What a condition may ask for."""
        event = self.event
        return {"type": event.subject, "time": event.time.isoformat(), "data": _decode(event.data)}


@dataclass(frozen=True, kw_only=True)
class WebhookFilter:
    """Which events a webhook wants."""

    id: WebhookId
    event_types: tuple[str, ...]
    condition: str | None
    is_test: bool
    ordered: bool
    #: Of several versions it is told the newest one of that day.
    api_version: date
    #: The pin before, and since when the one above counts; None: it was never changed.
    api_version_before: date | None = None
    api_version_from: datetime | None = None
    #: Whether it is called now; what happens while it is not waits for it.
    is_active: bool = True

    def pinned_at(self, time: datetime) -> date:
        """The day whose versions it was told then: one event is judged alike in all its versions, whenever they come."""
        if self.api_version_before is None or self.api_version_from is None or time >= self.api_version_from:
            return self.api_version
        return self.api_version_before

    def takes(self, subject: str) -> bool:
        """Whether events of this type are among those it names."""
        return self._types.takes(subject)

    @cached_property
    def _types(self) -> SubjectFilter:
        return SubjectFilter(self.event_types)

    @cached_property
    def _condition(self) -> Expression | None:
        return None if self.condition is None else parse(self.condition)

    def wants(self, told: ToldEvent) -> bool:
        """Whether this event is to be told there."""
        subject = told.event.subject
        if subject.startswith(NEVER_TOLD) or not self._types.takes(subject):
            return False
        if subject.startswith(ABOUT_ENDPOINTS) and (
            subject not in self.event_types or told.facts.subscription_id == self.id
        ):
            return False
        if told.facts.is_test != self.is_test:
            return False
        return self._condition is None or self._condition.matches(told.scope)


class WebhookCallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One call, as it is kept with its delivery."""

    at: datetime
    #: What was answered; None where nothing was.
    status: int | None
    #: Why it was not taken, in our word; None where it was.
    reason: str | None
    milliseconds: int


#: Calls of a delivery that are kept with it.
MOST_CALLS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookDelivery:
    """An event on its way to an endpoint."""

    id: WebhookDeliveryId
    subscription_id: WebhookId
    event_id: EventId
    event_type: str
    ordering_key: str
    status: WebhookDeliveryStatus
    attempts: int
    happened_at: datetime
    created_at: datetime
    next_attempt_at: datetime | None
    first_attempted_at: datetime | None
    delivered_at: datetime | None
    last_status_code: int | None
    last_reason: str | None
    calls: tuple[WebhookCallRecord, ...]
