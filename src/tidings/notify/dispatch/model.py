"""What dispatch knows of a notification, and what a turn makes of it."""

from dataclasses import dataclass, field
from datetime import datetime

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import SentRecord
from tidings.contracts.tenants import Channel
from tidings.contracts.words import Priority, Status, UseCase
from tidings.notify.accept.row import AnyChannel, Pin
from tidings.notify.decide.reasons import Reason
from tidings.notify.ids import TemplateId, TemplateVersionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A stored notification, as far as deciding and sending have to know it."""

    id: NotificationId
    #: The time inside its id.
    created_at: datetime
    retention_class: str
    status: Status
    channel: AnyChannel
    category: str
    use_case: UseCase
    priority: Priority
    #: As asked for, or as it was rendered in before; None: the recipient's.
    locale: str | None
    recipient_id: RecipientId
    template_id: TemplateId
    template_version_id: TemplateVersionId
    #: For `auto`: the frozen version of every channel.
    template_versions: dict[Channel, TemplateVersionId] | None
    template_key: str
    template_semver: str
    variables: bytes = field(repr=False)
    variables_hash: str
    attachments: bytes | None = field(repr=False)
    expires_at: datetime
    is_test: bool
    correlation_id: str | None
    source_event_id: str | None
    metadata: str | None
    trace: str | None
    render_snapshot: str | None
    #: Of an answer within a conversation.
    pin: Pin | None = None
    #: JSON: by channel, where its exact words are.
    body_ref: str | None = None
    #: The place in a trace that it comes from.
    traceparent: str | None = None

    @property
    def released(self) -> bool:
        """Whether somebody has had it sent now, whatever the quiet hours say."""
        return self.trace is not None and Reason.QUIET_BUT_RELEASED in self.trace

    def version_for(self, channel: Channel) -> TemplateVersionId | None:
        """The frozen version for a channel; None where the template has none for it."""
        if self.template_versions is None:
            return self.template_version_id if channel == self.channel else None
        return self.template_versions.get(channel)

    def pin_for(self, recipient_id: RecipientId) -> Pin | None:
        """Where it has to go; a guardian who is written to instead has an address of their own."""
        return self.pin if recipient_id == self.recipient_id else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a notification goes from the queue."""

    pending: Pending
    status: Status
    trace: str
    #: Why, where it ends or waits.
    reason: str | None = None
    #: When it is looked at again, where it waits.
    until: datetime | None = None
    locale: str | None = None
    snapshot: str | None = None
    #: What is kept of the message that is ready to go out.
    record: SentRecord | None = field(default=None, repr=False)
    #: JSON: by channel, where its exact words are.
    body_ref: str | None = None
    preferences_version: int | None = None
