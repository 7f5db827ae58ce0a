"""Operations on what messages cost."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.resources import Resource
from tidings.router.prices.rates import Rates
from tidings.router.spend import store
from tidings.router.spend.model import day_of
from tidings.router.spend.wire import MOST_UNPRICED, SpendQuery, SpendView

spend = Resource("spend", at="/router/spend", tag="spend", scope="router")

_USUAL: Final = timedelta(days=29)
_LONGEST: Final = timedelta(days=400)


@spend.get(verb="show")
async def show_spend(tx: TenantTx, query: SpendQuery, clock: Clock, rates: Rates) -> SpendView:
    """Show what messages cost: by day, channel or vendor, each currency for itself.

    Estimated by the price lists before a call, real where the vendor tells its price afterwards. A day is that of the
    call, in UTC. `unpriced` counts the calls through accounts without a price. `converted` is all of it in one
    currency, where the rates are known.
    """
    until = query.until or day_of(clock.now())
    since = query.since or until - _USUAL
    if since > until:
        raise BadValueError("since", "must not be after until")
    if until - since > _LONGEST:
        raise BadValueError("since", f"must be at most {_LONGEST.days} days before until")
    spent = await store.sum_spent(tx, since=since, until=until, by=query.by)
    unpriced = await store.count_unpriced(tx, since=since, until=until, by=query.by, most=MOST_UNPRICED)
    return SpendView.of(spent, unpriced, since=since, until=until, by=query.by, rates=rates)
