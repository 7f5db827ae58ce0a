"""How many messages an account's limits let through now: so many a second, so many a day."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.errors import DatabaseError
from tidings.kernel.hot_state import Limits, Take, Taken
from tidings.kernel.limit_windows import FixedWindow, TokenBucket
from tidings.kernel.logs import get_logger
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.model import AdmissionResult

_SECOND: Final = timedelta(seconds=1)
_DAY: Final = timedelta(days=1)

_log = get_logger("traffic")


async def admit(
    limits: Limits, asks: Sequence[tuple[StoredAccount, int]], *, clock: Clock
) -> list[AdmissionResult]:
    """How many of each may go now, in one question.

    Limits are taken whole or not at all, so each ask is cut into halves of halves: taken from the largest piece to the
    smallest they come to exactly what there is room for.
    """
    groups: list[list[Take]] = []
    #: For each ask: the sizes of its pieces, and where the first one is; nothing where there is no limit.
    pieces: list[tuple[int, list[int]] | None] = []
    for account, many in asks:
        if account.per_second is None and account.per_day is None:
            pieces.append(None)
            continue
        sizes = list(halves(many))
        pieces.append((len(groups), sizes))
        groups += [_takes(account, size) for size in sizes]
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
        AdmissionResult(many) if place is None else _admitted(many, place[1], taken[place[0] :], clock)
        for (_, many), place in zip(asks, pieces, strict=True)
    ]


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


def _admitted(many: int, sizes: Sequence[int], taken: Sequence[Taken], clock: Clock) -> AdmissionResult:
    count = sum(size for size, one in zip(sizes, taken, strict=False) if one.granted)
    if count == many:
        return AdmissionResult(many)
    refused = [one.retry_at for one in taken[: len(sizes)] if not one.granted]
    soonest = min((at for at in refused if at is not None), default=None)
    return AdmissionResult(count, soonest if soonest is not None else clock.now() + _SECOND)
