"""What was measured, against what has to hold; no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from tidings.operations.bff_gate.load import GateSample

Outcome = Literal["PASS", "FAIL"]

MOST_VIEW_SECONDS: Final = 0.100
LEAST_HIT_RATIO: Final = 0.90
MOST_HOT_STATE_SECONDS: Final = 0.005
MOST_OUTBOX_SECONDS: Final = 60.0
MOST_OUTBOX_ROWS: Final = 5_000
#: Of the pool, and what listens beside it.
MOST_CONNECTIONS: Final = 12
LISTENING: Final = 4
MOST_COLD: Final = 1.20
#: What is less is not told apart from chance.
_NOISE_SECONDS: Final = 0.005
_LEAST_ANSWERED: Final = 0.999
_LEAST_RATE: Final = 0.98
_LEAST_SAMPLES: Final = 20
#: From here on others used so much of the machine, or the sender was so late, that a failure may be theirs.
_BUSY_SHARE: Final = 0.15
_BUSY_LATE: Final = 0.010


@dataclass(frozen=True, slots=True, kw_only=True)
class GateMeasured:
    """All that was seen."""

    rate: float
    #: The load in steady state, while one process served it.
    steady: Sequence[GateSample]
    steady_seconds: float
    #: The same load just before another process joined, and from the moment that it said that it was ready.
    before_joining: Sequence[GateSample]
    after_joining: Sequence[GateSample]
    left_out: int
    #: Views by where they came from.
    views: dict[str, int]
    hot_state_seconds: Sequence[float]
    outbox_seconds: float
    outbox_rows: int
    #: The most that were open at once, by all processes of Tidings together, and how many processes that were.
    connections: int
    processes: int
    #: What others used of the machine, from 0 to 1; None where that is not known.
    foreign: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """One thing that has to hold."""

    name: str
    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """All of it."""

    lines: list[GateLine]
    #: Why a failure may not be ours; empty where the machine was quiet.
    busy: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether something did not hold."""
        return any(line.outcome == "FAIL" for line in self.lines)

    @property
    def exit_code(self) -> int:
        """0: all holds; 1: something does not; 3: something does not, and the machine was busy with other things."""
        return 0 if not self.failed else 3 if self.busy else 1


def judge(seen: GateMeasured) -> GateVerdict:
    """Every line of the gate."""
    lines = [
        _rate(seen),
        _answered(seen),
        _views(seen),
        _hits(seen),
        _hot_state(seen),
        _outbox(seen),
        _connections(seen),
        _cold_start(seen),
    ]
    return GateVerdict(lines=lines, busy=_busy(seen))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so many are not above; 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _line(name: str, holds: bool, text: str) -> GateLine:  # noqa: FBT001  # the one thing that is told
    return GateLine(name=name, outcome="PASS" if holds else "FAIL", text=text)


def _rate(seen: GateMeasured) -> GateLine:
    achieved = len(seen.steady) / seen.steady_seconds if seen.steady_seconds else 0.0
    holds = achieved >= _LEAST_RATE * seen.rate and not seen.left_out
    return _line("rate", holds, f"{achieved:.0f} requests/s of {seen.rate:.0f}; {seen.left_out} not sent")


def _answered(seen: GateMeasured) -> GateLine:
    every = [*seen.steady, *seen.after_joining]
    well = sum(200 <= one.status < 300 for one in every)
    others: dict[str, int] = {}
    for one in every:
        if not 200 <= one.status < 300:
            word = f"{one.kind} {one.status or 'no answer'}"
            others[word] = others.get(word, 0) + 1
    said = ", ".join(f"{word}: {count}" for word, count in sorted(others.items())) or "nothing else"
    holds = bool(every) and well >= _LEAST_ANSWERED * len(every)
    return _line("answers", holds, f"{well} of {len(every)} were 2xx; {said}")


def _views(seen: GateMeasured) -> GateLine:
    took = _of_views(seen.steady)
    p50, p95, p99 = (percentile(took, share) for share in (0.5, 0.95, 0.99))
    holds = len(took) >= _LEAST_SAMPLES and p95 < MOST_VIEW_SECONDS
    text = (
        f"p95 {_ms(p95)} of {_ms(MOST_VIEW_SECONDS)} (p50 {_ms(p50)}, p99 {_ms(p99)}, {len(took)} requests)"
    )
    return _line("cached views", holds, text)


def _hits(seen: GateMeasured) -> GateLine:
    every = sum(seen.views.values())
    made = seen.views.get("made", 0)
    ratio = 1 - made / every if every else 0.0
    parts = ", ".join(f"{how} {count}" for how, count in sorted(seen.views.items()))
    return _line(
        "hit ratio", ratio >= LEAST_HIT_RATIO, f"{ratio:.1%} of at least {LEAST_HIT_RATIO:.0%} ({parts})"
    )


def _hot_state(seen: GateMeasured) -> GateLine:
    took = seen.hot_state_seconds
    p95 = percentile(took, 0.95)
    holds = len(took) >= _LEAST_SAMPLES and p95 <= MOST_HOT_STATE_SECONDS
    return _line(
        "hot state", holds, f"p95 {_ms(p95)} of {_ms(MOST_HOT_STATE_SECONDS)} ({len(took)} operations)"
    )


def _outbox(seen: GateMeasured) -> GateLine:
    holds = seen.outbox_seconds <= MOST_OUTBOX_SECONDS and seen.outbox_rows < MOST_OUTBOX_ROWS
    text = f"oldest {seen.outbox_seconds:.1f} s of {MOST_OUTBOX_SECONDS:.0f}, {seen.outbox_rows} rows of {MOST_OUTBOX_ROWS}"
    return _line("outbox", holds, text)


def _connections(seen: GateMeasured) -> GateLine:
    most = seen.processes * (MOST_CONNECTIONS + LISTENING)
    text = f"{seen.connections} of {most} to Postgres, by {seen.processes} processes"
    return _line("connections", 0 < seen.connections <= most, text)


def _cold_start(seen: GateMeasured) -> GateLine:
    before, after = _of_views(seen.before_joining), _of_views(seen.after_joining)
    first, then = percentile(before, 0.95), percentile(after, 0.95)
    enough = min(len(before), len(after)) >= _LEAST_SAMPLES
    holds = enough and then <= max(first * MOST_COLD, first + _NOISE_SECONDS)
    ratio = then / first if first else 0.0
    text = (
        f"p95 {_ms(first)} before a process joined, {_ms(then)} after: {ratio:.2f} of at most {MOST_COLD:.2f}"
    )
    if holds and ratio > MOST_COLD:
        text += f", and less than {_ms(_NOISE_SECONDS)} apart"
    return _line("cold start", holds, text)


def _busy(seen: GateMeasured) -> list[str]:
    found = []
    if seen.foreign is not None and seen.foreign > _BUSY_SHARE:
        found.append(f"other programs used {seen.foreign:.0%} of the processors")
    late = percentile([one.late for one in seen.steady], 0.95)
    if late > _BUSY_LATE:
        found.append(f"the sender itself was late by {_ms(late)} (p95)")
    return found


def _of_views(samples: Sequence[GateSample]) -> list[float]:
    return [one.seconds for one in samples if one.is_of_cached_view]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
