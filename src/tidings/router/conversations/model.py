"""A conversation, what is said in it, and where an inbound message stands on its way there; no I/O."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, NewType, TypeAlias

from tidings.contracts.enums import UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import IdKind

ConversationId = NewType("ConversationId", str)
InboundMessageId = NewType("InboundMessageId", str)
OutboundLineId = NewType("OutboundLineId", str)

CONVERSATION: Final = IdKind("conv", ConversationId)
INBOUND_MESSAGE: Final = IdKind("mo", InboundMessageId)
OUTBOUND_LINE: Final = IdKind("mt", OutboundLineId)

ConversationStatus: TypeAlias = Literal["OPEN", "CLOSED_STOP", "CLOSED_IDLE", "CLOSED_MANUAL"]
Action: TypeAlias = Literal["stop", "start", "help"]
#: Where a line of the transcript stands; all but `received` and `sent` are of confirmations alone.
LineStatus: TypeAlias = Literal["received", "queued", "sending", "sent", "failed", "unlearned"]
#: What we write by ourselves.
ConfirmationKind: TypeAlias = Literal["stop_confirmation", "start_confirmation", "help"]

#: How long a closed conversation is kept, with its transcript.
KEPT: Final = timedelta(days=90)
#: How long contacts over a shared number are kept: somewhat longer than the 18 months for which a STOP reaches them.
CONTACTS_KEPT: Final = timedelta(days=560)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is said between one sender of a tenant and one address."""

    id: ConversationId
    channel: Channel
    #: Short code, number or handle of the tenant's side, in its one spelling.
    sender_id: str
    recipient_id: RecipientId | None
    status: ConversationStatus
    #: Lines of both sides.
    turns: int
    opened_by: Literal["in", "out"]
    use_case: UseCase | None
    ttl_seconds: int
    vendor: str | None
    account_id: str | None
    opened_at: datetime
    last_seen_at: datetime
    last_mo_at: datetime | None
    last_mt_at: datetime | None
    expires_at: datetime
    closed_at: datetime | None
    close_reason: str | None
    version: int
    #: The subject of the data key that opens the address.
    key_subject: str | None = None
    address_ciphertext: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLine:
    """One line of a transcript, sealed as it is kept."""

    id: str
    conversation_id: ConversationId
    at: datetime
    occurred_at: datetime | None
    direction: Literal["in", "out"]
    kind: str
    status: LineStatus
    #: Why a confirmation was not sent.
    reason: str | None = None
    #: The word of our lists that it was.
    keyword: str | None = None
    action: Action | None = None
    language: str | None = None
    notification_id: NotificationId | None = None
    vendor: str | None = None
    account_id: str | None = None
    key_subject: str | None = None
    ciphertext: bytes | None = field(default=None, repr=False)


class ConversationObserver:
    """Observes conversations, for the metrics; a subclass overrides what it counts."""

    def taken(self, count: int, seconds: float) -> None:
        """So many inbound messages stand in conversations; the oldest had waited so long."""

    def unmatched(self, count: int) -> None:
        """So many belong to no tenant."""

    def died(self, count: int) -> None:
        """So many could not be taken on, and are not tried any more."""

    def keyword(self, action: Action, count: int) -> None:
        """So many asked for that."""

    def confirmed(self, outcome: str, count: int) -> None:
        """So many confirmations came to that: `sent`, `failed`, `unlearned`."""

    def delivered(self, outcome: str, count: int) -> None:
        """So many webhook calls came to that: `delivered`, `again`, `dead`."""

    def waiting(self, seconds: float) -> None:
        """How long the oldest that was never looked at has waited; 0 where there is none."""

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""
