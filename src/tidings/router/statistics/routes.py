"""Operations on how sending went; none of them counts a large table."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.resources import Owner, Resource
from tidings.router.statistics import store
from tidings.router.statistics.wire import (
    CostStatisticsView,
    ErrorStatisticsView,
    OutcomeStatisticsQuery,
    OutcomeStatisticsView,
    StatisticsQuery,
    StepStatisticsView,
    TenantStatisticsView,
    VendorStatisticsView,
    moments,
)

statistics = Resource("statistics", at="/statistics", tag="statistics", scope="router")
statistics_of_all = Resource(
    "statistics", at="/statistics", tag="statistics", scope="router", owner=Owner.PLATFORM
)

_MOST_CODES: Final = 100
_MOST_TENANTS: Final = 50
_LONGEST_OF_ALL: Final = timedelta(days=8)


@statistics.get("/steps", verb="steps")
async def show_step_statistics(tx: TenantTx, query: StatisticsQuery, clock: Clock) -> StepStatisticsView:
    """What became of the steps of ladders: how many came to each, and how many it delivered.

    Executions count when they have ended, under the hour in which the call began; a day is one of UTC.
    """
    since, until = query.days(clock)
    first, last = moments(since, until)
    return StepStatisticsView.of(await store.sum_steps(tx, since=first, until=last), since=since, until=until)


@statistics.get("/vendors", verb="vendors")
async def show_vendor_statistics(tx: TenantTx, query: StatisticsQuery, clock: Clock) -> VendorStatisticsView:
    """How vendors answered: calls, failures, and how long they took.

    `p50_ms` and `p95_ms` are reckoned from thirteen buckets between 5 ms and 30 s.
    """
    since, until = query.days(clock)
    first, last = moments(since, until)
    return VendorStatisticsView.of(
        await store.sum_vendors(tx, since=first, until=last), since=since, until=until
    )


@statistics.get("/costs", verb="costs")
async def show_cost_statistics(tx: TenantTx, query: StatisticsQuery, clock: Clock) -> CostStatisticsView:
    """What messages cost, by day, channel and vendor, each currency for itself.

    The sums of these are what `GET /api/v1/router/spend` shows, without the calls that have no price.
    """
    since, until = query.days(clock)
    return CostStatisticsView.of(
        await store.sum_costs(tx, since=since, until=until), since=since, until=until
    )


@statistics.get("/errors", verb="errors")
async def show_error_statistics(tx: TenantTx, query: StatisticsQuery, clock: Clock) -> ErrorStatisticsView:
    """Why calls came to nothing and steps were skipped, by channel, vendor and code: the hundred most frequent."""
    since, until = query.days(clock)
    sums = await store.sum_errors(tx, since=since, until=until, limit=_MOST_CODES)
    return ErrorStatisticsView.of(sums, since=since, until=until)


@statistics.get("/outcomes", verb="outcomes")
async def show_outcome_statistics(
    tx: TenantTx, query: OutcomeStatisticsQuery, clock: Clock
) -> OutcomeStatisticsView:
    """How executions ended, by the hour or the day and by the channel that they ended on."""
    since, until = query.days(clock, longest=query.longest)
    first, last = moments(since, until)
    sums = await store.sum_outcomes(tx, since=first, until=last, every=query.every, use_case=query.use_case)
    return OutcomeStatisticsView.of(sums, since=since, until=until, every=query.every)


@statistics_of_all.get("/tenants", verb="tenants")
async def show_tenant_statistics(
    tx: PlatformTx, query: StatisticsQuery, clock: Clock
) -> TenantStatisticsView:
    """Which tenants send most, over at most nine days: numbers alone."""
    since, until = query.days(clock, longest=_LONGEST_OF_ALL)
    first, last = moments(since, until)
    sums = await store.sum_tenants(tx, since=first, until=last, limit=_MOST_TENANTS)
    return TenantStatisticsView.of(sums, since=since, until=until)
