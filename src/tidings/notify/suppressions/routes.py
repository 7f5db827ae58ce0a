"""What HTTP calls about suppressions."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, delete, get, post

from tidings.kernel.db import TenantTx
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.ids import SUPPRESSION
from tidings.notify.suppressions import store
from tidings.notify.suppressions.deps import Deps
from tidings.notify.suppressions.model import SEALED_FOR
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.suppressions.wire import (
    CreateSuppression,
    ListSuppressions,
    ReleaseQuery,
    SuppressionView,
)

_TAG = "suppressions"
_LISTING = "suppressions"

AnyRequest = Request[Any, Any, Any]


@post(
    "/",
    **operation(
        summary="Suppress an address: nothing is sent to it any more.",
        tag=_TAG,
        scope="suppressions:write",
        body=CreateSuppression,
        answer=SuppressionView,
        status=201,
        also={200: SuppressionView},
        description="`200` where it was suppressed before: that one stays, and lasts as long as the longer of the two.",
    ),
)
async def add_suppression(request: AnyRequest) -> Response[SuppressionView]:
    """Suppress an address."""
    deps = deps_of(request, Deps)
    wish = (await read_body(request, CreateSuppression)).wish(deps.clock.now())
    async with _tenant(request) as tx:
        [done] = await _suppressor(deps).add(tx, [wish], actor=caller_of(request).actor)
        keys = await deps.keyring.data_keys(tx, [SEALED_FOR], create=False)
    view = SuppressionView.of(done.suppression, keys.get(SEALED_FOR))
    return Response(view, status_code=201 if done.created else 200)


@get(
    "/",
    **operation(
        summary="List suppressions, the newest first.",
        tag=_TAG,
        scope="suppressions:read",
        query=ListSuppressions,
        answer=Page[SuppressionView],
    ),
)
async def list_suppressions(request: AnyRequest) -> Page[SuppressionView]:
    """List suppressions."""
    deps = deps_of(request, Deps)
    query = read_query(request, ListSuppressions)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _tenant(request) as tx:
        found = await store.list_suppressions(
            tx,
            after_id=after.id if after else None,
            channel=query.channel,
            reason=query.reason,
            with_released=query.released == "true",
            now=deps.clock.now(),
            limit=query.limit + 1,
        )
        keys = await deps.keyring.data_keys(tx, [SEALED_FOR], create=False)
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda suppression: suppression.id,
        render=lambda suppression: SuppressionView.of(suppression, keys.get(SEALED_FOR)),
    )


@delete(
    "/{suppression_id:str}",
    **operation(
        summary="Release a suppression: the address may be written to again.",
        tag=_TAG,
        scope="suppressions:write",
        path={"suppression_id": SUPPRESSION},
        query=ReleaseQuery,
        status=204,
        problems=["suppression_not_found", "suppression_released"],
        description="The row stays, with who released it and when.",
    ),
)
async def release_suppression(request: AnyRequest) -> None:
    """Release a suppression."""
    wanted = path_id(request, SUPPRESSION, "suppression_id")
    query = read_query(request, ReleaseQuery)
    async with _tenant(request) as tx:
        await _suppressor(deps_of(request, Deps)).release(
            tx, wanted, actor=caller_of(request).actor, reason=query.reason
        )


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _suppressor(deps: Deps) -> Suppressor:
    return Suppressor(keyring=deps.keyring, outbox=deps.outbox, audit=deps.audit, clock=deps.clock)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            "/api/v1/suppressions",
            route_handlers=[add_suppression, list_suppressions, release_suppression],
            opt=given(deps),
        )
    ]
