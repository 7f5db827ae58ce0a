"""A notification: as it is accepted, and as it is stored."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import SenderRecord
from tidings.contracts.tenants import Channel
from tidings.contracts.words import Priority, Status, UseCase
from tidings.kernel.ids import time_of
from tidings.notify.ids import TemplateId, TemplateVersionId

AnyChannel = Channel | Literal["auto"]

#: What a sealed box is for; bound into it together with the tenant and the recipient.
VARIABLES_PURPOSE: Final = "variables"
ATTACHMENTS_PURPOSE: Final = "attachments"

#: The queue's order of priorities.
RANKS: Final[dict[str, int]] = {"critical": 0, "high": 1, "normal": 2, "low": 3}

#: Statuses that nothing follows.
FINAL: Final = frozenset(
    {
        Status.DELIVERED,
        Status.FAILED,
        Status.BOUNCED,
        Status.SUPPRESSED,
        Status.SUPERSEDED,
        Status.CANCELLED,
        Status.EXPIRED,
    }
)


class Pin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an answer within a conversation goes, whatever the recipient's and the tenant's first choices are by then."""

    #: Of the recipient.
    address_id: str
    #: Over whom the person wrote, and what they wrote to; None: as the channel is set up.
    vendor: str | None = None
    sender: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotification:
    """A row as it is accepted; what is personal is sealed."""

    id: NotificationId
    created_at: datetime
    recipient_id: RecipientId
    status: Status
    channel: AnyChannel
    category: str
    use_case: UseCase
    priority: Priority
    retention_class: str
    #: None: the recipient's, when it is sent.
    locale: str | None
    template_id: TemplateId
    template_version_id: TemplateVersionId
    template_key: str
    template_semver: str
    #: For `auto`, JSON: the frozen version of every channel.
    template_versions: str | None
    variables_hash: str
    variables: bytes = field(repr=False)
    attachments: bytes | None = field(repr=False)
    scheduled_for: datetime | None
    expires_at: datetime
    is_test: bool
    source_event_id: str | None
    correlation_id: str | None
    metadata: str | None
    #: JSON: a `Pin`.
    pinned: str | None = None
    #: The place in a trace that it comes from.
    traceparent: str | None = None
    #: The notification that it repeats.
    resent_from: NotificationId | None = None
    #: Key and hash of metadata that it is found by.
    found_by: tuple[tuple[str, str], ...] = ()
    #: Of the event that it answers.
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A stored notification, as far as people may see it."""

    id: NotificationId
    recipient_id: RecipientId
    status: Status
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

    @property
    def reader_id(self) -> RecipientId:
        """Who was written to last: the recipient, or their guardian instead."""
        return RecipientId((self.render_snapshot or {}).get("reader") or self.recipient_id)

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)
