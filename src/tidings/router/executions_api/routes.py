"""What HTTP calls about executions; nothing is changed here."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, get

from tidings.kernel.audit.log import Entry
from tidings.kernel.blobs.store import BlobNotFoundError
from tidings.kernel.db import TenantTx
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, read_cursor, write_cursor
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.refusals import MissingScopeError
from tidings.router.executions import answers
from tidings.router.executions.model import EXECUTION
from tidings.router.executions_api import store
from tidings.router.executions_api.deps import Deps
from tidings.router.executions_api.errors import AnswerGoneError, UnknownExecutionError
from tidings.router.executions_api.listing import find_recent
from tidings.router.executions_api.wire import ExecutionSummary, ExecutionView, ListExecutions
from tidings.router.state_machine.model import ATTEMPT

_TAG = "executions"
_LISTING = "executions"
#: Whoever may see people's addresses may see what a vendor said of them.
_REVEAL = "recipients:write"

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List executions, under way and over, the newest first.",
        tag=_TAG,
        scope="router:read",
        query=ListExecutions,
        answer=Page[ExecutionSummary],
        description=(
            "With a filter a request looks at some 20,000 of them and no more: a page may be short, or empty, and "
            "still have a `next_cursor`."
        ),
    ),
)
async def list_executions(request: AnyRequest) -> Page[ExecutionSummary]:
    """List executions."""
    query = read_query(request, ListExecutions)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _tenant(request) as tx:
        found = await find_recent(
            tx,
            query.filter(),
            since=query.since,
            until=query.until,
            after=after,
            limit=query.limit,
            now=deps_of(request, Deps).clock.now(),
        )
    return Page(
        items=[ExecutionSummary.of(execution) for execution in found.items],
        next_cursor=None if found.next_id is None else write_cursor(found.next_id, listing=_LISTING),
    )


@get(
    "/{execution_id:str}",
    **operation(
        summary="Show an execution: its frozen ladder, path, attempts, receipts, costs and clocks.",
        tag=_TAG,
        scope="router:read",
        path={"execution_id": EXECUTION},
        answer=ExecutionView,
        problems=["execution_not_found"],
    ),
)
async def show_execution(request: AnyRequest) -> ExecutionView:
    """Show an execution."""
    wanted = path_id(request, EXECUTION, "execution_id")
    async with _tenant(request) as tx:
        found = (await store.find_executions(tx, [wanted])).get(wanted)
        if found is None:
            raise UnknownExecutionError(f"there is no execution with the id {wanted}")
        attempts = await store.find_attempts(tx, found)
        receipts = await store.find_receipts(tx, found, [attempt.id for attempt in attempts])
    return ExecutionView.whole(found, attempts, receipts)


@get(
    "/{execution_id:str}/attempts/{attempt_id:str}/answer",
    **operation(
        summary="Read what the vendor answered to an attempt, word for word; that is audited.",
        tag=_TAG,
        scope="router:read",
        path={"execution_id": EXECUTION, "attempt_id": ATTEMPT},
        writes=True,
        media_type="application/octet-stream",
        problems=["execution_not_found", "answer_gone"],
        description="It may hold an address: needs `recipients:write` as well. Kept for 30 days, sealed under the person's key; the first 16 KiB of it.",
    ),
)
async def read_answer(request: AnyRequest) -> Response[bytes]:
    """Read a vendor's answer."""
    deps, caller = deps_of(request, Deps), caller_of(request)
    if _REVEAL not in caller.scopes:
        raise MissingScopeError(_REVEAL)
    execution_id = path_id(request, EXECUTION, "execution_id")
    attempt_id = path_id(request, ATTEMPT, "attempt_id")
    async with _tenant(request) as tx:
        found = (await store.find_executions(tx, [execution_id])).get(execution_id)
        if found is None:
            raise UnknownExecutionError(f"there is no execution with the id {execution_id}")
        attempts = await store.find_attempts(tx, found)
        ref = next((one.answer_ref for one in attempts if one.id == attempt_id), None)
        keys = await deps.keyring.data_keys(tx, [found.recipient_id], create=False)
        key = keys.get(found.recipient_id)
        if ref is None or key is None or key.destroyed:
            raise AnswerGoneError
        entry = Entry(
            entity_type="delivery_attempt", entity_id=attempt_id, action="answer_revealed", actor=caller.actor
        )
        await deps.audit.append(tx, [entry])
    try:
        answer = await answers.read(deps.blobs(), key, attempt_id, ref)
    except (BlobNotFoundError, DestroyedKeyError):
        raise AnswerGoneError from None
    headers = {"content-disposition": "attachment", "cache-control": "no-store"}
    return Response(answer, media_type="application/octet-stream", headers=headers)


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            "/api/v1/router/executions",
            route_handlers=[list_executions, show_execution, read_answer],
            opt=given(deps),
        )
    ]
