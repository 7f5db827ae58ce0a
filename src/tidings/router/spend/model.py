"""Amounts to add, and amounts as they were summed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, TypeAlias

#: What amounts are summed by.
By: TypeAlias = Literal["day", "channel", "vendor", "template"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendEntry:
    """Something to add to a day; amounts may be below nothing where an estimate is corrected."""

    day: date
    channel: str
    vendor: str
    currency: str
    messages: int = 0
    #: In micros of the currency.
    estimated: int = 0
    real: int = 0
    #: Attempts with a price that the vendor has told for the first time.
    corrected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendSum:
    """What was spent in one part: a day, a channel, a vendor; or in all."""

    part: str
    currency: str
    messages: int
    estimated: int
    real: int
    corrected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpricedCalls:
    """Calls of one part that are not known to have cost anything."""

    part: str
    messages: int


def estimated(*, started_at: datetime, channel: str, vendor: str, currency: str, micros: int) -> SpendEntry:
    """One attempt at its estimate, which counts as real until the vendor says otherwise."""
    return SpendEntry(
        day=day_of(started_at),
        channel=channel,
        vendor=vendor,
        currency=currency,
        messages=1,
        estimated=micros,
        real=micros,
    )


def day_of(moment: datetime) -> date:
    """The day (UTC) that an attempt of that moment counts for."""
    return moment.astimezone(UTC).date()


def gathered(rows: Iterable[SpendEntry]) -> list[SpendEntry]:
    """One row for each day, channel, vendor and currency, in one order; what adds nothing is left out."""
    sums: dict[tuple[date, str, str, str], list[int]] = {}
    for row in rows:
        amounts = sums.setdefault((row.day, row.channel, row.vendor, row.currency), [0, 0, 0, 0])
        for place, amount in enumerate((row.messages, row.estimated, row.real, row.corrected)):
            amounts[place] += amount
    return [
        SpendEntry(
            day=day,
            channel=channel,
            vendor=vendor,
            currency=currency,
            messages=messages,
            estimated=estimate,
            real=real,
            corrected=corrected,
        )
        for (day, channel, vendor, currency), (messages, estimate, real, corrected) in sorted(sums.items())
        if messages or estimate or real or corrected
    ]


def totals_of(sums: Iterable[SpendSum]) -> list[SpendSum]:
    """All parts together, each currency for itself."""
    found: dict[str, SpendSum] = {}
    for one in sums:
        before = found.get(one.currency)
        found[one.currency] = SpendSum(
            part="",
            currency=one.currency,
            messages=one.messages + (before.messages if before else 0),
            estimated=one.estimated + (before.estimated if before else 0),
            real=one.real + (before.real if before else 0),
            corrected=one.corrected + (before.corrected if before else 0),
        )
    return [found[currency] for currency in sorted(found)]
