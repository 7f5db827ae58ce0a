"""The row of a notification: as it is accepted and stored."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct, structs

from tidings.contracts.enums import NotificationStatus, Priority, UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.keys.data_key import DataKey
from tidings.notify.decide.reasons import GateReason
from tidings.notify.ids import BatchId, TemplateId, TemplateVersionId

AnyChannel = Channel | Literal["auto"]

#: What a sealed box is for; bound into it together with the tenant and the recipient.
VARIABLES_PURPOSE: Final = "variables"
ATTACHMENTS_PURPOSE: Final = "attachments"

#: The queue's order of priorities.
RANKS: Final[dict[str, int]] = {"critical": 0, "high": 1, "normal": 2, "low": 3}


#: Reasons in the trace of what joins no digest any more.
LEFT_DIGEST: Final = (
    GateReason.DIGEST_OF_ONE,
    GateReason.DIGEST_NOT_MADE,
    GateReason.IS_DIGEST,
    GateReason.DIGEST_REPEATS,
)


class Pin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an answer within a conversation goes, whatever the recipient's and the tenant's first choices are by then."""

    #: Of the recipient.
    address_id: str
    #: The vendor that the person wrote through, and the number they wrote to; None: as the channel is set up.
    vendor: str | None = None
    sender: str | None = None


class NotificationRow(Struct, frozen=True, kw_only=True):
    """A notification as it is stored: accepted, decided and sent from. What is personal is sealed.

    A struct, because one is made for every notification: of so many fields that takes a fifth of a frozen dataclass's time.
    """

    tenant_id: TenantId
    id: NotificationId
    #: The time inside its id.
    created_at: datetime
    recipient_id: RecipientId
    status: NotificationStatus
    channel: AnyChannel
    category: str
    use_case: UseCase
    priority: Priority
    retention_class: str
    #: As asked for, or as it was rendered in before; None: the recipient's.
    locale: str | None
    template_id: TemplateId
    template_version_id: TemplateVersionId
    template_key: str
    template_semver: str
    #: For `auto`: the frozen version of every channel.
    template_versions: Mapping[Channel, TemplateVersionId] | None
    variables_hash: str
    variables: bytes
    attachments: bytes | None
    expires_at: datetime
    is_test: bool
    source_event_id: str | None
    correlation_id: str | None
    #: JSON.
    metadata: str | None
    #: Of an answer within a conversation.
    pin: Pin | None = None
    #: The place in a trace that it comes from.
    traceparent: str | None = None
    #: Tells several digests of one category apart.
    digest_key: str | None = None
    #: The batch that it is part of; a guardian's copy is not.
    batch_id: BatchId | None = None

    # Written when it is accepted, and not read back to decide and send.
    scheduled_for: datetime | None = None
    #: The notification that it repeats.
    resent_from: NotificationId | None = None
    #: Key and hash of metadata that it is found by.
    found_by: tuple[tuple[str, str], ...] = ()
    #: Of the event that it answers.
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
    #: When it was planned to be sent, where the event makes it for several times.
    time_slot: datetime | None = None

    # What dispatch has written so far.
    trace: str | None = None
    render_snapshot: str | None = None
    #: JSON: by channel, where its exact words are.
    body_ref: str | None = None

    def __repr__(self) -> str:
        return f"NotificationRow({self.id}, {self.status}, ***)"

    @property
    def released(self) -> bool:
        """Whether an operator released it, whatever the quiet hours say."""
        return self.trace is not None and GateReason.QUIET_BUT_RELEASED in self.trace

    @property
    def was_paced(self) -> bool:
        """Whether it has waited for the pace of its batch: what it takes of other limits it had taken before."""
        return self.trace is not None and GateReason.BATCH_PACE in self.trace

    @property
    def left_digest(self) -> bool:
        """Whether it came out of a digest to go by itself, or is a digest."""
        return self.trace is not None and any(mark in self.trace for mark in LEFT_DIGEST)

    @property
    def is_whole(self) -> bool:
        """Whether it has more than a digest could tell of it."""
        return self.attachments is not None or self.pin is not None

    def version_for(self, channel: Channel) -> TemplateVersionId | None:
        """The frozen version for a channel; None where the template has none for it."""
        if self.template_versions is None:
            return self.template_version_id if channel == self.channel else None
        return self.template_versions.get(channel)

    def pin_for(self, recipient_id: RecipientId) -> Pin | None:
        """Where it has to go; a guardian who is written to instead has an address of their own."""
        return self.pin if recipient_id == self.recipient_id else None

    def derive(
        self, new_id: NotificationId, recipient_id: RecipientId, *, unseal: DataKey, seal: DataKey
    ) -> "NotificationRow":
        """A copy for another recipient: a notification of its own that is queued now, under their preferences and in their language.

        `unseal` is the key of this one's recipient, `seal` that of the other.
        """

        def sealed_anew(box: bytes, purpose: str) -> bytes:
            return seal.seal(unseal.unseal(box, purpose), purpose)

        return structs.replace(
            self,
            id=new_id,
            created_at=time_of(new_id),
            recipient_id=recipient_id,
            status=NotificationStatus.QUEUED,
            locale=None,
            variables=sealed_anew(self.variables, VARIABLES_PURPOSE),
            attachments=sealed_anew(self.attachments, ATTACHMENTS_PURPOSE) if self.attachments else None,
            correlation_id=self.correlation_id or self.id,
            pin=None,
            scheduled_for=None,
            resent_from=None,
            found_by=(),
            batch_id=None,
            trace=None,
            render_snapshot=None,
            body_ref=None,
        )
