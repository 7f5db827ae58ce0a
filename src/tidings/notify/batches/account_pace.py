"""How quickly a batch goes through vendors and their accounts, day by day. Pure.

The rates are counted where the account is known, by the router; here is what they are on a day, and how far the runner may be
ahead of them.
"""

import math
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final

from tidings.contracts.delivery import MessagePace, PaceRate
from tidings.kernel.local_time import local_moment
from tidings.notify.batches.model import AccountRate, Pacing, SendingWindow
from tidings.notify.batches.timing import open_from, zone_of
from tidings.notify.ids import BatchId

_DAY: Final = timedelta(days=1)
_MINUTES_OF_HOUR: Final = 60
_MINUTES_OF_DAY: Final = 24 * 60
#: Messages that may wait for their turn, however slow the pace is: enough that none is waited for.
_LEAST_AHEAD: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PacedBatch:
    """A batch that runs, as far as its pace is concerned."""

    id: BatchId
    pacing: Pacing
    window: SendingWindow | None
    started_at: datetime
    #: The tenant's.
    default_timezone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MostAhead:
    """How many messages may have been made and not sent, so that none waits for long."""

    #: Not handed over.
    waiting: int
    #: Without an outcome.
    under_way: int


def pace_at(batch: PacedBatch, now: datetime) -> MessagePace | None:
    """What holds at this moment; None where nothing does, as after the last day of a warm-up."""
    pacing = batch.pacing
    zone = zone_of(_zone_name(pacing.timezone, batch))
    today = now.astimezone(zone).date()
    number = (today - batch.started_at.astimezone(zone).date()).days
    accounts = {id_: of_day for id_, rate in pacing.accounts.items() if (of_day := rate_on(rate, number))}
    vendors = {name: of_day for name, rate in pacing.vendors.items() if (of_day := rate_on(rate, number))}
    if not accounts and not vendors:
        return None
    next_day = local_moment(today + _DAY, time(), zone)
    window = batch.window
    if window is not None and window.timezone != "recipient":
        next_day = open_from(window, zone_of(_zone_name(window.timezone, batch)), next_day)
    return MessagePace(
        key=batch.id, day=today.isoformat(), next_day=next_day, accounts=accounts, vendors=vendors
    )


def rate_on(rate: AccountRate, day: int) -> PaceRate | None:
    """The rate on that day, counted from 0; None where there is none any more."""
    warm_up = rate.warm_up[max(0, day)] if day < len(rate.warm_up) else None
    today = min((most for most in (warm_up, rate.per_day) if most is not None), default=None)
    if today is None and rate.per_minute is None and rate.per_hour is None:
        return None
    return PaceRate(per_minute=rate.per_minute, per_hour=rate.per_hour, today=today)


def most_ahead(pace: MessagePace | None) -> MostAhead | None:
    """What the pace lets through in a minute, and in a day; None where there is none."""
    if pace is None:
        return None
    rates = [*pace.accounts.values(), *pace.vendors.values()]
    waiting = max(_LEAST_AHEAD, math.ceil(sum(_in_a_minute(rate) for rate in rates)))
    return MostAhead(waiting=waiting, under_way=max(waiting, sum(_in_a_day(rate) for rate in rates)))


def _in_a_minute(rate: PaceRate) -> float:
    if rate.per_minute is not None:
        return rate.per_minute
    if rate.per_hour is not None:
        return rate.per_hour / _MINUTES_OF_HOUR
    return (rate.today or 0) / _MINUTES_OF_DAY


def _in_a_day(rate: PaceRate) -> int:
    return min(
        [
            *([rate.per_minute * _MINUTES_OF_DAY] if rate.per_minute is not None else []),
            *([rate.per_hour * 24] if rate.per_hour is not None else []),
            *([rate.today] if rate.today is not None else []),
        ]
    )


def _zone_name(name: str, batch: PacedBatch) -> str:
    return batch.default_timezone if name == "tenant" else name
