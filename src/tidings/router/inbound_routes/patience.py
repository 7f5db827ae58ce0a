"""When a webhook that did not take a message is called again, and when it is given up."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

FIRST: Final = timedelta(seconds=5)
LONGEST: Final = timedelta(hours=4)
GIVE_UP_AFTER: Final = timedelta(hours=24)
_GROWS: Final = 3


def pause_after(tries: int, luck: Callable[[], float]) -> timedelta | None:
    """How long to wait after so many tries in vain; None: it is given up, after about a day.

    Counted in tries and not by the clock, so that what was not tried, because nobody was there to do it, is not given up
    for that. Up to a third less than the schedule says, so that those who failed together do not come back together.
    """
    waited = timedelta(0)
    pause = FIRST
    for _ in range(tries - 1):
        waited += pause
        pause = min(pause * _GROWS, LONGEST)
    return pause * (1 - luck() / 3) if waited < GIVE_UP_AFTER else None
