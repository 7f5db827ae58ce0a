"""The hooks that vendors call, and what operators do with callbacks that have no owner."""

from typing import NewType

from msgspec import UnsetType

from tidings.contracts.callback_forms import HookReply
from tidings.contracts.callbacks import Callback
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.db import PlatformTx
from tidings.kernel.durable.dead_letters import MOST_AT_ONCE
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import AfterCommit
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.places import place_of
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.router.callbacks import store
from tidings.router.callbacks.dead_letters import DeadCallbacks
from tidings.router.callbacks.errors import NoHookError
from tidings.router.callbacks.intake import IntakeResult
from tidings.router.callbacks.receive_callback import CallbackEndpoint, HookCall
from tidings.router.callbacks.wire import (
    CallbackQuery,
    CallbackView,
    HookAnswer,
    RefusedRequestView,
    RequestQuery,
    Requeue,
    Requeued,
)
from tidings.router.ids import InboundWebhookEventId, InboundWebhookId

#: Wakes the job that applies what was kept.
CallbackWakeup = NewType("CallbackWakeup", Wakeup)

_TAG = "callbacks"
hooks = Resource("hooks", at="/hooks", tag=_TAG, owner=Owner.PUBLIC)
callbacks = Resource("callbacks", at="/callbacks", tag=_TAG, scope="router", owner=Owner.PLATFORM)

_HOOK = "/{vendor}/{adapter}"


@hooks.get(
    _HOOK, media_type="text/plain", problems=["no_hook", "bad_signature", "hook_unavailable", "too_busy"]
)
async def challenge_hook(vendor: str, adapter: str, request: Request, desk: CallbackEndpoint) -> Reply:
    """Ask whether a hook is there, as the vendor that is about to use it.

    Some vendors ask once, before they send anything; WhatsApp's question and its answer are Meta's.
    """
    taken = await _take(vendor, adapter, request, desk)
    if not isinstance(taken, HookReply):
        raise NoHookError
    return _replied(taken)


@hooks.post(
    _HOOK,
    body=Callback,
    problems=["no_hook", "bad_signature", "hook_unavailable", "body_too_large", "too_busy"],
)
async def take_callback(
    vendor: str, adapter: str, request: Request, desk: CallbackEndpoint
) -> HookAnswer | Reply:
    """Tell what became of messages, as the vendor that took them.

    No API key: the signature is the key. `adapter` is the account's id. The form is that of the vendor; this is the
    generic one, of the vendor `http`, signed as Standard Webhooks are: `webhook-id`, `webhook-timestamp`,
    `webhook-signature`. Answered when it is durable, applied a moment later. A repeated event changes nothing.
    """
    taken = await _take(vendor, adapter, request, desk)
    if isinstance(taken, HookReply):
        return _replied(taken)
    return HookAnswer(accepted=taken.accepted, repeated=taken.repeated)


async def _take(
    vendor: str, adapter: str, request: Request, desk: CallbackEndpoint
) -> IntakeResult | HookReply:
    headers: dict[str, list[str]] = {}
    for name, value in request.scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    raw_path = request.scope.get("raw_path") or request.scope["path"].encode()
    query = request.scope["query_string"]
    call = HookCall(
        method=request.scope["method"],
        path=(raw_path.partition(b"?")[0] + (b"?" + query if query else b"")).decode("latin-1"),
        headers=headers,
        read_body=request.body,
        place=place_of(request.scope),
    )
    return await desk.take(vendor, adapter, call)


def _replied(reply: HookReply) -> Reply:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Reply(body=reply.body, status=reply.status, media_type=reply.media_type, headers=headers)


@callbacks.get()
async def list_callbacks(tx: PlatformTx, query: CallbackQuery, paging: Paging) -> Page[CallbackView]:
    """List events that have not found their attempt, the newest first.

    The dead ones, unless another `status` is asked for. One that found its attempt is its tenant's.
    """
    rows = await store.list_events(tx, query.page(paging), status=query.status)
    return paging.page(rows, CallbackView.of)


@callbacks.get("/requests", listing="callback-requests")
async def list_refused(tx: PlatformTx, query: RequestQuery, paging: Paging) -> Page[RefusedRequestView]:
    """List requests that were refused or could not be read, the newest first.

    A few a minute are kept for each account; the metrics count all of them.
    """
    return paging.page(await store.list_requests(tx, query.page(paging)), RefusedRequestView.of)


@callbacks.get("/{callback_id}", problems=["callback_not_found"])
async def show_callback(
    tx: PlatformTx, callback_id: InboundWebhookEventId, dead: DeadCallbacks
) -> CallbackView:
    """Show an event that has not found its attempt."""
    return CallbackView.of(await dead.show(tx, callback_id))


@callbacks.get(
    "/{callback_id}/body",
    attested="raw.read",
    writes=True,
    media_type="application/octet-stream",
    problems=["callback_not_found", "callback_body_gone"],
)
async def read_callback_body(
    tx: PlatformTx, callback_id: InboundWebhookEventId, caller: Caller, dead: DeadCallbacks, blobs: BlobStore
) -> Reply:
    """Read the raw body of the request that brought an event; that is audited.

    It may hold addresses and other people's words.
    """
    return Reply.download(await dead.body_of_event(tx, blobs, callback_id, actor=caller.actor))


@callbacks.get(
    "/requests/{request_id}/body",
    attested="raw.read",
    writes=True,
    media_type="application/octet-stream",
    problems=["callback_request_not_found", "callback_body_gone"],
)
async def read_request_body(
    tx: PlatformTx, request_id: InboundWebhookId, caller: Caller, dead: DeadCallbacks, blobs: BlobStore
) -> Reply:
    """Read the raw body of a refused request; that is audited.

    Of one whose signature did not fit only the beginning is kept.
    """
    return Reply.download(await dead.body_of_request(tx, blobs, request_id, actor=caller.actor))


@callbacks.post("/requeue")
async def requeue_callbacks(
    tx: PlatformTx,
    body: Requeue,
    caller: Caller,
    dead: DeadCallbacks,
    wakeup: CallbackWakeup,
    after_commit: AfterCommit,
) -> Requeued:
    """Look for the attempts of dead letters again.

    By their ids, or all of a vendor, at most a thousand at a time. Those that are not dead are passed over, and those
    received more than 35 days ago: their messages are not looked for any more.
    """
    ids = body.event_ids()
    again = await dead.requeue(
        tx,
        actor=caller.actor,
        ids=ids,
        vendor=None if isinstance(body.vendor, UnsetType) else body.vendor,
        since=None if isinstance(body.since, UnsetType) else body.since,
    )
    if again.ids and not wakeup.attended:
        await store.announce(tx)
    after_commit(wakeup.set)
    count = len(again.ids)
    return Requeued(requeued=count, too_old=again.too_old, more=ids is None and count == MOST_AT_ONCE)
