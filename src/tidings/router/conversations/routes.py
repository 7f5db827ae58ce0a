"""What HTTP calls about conversations."""

import secrets
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from litestar import Request, Response, Router, get, post
from msgspec import UnsetType

from tidings.kernel.audit.log import Entry
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.durable.dead_letters import MOST_AT_ONCE
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import headers
from tidings.kernel.http.bodies import body_of, read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of
from tidings.kernel.http.etags import etag
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.kernel.idempotency import HEADER, parse_key
from tidings.router.callbacks.wire import Requeue
from tidings.router.conversations import queue, store
from tidings.router.conversations.deps import Deps
from tidings.router.conversations.errors import UnknownConversationError, UnknownInboundMessageError
from tidings.router.conversations.model import CONVERSATION, INBOUND_MESSAGE, Conversation, ConversationId
from tidings.router.conversations.transcript import words_of
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
_HOME = "/api/v1/router/conversations"
_DEAD = "/internal/v1/callbacks/messages"
_UNMATCHED = "/internal/v1/inbound-unmatched"
_LISTING = "conversations"
_LINES = "conversation_messages"
_INBOUND = "inbound_messages"

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List conversations, the newest first.",
        tag=_TAG,
        scope="router:read",
        query=ListConversations,
        answer=Page[ConversationView],
    ),
)
async def list_conversations(request: AnyRequest) -> Page[ConversationView]:
    """List conversations."""
    query = read_query(request, ListConversations)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _tenant(request) as tx:
        found = await store.list_conversations(
            tx, chosen=query.chosen(), after_id=after.id if after else None, limit=query.limit + 1
        )
    return page_of(
        found, limit=query.limit, listing=_LISTING, id_of=lambda one: one.id, render=ConversationView.of
    )


@get(
    "/{conversation_id:str}",
    **operation(
        summary="Show a conversation, without what was said in it.",
        tag=_TAG,
        scope="router:read",
        path={"conversation_id": CONVERSATION},
        answer=ConversationView,
        problems=["conversation_not_found"],
    ),
)
async def show_conversation(request: AnyRequest) -> Response[ConversationView]:
    """Show a conversation."""
    wanted = _conversation_id(request)
    async with _tenant(request) as tx:
        return _shown(await _found(tx, wanted))


@get(
    "/{conversation_id:str}/messages",
    **operation(
        summary="Read what was said, the oldest first; that is audited.",
        tag=_TAG,
        scope="router:write",
        writes=True,
        path={"conversation_id": CONVERSATION},
        query=PageQuery,
        answer=Page[ConversationLineView],
        problems=["conversation_not_found"],
        description="It holds people's own words. Of what we wrote the words stand in the notification's body.",
    ),
)
async def read_transcript(request: AnyRequest) -> Page[ConversationLineView]:
    """Read a transcript."""
    deps = deps_of(request, Deps)
    wanted = _conversation_id(request)
    query = read_query(request, PageQuery)
    after = read_cursor(query.cursor, listing=_LINES)
    async with _tenant(request) as tx:
        await _found(tx, wanted)
        lines = await store.list_lines(
            tx,
            wanted,
            # The id's own time is the line's.
            after=(after.created_at, after.id) if after else None,
            limit=query.limit + 1,
        )
        words = await words_of(tx, deps.keyring, lines)
        entry = Entry(
            entity_type="conversation",
            entity_id=wanted,
            action="transcript.read",
            actor=caller_of(request).actor,
        )
        await deps.audit.append(tx, [entry])
    return page_of(
        lines,
        limit=query.limit,
        listing=_LINES,
        id_of=lambda line: line.id,
        render=lambda line: ConversationLineView.of(line, words.get(line.id)),
    )


@post(
    "/{conversation_id:str}/messages",
    **operation(
        summary="Answer in a conversation, over its channel.",
        tag=_TAG,
        scope="router:write",
        path={"conversation_id": CONVERSATION},
        body=AnswerConversation,
        answer=ConversationAnswer,
        status=202,
        problems=[
            "conversation_not_found",
            "conversation_closed",
            "nobody_to_answer",
            "conversation_address_gone",
        ],
        headers=["Idempotency-Key"],
        description=(
            "A notification like any other, through all gates: a suppressed address stays so. It goes to the address that the "
            "conversation is with, from what the person wrote to. It stands in the transcript when a vendor has taken it. "
            "Somebody who was not known by any address becomes a recipient."
        ),
    ),
)
async def answer_conversation(request: AnyRequest) -> ConversationAnswer:
    """Answer in a conversation."""
    wanted = await read_body(request, AnswerConversation)
    caller = caller_of(request)
    replied = await deps_of(request, Deps).answerer.answer(
        tenant_of(request),
        _conversation_id(request),
        wanted.text,
        key=_key(request),
        actor=caller.actor,
        role=caller.role,
        is_test=caller.environment == "test",
    )
    return ConversationAnswer.of(replied)


@post(
    "/{conversation_id:str}/close",
    **operation(
        summary="Close a conversation by hand.",
        tag=_TAG,
        scope="router:write",
        path={"conversation_id": CONVERSATION},
        body=CloseConversation,
        body_optional=True,
        answer=ConversationView,
        problems=["conversation_not_found", "conversation_closed"],
        description="The next message of either side begins another one. Nothing is suppressed by it.",
    ),
)
async def close_conversation(request: AnyRequest) -> Response[ConversationView]:
    """Close a conversation."""
    wanted = await read_body(request, CloseConversation) if await body_of(request) else CloseConversation()
    async with _tenant(request) as tx:
        closed = await deps_of(request, Deps).closer.close(
            tx, _conversation_id(request), reason=wanted.reason, actor=caller_of(request).actor
        )
    return _shown(closed)


@get(
    "/",
    **operation(
        summary="List numbers that people write to and that are nobody's, the most frequent first.",
        tag=_TAG,
        scope="router:read",
        tenant=TenantNeed.NONE,
        query=ListUnmatched,
        answer=UnmatchedList,
        description="Counts alone, kept for a week: who wrote, or what, is not known any more.",
    ),
)
async def list_unmatched(request: AnyRequest) -> UnmatchedList:
    """List what was nobody's."""
    deps = deps_of(request, Deps)
    query = read_query(request, ListUnmatched)
    since = deps.clock.now() - timedelta(hours=query.hours)
    async with _platform(request) as tx:
        return UnmatchedList.of(await queue.list_unmatched(tx, since=since, limit=query.limit))


@get(
    "/",
    **operation(
        summary="List what people wrote and what stands in no conversation, the newest first.",
        tag=_TAG,
        scope="router:read",
        tenant=TenantNeed.NONE,
        query=ListInbound,
        answer=Page[InboundMessageView],
        description="The dead ones, unless another `status` is asked for. Who wrote what is not shown.",
    ),
)
async def list_inbound(request: AnyRequest) -> Page[InboundMessageView]:
    """List messages that nobody owns."""
    query = read_query(request, ListInbound)
    after = read_cursor(query.cursor, listing=_INBOUND)
    async with _platform(request) as tx:
        found = await queue.list_inbound(
            tx,
            status=query.status,
            chosen=query.chosen(),
            after_id=after.id if after else None,
            limit=query.limit + 1,
        )
    return page_of(
        found, limit=query.limit, listing=_INBOUND, id_of=lambda one: one.id, render=InboundMessageView.of
    )


@get(
    "/{message_id:str}",
    **operation(
        summary="Show a message that stands in no conversation.",
        tag=_TAG,
        scope="router:read",
        tenant=TenantNeed.NONE,
        path={"message_id": INBOUND_MESSAGE},
        answer=InboundMessageView,
        problems=["inbound_message_not_found"],
    ),
)
async def show_inbound(request: AnyRequest) -> InboundMessageView:
    """Show one."""
    wanted = path_id(request, INBOUND_MESSAGE, "message_id")
    async with _platform(request) as tx:
        found = await queue.show_inbound(tx, wanted)
    if found is None:
        raise UnknownInboundMessageError
    return InboundMessageView.of(found)


@post(
    "/requeue",
    **operation(
        summary="Take dead messages up again.",
        tag=_TAG,
        scope="router:write",
        tenant=TenantNeed.NONE,
        body=Requeue,
        answer=RequeuedInbound,
        description=(
            "By their ids, or all of a vendor, at most a thousand at a time. Those that are not dead are passed over. "
            "It is audited."
        ),
    ),
)
async def requeue_inbound(request: AnyRequest) -> RequeuedInbound:
    """Requeue dead messages."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, Requeue)
    ids = wanted.named(INBOUND_MESSAGE)
    async with _platform(request) as tx:
        again = await deps.dead.requeue(
            tx,
            actor=caller_of(request).actor,
            ids=ids,
            vendor=None if isinstance(wanted.vendor, UnsetType) else wanted.vendor,
            since=None if isinstance(wanted.since, UnsetType) else wanted.since,
        )
        if again and not deps.wakeups.inbound.attended:
            await queue.announce(tx)
    deps.wakeups.inbound.set()
    return RequeuedInbound(requeued=len(again), more=ids is None and len(again) == MOST_AT_ONCE)


def _key(request: AnyRequest) -> str:
    found = headers(request.scope, b"idempotency-key")
    if len(found) > 1:
        raise BadValueError(HEADER, "is given more than once")
    return parse_key(found[0]) if found else secrets.token_hex(16)


def _conversation_id(request: AnyRequest) -> ConversationId:
    return path_id(request, CONVERSATION, "conversation_id")


async def _found(tx: TenantTx, conversation_id: ConversationId) -> Conversation:
    found = await store.find_conversation(tx, conversation_id)
    if found is None:
        raise UnknownConversationError(f"there is no conversation with the id {conversation_id}")
    return found


def _shown(conversation: Conversation) -> Response[ConversationView]:
    return Response(ConversationView.of(conversation), headers={"ETag": etag(conversation.version)})


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _platform(request: AnyRequest) -> AbstractAsyncContextManager[PlatformTx]:
    return deps_of(request, Deps).db.platform(caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [
        list_conversations,
        show_conversation,
        read_transcript,
        answer_conversation,
        close_conversation,
    ]
    return [
        Router(_HOME, route_handlers=handlers, opt=given(deps)),
        Router(_DEAD, route_handlers=[list_inbound, show_inbound, requeue_inbound], opt=given(deps)),
        Router(_UNMATCHED, route_handlers=[list_unmatched], opt=given(deps)),
    ]
