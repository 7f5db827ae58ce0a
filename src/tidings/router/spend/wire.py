"""What was spent as JSON."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Final, Self

from msgspec import Meta, Struct

from tidings.kernel.mapping import by_name
from tidings.router.prices.rates import Rates
from tidings.router.spend.model import By, SpendSum, UnpricedCalls, totals_of

#: Calls without a price that are counted in one answer.
MOST_UNPRICED: Final = 100_000


class SpendQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which days, and what they are summed by."""

    since: Annotated[
        date | None, Meta(description="The first day (UTC), such as 2026-11-01; 30 days before the last.")
    ] = None
    until: Annotated[date | None, Meta(description="The last day, which counts too; today.")] = None
    by: Annotated[
        By, Meta(description="What the amounts are summed by: day, channel, vendor or template.")
    ] = "day"


class AmountView(Struct, frozen=True, kw_only=True):
    """What was spent in one currency, in millionths of it."""

    currency: str
    #: Vendor calls that cost something.
    messages: int
    #: By the price lists, before the calls.
    estimated_micros: int
    #: What vendors said they take; the estimate where they said nothing.
    real_micros: int
    #: Of how many of the messages the vendor has told the price.
    corrected: int

    @classmethod
    def of(cls, amount: SpendSum) -> Self:
        """The amount as it is shown."""
        return by_name(cls, amount, estimated_micros=amount.estimated, real_micros=amount.real)


class PartView(AmountView, frozen=True, kw_only=True):
    """The same for one part of it."""

    #: A day, a channel, a vendor or a template's key.
    part: str


class UnpricedPart(Struct, frozen=True, kw_only=True):
    """Those of one part."""

    #: A day, a channel or a vendor.
    part: str
    messages: int


class UnpricedView(Struct, frozen=True, kw_only=True):
    """Messages that vendors took and that are not known to have cost anything: the account has no price."""

    messages: int
    #: There are more than were counted.
    more: bool
    items: list[UnpricedPart]


class ConvertedView(Struct, frozen=True, kw_only=True):
    """All of it in one currency, by the rates of the settings."""

    currency: str
    estimated_micros: int
    real_micros: int


class SpendView(Struct, frozen=True, kw_only=True):
    """What messages cost."""

    since: date
    until: date
    by: By
    #: Parts without any cost are left out.
    items: list[PartView]
    #: One for each currency.
    totals: list[AmountView]
    #: Null where a rate is missing.
    converted: ConvertedView | None
    unpriced: UnpricedView
    #: By template: there were more messages than were read, and only the newest are summed.
    newest_only: bool = False

    @classmethod
    def of(
        cls,
        sums: Sequence[SpendSum],
        unpriced: Sequence[UnpricedCalls],
        *,
        since: date,
        until: date,
        by: By,
        rates: Rates,
        newest_only: bool = False,
    ) -> "SpendView":
        """The answer."""
        totals = totals_of(sums)
        counted = sum(one.messages for one in unpriced)
        return cls(
            since=since,
            until=until,
            by=by,
            items=[PartView.of(one) for one in sums],
            totals=[AmountView.of(one) for one in totals],
            converted=_converted(totals, rates),
            unpriced=UnpricedView(
                messages=counted,
                more=counted >= MOST_UNPRICED,
                items=[UnpricedPart(part=one.part, messages=one.messages) for one in unpriced],
            ),
            newest_only=newest_only,
        )


def _converted(totals: Sequence[SpendSum], rates: Rates) -> ConvertedView | None:
    estimated = real = 0
    for one in totals:
        more_estimated = rates.convert(one.estimated, one.currency, rates.base)
        more_real = rates.convert(one.real, one.currency, rates.base)
        if more_estimated is None or more_real is None:
            return None
        estimated += more_estimated
        real += more_real
    return ConvertedView(currency=rates.base, estimated_micros=estimated, real_micros=real)
