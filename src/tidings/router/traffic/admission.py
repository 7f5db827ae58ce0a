"""How many messages an account's limits let through now: so many a second, so many a day; and of a batch, what its pace lets.

Both are taken in one group, all or nothing: a message that its batch's pace holds back takes no room of the account's.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.delivery import MessagePace, PaceRate
from tidings.kernel.clock import Clock
from tidings.kernel.errors import DatabaseError
from tidings.kernel.hot_state import Limits, Take, Taken
from tidings.kernel.limit_windows import FixedWindow, SlidingWindow, TokenBucket
from tidings.kernel.logs import get_logger
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.model import AdmissionResult

_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
#: Limits of a batch's pace begin so, and those of one of its days end so.
_PACE: Final = "pace:"
_OF_DAY: Final = ":day"
#: How many of a pace may go at once: a minute's in groups of a twelfth, an hour's a minute's worth at a time.
_GROUPS_OF_MINUTE: Final = 12
_GROUPS_OF_HOUR: Final = 60

_log = get_logger("traffic")


async def admit(
    limits: Limits,
    asks: Sequence[tuple[StoredAccount, int]],
    *,
    clock: Clock,
    paces: Sequence[MessagePace | None] = (),
) -> list[AdmissionResult]:
    """How many of each may go now, in one question; `paces`: that of each ask, in their order.

    Limits are taken whole or not at all, so each ask is cut into halves of halves: taken from the largest piece to the
    smallest they come to exactly what there is room for.
    """
    groups: list[list[Take]] = []
    #: For each ask: the sizes of its pieces, and where the first one is; nothing where there is no limit.
    pieces: list[tuple[int, list[int]] | None] = []
    known = paces or [None] * len(asks)
    for (account, many), pace in zip(asks, known, strict=True):
        if not (_takes(account, 1) or _takes_of_pace(account, pace, 1)):
            pieces.append(None)
            continue
        sizes = list(halves(many))
        pieces.append((len(groups), sizes))
        groups += [[*_takes(account, size), *_takes_of_pace(account, pace, size)] for size in sizes]
    try:
        taken = await limits.take(None, groups)
    except DatabaseError as error:
        # What was taken is not known: better none than too many.
        _log.warning("limits_not_asked", error=error.code)
        later = clock.now() + _SECOND
        return [
            AdmissionResult(many) if place is None else AdmissionResult(0, later)
            for (_, many), place in zip(asks, pieces, strict=True)
        ]
    return [
        AdmissionResult(many) if place is None else _admitted(many, place[1], taken[place[0] :], pace, clock)
        for (_, many), place, pace in zip(asks, pieces, known, strict=True)
    ]


def is_paced(account: StoredAccount, pace: MessagePace | None) -> bool:
    """Whether a batch has a pace for this account."""
    return pace is not None and (account.id in pace.accounts or account.vendor in pace.vendors)


def spacing(account: StoredAccount, pace: MessagePace | None) -> timedelta:
    """How far apart messages that wait come back: one after the other, at the account's pace or the batch's."""
    rates = [] if pace is None else [rate for _, rate in _rates(account, pace)]
    return max(
        [
            *(_MINUTE / rate.per_minute for rate in rates if rate.per_minute is not None),
            *(_HOUR / rate.per_hour for rate in rates if rate.per_hour is not None),
            _SECOND / (account.per_second or 1)
            if account.per_second is not None or not rates
            else timedelta(),
        ]
    )


def halves(many: int) -> Iterator[int]:
    """Pieces that sum to `many`; the greatest that fit into any room fill it, or there are none left."""
    while many > 0:
        piece = -(-many // 2)
        yield piece
        many -= piece


def _takes(account: StoredAccount, amount: int) -> list[Take]:
    takes: list[Take] = []
    if account.per_second is not None:
        bucket = TokenBucket(account.per_second, account.per_second, _SECOND)
        takes.append(Take(key=f"account:{account.id}", limit=bucket, amount=amount))
    if account.per_day is not None:
        day = FixedWindow(account.per_day, _DAY)
        takes.append(Take(key=f"account:{account.id}", limit=day, amount=amount))
    return takes


def _rates(account: StoredAccount, pace: MessagePace) -> list[tuple[str, PaceRate]]:
    """The rates that hold for an account, each with what is counted under it."""
    found = []
    if (of_account := pace.accounts.get(account.id)) is not None:
        found.append((account.id, of_account))
    if (of_vendor := pace.vendors.get(account.vendor)) is not None:
        found.append((f"vendor:{account.vendor}", of_vendor))
    return found


def _takes_of_pace(account: StoredAccount, pace: MessagePace | None, amount: int) -> list[Take]:
    takes: list[Take] = []
    for name, rate in [] if pace is None else _rates(account, pace):
        key = f"{_PACE}{pace.key}:{name}" if pace is not None else ""
        if rate.per_minute is not None:
            bucket = _bucket(rate.per_minute, _GROUPS_OF_MINUTE, _MINUTE)
            takes.append(Take(key=f"{key}:minute", limit=bucket, amount=amount))
        if rate.per_hour is not None:
            takes.append(
                Take(key=f"{key}:hour", limit=_bucket(rate.per_hour, _GROUPS_OF_HOUR, _HOUR), amount=amount)
            )
        if rate.today is not None and pace is not None:
            # Days of the batch's zone begin at no mark that limits know: each has a key, and outlives its day.
            day = SlidingWindow(rate.today, 2 * _DAY)
            takes.append(Take(key=f"{key}:{pace.day}{_OF_DAY}", limit=day, amount=amount))
    return takes


def _bucket(most: int, groups: int, window: timedelta) -> TokenBucket:
    """In groups, and in no stretch of that length more than so many."""
    capacity = max(1, most // groups)
    return TokenBucket(capacity, most - capacity + 1, window)


def _admitted(
    many: int, sizes: Sequence[int], taken: Sequence[Taken], pace: MessagePace | None, clock: Clock
) -> AdmissionResult:
    count = sum(size for size, one in zip(sizes, taken, strict=False) if one.granted)
    if count == many:
        return AdmissionResult(many)
    refused = [one for one in taken[: len(sizes)] if not one.granted]
    times = [_again_at(one, pace) for one in refused]
    soonest = min((at for at in times if at is not None), default=None)
    return AdmissionResult(
        count,
        soonest if soonest is not None else clock.now() + _SECOND,
        # The smallest piece: what has no room for one.
        paced=any(key.startswith(_PACE) for key in refused[-1].refused_by),
    )


def _again_at(taken: Taken, pace: MessagePace | None) -> datetime | None:
    if pace is not None and any(key.startswith(_PACE) and key.endswith(_OF_DAY) for key in taken.refused_by):
        return pace.next_day
    return taken.retry_at
