"""What HTTP calls about suppressions."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, delete, get, post
from litestar.response import Stream

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.ids import SUPPRESSION
from tidings.notify.notifications.store import find_notifications
from tidings.notify.suppressions import platform_routes, store
from tidings.notify.suppressions.counts import read_counts
from tidings.notify.suppressions.deps import Deps
from tidings.notify.suppressions.errors import UnknownSuppressionError
from tidings.notify.suppressions.export import export_lines
from tidings.notify.suppressions.model import SEALED_FOR, Suppression, SuppressionSpec
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.suppressions.wire import (
    CreateSuppression,
    ExportSuppressionsQuery,
    FoundSuppressions,
    History,
    ListSuppressions,
    LookUpSuppressions,
    ReleaseQuery,
    SuppressionStats,
    SuppressionView,
)

_TAG = "suppressions"
_LISTING = "suppressions"
_REVEAL = "suppressions:write"

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
        example={"channel": "email", "address": "no-more@example.test", "reason": "manual"},
    ),
)
async def add_suppression(request: AnyRequest) -> Response[SuppressionView]:
    """Suppress an address."""
    deps = deps_of(request, Deps)
    wish = (await read_body(request, CreateSuppression)).wish(deps.clock.now())
    async with _tenant(request) as tx:
        await _refuse_foreign_source(tx, wish)
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


@post(
    "/lookup",
    **operation(
        summary="Find the suppressions of an address, released ones too.",
        tag=_TAG,
        scope="suppressions:read",
        writes=False,
        body=LookUpSuppressions,
        answer=FoundSuppressions,
        description="Those of the address and of its whole mail domain; in force first, then the newest. Audited: who asked, and the hash of the address.",
    ),
)
async def look_up_suppressions(request: AnyRequest) -> FoundSuppressions:
    """Find the suppressions of an address."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, LookUpSuppressions)
    async with _tenant(request) as tx:
        found = await _suppressor(deps).look_up(
            tx, channel=wanted.channel, address=wanted.address, actor=caller_of(request).actor
        )
        keys = await deps.keyring.data_keys(tx, [SEALED_FOR], create=False)
    return FoundSuppressions(items=[SuppressionView.of(one, keys.get(SEALED_FOR)) for one in found])


@get(
    "/stats",
    name="suppression_stats",
    **operation(
        summary="How many suppressions are in force, by channel and reason.",
        tag=_TAG,
        scope="suppressions:read",
        answer=SuppressionStats,
        description="From counts that are kept with every change; nothing is scanned.",
    ),
)
async def show_stats(request: AnyRequest) -> SuppressionStats:
    """How many there are."""
    return await _stats(request)


@get(
    "/stats",
    name="suppression_stats_of_tenant",
    **operation(
        summary="How many suppressions of a tenant are in force, to compare with another service's total.",
        tag=_TAG,
        scope="suppressions:read",
        tenant=TenantNeed.NAMED,
        answer=SuppressionStats,
    ),
)
async def show_stats_of_tenant(request: AnyRequest) -> SuppressionStats:
    """The same, as the platform asks it."""
    return await _stats(request)


@get(
    "/export",
    **operation(
        summary="All suppressions as a CSV, the oldest first.",
        tag=_TAG,
        scope="suppressions:read",
        query=ExportSuppressionsQuery,
        media_type="text/csv",
        description="Addresses are hints; `reveal=true` shows them, needs `suppressions:write` and is audited. Such a file can be imported again.",
    ),
)
async def export_suppressions(request: AnyRequest) -> Stream:
    """All of them, a part at a time."""
    deps = deps_of(request, Deps)
    query = read_query(request, ExportSuppressionsQuery)
    caller = caller_of(request)
    reveal = query.reveal == "true"
    if reveal:
        if _REVEAL not in caller.scopes:
            raise MissingScopeError(_REVEAL)
        async with _tenant(request) as tx:
            await _suppressor(deps).note_export(tx, actor=caller.actor, channel=query.channel)
    lines = export_lines(deps, tenant_of(request), query, reveal=reveal)
    named = 'attachment; filename="suppressions.csv"'
    return Stream(lines, media_type="text/csv", headers={"Content-Disposition": named})


@get(
    "/{suppression_id:str}",
    **operation(
        summary="Show a suppression.",
        tag=_TAG,
        scope="suppressions:read",
        path={"suppression_id": SUPPRESSION},
        answer=SuppressionView,
        problems=["suppression_not_found"],
    ),
)
async def show_suppression(request: AnyRequest) -> SuppressionView:
    """Show a suppression."""
    async with _tenant(request) as tx:
        found = await _found(request, tx)
        keys = await deps_of(request, Deps).keyring.data_keys(tx, [SEALED_FOR], create=False)
    return SuppressionView.of(found, keys.get(SEALED_FOR))


@get(
    "/{suppression_id:str}/history",
    **operation(
        summary="What happened to a suppression: who added it, who released it, when and why.",
        tag=_TAG,
        scope="suppressions:read",
        path={"suppression_id": SUPPRESSION},
        answer=History,
        problems=["suppression_not_found"],
    ),
)
async def show_history(request: AnyRequest) -> History:
    """What happened to a suppression."""
    async with _tenant(request) as tx:
        found = await _found(request, tx)
        audited = await deps_of(request, Deps).audit.read_recent(
            tx, entity_type="suppression", entity_id=found.id
        )
    return History.of(found, audited)


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


async def _stats(request: AnyRequest) -> SuppressionStats:
    async with _tenant(request) as tx:
        return SuppressionStats.of(await read_counts(tx))


async def _found(request: AnyRequest, tx: TenantTx) -> Suppression:
    wanted = path_id(request, SUPPRESSION, "suppression_id")
    found = await store.find_suppression(tx, wanted)
    if found is None:
        raise UnknownSuppressionError(f"there is no suppression with the id {wanted}")
    return found


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _suppressor(deps: Deps) -> Suppressor:
    return Suppressor(keyring=deps.keyring, outbox=deps.outbox, audit=deps.audit, clock=deps.clock)


async def _refuse_foreign_source(tx: TenantTx, wish: SuppressionSpec) -> None:
    """A suppression names a notification of the tenant's own, or none."""
    source = wish.source_notification_id
    if source is not None and not await find_notifications(tx, ids=[NotificationId(source)]):
        raise BadValueError("source_notification_id", "must be a notification of yours that is still kept")


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            "/api/v1/suppressions",
            route_handlers=[
                add_suppression,
                list_suppressions,
                look_up_suppressions,
                show_stats,
                export_suppressions,
                show_suppression,
                show_history,
                release_suppression,
            ],
            opt=given(deps),
        ),
        Router("/internal/v1/suppressions", route_handlers=[show_stats_of_tenant], opt=given(deps)),
        platform_routes.router(deps),
    ]
