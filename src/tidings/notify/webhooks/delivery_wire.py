"""Deliveries of webhooks as JSON: what requests bring and answers show."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.ids import EVENT
from tidings.kernel.mapping import by_name
from tidings.notify.ids import WEBHOOK_DELIVERY
from tidings.notify.webhooks.delivery_store import ChosenDeliveries
from tidings.notify.webhooks.model import WebhookCallRecord, WebhookDelivery, WebhookDeliveryStatus
from tidings.notify.webhooks.redeliver import WebhookRedelivery

_Status = Literal["queued", "blocked", "delivered", "dlq"]


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


def _given(value: Any) -> Any:
    return None if isinstance(value, UnsetType) else value


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
