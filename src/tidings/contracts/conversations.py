"""Conversations as others hear of them: events with ids and facts, never a word, an address nor its hash."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx

OPENED_SUBJECT: Final = "conversation.opened.v1"
MESSAGE_RECEIVED_SUBJECT: Final = "conversation.message_received.v1"
CLOSED_SUBJECT: Final = "conversation.closed.v1"


class ConversationOpened(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody can be talked to, and can answer."""

    conversation_id: str
    channel: Channel
    #: Who wrote first.
    opened_by: Literal["recipient", "tenant"]
    opened_at: Moment
    #: Left out where nobody is known by that address.
    recipient_id: str | None = None
    #: What we wrote, where we were first.
    notification_id: str | None = None


class ConversationMessageReceived(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """They wrote something; what it was, the conversation's transcript tells those who may read it."""

    conversation_id: str
    message_id: str
    channel: Channel
    #: `text`, `button`, `image`, …, in the vendor's word.
    kind: str
    received_at: Moment
    recipient_id: str | None = None
    #: What it asks for, where it is one of the keywords.
    keyword: Literal["stop", "start", "help"] | None = None


class ConversationClosed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Nobody goes on with it; the next message begins another one."""

    conversation_id: str
    channel: Channel
    status: Literal["CLOSED_STOP", "CLOSED_IDLE", "CLOSED_MANUAL"]
    closed_at: Moment
    recipient_id: str | None = None


CONVERSATION_EVENTS: dict[str, type[Struct]] = {
    OPENED_SUBJECT: ConversationOpened,
    MESSAGE_RECEIVED_SUBJECT: ConversationMessageReceived,
    CLOSED_SUBJECT: ConversationClosed,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantName:
    """How a tenant calls itself to people."""

    name: str
    #: In which it speaks where the person's own is not known: `fr`.
    language: str = "en"


class TenantNames(Protocol):
    """What notify offers: how the tenant of a transaction is called."""

    async def of(self, tx: TenantTx) -> TenantName | None:
        """None where the tenant is not known."""
        ...


class ToldLine(Struct, frozen=True, kw_only=True):
    """One line of a transcript, for the eyes of the person who wrote or got it."""

    at: Moment
    direction: Literal["in", "out"]
    kind: str
    #: Null where there were no words, or they stand in the notification.
    text: str | None
    notification_id: str | None


class ToldConversation(Struct, frozen=True, kw_only=True):
    """A conversation in the clear."""

    conversation_id: str
    channel: Channel
    #: What was written to.
    sender_id: str
    #: The person's own address.
    address: str | None
    status: str
    opened_at: Moment
    closed_at: Moment | None
    messages: Sequence[ToldLine]


class ConversationTeller(Protocol):
    """What the router offers: to tell what a recipient wrote, and what was written to them."""

    async def tell(self, tx: TenantTx, recipient_id: str) -> list[ToldConversation]:
        """All of it, in the clear, the oldest first."""
        ...
