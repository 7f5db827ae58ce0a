"""The use case "does my webhook work": one signed call with a message that no person wrote."""

from dataclasses import KW_ONLY, dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.ids import TenantId
from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.router.conversations.model import INBOUND_MESSAGE
from tidings.router.inbound_routes import store
from tidings.router.inbound_routes.call import RouteCaller
from tidings.router.inbound_routes.errors import UnknownInboundRouteError
from tidings.router.inbound_routes.model import INBOUND_DELIVERY, InboundRouteId
from tidings.router.inbound_routes.webhook_payload import trial_letter


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WebhookTester:
    """Tries routes."""

    db: Database
    caller: RouteCaller
    _: KW_ONLY
    clock: Clock

    async def try_route(
        self, tenant_id: TenantId, route_id: InboundRouteId, *, role: CallerRole | None
    ) -> WebhookResult:
        """Call it once; no transaction is open meanwhile, and nothing is kept."""
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
            route = await store.find_route(tx, route_id)
        if route is None:
            raise UnknownInboundRouteError(f"there is no inbound route with the id {route_id}")
        now = self.clock.now()
        return await self.caller.call(
            tenant_id,
            url=route.webhook_url,
            secret_ref=route.secret_ref,
            webhook_id=INBOUND_DELIVERY.new(now),
            body=trial_letter(INBOUND_MESSAGE.new(now), route.inbound, now=now),
        )
