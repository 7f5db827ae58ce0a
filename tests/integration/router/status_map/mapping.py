"""The status map over a world of callbacks."""

from tests.integration.router.callbacks.conftest import CallbackWorld
from tests.support.router_app import router_app
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.http.app import HttpApp
from tidings.kernel.parts import Parts
from tidings.router.executions import receipts
from tidings.router.status_map.reapply import Reapplier
from tidings.router.status_map.routes import status_map

HOME = "/api/v1/router/status-map"
INSIDE = "/internal/v1/router/status-map"


def app_of(world: CallbackWorld, *, most: int = 5000, set_size: int = 500) -> HttpApp:
    """Its routes; `most` receipts in one go, so many in a set."""
    reapplier = Reapplier(
        world.db,
        receipts.apply,
        audit=world.audit,
        clock=world.clock,
        on_woken=world.woken.append,
        most=most,
        set_size=set_size,
    )
    parts = Parts(world.db, reapplier).add(AuditLog, world.audit).add(Clock, world.clock)
    return router_app(status_map, clock=world.clock, parts=parts)
