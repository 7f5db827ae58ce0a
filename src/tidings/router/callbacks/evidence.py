"""How many refused requests are kept to be looked at: a few a minute for each account, so that a flood fills nothing."""

from collections import OrderedDict

from tidings.kernel.clock import Clock

#: Of a refused body so much is kept.
MOST_EVIDENCE_BYTES = 16 * 1024
_MINUTE = 60.0
_MOST_ACCOUNTS = 2_000


class Evidence:
    """Counts what was kept; each process for itself."""

    def __init__(self, *, clock: Clock, most_a_minute: int = 10) -> None:
        self._clock = clock
        self._most = most_a_minute
        #: Account → when its minute began, how many were kept in it.
        self._kept: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def may_keep(self, account_id: str) -> bool:
        """Whether one more may be kept; counts it, if so."""
        now = self._clock.monotonic()
        began, count = self._kept.get(account_id, (now, 0))
        if now - began >= _MINUTE:
            began, count = now, 0
        if count >= self._most:
            return False
        self._kept[account_id] = (began, count + 1)
        self._kept.move_to_end(account_id)
        while len(self._kept) > _MOST_ACCOUNTS:
            self._kept.popitem(last=False)
        return True
