"""What HTTP calls: the hooks themselves, and what operators do with callbacks that nobody owns."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from litestar import Request, Response, Router, get, post
from msgspec import UnsetType

from tidings.contracts.callback_forms import HookReply
from tidings.contracts.callbacks import Callback
from tidings.kernel.db import PlatformTx
from tidings.kernel.durable.dead_letters import MOST_AT_ONCE
from tidings.kernel.http.bodies import body_of, read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.http.places import place_of
from tidings.router.callbacks import store
from tidings.router.callbacks.deps import Deps
from tidings.router.callbacks.errors import NoHookError
from tidings.router.callbacks.intake import IntakeResult
from tidings.router.callbacks.receive_callback import HookCall
from tidings.router.callbacks.wire import (
    CallbackQuery,
    CallbackView,
    HookAnswer,
    RefusedRequestView,
    RequestQuery,
    Requeue,
    Requeued,
)
from tidings.router.ids import INBOUND_WEBHOOK, INBOUND_WEBHOOK_EVENT

_TAG = "callbacks"
_EVENTS = "callbacks"
_REQUESTS = "callback-requests"

AnyRequest = Request[Any, Any, Any]


@get(
    "/{vendor:str}/{adapter:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Ask whether a hook is there, as the vendor that is about to use it.",
        media_type="text/plain",
        problems=["no_hook", "bad_signature", "hook_unavailable", "too_busy"],
        description="Some vendors ask once, before they send anything; WhatsApp's question and its answer are Meta's.",
    ),
)
async def challenge_hook(request: AnyRequest) -> Response[bytes]:
    """Answer a vendor's question."""
    answer = await _take(request)
    if not isinstance(answer, HookReply):
        raise NoHookError
    return _replied(answer)


@post(
    "/{vendor:str}/{adapter:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Tell what became of messages, as the vendor that took them.",
        body=Callback,
        answer=HookAnswer,
        problems=["no_hook", "bad_signature", "hook_unavailable", "body_too_large", "too_busy"],
        description=(
            "No API key: the signature is the key. `adapter` is the account's id. The form is that of the vendor; this is "
            "the generic one, of the vendor `http`, signed as Standard Webhooks are: `webhook-id`, `webhook-timestamp`, "
            "`webhook-signature`. Answered when it is durable, applied a moment later. A repeated event changes nothing."
        ),
    ),
)
async def take_callback(request: AnyRequest) -> Response[bytes]:
    """Take a callback in."""
    taken = await _take(request)
    if isinstance(taken, HookReply):
        return _replied(taken)
    answer = HookAnswer(accepted=taken.accepted, repeated=taken.repeated)
    return Response(msgspec.json.encode(answer), status_code=200, media_type="application/json")


async def _take(request: AnyRequest) -> IntakeResult | HookReply:
    headers: dict[str, list[str]] = {}
    for name, value in request.scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    raw_path = request.scope.get("raw_path") or request.scope["path"].encode()
    query = request.scope["query_string"]
    call = HookCall(
        method=str(request.method),
        path=(raw_path.partition(b"?")[0] + (b"?" + query if query else b"")).decode("latin-1"),
        headers=headers,
        read_body=lambda: body_of(request),
        place=place_of(request.scope),
    )
    return await deps_of(request, Deps).desk.take(
        str(request.path_params["vendor"]), str(request.path_params["adapter"]), call
    )


def _replied(reply: HookReply) -> Response[bytes]:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(reply.body, status_code=reply.status, media_type=reply.media_type, headers=headers)


@get(
    "/",
    **operation(
        summary="List events that have not found their attempt, the newest first.",
        tag=_TAG,
        scope="router:read",
        tenant=TenantNeed.NONE,
        query=CallbackQuery,
        answer=Page[CallbackView],
        description="The dead ones, unless another `status` is asked for. One that found its attempt is its tenant's.",
    ),
)
async def list_callbacks(request: AnyRequest) -> Page[CallbackView]:
    """List events that nobody owns."""
    query = read_query(request, CallbackQuery)
    after = read_cursor(query.cursor, listing=_EVENTS)
    async with _platform(request) as tx:
        found = await store.list_events(
            tx,
            status=query.status,
            chosen=query.chosen(),
            after=(after.created_at, after.id) if after else None,
            limit=query.limit + 1,
        )
    return page_of(
        found, limit=query.limit, listing=_EVENTS, id_of=lambda one: one.id, render=CallbackView.of
    )


@get(
    "/requests",
    **operation(
        summary="List requests that were refused or could not be read, the newest first.",
        tag=_TAG,
        scope="router:read",
        tenant=TenantNeed.NONE,
        query=RequestQuery,
        answer=Page[RefusedRequestView],
        description="A few a minute are kept for each account; the metrics count all of them.",
    ),
)
async def list_refused(request: AnyRequest) -> Page[RefusedRequestView]:
    """List refused requests."""
    query = read_query(request, RequestQuery)
    after = read_cursor(query.cursor, listing=_REQUESTS)
    async with _platform(request) as tx:
        found = await store.list_requests(
            tx,
            chosen=query.chosen(),
            after=(after.created_at, after.id) if after else None,
            limit=query.limit + 1,
        )
    return page_of(
        found, limit=query.limit, listing=_REQUESTS, id_of=lambda one: one.id, render=RefusedRequestView.of
    )


@get(
    "/{callback_id:str}",
    **operation(
        summary="Show an event that has not found its attempt.",
        tag=_TAG,
        scope="router:read",
        tenant=TenantNeed.NONE,
        path={"callback_id": INBOUND_WEBHOOK_EVENT},
        answer=CallbackView,
        problems=["callback_not_found"],
    ),
)
async def show_callback(request: AnyRequest) -> CallbackView:
    """Show one."""
    wanted = path_id(request, INBOUND_WEBHOOK_EVENT, "callback_id")
    async with _platform(request) as tx:
        return CallbackView.of(await deps_of(request, Deps).dead.show(tx, wanted))


@get(
    "/{callback_id:str}/body",
    **operation(
        summary="Read the raw body of the request that brought an event; that is audited.",
        tag=_TAG,
        scope="router:write",
        tenant=TenantNeed.NONE,
        writes=True,
        path={"callback_id": INBOUND_WEBHOOK_EVENT},
        media_type="application/octet-stream",
        problems=["callback_not_found", "callback_body_gone"],
        description="It may hold addresses and other people's words.",
    ),
)
async def read_callback_body(request: AnyRequest) -> Response[bytes]:
    """Read the raw body behind an event."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, INBOUND_WEBHOOK_EVENT, "callback_id")
    async with _platform(request) as tx:
        return _raw(await deps.dead.body_of_event(tx, deps.blobs(), wanted, actor=caller_of(request).actor))


@get(
    "/requests/{request_id:str}/body",
    **operation(
        summary="Read the raw body of a refused request; that is audited.",
        tag=_TAG,
        scope="router:write",
        tenant=TenantNeed.NONE,
        writes=True,
        path={"request_id": INBOUND_WEBHOOK},
        media_type="application/octet-stream",
        problems=["callback_request_not_found", "callback_body_gone"],
        description="Of one whose signature did not fit only the beginning is kept.",
    ),
)
async def read_request_body(request: AnyRequest) -> Response[bytes]:
    """Read the raw body of a request."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, INBOUND_WEBHOOK, "request_id")
    async with _platform(request) as tx:
        return _raw(await deps.dead.body_of_request(tx, deps.blobs(), wanted, actor=caller_of(request).actor))


@post(
    "/requeue",
    **operation(
        summary="Look for the attempts of dead letters again.",
        tag=_TAG,
        scope="router:write",
        tenant=TenantNeed.NONE,
        body=Requeue,
        answer=Requeued,
        description=(
            "By their ids, or all of a vendor, at most a thousand at a time. Those that are not dead are passed over, and "
            "those received more than 35 days ago: their messages are not looked for any more."
        ),
    ),
)
async def requeue_callbacks(request: AnyRequest) -> Requeued:
    """Requeue dead letters."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, Requeue)
    ids = wanted.event_ids()
    async with _platform(request) as tx:
        again = await deps.dead.requeue(
            tx,
            actor=caller_of(request).actor,
            ids=ids,
            vendor=None if isinstance(wanted.vendor, UnsetType) else wanted.vendor,
            since=None if isinstance(wanted.since, UnsetType) else wanted.since,
        )
        if again.ids and not deps.wakeup.attended:
            await store.announce(tx)
    deps.wakeup.set()
    count = len(again.ids)
    return Requeued(requeued=count, too_old=again.too_old, more=ids is None and count == MOST_AT_ONCE)


def _raw(body: bytes) -> Response[bytes]:
    headers = {"content-disposition": "attachment", "cache-control": "no-store"}
    return Response(body, media_type="application/octet-stream", headers=headers)


def _platform(request: AnyRequest) -> AbstractAsyncContextManager[PlatformTx]:
    return deps_of(request, Deps).db.platform(caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """All of them."""
    mine = [
        list_callbacks,
        list_refused,
        show_callback,
        read_callback_body,
        read_request_body,
        requeue_callbacks,
    ]
    return [
        Router("/hooks", route_handlers=[take_callback, challenge_hook], opt=given(deps)),
        Router("/internal/v1/callbacks", route_handlers=mine, opt=given(deps)),
    ]
