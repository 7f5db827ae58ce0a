"""When people whose mail domain is paced are written to: each has a place in their domain's row. Pure.

A place is kept when it is planned, and met when its time comes. Who is taken up late (the batch was paused, or its queue was
full) has lost their place: they go at once only where the domain has room at this moment, and get a new place at the end
of the row otherwise. So a pause does not end with all of them at the same time.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from tidings.notify.batches.timing import slot_after

#: A place is met as long as its owner is this little late: a twelfth of a minute, as groups of the pace in all are.
_MET_WITHIN: Final = timedelta(seconds=5)
#: The row of what was made, as against planned; no domain has a blank in it.
_MADE: Final = "made "


class DomainRows:
    """The rows of one batch, for as long as a transaction of the runner takes."""

    def __init__(self, paces: Mapping[str, int], slots: Mapping[str, datetime], now: datetime) -> None:
        """`paces`: people a minute by domain; `slots`: the batch's, where the rows are kept."""
        self._paces = paces
        self._now = now
        #: As they are to be kept: what is over says nothing any more. `*` is the pace in all.
        self.slots = {key: at for key, at in slots.items() if key == "*" or at > now}

    def place(self, domain: str | None, at: datetime) -> datetime:
        """The next free place from that moment on; the moment itself where the domain has no pace."""
        pace = self._paces.get(domain) if domain is not None else None
        if domain is None or pace is None:
            return at
        if at > self._now:
            # By the hour that people of one zone have in common: those of others are not kept waiting behind them.
            key, begins = f"{domain} {at:%Y%m%d%H%M}", at
        else:
            key, begins = domain, max(self._now, self._end_of_row(domain))
        found = max(begins, self.slots.get(key, begins))
        self.slots[key] = slot_after(pace, self.slots, key, begins, 1)
        return found

    def may_go(self, domain: str | None, planned_for: datetime) -> bool:
        """Whether somebody whose time has come is written to now; who is, counts."""
        pace = self._paces.get(domain) if domain is not None else None
        if domain is None or pace is None:
            return True
        key = _MADE + domain
        if self.is_late(planned_for) and self.slots.get(key, self._now) > self._now:
            return False
        self.slots[key] = slot_after(pace, self.slots, key, self._now, 1)
        return True

    def is_late(self, planned_for: datetime) -> bool:
        """Whether a place was not met."""
        return planned_for < self._now - _MET_WITHIN

    def _end_of_row(self, domain: str) -> datetime:
        """Behind all who have a place in the rows that have begun, and behind whoever was written to just now."""
        begun = f"{domain} {self._now:%Y%m%d%H%M}"
        return max(
            (
                at
                for key, at in self.slots.items()
                if key in (domain, _MADE + domain) or (key.startswith(f"{domain} ") and key <= begun)
            ),
            default=self._now,
        )
