"""How much of what was refused, or can't be read, is kept to be looked at: so many a time for each account, so that a flood fills nothing."""

from collections import OrderedDict

from tidings.kernel.clock import Clock

#: Of a refused body so much is kept.
MOST_EVIDENCE_BYTES = 16 * 1024
_MOST_ACCOUNTS = 2_000


class Evidence:
    """Counts what was kept; each process for itself."""

    def __init__(self, *, clock: Clock, most: int = 10, seconds: float = 60.0) -> None:
        """`most` in so many seconds, for each account."""
        self._clock = clock
        self._most = most
        self._seconds = seconds
        #: Account → when its time began, how many were kept in it.
        self._kept: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def may_keep(self, account_id: str) -> bool:
        """Whether one more may be kept; counts it, if so."""
        now = self._clock.monotonic()
        began, count = self._kept.get(account_id, (now, 0))
        if now - began >= self._seconds:
            began, count = now, 0
        if count >= self._most:
            return False
        self._kept[account_id] = (began, count + 1)
        self._kept.move_to_end(account_id)
        while len(self._kept) > _MOST_ACCOUNTS:
            self._kept.popitem(last=False)
        return True

    def give_back(self, account_id: str, count: int) -> None:
        """So many that might have been kept were not."""
        if account_id in self._kept:
            began, kept = self._kept[account_id]
            self._kept[account_id] = (began, max(kept - count, 0))
