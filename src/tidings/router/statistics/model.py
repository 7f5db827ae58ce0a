"""What is known of how sending went, and how a share of the slowest calls is read from buckets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

#: Up to so many milliseconds; what is longer is in one more bucket. The same as in the roll-up's statement.
BOUNDS: Final = (5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000)
#: Where calls end that took longer: the longest call that there is.
_LONGEST: Final = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSum:
    """A step of ladders."""

    step: int
    channel: str
    reached: int
    delivered: int
    calls: int
    failed: int
    timed_out: int
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorSum:
    """Calls of a vendor over a channel."""

    channel: str
    vendor: str
    calls: int
    accepted: int
    failed: int
    timed_out: int
    latency_ms: int
    #: Calls by how long they took.
    latencies: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSum:
    """What a vendor took over a channel on a day, in one currency, in millionths of it."""

    day: date
    channel: str
    vendor: str
    currency: str
    messages: int
    estimated_micros: int
    real_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSum:
    """How often a code came."""

    channel: str
    vendor: str
    code: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSum:
    """How many executions ended so, in an hour or on a day."""

    at: datetime
    channel: str
    outcome: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSum:
    """How much of a tenant's was sent."""

    tenant_id: str
    n: int
    delivered: int
    failed: int


def quantile(latencies: Sequence[int], share: float) -> int | None:
    """Within how many milliseconds that share of the calls was answered: as if those of a bucket were spread evenly in it."""
    wanted = sum(latencies) * share
    if not wanted:
        return None
    passed = 0
    for place, count in enumerate(latencies):
        if passed + count >= wanted:
            low = BOUNDS[place - 1] if place else 0
            high = BOUNDS[place] if place < len(BOUNDS) else _LONGEST
            return round(low + (high - low) * (wanted - passed) / count)
        passed += count
    return _LONGEST
