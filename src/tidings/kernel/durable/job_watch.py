"""Whether the jobs of this process run: when each took its last turn, when the next is due, which have fallen.

A job says nothing about itself. Its loop waits through `wait_for_stop` or a `Wakeup`, and both note here, for the job in
whose context they are called, that a turn is over and when the next is due.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tidings.kernel.errors import NotReadyError

#: Seconds that a turn may be overdue: a long sweep takes minutes, and nothing is wrong with it.
LATE = 900.0
#: So many are named in one sentence.
_NAMED = 5


@dataclass(slots=True)
class _Turns:
    turned_at: float
    due_at: float
    #: Why it does not run at the moment.
    fallen: str | None = None


_current: ContextVar[tuple["JobWatch", _Turns] | None] = ContextVar("tidings_job", default=None)


def turn_is_over(next_in: float = 0.0) -> None:
    """The job that calls has ended a turn, and the next is due in so many seconds; other code may call it too."""
    found = _current.get()
    if found is not None:
        watch, turns = found
        turns.turned_at = watch.now()
        turns.due_at = turns.turned_at + max(next_in, 0.0)


class JobWatch:
    """Follows the jobs of one process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self._turns: dict[str, _Turns] = {}

    @contextmanager
    def follow(self, name: str) -> Iterator[None]:
        """The job of that name runs inside, and so does all that it begins."""
        now = self.now()
        turns = self._turns.setdefault(name, _Turns(now, now))
        turns.turned_at = turns.due_at = now
        turns.fallen = None
        token = _current.set((self, turns))
        try:
            yield
        finally:
            _current.reset(token)

    def fell(self, name: str, reason: str) -> None:
        """It has ended, and will be started again."""
        self._turns[name].fallen = reason

    def ended(self, name: str) -> None:
        """It was told to end, and has."""
        self._turns.pop(name, None)

    def names(self) -> list[str]:
        """Those that run, or should."""
        return sorted(self._turns)

    def overdue(self, name: str) -> float:
        """Seconds since the job's next turn was due; 0 where it is not due yet."""
        turns = self._turns.get(name)
        return max(self.now() - turns.due_at, 0.0) if turns else 0.0

    async def check(self) -> str:
        """How they are, in a few words; raises where one has fallen, or has not taken a turn for long."""
        fallen = [f"{name} fell ({turns.fallen})" for name, turns in self._turns.items() if turns.fallen]
        late = [
            f"{name} has taken no turn for {math.floor(self.now() - turns.turned_at)} s"
            for name, turns in self._turns.items()
            if not turns.fallen and self.overdue(name) > LATE
        ]
        wrong = [*sorted(fallen), *sorted(late)]
        if wrong:
            more = f", and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
            raise NotReadyError(", ".join(wrong[:_NAMED]) + more)
        if not self._turns:
            return "none runs here"
        oldest = min(self._turns, key=lambda name: self._turns[name].turned_at)
        age = self.now() - self._turns[oldest].turned_at
        return f"{len(self._turns)} run; the oldest last turn is of {oldest}, {age:.0f} s ago"
