"""When an event whose attempt is not there yet is looked at again, and when it is given up."""

from datetime import timedelta
from typing import Final

#: A receipt may overtake the note of the very call that it is about: then the next look finds it.
FIRST: Final = timedelta(milliseconds=250)
LONGEST: Final = timedelta(minutes=10)
GIVE_UP_AFTER: Final = timedelta(hours=24)
#: An attempt that began longer ago is not looked for.
OLDEST_ATTEMPT: Final = timedelta(days=35)


def pause_after(looks: int) -> timedelta | None:
    """How long to wait after so many looks in vain; None: it is given up.

    Counted in looks and not by the clock, so that what was not looked at, because nobody was there to do it, is not
    given up for that.
    """
    waited = timedelta(0)
    pause = FIRST
    for _ in range(looks - 1):
        waited += pause
        pause = min(pause * 2, LONGEST)
    return pause if waited < GIVE_UP_AFTER else None
