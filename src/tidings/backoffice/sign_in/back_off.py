"""How often a sign-in may be tried: for one mail, known here or not, less and less often; from one place, some times a minute.

Strangers who know a mail must not use up the tries of whose it is: a browser that they signed in from before counts by itself,
and every place by itself; all places together have a limit of their own, much higher.
"""

from datetime import timedelta
from typing import Final

from tidings.backoffice.ids import DeviceId
from tidings.kernel.clock import Clock
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.http.places import PlaceLimit
from tidings.kernel.limit_windows import SlidingWindow

#: The waits grow: a few at once, then minutes, then the rest of the day.
_WINDOWS: Final = (
    SlidingWindow(limit=5, window=timedelta(minutes=1)),
    SlidingWindow(limit=12, window=timedelta(minutes=15)),
    SlidingWindow(limit=60, window=timedelta(hours=24)),
)
#: Tries of one mail from everywhere together.
_MAIL_WINDOWS: Final = (
    SlidingWindow(limit=30, window=timedelta(minutes=1)),
    SlidingWindow(limit=120, window=timedelta(minutes=15)),
    SlidingWindow(limit=1000, window=timedelta(hours=24)),
)
#: Tries from one place in a minute, whomever they name.
MOST_OF_A_PLACE: Final = 30


class SignInLimits:
    """Counts tries of a mail in all processes together, and those of a place in this one."""

    def __init__(self, limits: Limits, *, clock: Clock, most_of_a_place: int = MOST_OF_A_PLACE) -> None:
        self._limits = limits
        self._clock = clock
        self._places = PlaceLimit(most_of_a_place, clock=clock)

    async def wait_for(self, email_hash: str, place_hash: str, *, device_id: DeviceId | None) -> float | None:
        """Count one try; the seconds until another is let through, or None where this one is. `device_id`: a browser of theirs."""
        keys = [(f"{email_hash}:{device_id or place_hash}", _WINDOWS)]
        if device_id is None:
            keys.append((email_hash, _MAIL_WINDOWS))
        takes = [
            Take(key=f"sign_in:{number}:{key}", limit=limit)
            for key, windows in keys
            for number, limit in enumerate(windows)
        ]
        taken = (await self._limits.take(None, [takes]))[0]
        if taken.granted:
            return None
        at = taken.retry_at
        return 60.0 if at is None else max(1.0, (at - self._clock.now()).total_seconds())

    def wait_of_place(self, place: str) -> float | None:
        """Count one try of a place, whatever it tries: a mail, a link, a code after the password."""
        return self._places.count(place)
