"""How far down an outbox is certainly empty.

Moved rows stay in the table, dead, until vacuum may take them; a transaction that stays open for an hour
anywhere in the database forbids that for an hour. A relay that starts at the bottom each time would wade
through all of them. But it may not simply start where it ended: a slow writer may still hold a lower number.

So: remember the highest number moved, then ask who is writing to this outbox right now. Once all of those
have ended, every number up to it has been committed or given up. One more look from the old floor takes
what they left, and from then on the floor is there.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class SettledMark:
    """The floor of one outbox, as one relay knows it."""

    #: Every number up to here was moved or will never be seen.
    floor: int = 0
    _highest: int = 0
    _candidate: int | None = None
    _awaited: frozenset[str] = field(default_factory=frozenset)

    def surveyed(self, writers: frozenset[str]) -> int | None:
        """Before a pass: these transactions are writing now. The floor that this pass may confirm, if any."""
        if self._candidate is None:
            if self._highest <= self.floor:
                return None
            self._candidate, self._awaited = self._highest, writers
        else:
            self._awaited &= writers
        return None if self._awaited else self._candidate

    def moved(self, last_seq: int, *, full: bool, confirming: int | None) -> None:
        """After a pass from the floor: it moved up to `last_seq`, and left some behind if it was `full`."""
        self._highest = max(self._highest, last_seq)
        if confirming is not None and (not full or last_seq >= confirming):
            self.floor, self._candidate = confirming, None
