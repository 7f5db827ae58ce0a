"""What of all this an installation can set."""

from dataclasses import dataclass, field
from datetime import timedelta

from tidings.router.traffic.circuit import CircuitRules
from tidings.router.traffic.weights import WeightRules


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSettings:
    """How circuits and weights behave."""

    #: A call that takes longer is slow.
    slow_seconds: float = 5.0
    #: So much longer may a set take for each message after the first.
    slow_seconds_each: float = 0.1
    circuits: CircuitRules = field(default_factory=CircuitRules)
    weights: WeightRules = field(default_factory=WeightRules)
    #: Between two looks at what the other processes have seen.
    look_every: timedelta = timedelta(seconds=1)
    #: An execution that waits for a circuit that a person holds open asks again after this.
    ask_again: timedelta = timedelta(seconds=15)
    #: Those who wait for a circuit come back over this time, and not all at once.
    spread: timedelta = timedelta(seconds=5)
