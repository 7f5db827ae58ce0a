"""The row of a notification: as it is accepted and stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.contracts.words import Priority, Status, UseCase
from tidings.notify.ids import TemplateId, TemplateVersionId

AnyChannel = Channel | Literal["auto"]

#: What a sealed box is for; bound into it together with the tenant and the recipient.
VARIABLES_PURPOSE: Final = "variables"
ATTACHMENTS_PURPOSE: Final = "attachments"

#: The queue's order of priorities.
RANKS: Final[dict[str, int]] = {"critical": 0, "high": 1, "normal": 2, "low": 3}


class Pin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an answer within a conversation goes, whatever the recipient's and the tenant's first choices are by then."""

    #: Of the recipient.
    address_id: str
    #: Over whom the person wrote, and what they wrote to; None: as the channel is set up.
    vendor: str | None = None
    sender: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationRow:
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
    #: For `auto`: the frozen version of every channel.
    template_versions: Mapping[Channel, TemplateVersionId] | None
    variables_hash: str
    variables: bytes = field(repr=False)
    attachments: bytes | None = field(repr=False)
    scheduled_for: datetime | None
    expires_at: datetime
    is_test: bool
    source_event_id: str | None
    correlation_id: str | None
    metadata: str | None
    #: Of an answer within a conversation.
    pin: Pin | None = None
    #: The place in a trace that it comes from.
    traceparent: str | None = None
    #: The notification that it repeats.
    resent_from: NotificationId | None = None
    #: Key and hash of metadata that it is found by.
    found_by: tuple[tuple[str, str], ...] = ()
    #: Of the event that it answers.
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
