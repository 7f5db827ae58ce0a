"""Retry with exponential backoff and jitter: how long to wait before the next attempt, and when to give up."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from tidings.kernel.durable.job_watch import turn_is_over

#: A power of more than this is beyond every longest delay.
_MOST_DOUBLINGS = 20


class RandomUnit(Protocol):
    """Draws a number in [0, 1), evenly spread: the chance in a jitter, a sample or a weighted choice."""

    def __call__(self) -> float:
        """Draw the next number."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The waits between the attempts at one item, counted in attempts and not by the clock.

    An item that was not tried, because no worker ran, is not given up for that.
    """

    #: Attempts in all; after the last one the item is given up. None: `give_up_after` alone decides.
    max_attempts: int | None = 10
    #: The wait after the first failure; each further one is `factor` times as long.
    first_delay: timedelta = timedelta(seconds=1)
    factor: float = 2.0
    longest_delay: timedelta = timedelta(minutes=10)
    #: No wait is shorter than this.
    shortest_delay: timedelta = timedelta(0)
    #: The part of a wait that chance may take off, so that items which failed together don't come back together.
    jitter: float = 0.5
    #: An item is given up when its waits come to so much together.
    give_up_after: timedelta | None = None

    def delay(self, attempts: int, random_unit: float = 1.0) -> timedelta:
        """The wait after that many failed attempts; `random_unit`, from 0 to 1, is the chance: 1 is the full wait."""
        full = self._full_delay(attempts)
        return max(full * (1 - self.jitter * (1 - random_unit)), self.shortest_delay)

    def next_delay(self, attempts: int, random_unit: float = 1.0) -> timedelta | None:
        """The same, or None where the item is given up."""
        return None if self.gives_up(attempts) else self.delay(attempts, random_unit)

    def gives_up(self, attempts: int) -> bool:
        """Whether an item is given up after that many failed attempts."""
        if self.max_attempts is not None and attempts >= self.max_attempts:
            return True
        if self.give_up_after is None:
            return False
        return sum(map(self._full_delay, range(1, attempts)), timedelta(0)) >= self.give_up_after

    def _full_delay(self, attempts: int) -> timedelta:
        grown = self.first_delay * self.factor ** min(max(attempts - 1, 0), _MOST_DOUBLINGS)
        return min(grown, self.longest_delay)


class Backoff:
    """How long a loop waits after a failure, in seconds: twice as long each time, until something succeeds."""

    def __init__(self, *, first: float = 0.1, longest: float = 5.0) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def after_failure(self) -> float:
        """How long to wait this time."""
        pause, self._next = self._next, min(self._next * 2, self._longest)
        return pause

    def after_success(self) -> None:
        """Begin anew."""
        self._next = self._first
        turn_is_over()
