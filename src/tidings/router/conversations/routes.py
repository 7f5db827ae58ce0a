"""Operations on conversations, and on messages that stand in none."""

import secrets
from datetime import timedelta

from msgspec import UnsetType

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.durable.dead_letters import MOST_AT_ONCE, DeadLetters
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import AfterCommit
from tidings.kernel.http.once import GivenKey
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.router.callbacks.wire import Requeue
from tidings.router.conversations import queue, store
from tidings.router.conversations.answer import Answerer
from tidings.router.conversations.close import Closer
from tidings.router.conversations.errors import UnknownConversationError, UnknownInboundMessageError
from tidings.router.conversations.model import INBOUND_MESSAGE, Conversation, ConversationId, InboundMessageId
from tidings.router.conversations.transcript import words_of
from tidings.router.conversations.wakeups import ConversationWakeups
from tidings.router.conversations.wire import (
    AnswerConversation,
    CloseConversation,
    ConversationAnswer,
    ConversationLineView,
    ConversationView,
    InboundMessageView,
    ListConversations,
    ListInbound,
    ListUnmatched,
    RequeuedInbound,
    UnmatchedList,
)

_TAG = "conversations"
conversations = Resource("conversations", at="/router/conversations", tag=_TAG, scope="conversations")
unmatched = Resource(
    "inbound-unmatched", at="/inbound-unmatched", tag=_TAG, scope="router", owner=Owner.PLATFORM
)
inbound_messages = Resource(
    "callbacks", at="/callbacks/messages", tag=_TAG, scope="router", owner=Owner.PLATFORM
)

_ONE = "/{conversation_id}"


@conversations.get()
async def list_conversations(
    tx: TenantTx, query: ListConversations, paging: Paging
) -> Page[ConversationView]:
    """List conversations, the newest first."""
    rows = await store.list_conversations(
        tx, chosen=query.chosen(), after_id=paging.after_id, limit=paging.fetch
    )
    return paging.page(rows, ConversationView.of)


@conversations.get(_ONE, problems=["conversation_not_found"])
async def show_conversation(tx: TenantTx, conversation_id: ConversationId) -> Answer[ConversationView]:
    """Show a conversation, without what was said in it."""
    return _shown(await _known(tx, conversation_id))


@conversations.get(
    f"{_ONE}/messages", writes=True, listing="conversation_messages", problems=["conversation_not_found"]
)
async def read_transcript(
    tx: TenantTx,
    conversation_id: ConversationId,
    paging: Paging,
    caller: Caller,
    keyring: Keyring,
    audit: AuditLog,
) -> Page[ConversationLineView]:
    """Read what was said, the oldest first; that is audited.

    It holds people's own words. Of what we wrote the words stand in the notification's body.
    """
    after = paging.after
    await _known(tx, conversation_id)
    lines = await store.list_lines(
        tx,
        conversation_id,
        # The id's own time is the line's.
        after=(after.created_at, after.id) if after else None,
        limit=paging.fetch,
    )
    words = await words_of(tx, keyring, lines)
    entry = Entry(
        entity_type="conversation", entity_id=conversation_id, action="transcript.read", actor=caller.actor
    )
    await audit.append(tx, [entry])
    return paging.page(lines, lambda line: ConversationLineView.of(line, words.get(line.id)))


@conversations.post(
    f"{_ONE}/messages",
    status=202,
    problems=[
        "conversation_not_found",
        "conversation_closed",
        "nobody_to_answer",
        "conversation_address_gone",
    ],
)
async def answer_conversation(
    tenant_id: TenantId,
    conversation_id: ConversationId,
    body: AnswerConversation,
    key: GivenKey | None,
    caller: Caller,
    answerer: Answerer,
) -> ConversationAnswer:
    """Answer in a conversation, over its channel.

    A notification like any other, through all gates: a suppressed address stays so. It goes to the address that the
    conversation is with, from what the person wrote to. It stands in the transcript when a vendor has taken it.
    Somebody who was not known by any address becomes a recipient.
    """
    replied = await answerer.answer(
        tenant_id,
        conversation_id,
        body.text,
        key=key or secrets.token_hex(16),
        actor=caller.actor,
        role=caller.role,
        is_test=caller.environment == "test",
    )
    return ConversationAnswer.of(replied)


@conversations.post(f"{_ONE}/close", problems=["conversation_not_found", "conversation_closed"])
async def close_conversation(
    tx: TenantTx,
    conversation_id: ConversationId,
    caller: Caller,
    closer: Closer,
    body: CloseConversation = CloseConversation(),  # noqa: B008  # frozen
) -> Answer[ConversationView]:
    """Close a conversation by hand.

    The next message of either side begins another one. Nothing is suppressed by it.
    """
    return _shown(await closer.close(tx, conversation_id, reason=body.reason, actor=caller.actor))


@unmatched.get()
async def list_unmatched(tx: PlatformTx, query: ListUnmatched, clock: Clock) -> UnmatchedList:
    """List numbers that people write to and that are nobody's, the most frequent first.

    Counts alone, kept for a week: who wrote, or what, is not known any more.
    """
    since = clock.now() - timedelta(hours=query.hours)
    return UnmatchedList.of(await queue.list_unmatched(tx, since=since, limit=query.limit))


@inbound_messages.get(listing="inbound_messages")
async def list_inbound(tx: PlatformTx, query: ListInbound, paging: Paging) -> Page[InboundMessageView]:
    """List what people wrote and what stands in no conversation, the newest first.

    The dead ones, unless another `status` is asked for. Who wrote what is not shown.
    """
    rows = await queue.list_inbound(tx, query.page(paging), status=query.status)
    return paging.page(rows, InboundMessageView.of)


@inbound_messages.get("/{message_id}", problems=["inbound_message_not_found"])
async def show_inbound(tx: PlatformTx, message_id: InboundMessageId) -> InboundMessageView:
    """Show a message that stands in no conversation."""
    message = await queue.show_inbound(tx, message_id)
    if message is None:
        raise UnknownInboundMessageError
    return InboundMessageView.of(message)


@inbound_messages.post("/requeue")
async def requeue_inbound(
    tx: PlatformTx,
    body: Requeue,
    caller: Caller,
    dead: DeadLetters[InboundMessageId],
    wakeups: ConversationWakeups,
    after_commit: AfterCommit,
) -> RequeuedInbound:
    """Take dead messages up again.

    By their ids, or all of a vendor, at most a thousand at a time. Those that are not dead are passed over. It is
    audited.
    """
    ids = body.named(INBOUND_MESSAGE)
    again = await dead.requeue(
        tx,
        actor=caller.actor,
        ids=ids,
        vendor=None if isinstance(body.vendor, UnsetType) else body.vendor,
        since=None if isinstance(body.since, UnsetType) else body.since,
    )
    if again and not wakeups.inbound.attended:
        await queue.announce(tx)
    after_commit(wakeups.inbound.set)
    return RequeuedInbound(requeued=len(again), more=ids is None and len(again) == MOST_AT_ONCE)


async def _known(tx: TenantTx, conversation_id: ConversationId) -> Conversation:
    conversation = await store.find_conversation(tx, conversation_id)
    if conversation is None:
        raise UnknownConversationError(f"there is no conversation with the id {conversation_id}")
    return conversation


def _shown(conversation: Conversation) -> Answer[ConversationView]:
    return Answer(ConversationView.of(conversation), version=conversation.version)
