"""What HTTP calls about executions; nothing is changed here."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Router, get

from tidings.kernel.db import TenantTx
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, read_cursor, write_cursor
from tidings.router.executions.model import EXECUTION
from tidings.router.executions_api import store
from tidings.router.executions_api.deps import Deps
from tidings.router.executions_api.errors import UnknownExecutionError
from tidings.router.executions_api.listing import find_recent
from tidings.router.executions_api.wire import ExecutionSummary, ExecutionView, ListExecutions

_TAG = "executions"
_LISTING = "executions"

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


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router("/api/v1/router/executions", route_handlers=[list_executions, show_execution], opt=given(deps))
    ]
