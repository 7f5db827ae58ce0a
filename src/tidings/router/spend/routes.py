"""Operations on what messages cost."""

from datetime import timedelta
from typing import Final

from tidings.contracts.notification_templates import NotificationTemplates
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.resources import Resource
from tidings.router.prices.rates import Rates
from tidings.router.spend import store
from tidings.router.spend.by_template import MOST_MESSAGES, sums_by_template
from tidings.router.spend.model import day_of
from tidings.router.spend.wire import MOST_UNPRICED, SpendQuery, SpendView

spend = Resource("spend", at="/router/spend", tag="spend", scope="router")

_USUAL: Final = timedelta(days=29)
_LONGEST: Final = timedelta(days=400)


@spend.get(verb="show")
async def show_spend(
    tx: TenantTx, query: SpendQuery, clock: Clock, rates: Rates, templates: NotificationTemplates
) -> SpendView:
    """Show what messages cost: by day, channel, vendor or template, each currency for itself.

    Estimated by the price lists before a call, real where the vendor tells its price afterwards. A day is that of the
    call, in UTC. `unpriced` counts the calls through accounts without a price. `converted` is all of it in one
    currency, where the rates are known. By template it is what the newest 10,000 messages that are over cost when they
    were sent, `messages` counts them, and nothing is corrected.
    """
    until = query.until or day_of(clock.now())
    since = query.since or until - _USUAL
    if since > until:
        raise BadValueError("since", "must not be after until")
    if until - since > _LONGEST:
        raise BadValueError("since", f"must be at most {_LONGEST.days} days before until")
    if query.by == "template":
        costs = await store.costs_of_messages(tx, since=since, until=until, most=MOST_MESSAGES)
        keys = await templates.keys_of(tx, sorted({notification_id for notification_id, _ in costs}))
        return SpendView.of(
            sums_by_template(costs, keys),
            [],
            since=since,
            until=until,
            by=query.by,
            rates=rates,
            newest_only=len(costs) >= MOST_MESSAGES,
        )
    spent = await store.sum_spent(tx, since=since, until=until, by=query.by)
    unpriced = await store.count_unpriced(tx, since=since, until=until, by=query.by, most=MOST_UNPRICED)
    return SpendView.of(spent, unpriced, since=since, until=until, by=query.by, rates=rates)
