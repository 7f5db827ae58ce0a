"""Operations on inbound routes, and on the deliveries to their webhooks."""

from datetime import timedelta
from typing import Final

from msgspec import UnsetType

from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OpenTx
from tidings.kernel.http.once import Once
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import NotAllowedError
from tidings.router.conversations.destinations import canonical
from tidings.router.conversations.wakeups import ConversationWakeups
from tidings.router.inbound_routes import delivery_store, store
from tidings.router.inbound_routes.change import RouteChanger
from tidings.router.inbound_routes.errors import UnknownInboundRouteError
from tidings.router.inbound_routes.model import InboundDeliveryId, InboundRoute, InboundRouteId
from tidings.router.inbound_routes.redeliver import MOST_AT_ONCE, Redeliverer
from tidings.router.inbound_routes.webhook_test import WebhookTester
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

inbound_routes = Resource("inbound-routes", at="/router/inbound-routes", tag="inbound routes", scope="router")

_ONE = "/{route_id}"
_DELIVERIES = "inbound_deliveries"
#: For how long a removed route goes on working, where the request does not say.
_GRACE: Final = timedelta(hours=24)


@inbound_routes.get(test_keys=True, listing="inbound_routes")
async def list_inbound_routes(
    tx: TenantTx, query: ListInboundRoutes, paging: Paging
) -> Page[InboundRouteView]:
    """List inbound routes, the newest first."""
    rows = await store.list_routes(
        tx,
        after_id=paging.after_id,
        inbound=None if query.inbound is None else canonical("", query.inbound),
        with_removed=query.removed == "true",
        limit=paging.fetch,
    )
    return paging.page(rows, InboundRouteView.of)


@inbound_routes.post(status=201, problems=["inbound_not_available", "secrets_unavailable"])
async def create_inbound_route(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    body: CreateInboundRoute,
    caller: Caller,
    changer: RouteChanger,
    once: Once,
) -> Answer[InboundRouteView] | Reply:
    """Make an inbound route: the webhook that gets messages to a number.

    Each message is a POST, signed as Standard Webhooks are with the secret behind `secret_ref`, and repeated for a
    day until it is answered with 2xx. `*` takes what no other route takes. It takes what comes over the tenant's own
    accounts, and answers in its own conversations. `platform`: also what anybody else writes to this number over
    accounts that all tenants share; only operators can say so, and for one tenant at a time.
    """
    number = body.number()
    if body.platform:
        _operators_only(caller)
    await changer.refuse_unfit(tenant_id, webhook_url=body.webhook_url, secret_ref=body.secret_ref)
    async with open_tx() as tx:

        async def create() -> Answer[InboundRouteView]:
            made = await changer.create(
                tx,
                number,
                webhook_url=body.webhook_url,
                secret_ref=body.secret_ref,
                platform=body.platform,
                actor=caller.actor,
            )
            location = f"/api/v1/router/inbound-routes/{made.id}"
            return Answer(InboundRouteView.of(made), version=made.version, location=location)

        return await once(tx, create)


@inbound_routes.get("/deliveries", listing=_DELIVERIES)
async def list_inbound_deliveries(
    tx: TenantTx, query: ListInboundDeliveries, paging: Paging
) -> Page[InboundDeliveryView]:
    """List messages on their way to webhooks, the newest first.

    Kept for 30 days. `status=dead` lists what was given up.
    """
    rows = await delivery_store.list_deliveries(
        tx, after_id=paging.after_id, status=query.status, route_id=query.route_id(), limit=paging.fetch
    )
    return paging.page(rows, InboundDeliveryView.of)


@inbound_routes.post(
    "/deliveries/{delivery_id}/redeliver",
    status=202,
    problems=["inbound_delivery_not_found", "inbound_delivery_under_way"],
)
async def redeliver_inbound(
    tx: TenantTx,
    delivery_id: InboundDeliveryId,
    caller: Caller,
    redeliverer: Redeliverer,
    wakeups: ConversationWakeups,
    after_commit: AfterCommit,
) -> InboundDeliveryView:
    """Tell the webhook once more, at once and then for a day.

    It has the same `webhook-id` as before. Where its route is gone, the one that serves the number now gets it.
    """
    after_commit(wakeups.deliveries.set)
    return InboundDeliveryView.of(await redeliverer.redeliver(tx, delivery_id, actor=caller.actor))


@inbound_routes.post("/deliveries/redeliver", status=202, problems=["inbound_route_not_found"])
async def redeliver_dead(
    tx: TenantTx,
    caller: Caller,
    redeliverer: Redeliverer,
    wakeups: ConversationWakeups,
    after_commit: AfterCommit,
    body: RedeliverDead = RedeliverDead(),  # noqa: B008  # frozen
) -> Redelivered:
    """Tell the webhooks again what was given up, at once and then for a day.

    All dead ones, or those of a route, at most a thousand at a time. Where the route is gone, the one that serves the
    number now gets it; what no route takes stays as it is, and so does what was erased. It is audited.
    """
    after_commit(wakeups.deliveries.set)
    count = await redeliverer.redeliver_dead(
        tx,
        route_id=body.route_id(),
        since=None if isinstance(body.since, UnsetType) else body.since,
        actor=caller.actor,
    )
    return Redelivered(redelivered=count, more=count == MOST_AT_ONCE)


@inbound_routes.get(_ONE, test_keys=True, problems=["inbound_route_not_found"])
async def show_inbound_route(tx: TenantTx, route_id: InboundRouteId) -> Answer[InboundRouteView]:
    """Show an inbound route, also a removed one."""
    route = await store.find_route(tx, route_id)
    if route is None:
        raise UnknownInboundRouteError(f"there is no inbound route with the id {route_id}")
    return _shown(route)


@inbound_routes.put(
    _ONE, problems=["inbound_route_not_found", "inbound_route_removed", "secrets_unavailable"]
)
async def put_inbound_route(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    route_id: InboundRouteId,
    body: PutInboundRoute,
    if_match: IfMatch,
    caller: Caller,
    changer: RouteChanger,
) -> Answer[InboundRouteView]:
    """Change where messages are sent, or what they are signed with.

    What waits goes to the new address too. The secret behind `secret_ref` may be several, one on each line, while one
    takes the place of another: calls are signed with each.
    """
    platform = None if isinstance(body.platform, UnsetType) else body.platform
    if platform:
        _operators_only(caller)

    def expect(known: InboundRoute) -> None:
        if_match.expect(known.version)
        if body.inbound not in (None, known.inbound):
            raise BadValueError(
                "inbound", "can't be changed; make a route for the other number, and remove this one"
            )

    async with open_tx() as tx:
        known = await store.find_route(tx, route_id)
    if known is not None and known.secret_ref != body.secret_ref:
        await changer.refuse_unfit(tenant_id, webhook_url=body.webhook_url, secret_ref=body.secret_ref)
    async with open_tx() as tx:
        changed = await changer.change(
            tx,
            route_id,
            webhook_url=body.webhook_url,
            secret_ref=body.secret_ref,
            platform=platform,
            expect=expect,
            actor=caller.actor,
        )
    return _shown(changed)


@inbound_routes.delete(_ONE, problems=["inbound_route_not_found", "inbound_route_removed"])
async def remove_inbound_route(
    tx: TenantTx,
    route_id: InboundRouteId,
    query: RemoveInboundRoute,
    if_match: IfMatch,
    caller: Caller,
    changer: RouteChanger,
) -> Answer[InboundRouteView]:
    """Remove an inbound route; it goes on working until its grace is over.

    A number on shared accounts is free for others only afterwards.
    """
    removed = await changer.remove(
        tx,
        route_id,
        grace=_GRACE if query.grace_seconds is None else timedelta(seconds=query.grace_seconds),
        expect=lambda known: if_match.expect(known.version),
        actor=caller.actor,
    )
    return _shown(removed)


@inbound_routes.post(
    f"{_ONE}/restore",
    problems=["inbound_route_not_found", "inbound_route_in_force", "inbound_route_grace_over"],
)
async def restore_inbound_route(
    tx: TenantTx, route_id: InboundRouteId, caller: Caller, changer: RouteChanger
) -> Answer[InboundRouteView]:
    """Bring a removed inbound route back, as long as its grace lasts."""
    return _shown(await changer.restore(tx, route_id, actor=caller.actor))


@inbound_routes.post(f"{_ONE}/test", problems=["inbound_route_not_found"])
async def try_inbound_route(
    tenant_id: TenantId, route_id: InboundRouteId, caller: Caller, trier: WebhookTester
) -> TrialView:
    """Call the webhook with a message that nobody wrote, signed as real ones are.

    Once, and nothing of it is kept; its `type` is `test`.
    """
    return TrialView.of(await trier.try_route(tenant_id, route_id, role=caller.role))


def _operators_only(caller: Caller) -> None:
    """A number that all tenants share is not theirs to claim."""
    if not caller.role.startswith("platform."):
        raise NotAllowedError("platform can only be set by the platform's operators; ask them for the number")


def _shown(route: InboundRoute) -> Answer[InboundRouteView]:
    return Answer(InboundRouteView.of(route), version=route.version)
