"""What HTTP calls about spending."""

from datetime import timedelta
from typing import Any, Final

from litestar import Request, Router, get

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.router.spend import store
from tidings.router.spend.deps import Deps
from tidings.router.spend.model import day_of
from tidings.router.spend.wire import MOST_UNPRICED, SpendQuery, SpendView

_USUAL: Final = timedelta(days=29)
_LONGEST: Final = timedelta(days=400)

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="Show what messages cost: by day, channel or vendor, each currency for itself.",
        tag="spend",
        scope="router:read",
        query=SpendQuery,
        answer=SpendView,
        description=(
            "Estimated by the price lists before a call, real where the vendor tells its price afterwards. A day is "
            "that of the call, in UTC. `unpriced` counts the calls through accounts without a price. `converted` is all of it in one currency, where the rates are known."
        ),
    ),
)
async def show_spend(request: AnyRequest) -> SpendView:
    """Show what messages cost."""
    query = read_query(request, SpendQuery)
    deps = deps_of(request, Deps)
    until = query.until or day_of(deps.clock.now())
    since = query.since or until - _USUAL
    if since > until:
        raise BadValueError("since", "must not be after until")
    if until - since > _LONGEST:
        raise BadValueError("since", f"must be at most {_LONGEST.days} days before until")
    async with deps.db.tenant(tenant_of(request), caller_role=caller_of(request).role) as tx:
        found = await store.sum_spent(tx, since=since, until=until, by=query.by)
        unpriced = await store.count_unpriced(tx, since=since, until=until, by=query.by, most=MOST_UNPRICED)
    return SpendView.of(found, unpriced, since=since, until=until, by=query.by, rates=deps.rates)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [Router("/api/v1/router/spend", route_handlers=[show_spend], opt=given(deps))]
