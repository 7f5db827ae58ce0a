"""A stored notification, as far as people may see it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tidings.contracts.enums import NotificationStatus, Priority, UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import SenderRecord
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import time_of
from tidings.notify.accept.row import AnyChannel
from tidings.notify.ids import BatchId, TemplateVersionId

#: Statuses that nothing follows.
FINAL: Final = frozenset(
    {
        NotificationStatus.DELIVERED,
        NotificationStatus.FAILED,
        NotificationStatus.BOUNCED,
        NotificationStatus.SUPPRESSED,
        NotificationStatus.SUPERSEDED,
        NotificationStatus.CANCELLED,
        NotificationStatus.EXPIRED,
    }
)


#: What it may come to after it was queued; a column says when.
MOMENTS: Final = (
    "dispatched",
    "delivered",
    "failed",
    "bounced",
    "suppressed",
    "superseded",
    "cancelled",
    "expired",
    "opened",
    "clicked",
    "read",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A stored notification, as far as people may see it."""

    id: NotificationId
    recipient_id: RecipientId
    status: NotificationStatus
    channel: AnyChannel
    final_channel: Channel | None
    category: str
    use_case: UseCase
    priority: Priority
    locale: str | None
    template_key: str
    template_semver: str
    template_version_id: TemplateVersionId
    preference_version: int | None
    scheduled_for: datetime | None
    expires_at: datetime
    #: By the name of the status: when it came to it.
    moments: dict[str, datetime]
    reason: str | None
    evidence: str | None
    trace: str | None
    render_snapshot: dict[str, Any] | None
    correlation_id: str | None
    source_event_id: str | None
    is_test: bool
    metadata: dict[str, Any]
    updated_at: datetime
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
    #: Where it went last, under the key of the person who was written to.
    address_ciphertext: bytes | None = field(default=None, repr=False)
    #: Who it came from then.
    sender: SenderRecord | None = None
    #: JSON: by channel, where its exact words are; None where they are not kept.
    body_ref: str | None = None
    #: The trace of the request that ordered it.
    trace_id: str | None = None
    #: The notification that it repeats.
    resent_from: NotificationId | None = None
    #: The digest window that it was gathered in.
    digest_group_id: str | None = None
    #: The batch that it is part of.
    batch_id: BatchId | None = None

    @property
    def reader_id(self) -> RecipientId:
        """Who was written to last: the recipient, or their guardian instead."""
        return RecipientId((self.render_snapshot or {}).get("reader") or self.recipient_id)

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)
