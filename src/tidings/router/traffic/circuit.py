"""A circuit: state and counts in, what follows out. No I/O.

`CLOSED`: all goes. `OPEN`: nothing goes until a moment. `HALF_OPEN`: a few probes go, and what becomes of them decides.

Each change makes a new version, and calls are counted for the version in which they were answered: what brought a
circuit down does not bring it down again after it has closed.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

CircuitState = Literal["CLOSED", "OPEN", "HALF_OPEN"]

BY_HAND: Final = "by hand"
PROBES_WELL: Final = "the probes went well"
PROBES_LOST: Final = "the probes were not answered"
PROBING: Final = "it is tried again"
HAND_LIFTED: Final = "no longer held by hand"
_NUMBERS: Final = re.compile(r"\d+ of \d+ ")


@dataclass(frozen=True, slots=True)
class Counts:
    """Calls that were answered, or were not in time."""

    ok: int = 0
    failed: int = 0
    #: Of both kinds, those that took too long.
    slow: int = 0

    @property
    def calls(self) -> int:
        """All of them."""
        return self.ok + self.failed

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.ok + other.ok, self.failed + other.failed, self.slow + other.slow)


NONE: Final = Counts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """A person holds the circuit open or closed."""

    state: Literal["OPEN", "CLOSED"]
    #: None: until a person lifts it.
    until: datetime | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """Where the circuit of one account stands."""

    state: CircuitState = "CLOSED"
    #: Grows with every change; 0: it never changed.
    version: int = 0
    #: When it came to stand so.
    since: datetime | None = None
    #: OPEN: from when on it may be tried again; None: not before a person says so.
    until: datetime | None = None
    #: How often it opened since it was closed last.
    openings: int = 0
    #: HALF_OPEN: the worker that may probe.
    prober: str | None = None
    override: Override | None = None
    #: Why it stands so.
    reason: str | None = None


#: One that never failed.
UNTOUCHED: Final = Circuit()


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitRules:
    """When a circuit opens, and how it comes back."""

    #: What counts: the calls of so long.
    window: timedelta = timedelta(seconds=60)
    #: With fewer calls than these nothing is said.
    least_calls: int = 10
    #: The share of failed calls that opens it.
    failing: float = 0.5
    #: The share of slow calls that opens it.
    slow: float = 0.8
    #: How long it stays open the first time; twice as long each further time.
    pause: timedelta = timedelta(seconds=30)
    longest_pause: timedelta = timedelta(minutes=10)
    #: Calls that go through while it is half open; all must go well.
    probes: int = 3
    #: How long they have; of those that came by then none may have failed.
    probe_timeout: timedelta = timedelta(seconds=60)
    #: How long it stays open when they were not.
    short_pause: timedelta = timedelta(seconds=5)

    def fault(self, counts: Counts) -> str | None:
        """What is wrong with an account that answers so; None where nothing is."""
        calls = counts.calls
        if calls < self.least_calls:
            return None
        if counts.failed >= self.failing * calls:
            return f"{counts.failed} of {calls} calls failed"
        if counts.slow >= self.slow * calls:
            return f"{counts.slow} of {calls} calls were slow"
        return None

    def pause_after(self, openings: int) -> timedelta:
        """How long it stays open, the so-manieth time in a row."""
        # No need for larger powers: by then the longest pause is reached.
        doubled = self.pause * (1 << min(max(openings - 1, 0), 16))
        return min(doubled, self.longest_pause)


def judge(
    circuit: Circuit, counts: Counts, *, now: datetime, me: str, wanted: bool, rules: CircuitRules
) -> Circuit | None:
    """The circuit after this look; None where nothing changes.

    `counts` are of this version alone. `me` looks, and becomes the prober where `wanted` says that it has something
    to try the account with.
    """
    if circuit.override is not None:
        ends = circuit.override.until
        return None if ends is None or now < ends else lift(circuit, now=now)
    if circuit.state == "CLOSED":
        fault = rules.fault(counts)
        return None if fault is None else _open(circuit, fault, now=now, rules=rules)
    if circuit.state == "OPEN":
        may = circuit.until is not None and now >= circuit.until
        if not (may and wanted):
            return None
        return _after(circuit, "HALF_OPEN", now=now, prober=me, reason=PROBING)
    if counts.failed or (counts.calls >= rules.probes and 2 * counts.slow > counts.calls):
        word = "failed" if counts.failed else "were slow"
        many = counts.failed or counts.slow
        return _open(circuit, f"{many} of {counts.calls} probes {word}", now=now, rules=rules)
    late = circuit.since is not None and now >= circuit.since + rules.probe_timeout
    # An account that has little to do does not get all its probes within their time: those that went well must do.
    if counts.ok >= (1 if late else rules.probes):
        return replace(_after(circuit, "CLOSED", now=now, reason=PROBES_WELL), openings=0)
    if late:
        return _after(circuit, "OPEN", now=now, until=now + rules.short_pause, reason=PROBES_LOST)
    return None


def hold(circuit: Circuit, override: Override, *, now: datetime) -> Circuit:
    """A person wants it so, whatever is counted."""
    held = _after(circuit, override.state, now=now, until=override.until, reason=BY_HAND)
    return replace(held, override=override, openings=0)


def lift(circuit: Circuit, *, now: datetime) -> Circuit:
    """It follows the counts again; one that was held open is tried before all goes through it."""
    until = now if circuit.state == "OPEN" else None
    return _after(circuit, circuit.state, now=now, until=until, reason=HAND_LIFTED)


def without_numbers(reason: str) -> str:
    """The reason for a caller that is not to learn how much goes through the account: `calls failed`."""
    return _NUMBERS.sub("", reason)


def _open(circuit: Circuit, reason: str, *, now: datetime, rules: CircuitRules) -> Circuit:
    openings = circuit.openings + 1
    until = now + rules.pause_after(openings)
    return replace(_after(circuit, "OPEN", now=now, until=until, reason=reason), openings=openings)


def _after(
    circuit: Circuit,
    state: CircuitState,
    *,
    now: datetime,
    reason: str,
    until: datetime | None = None,
    prober: str | None = None,
) -> Circuit:
    return Circuit(
        state=state,
        version=circuit.version + 1,
        since=now,
        until=until,
        openings=circuit.openings,
        prober=prober,
        reason=reason,
    )
