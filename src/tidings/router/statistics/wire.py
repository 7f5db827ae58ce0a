"""Statistics as JSON."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Self

from msgspec import Meta, Struct

from tidings.contracts.enums import UseCase
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import by_name
from tidings.router.statistics.model import (
    CostSum,
    ErrorSum,
    OutcomeSum,
    StepSum,
    TenantSum,
    VendorSum,
    quantile,
)
from tidings.router.statistics.store import Every

_USUAL: Final = timedelta(days=29)
_LONGEST: Final = timedelta(days=92)
_LONGEST_BY_HOUR: Final = timedelta(days=8)


class StatisticsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which days."""

    since: Annotated[
        date | None, Meta(description="The first day (UTC), such as 2026-11-01; 30 days before the last.")
    ] = None
    until: Annotated[date | None, Meta(description="The last day, which counts too; today.")] = None

    def days(self, clock: Clock, *, longest: timedelta = _LONGEST) -> tuple[date, date]:
        """From one day to another, both counted; refused where that is too long."""
        until = self.until or clock.now().date()
        since = self.since or max(date.min, until - min(_USUAL, longest))
        if since > until:
            raise BadValueError("since", "must not be after until")
        if until - since > longest:
            raise BadValueError("since", f"must be at most {longest.days} days before until")
        return since, until


class OutcomeStatisticsQuery(StatisticsQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which days, and how finely."""

    every: Annotated[Every, Meta(description="`hour` is for at most 8 days.")] = "day"
    use_case: Annotated[UseCase | None, Meta(description="Of this use case alone.")] = None

    @property
    def longest(self) -> timedelta:
        """How many days may be asked for."""
        return _LONGEST_BY_HOUR if self.every == "hour" else _LONGEST


def moments(since: date, until: date) -> tuple[datetime, datetime]:
    """The first moment of the first day, and the first after the last."""
    return datetime.combine(since, time.min, UTC), datetime.combine(until + timedelta(days=1), time.min, UTC)


class StepCountView(Struct, frozen=True, kw_only=True):
    """A step of ladders over a channel."""

    #: From 1.
    step: int
    channel: str
    #: Executions that came to it.
    reached: int
    #: Executions that it delivered.
    delivered: int
    #: Calls of vendors, with those that were repeated.
    calls: int
    failed: int
    timed_out: int
    #: How often it was skipped.
    skipped: int


class StepStatisticsView(Struct, frozen=True, kw_only=True):
    """What became of the steps of ladders."""

    since: date
    until: date
    items: list[StepCountView]

    @classmethod
    def of(cls, sums: Sequence[StepSum], *, since: date, until: date) -> Self:
        """As it is shown."""
        return cls(since=since, until=until, items=[by_name(StepCountView, one) for one in sums])


class VendorCallsView(Struct, frozen=True, kw_only=True):
    """Calls of a vendor over a channel."""

    channel: str
    vendor: str
    calls: int
    accepted: int
    failed: int
    timed_out: int
    #: Null where there was no call.
    mean_ms: int | None
    #: Half of the calls were answered within this time; reckoned from buckets.
    p50_ms: int | None
    p95_ms: int | None


class VendorStatisticsView(Struct, frozen=True, kw_only=True):
    """How vendors answered."""

    since: date
    until: date
    items: list[VendorCallsView]

    @classmethod
    def of(cls, sums: Sequence[VendorSum], *, since: date, until: date) -> Self:
        """As it is shown."""
        items = [
            by_name(
                VendorCallsView,
                one,
                mean_ms=round(one.latency_ms / one.calls) if one.calls else None,
                p50_ms=quantile(one.latencies, 0.5),
                p95_ms=quantile(one.latencies, 0.95),
            )
            for one in sums
        ]
        return cls(since=since, until=until, items=items)


class CostView(Struct, frozen=True, kw_only=True):
    """What a vendor took over a channel on a day, in one currency, in millionths of it."""

    #: Of the calls, in UTC.
    day: date
    channel: str
    vendor: str
    currency: str
    #: Calls that cost something.
    messages: int
    #: By the price lists, before the calls.
    estimated_micros: int
    #: What vendors said they take; the estimate where they said nothing.
    real_micros: int


class CostStatisticsView(Struct, frozen=True, kw_only=True):
    """What messages cost."""

    since: date
    until: date
    items: list[CostView]

    @classmethod
    def of(cls, sums: Sequence[CostSum], *, since: date, until: date) -> Self:
        """As it is shown."""
        return cls(since=since, until=until, items=[by_name(CostView, one) for one in sums])


class ErrorCountView(Struct, frozen=True, kw_only=True):
    """How often a code came."""

    channel: str
    #: Empty for a step that called none.
    vendor: str
    #: The vendor's, or one of ours.
    code: str
    n: int


class ErrorStatisticsView(Struct, frozen=True, kw_only=True):
    """Why calls came to nothing, and steps were skipped: the hundred most frequent codes."""

    since: date
    until: date
    items: list[ErrorCountView]

    @classmethod
    def of(cls, sums: Sequence[ErrorSum], *, since: date, until: date) -> Self:
        """As it is shown."""
        return cls(since=since, until=until, items=[by_name(ErrorCountView, one) for one in sums])


class OutcomeCountView(Struct, frozen=True, kw_only=True):
    """How many executions ended so, in an hour or on a day."""

    #: When it began, in UTC.
    at: datetime
    #: Empty where none was called.
    channel: str
    #: `DELIVERED`, `FAILED`, `REFUSED_NO_CHANNEL`, …
    outcome: str
    n: int


class OutcomeStatisticsView(Struct, frozen=True, kw_only=True):
    """How executions ended."""

    since: date
    until: date
    every: Every
    items: list[OutcomeCountView]

    @classmethod
    def of(cls, sums: Sequence[OutcomeSum], *, since: date, until: date, every: Every) -> Self:
        """As it is shown."""
        return cls(
            since=since, until=until, every=every, items=[by_name(OutcomeCountView, one) for one in sums]
        )


class TenantCountView(Struct, frozen=True, kw_only=True):
    """How much of a tenant's was sent."""

    tenant_id: str
    n: int
    delivered: int
    failed: int


class TenantStatisticsView(Struct, frozen=True, kw_only=True):
    """The fifty tenants that had most executions, the loudest first."""

    since: date
    until: date
    items: list[TenantCountView]

    @classmethod
    def of(cls, sums: Sequence[TenantSum], *, since: date, until: date) -> Self:
        """As it is shown."""
        return cls(since=since, until=until, items=[by_name(TenantCountView, one) for one in sums])
