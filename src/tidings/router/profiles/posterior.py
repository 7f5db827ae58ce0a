"""How likely a channel reaches a recipient: a Beta distribution with evidence that fades with time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

#: After this long an observation counts half.
HALF_LIFE: Final = timedelta(days=30)
#: What is believed before anything was seen, and again when all of it has faded: Beta(1, 1), anything is as likely.
PRIOR: Final = 1.0
#: So many observations are believed as much as the prior knows nothing.
_HALF_SURE: Final = 5.0


def weight(age: timedelta) -> float:
    """What an observation of this age counts, beside one of now."""
    return float(2.0 ** -(age / HALF_LIFE))


@dataclass(frozen=True, slots=True)
class Posterior:
    """Beta(a, b) as of the newest observation."""

    #: The prior, and what arrived.
    a: float = PRIOR
    #: The prior, and what did not.
    b: float = PRIOR
    #: As of when; None: nothing was seen yet.
    at: datetime | None = None

    @property
    def mean(self) -> float:
        """How likely the next message arrives; between 0 and 1, and neither of them."""
        return self.a / (self.a + self.b)

    @property
    def evidence(self) -> float:
        """How many observations of now it is worth."""
        return (self.a - PRIOR) + (self.b - PRIOR)

    @property
    def confidence(self) -> float:
        """How much the mean is to be believed: 0 for nothing seen, towards 1 for much."""
        return self.evidence / (self.evidence + _HALF_SURE)

    def decayed(self, to: datetime) -> "Posterior":
        """As of a later moment; an earlier one changes nothing."""
        if self.at is None or to <= self.at:
            return self
        kept = weight(to - self.at)
        return Posterior(PRIOR + (self.a - PRIOR) * kept, PRIOR + (self.b - PRIOR) * kept, to)

    def update(self, *, delivered: bool, at: datetime) -> "Posterior":
        """With one more observation; one that is older than the newest counts for its age."""
        newest = at if self.at is None else max(self.at, at)
        here = self.decayed(newest)
        counts = weight(newest - at)
        if delivered:
            return Posterior(here.a + counts, here.b, newest)
        return Posterior(here.a, here.b + counts, newest)


#: Before anything was seen.
NOTHING_SEEN: Final = Posterior()
