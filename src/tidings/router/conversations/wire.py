"""Conversations as JSON: what requests bring and answers show."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.correspondence import ReplyResult
from tidings.contracts.ids import RECIPIENT
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.contracts.text import Reason
from tidings.kernel.http.paging import PageQuery, Paging
from tidings.kernel.mapping import by_name
from tidings.router.conversations.model import (
    Action,
    Conversation,
    ConversationStatus,
    LineStatus,
    TranscriptLine,
)
from tidings.router.conversations.queue import OpenInbound, OpenStatus, Unmatched
from tidings.router.conversations.sealing import TranscriptText
from tidings.router.conversations.store import ConversationFilter
from tidings.router.dead_letter_page import DeadLetterPage


class ListConversations(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversations are wanted."""

    status: Annotated[ConversationStatus | None, Meta(description="Only those that stand so.")] = None
    channel: Annotated[Channel | None, Meta(description="Only those over this channel.")] = None
    recipient: Annotated[str | None, Meta(description="Only those with this recipient, `rcp_…`.")] = None
    since: Annotated[
        Moment | None, Meta(description="Only those in which something was said then or later.")
    ] = None
    unanswered: Annotated[
        Literal["true", "false"], Meta(description="`true`: only those in which the person spoke last.")
    ] = "false"

    def chosen(self) -> ConversationFilter:
        """Without the page."""
        recipient = None if self.recipient is None else RECIPIENT.parse(self.recipient, field="recipient")
        return ConversationFilter(
            status=self.status,
            channel=self.channel,
            recipient_id=recipient,
            since=self.since,
            unanswered=self.unanswered == "true",
        )


class ListUnmatched(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which counts are wanted."""

    hours: Annotated[int, Meta(ge=1, le=168, description="Of the last so many hours.")] = 24
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many numbers at most.")] = 50


class UnmatchedView(Struct, frozen=True, kw_only=True):
    """A number that people write to, and that is nobody's."""

    destination: str
    messages: int
    #: The last minute in which there was one.
    last_at: Moment


class UnmatchedList(Struct, frozen=True, kw_only=True):
    """The most frequent first."""

    items: list[UnmatchedView]

    @classmethod
    def of(cls, found: Sequence[Unmatched]) -> "UnmatchedList":
        """The counts as they are shown."""
        return cls(items=[by_name(UnmatchedView, one) for one in found])


class ListInbound(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which messages are wanted."""

    status: Annotated[OpenStatus, Meta(description="`dead`: given up; `queued`: looked at again.")] = "dead"
    vendor: Annotated[str | None, Meta(description="Only this vendor's.")] = None
    adapter: Annotated[str | None, Meta(description="Only those to the account with this id.")] = None
    since: Annotated[Moment | None, Meta(description="Only those received then or later.")] = None

    def page(self, paging: Paging) -> DeadLetterPage:
        """The page of them that a store lists."""
        return by_name(
            DeadLetterPage, self, account_id=self.adapter, after_id=paging.after_id, limit=paging.fetch
        )


class InboundMessageView(Struct, frozen=True, kw_only=True):
    """A message that stands in no conversation: nothing of who wrote what."""

    id: str
    vendor: str
    adapter: str
    #: How the vendor calls it.
    vendor_message_id: str
    channel: Channel
    #: What was written to.
    destination: str
    #: `dead`: given up; `queued`: looked at again.
    status: OpenStatus
    received_at: Moment
    #: How often somebody tried to take it on.
    looks: int
    next_look_at: Moment | None

    @classmethod
    def of(cls, message: OpenInbound) -> "InboundMessageView":
        """The message as it is shown."""
        return by_name(cls, message, adapter=message.account_id)


class RequeuedInbound(Struct, frozen=True, kw_only=True):
    """What came of it."""

    requeued: int
    #: There may be more of that vendor: order it again.
    more: bool


class AnswerConversation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be said."""

    text: Annotated[str, Meta(min_length=1, max_length=4000)]

    def __repr__(self) -> str:
        return "AnswerConversation(***)"


class CloseConversation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it is closed."""

    reason: Reason | None = None


class ConversationView(Struct, frozen=True, kw_only=True):
    """A conversation, without what was said in it."""

    id: str
    channel: Channel
    #: What the person writes to.
    sender: str
    #: Null where nobody is known by that address.
    recipient_id: str | None
    status: ConversationStatus
    #: Who wrote first.
    opened_by: Literal["recipient", "tenant"]
    #: Lines of both sides.
    messages: int
    opened_at: Moment
    #: When something was said last, by anybody; by them; by us.
    last_message_at: Moment
    last_received_at: Moment | None
    last_sent_at: Moment | None
    #: When it ends, unless somebody says something.
    expires_at: Moment
    closed_at: Moment | None
    #: `stop`, `idle`, `by_hand`, `recipient_erased`.
    close_reason: str | None
    version: int

    @classmethod
    def of(cls, conversation: Conversation) -> "ConversationView":
        """The conversation as it is shown."""
        return by_name(
            cls,
            conversation,
            sender=conversation.sender_id,
            opened_by="recipient" if conversation.opened_by == "in" else "tenant",
            messages=conversation.turns,
            last_message_at=conversation.last_seen_at,
            last_received_at=conversation.last_mo_at,
            last_sent_at=conversation.last_mt_at,
        )


class ConversationLineView(Struct, frozen=True, kw_only=True):
    """One line of a transcript."""

    id: str
    direction: Literal["in", "out"]
    at: Moment
    #: When they wrote it, as the vendor says.
    occurred_at: Moment | None
    #: `text`, `button`, `image`, … of theirs; `notification`, `stop_confirmation`, `start_confirmation`, `help` of ours.
    kind: str
    #: Null where there were no words, where they stand in the notification, and where they were erased.
    text: str | None
    #: What it asks for, where it is a keyword.
    keyword: Action | None
    #: What was sent; its words are in its body.
    notification_id: str | None
    status: LineStatus
    #: Why a confirmation was not sent.
    reason: str | None

    @classmethod
    def of(cls, line: TranscriptLine, words: TranscriptText | None) -> "ConversationLineView":
        """The line as it is shown."""
        return by_name(cls, line, text=words.text if words is not None else None, keyword=line.action)


class ConversationAnswer(Struct, frozen=True, kw_only=True):
    """What became of an answer: a notification like any other."""

    notification_id: str
    status: Literal["queued", "scheduled", "suppressed", "expired", "failed"]
    #: False: the same order was given before.
    created: bool

    @classmethod
    def of(cls, replied: ReplyResult) -> "ConversationAnswer":
        """The answer as it is shown."""
        return by_name(cls, replied)
