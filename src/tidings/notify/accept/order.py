"""An order: what is to be said to which recipient, and what becomes of it.

HTTP, a reply in a conversation, a confirmation and a resend all make the same `Order`. It knows no wire format: the
HTTP skin makes it from a body, others make it by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from tidings.contracts.enums import NotificationStatus, Priority, UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import CallerRole
from tidings.kernel.errors import TidingsError
from tidings.kernel.idempotency import IdempotencyKey
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.refusals import FieldError
from tidings.notify.accept.row import AnyChannel, Pin
from tidings.notify.ids import BatchId
from tidings.notify.recipients.recipient_input import RecipientSpec


@dataclass(frozen=True, slots=True)
class OrderedBy:
    """Who orders. Orders of the same one share a transaction."""

    tenant_id: TenantId
    #: What the database lets them do; None: the runtime's own role.
    role: CallerRole | None = None
    #: Ordered with a test key: decided and rendered, and sent to no vendor.
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file that goes along."""

    filename: str = field(repr=False)
    media_type: str
    content: bytes = field(repr=False)
    inline_cid: str | None


class Order(Struct, frozen=True, kw_only=True):
    """What to say to which recipient; what is None is chosen by the template, the category or the recipient.

    A struct, because one is made for every request: of so many fields that takes a fifth of a frozen dataclass's time.
    """

    by: OrderedBy
    #: None where it could not be read; `wrong` says why.
    recipient: RecipientSpec | None
    #: A template's key.
    template: str
    #: `auto` lets the tenant's policy choose.
    channel: AnyChannel = "auto"
    variables: Mapping[str, Any] = {}
    use_case: UseCase | None = None
    category: str | None = None
    priority: Priority | None = None
    locale: str | None = None
    scheduled_for: datetime | None = None
    expires_at: datetime | None = None
    correlation_id: str | None = None
    #: At most one notification for each event, template, recipient, channel and time slot.
    source_event_id: str | None = None
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
    #: When what the event makes was planned to be sent: at two times it is two messages. None: when the event came.
    time_slot: datetime | None = None
    attachments: tuple[AttachedFile, ...] = ()
    #: Tells several digests of one category apart, such as one for each thread. In the clear.
    digest_key: str | None = None
    #: In the clear: not for personal data.
    metadata: Mapping[str, Any] | None = None
    #: Of an answer within a conversation.
    pin: Pin | None = None
    #: The notification that it repeats.
    resent_from: NotificationId | None = None
    #: The batch that it is part of.
    batch_id: BatchId | None = None
    #: The idempotency key, where the order must not be accepted twice.
    once: IdempotencyKey | None = None
    #: Fields that could not be read; the validator names them together with what else is wrong.
    wrong: tuple[FieldError, ...] = ()

    def __repr__(self) -> str:
        return f"Order({self.template!r}, {self.channel!r}, ***)"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedOrder:
    """The order is a durable notification."""

    id: NotificationId
    status: NotificationStatus
    recipient_id: RecipientId
    #: It was accepted before, under the same idempotency key; nothing was written now.
    replayed: bool = False

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateOrder(AcceptedOrder):
    """There was a notification already for the same event, template, recipient, channel and time: this is it. Nothing was written."""


@dataclass(frozen=True, slots=True)
class RefusedOrder:
    """The order can't be met; nothing was written."""

    error: TidingsError


Outcome: TypeAlias = AcceptedOrder | RefusedOrder


def is_written(outcome: Outcome) -> bool:
    """Whether the order made a new notification."""
    return type(outcome) is AcceptedOrder and not outcome.replayed


def accepted(outcome: Outcome) -> AcceptedOrder:
    """The notification behind an order; raises what it was refused for."""
    if isinstance(outcome, RefusedOrder):
        raise outcome.error
    return outcome
