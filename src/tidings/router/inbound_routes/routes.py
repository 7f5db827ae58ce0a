"""What HTTP calls about inbound routes."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from litestar import Request, Response, Router, delete, get, post, put
from msgspec import UnsetType

from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import body_of, read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.refusals import NotAllowedError
from tidings.router.conversations.destinations import canonical
from tidings.router.inbound_routes import delivery_store, store
from tidings.router.inbound_routes.deps import Deps
from tidings.router.inbound_routes.errors import UnknownInboundRouteError
from tidings.router.inbound_routes.model import (
    INBOUND_DELIVERY,
    INBOUND_ROUTE,
    InboundRoute,
    InboundRouteId,
)
from tidings.router.inbound_routes.redeliver import MOST_AT_ONCE
from tidings.router.inbound_routes.wire import (
    CreateInboundRoute,
    InboundDeliveryView,
    InboundRouteView,
    ListInboundDeliveries,
    ListInboundRoutes,
    PutInboundRoute,
    RedeliverDead,
    Redelivered,
    RemoveInboundRoute,
    TrialView,
)

_TAG = "inbound routes"
_HOME = "/api/v1/router/inbound-routes"
_LISTING = "inbound_routes"
_DELIVERIES = "inbound_deliveries"

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List inbound routes, the newest first.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        query=ListInboundRoutes,
        answer=Page[InboundRouteView],
    ),
)
async def list_inbound_routes(request: AnyRequest) -> Page[InboundRouteView]:
    """List inbound routes."""
    query = read_query(request, ListInboundRoutes)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _tenant(request) as tx:
        found = await store.list_routes(
            tx,
            after_id=after.id if after else None,
            inbound=None if query.inbound is None else canonical("", query.inbound),
            with_removed=query.removed == "true",
            limit=query.limit + 1,
        )
    return page_of(
        found, limit=query.limit, listing=_LISTING, id_of=lambda one: one.id, render=InboundRouteView.of
    )


@post(
    "/",
    **operation(
        summary="Make an inbound route: the webhook that gets messages to a number.",
        tag=_TAG,
        scope="router:write",
        body=CreateInboundRoute,
        answer=InboundRouteView,
        status=201,
        problems=["inbound_not_available", "secrets_unavailable"],
        headers=["Idempotency-Key"],
        description=(
            "Each message is a POST, signed as Standard Webhooks are with the secret behind `secret_ref`, and repeated for a day "
            "until it is answered with 2xx. `*` takes what no other route takes. It takes what comes over the tenant's own "
            "accounts, and answers in its own conversations. `platform`: also what anybody else writes to this number over "
            "accounts that all tenants share; only operators can say so, and for one tenant at a time."
        ),
    ),
)
async def create_inbound_route(request: AnyRequest) -> Response[bytes]:
    """Make an inbound route."""
    wanted = await read_body(request, CreateInboundRoute)
    number = wanted.number()
    deps = deps_of(request, Deps)
    if wanted.platform:
        _operators_only(request)
    await deps.changer.refuse_unfit(
        tenant_of(request), webhook_url=wanted.webhook_url, secret_ref=wanted.secret_ref
    )
    async with _tenant(request) as tx:

        async def work() -> Done:
            made = await deps.changer.create(
                tx,
                number,
                webhook_url=wanted.webhook_url,
                secret_ref=wanted.secret_ref,
                platform=wanted.platform,
                actor=caller_of(request).actor,
            )
            headers = {"ETag": etag(made.version), "Location": f"{_HOME}/{made.id}"}
            return Done(status=201, body=InboundRouteView.of(made), headers=headers)

        return await answer_once(request, tx, deps.idempotency, work)


@get(
    "/deliveries",
    **operation(
        summary="List messages on their way to webhooks, the newest first.",
        tag=_TAG,
        scope="router:read",
        query=ListInboundDeliveries,
        answer=Page[InboundDeliveryView],
        description="Kept for 30 days. `status=dead` lists what was given up.",
    ),
)
async def list_inbound_deliveries(request: AnyRequest) -> Page[InboundDeliveryView]:
    """List deliveries."""
    query = read_query(request, ListInboundDeliveries)
    after = read_cursor(query.cursor, listing=_DELIVERIES)
    async with _tenant(request) as tx:
        found = await delivery_store.list_deliveries(
            tx,
            after_id=after.id if after else None,
            status=query.status,
            route_id=query.route_id(),
            limit=query.limit + 1,
        )
    return page_of(
        found,
        limit=query.limit,
        listing=_DELIVERIES,
        id_of=lambda one: one.id,
        render=InboundDeliveryView.of,
    )


@post(
    "/deliveries/{delivery_id:str}/redeliver",
    **operation(
        summary="Tell the webhook once more, at once and then for a day.",
        tag=_TAG,
        scope="router:write",
        path={"delivery_id": INBOUND_DELIVERY},
        answer=InboundDeliveryView,
        status=202,
        problems=["inbound_delivery_not_found", "inbound_delivery_under_way"],
        description="It has the same `webhook-id` as before. Where its route is gone, the one that serves the number now gets it.",
    ),
)
async def redeliver_inbound(request: AnyRequest) -> InboundDeliveryView:
    """Deliver again."""
    deps = deps_of(request, Deps)
    async with _tenant(request) as tx:
        again = await deps.redeliverer.redeliver(
            tx, path_id(request, INBOUND_DELIVERY, "delivery_id"), actor=caller_of(request).actor
        )
    deps.deliveries_wakeup.set()
    return InboundDeliveryView.of(again)


@post(
    "/deliveries/redeliver",
    **operation(
        summary="Tell the webhooks again what was given up, at once and then for a day.",
        tag=_TAG,
        scope="router:write",
        body=RedeliverDead,
        body_optional=True,
        answer=Redelivered,
        status=202,
        problems=["inbound_route_not_found"],
        description=(
            "All dead ones, or those of a route, at most a thousand at a time. Where the route is gone, the one that serves the "
            "number now gets it; what no route takes stays as it is, and so does what was erased. It is audited."
        ),
    ),
)
async def redeliver_dead(request: AnyRequest) -> Redelivered:
    """Deliver all dead ones again."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, RedeliverDead) if await body_of(request) else RedeliverDead()
    async with _tenant(request) as tx:
        count = await deps.redeliverer.redeliver_dead(
            tx,
            route_id=wanted.route_id(),
            since=None if isinstance(wanted.since, UnsetType) else wanted.since,
            actor=caller_of(request).actor,
        )
    deps.deliveries_wakeup.set()
    return Redelivered(redelivered=count, more=count == MOST_AT_ONCE)


@get(
    "/{route_id:str}",
    **operation(
        summary="Show an inbound route, also a removed one.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        path={"route_id": INBOUND_ROUTE},
        answer=InboundRouteView,
        problems=["inbound_route_not_found"],
    ),
)
async def show_inbound_route(request: AnyRequest) -> Response[InboundRouteView]:
    """Show an inbound route."""
    wanted = _route_id(request)
    async with _tenant(request) as tx:
        found = await store.find_route(tx, wanted)
    if found is None:
        raise UnknownInboundRouteError(f"there is no inbound route with the id {wanted}")
    return _shown(found)


@put(
    "/{route_id:str}",
    **operation(
        summary="Change where messages are sent, or what they are signed with.",
        tag=_TAG,
        scope="router:write",
        path={"route_id": INBOUND_ROUTE},
        body=PutInboundRoute,
        answer=InboundRouteView,
        problems=["inbound_route_not_found", "inbound_route_removed", "secrets_unavailable"],
        headers=["If-Match"],
        description=(
            "What waits goes to the new address too. The secret behind `secret_ref` may be several, one on each line, "
            "while one takes the place of another: calls are signed with each."
        ),
    ),
)
async def put_inbound_route(request: AnyRequest) -> Response[InboundRouteView]:
    """Change an inbound route."""
    wanted = await read_body(request, PutInboundRoute)
    platform = None if isinstance(wanted.platform, UnsetType) else wanted.platform
    if platform:
        _operators_only(request)

    def expect(known: InboundRoute) -> None:
        expect_version(request.scope, known.version)
        if wanted.inbound not in (None, known.inbound):
            raise BadValueError(
                "inbound", "can't be changed; make a route for the other number, and remove this one"
            )

    changer, route_id = deps_of(request, Deps).changer, _route_id(request)
    async with _tenant(request) as tx:
        known = await store.find_route(tx, route_id)
    if known is not None and known.secret_ref != wanted.secret_ref:
        await changer.refuse_unfit(
            tenant_of(request), webhook_url=wanted.webhook_url, secret_ref=wanted.secret_ref
        )
    async with _tenant(request) as tx:
        changed = await changer.change(
            tx,
            route_id,
            webhook_url=wanted.webhook_url,
            secret_ref=wanted.secret_ref,
            platform=platform,
            expect=expect,
            actor=caller_of(request).actor,
        )
    return _shown(changed)


@delete(
    "/{route_id:str}",
    **operation(
        summary="Remove an inbound route; it goes on working until its grace is over.",
        tag=_TAG,
        scope="router:write",
        path={"route_id": INBOUND_ROUTE},
        query=RemoveInboundRoute,
        answer=InboundRouteView,
        problems=["inbound_route_not_found", "inbound_route_removed"],
        headers=["If-Match"],
        description="A number on shared accounts is free for others only afterwards.",
    ),
)
async def remove_inbound_route(request: AnyRequest) -> Response[InboundRouteView]:
    """Remove an inbound route."""
    deps = deps_of(request, Deps)
    query = read_query(request, RemoveInboundRoute)
    grace = deps.grace if query.grace_seconds is None else timedelta(seconds=query.grace_seconds)
    async with _tenant(request) as tx:
        removed = await deps.changer.remove(
            tx,
            _route_id(request),
            grace=grace,
            expect=lambda known: expect_version(request.scope, known.version),
            actor=caller_of(request).actor,
        )
    return _shown(removed)


@post(
    "/{route_id:str}/restore",
    **operation(
        summary="Bring a removed inbound route back, as long as its grace lasts.",
        tag=_TAG,
        scope="router:write",
        path={"route_id": INBOUND_ROUTE},
        answer=InboundRouteView,
        problems=["inbound_route_not_found", "inbound_route_in_force", "inbound_route_grace_over"],
    ),
)
async def restore_inbound_route(request: AnyRequest) -> Response[InboundRouteView]:
    """Restore an inbound route."""
    async with _tenant(request) as tx:
        restored = await deps_of(request, Deps).changer.restore(
            tx, _route_id(request), actor=caller_of(request).actor
        )
    return _shown(restored)


@post(
    "/{route_id:str}/test",
    **operation(
        summary="Call the webhook with a message that nobody wrote, signed as real ones are.",
        tag=_TAG,
        scope="router:write",
        path={"route_id": INBOUND_ROUTE},
        answer=TrialView,
        problems=["inbound_route_not_found"],
        description="Once, and nothing of it is kept; its `type` is `test`.",
    ),
)
async def try_inbound_route(request: AnyRequest) -> TrialView:
    """Try an inbound route."""
    called = await deps_of(request, Deps).trier.try_route(
        tenant_of(request), _route_id(request), role=caller_of(request).role
    )
    return TrialView.of(called)


def _operators_only(request: AnyRequest) -> None:
    """A number that all tenants share is not theirs to claim."""
    if not caller_of(request).role.startswith("platform."):
        raise NotAllowedError("platform can only be set by the platform's operators; ask them for the number")


def _route_id(request: AnyRequest) -> InboundRouteId:
    return path_id(request, INBOUND_ROUTE, "route_id")


def _shown(route: InboundRoute) -> Response[InboundRouteView]:
    return Response(InboundRouteView.of(route), headers={"ETag": etag(route.version)})


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [
        list_inbound_routes,
        create_inbound_route,
        list_inbound_deliveries,
        redeliver_inbound,
        redeliver_dead,
        show_inbound_route,
        put_inbound_route,
        remove_inbound_route,
        restore_inbound_route,
        try_inbound_route,
    ]
    return [Router(_HOME, route_handlers=handlers, opt=given(deps))]
