"""The health of the installation, for the platform's operators."""

from tidings.backoffice.api.health_wire import HealthView
from tidings.backoffice.attestations.attest import seat_of
from tidings.contracts.conditions import SystemHealth
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import NotAllowedError

health = Resource("health", at="/health", tag="health", scope="tenants", owner=Owner.OPERATOR)


@health.get(problems=["operators_only"])
async def show_health(caller: Caller, health: SystemHealth) -> HealthView:
    """Show which processes run, what waits and what is wrong; for operators of the platform, a few seconds old at most."""
    seat_of(caller)
    if caller.home is not None:
        raise NotAllowedError("this is of the whole installation, and for the platform's operators")
    return HealthView.of(await health.report())
