"""The circuit breaker of one upstream service for one tenant: what failed a moment ago is not asked again at once. No I/O.

`closed`: all goes. `open`: nothing goes until a moment. `half_open`: one call goes, and what becomes of it decides.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tidings.kernel.durable.retry_policy import RandomUnit

UpstreamCircuitState = Literal["closed", "open", "half_open"]

#: Seconds that a call counts.
_WINDOW: Final = 30.0
#: With fewer calls than these nothing is said.
_LEAST_CALLS: Final = 5
_FAILING: Final = 0.5
_MOST_CALLS: Final = 20
#: Seconds that it stays open the first time; twice as long each further time.
_PAUSE: Final = 5.0
_LONGEST_PAUSE: Final = 60.0
#: Seconds after which a probe whose caller died no longer holds the others up.
_PROBE: Final = 10.0


@dataclass(slots=True)
class UpstreamCircuit:
    """Calls of one tenant to one service, and what follows from them."""

    state: UpstreamCircuitState = "closed"
    #: When the first of the failures was that no success has followed.
    failing_since: datetime | None = None
    _calls: deque[tuple[float, bool]] = field(default_factory=lambda: deque(maxlen=_MOST_CALLS))
    #: When it may be tried, or is tried anew.
    _until: float = 0.0
    _openings: int = 0

    def lets_pass(self, now: float) -> bool:
        """Whether a call may go; the one that goes while it is half open is the probe."""
        if self.state == "closed":
            return True
        if now < self._until:
            return False
        self.state, self._until = "half_open", now + _PROBE
        return True

    def succeeded(self, now: float) -> None:
        """The service answered."""
        self.failing_since = None
        if self.state != "closed":
            self.state, self._openings = "closed", 0
            self._calls.clear()
        self._calls.append((now, True))

    def failed(self, now: float, at: datetime, random_unit: RandomUnit) -> None:
        """It did not; `at` is the same moment by the clock on the wall."""
        self.failing_since = self.failing_since or at
        self._calls.append((now, False))
        if self.state == "open":
            # A call that set off before it opened.
            return
        recent = [ok for moment, ok in self._calls if now - moment <= _WINDOW]
        if self.state == "half_open" or (
            len(recent) >= _LEAST_CALLS and recent.count(False) >= _FAILING * len(recent)
        ):
            pause = min(_PAUSE * 2 ** min(self._openings, 10), _LONGEST_PAUSE)
            self.state, self._openings = "open", self._openings + 1
            # Some sooner, some later: processes that lost it together don't come back together.
            self._until = now + pause * (1 - 0.3 * random_unit())
            self._calls.clear()
