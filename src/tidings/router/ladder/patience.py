"""How long and how often to try, by what a message is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.contracts.words import UseCase

#: Nobody is called again sooner than this, whatever a vendor says.
_SHORTEST = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The budget and the clock of a step."""

    #: Vendor calls in one step at most.
    tries: int
    #: A step that has another one behind it is left after this, counted from its first call.
    step: timedelta
    #: The same for the last step: there is nothing better to do than to try again.
    last_step: timedelta
    #: The longest pause after the first call that came to nothing; each further one is `factor` times as long.
    first_pause: timedelta
    longest_pause: timedelta
    factor: float = 3.0

    def pause(self, tries: int, *, luck: float) -> timedelta:
        """How long to wait after so many calls; `luck` (0 to 1) spreads those that failed together."""
        # A power of more than this is beyond every longest pause.
        grown = self.first_pause * self.factor ** min(tries - 1, 20)
        return max(min(grown, self.longest_pause) * (0.5 + luck / 2), _SHORTEST)


def asked_pause(after: timedelta, *, luck: float) -> timedelta:
    """What a vendor asked for, and up to a tenth more, so that not all come back in the same moment."""
    return max(after, _SHORTEST) * (1 + luck / 10)


PATIENCE: Final[Mapping[UseCase, Patience]] = {
    # A code is worthless in a minute: the next way is better than a second try.
    "otp": Patience(
        tries=3,
        step=timedelta(seconds=30),
        last_step=timedelta(seconds=60),
        first_pause=timedelta(seconds=2),
        longest_pause=timedelta(seconds=8),
        factor=2.0,
    ),
    "alert": Patience(
        tries=6,
        step=timedelta(minutes=5),
        last_step=timedelta(hours=1),
        first_pause=timedelta(seconds=2),
        longest_pause=timedelta(minutes=10),
    ),
    "txn": Patience(
        tries=9,
        step=timedelta(minutes=15),
        last_step=timedelta(hours=4),
        first_pause=timedelta(seconds=5),
        longest_pause=timedelta(minutes=30),
    ),
    "conversational": Patience(
        tries=6,
        step=timedelta(minutes=15),
        last_step=timedelta(hours=1),
        first_pause=timedelta(seconds=5),
        longest_pause=timedelta(minutes=10),
    ),
    "marketing": Patience(
        tries=9,
        step=timedelta(hours=1),
        last_step=timedelta(hours=12),
        first_pause=timedelta(seconds=30),
        longest_pause=timedelta(hours=2),
    ),
}
