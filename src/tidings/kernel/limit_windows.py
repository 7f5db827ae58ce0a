"""The arithmetic of limits: what was taken, what may be taken now, and when to ask again. No I/O.

All of it is in whole numbers: times are microseconds since 1970, so nothing drifts and two processes with
the same state reach the same answer.

* `FixedWindow`: at most `limit` between two marks of the clock. Marks are multiples of `window` since 1970.
* `SlidingWindow`: at most `limit` in *any* stretch of length `window`.
* `TokenBucket`: at most `capacity` at once, refilled by `refill` every `window`, evenly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from tidings.kernel.errors import BadValueError

#: A sliding window remembers so many moments; beyond that the closest two become the later one of them,
#: which refuses a little longer and never lets too much through.
MOST_MOMENTS: Final = 256
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST = 2**62
#: How late a note of something taken may come, in microseconds.
_LATE = 60_000_000


@dataclass(frozen=True, slots=True)
class LimitState:
    """What is remembered of one limit; what the numbers mean is its kind's business."""

    moments: tuple[int, ...] = ()
    amounts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of asking one limit."""

    granted: bool
    #: The state afterwards: changed when granted, tidied at most when not.
    state: LimitState
    #: How much could be taken right after.
    remaining: int
    #: When the same amount could be had; None when granted, and when it never can be.
    retry_at: int | None
    #: When the state means nothing any more.
    expires_at: int


@dataclass(frozen=True, slots=True)
class Absorbed:
    """A state with what was taken elsewhere added to it. None stands for one that means nothing any more."""

    state: LimitState
    #: When it means nothing any more.
    expires_at: int


@dataclass(frozen=True, slots=True)
class FixedWindow:
    """At most `limit` between two marks of the clock."""

    limit: int
    window: timedelta

    def __post_init__(self) -> None:
        _check(self.limit, self.window)

    @property
    def kind(self) -> str:
        """What its state is kept under."""
        return f"fixed:{micros(self.window)}"

    def ask(self, state: LimitState, amount: int, now: int) -> Verdict:
        """Take `amount` if there is room."""
        window = micros(self.window)
        start = now - now % window
        # A process whose clock is behind must not open an old window again.
        used = 0
        if state.moments and state.moments[0] >= start:
            start, used = state.moments[0], state.amounts[0]
        end = start + window
        if used + amount <= self.limit:
            after = LimitState((start,), (used + amount,))
            return Verdict(True, after, self.limit - used - amount, None, end)
        retry_at = end if amount <= self.limit else None
        return Verdict(False, LimitState((start,), (used,)), max(0, self.limit - used), retry_at, end)

    def absorb(self, state: LimitState, taken: Mapping[int, int], now: int) -> Absorbed | None:
        """Add what was taken elsewhere."""
        window = micros(self.window)
        start, used = (state.moments[0], state.amounts[0]) if state.moments else (0, 0)
        for moment, amount in sorted(taken.items()):
            begin = moment - moment % window
            if begin + window <= now:
                continue
            if begin > start:
                start, used = begin, 0
            used += amount
        return Absorbed(LimitState((start,), (used,)), start + window) if start + window > now else None


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """At most `limit` in any stretch of length `window`."""

    limit: int
    window: timedelta

    def __post_init__(self) -> None:
        _check(self.limit, self.window)

    @property
    def kind(self) -> str:
        """What its state is kept under."""
        return f"sliding:{micros(self.window)}"

    def ask(self, state: LimitState, amount: int, now: int) -> Verdict:
        """Take `amount` if there is room."""
        window = micros(self.window)
        now = max(now, *state.moments[-1:], 0)
        kept = [
            (moment, taken)
            for moment, taken in zip(state.moments, state.amounts, strict=True)
            if moment > now - window
        ]
        used = sum(taken for _, taken in kept)
        if used + amount <= self.limit:
            if amount and kept and kept[-1][0] == now:
                kept[-1] = (now, kept[-1][1] + amount)
            elif amount:
                kept.append((now, amount))
            return Verdict(True, _packed(kept), self.limit - used - amount, None, _last(kept, now) + window)
        retry_at = None
        if amount <= self.limit:
            excess = used + amount - self.limit
            for moment, taken in kept:
                excess -= taken
                if excess <= 0:
                    retry_at = moment + window
                    break
        return Verdict(False, _packed(kept), max(0, self.limit - used), retry_at, _last(kept, now) + window)

    def absorb(self, state: LimitState, taken: Mapping[int, int], now: int) -> Absorbed | None:
        """Add what was taken elsewhere."""
        window = micros(self.window)
        sums = dict(taken)
        for moment, amount in zip(state.moments, state.amounts, strict=True):
            sums[moment] = sums.get(moment, 0) + amount
        kept = [(moment, amount) for moment, amount in sorted(sums.items()) if moment > now - window]
        return Absorbed(_packed(kept), kept[-1][0] + window) if kept else None


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """At most `capacity` at once, refilled by `refill` every `window`, evenly."""

    capacity: int
    refill: int
    window: timedelta

    def __post_init__(self) -> None:
        _check(self.capacity, self.window)
        _check(self.refill, self.window, "refill")
        if self.capacity * micros(self.window) >= _MOST:
            raise BadValueError("capacity", "times the window is too large to count exactly")

    @property
    def kind(self) -> str:
        """What its state is kept under."""
        return f"bucket:{micros(self.window)}:{self.refill}"

    def ask(self, state: LimitState, amount: int, now: int) -> Verdict:
        """Take `amount` if the bucket holds it."""
        # The level is counted in drops: `window` drops are one token, and `refill` drops fall every microsecond.
        window = micros(self.window)
        full = self.capacity * window
        level = full
        if state.moments:
            now = max(now, state.moments[0])
            level = min(full, state.amounts[0] + (now - state.moments[0]) * self.refill)
        wanted = amount * window
        granted = wanted <= level
        if granted:
            level -= wanted
        retry_at = None
        if not granted and amount <= self.capacity:
            retry_at = now + _ceil(wanted - level, self.refill)
        expires_at = now + _ceil(full - level, self.refill)
        return Verdict(granted, LimitState((now,), (level,)), level // window, retry_at, expires_at)

    def absorb(self, state: LimitState, taken: Mapping[int, int], now: int) -> Absorbed | None:
        """Add what was taken elsewhere; the level may fall below nothing, and must fill up again from there."""
        window = micros(self.window)
        full = self.capacity * window
        at, level = (state.moments[0], state.amounts[0]) if state.moments else (0, full)
        for moment, amount in sorted(taken.items()):
            if moment > at:
                level, at = min(full, level + (moment - at) * self.refill), moment
            level = max(level - amount * window, -full)
        # Full again or not: what others took at the same time may come later, and has to be added to this.
        expires_at = max(at + _ceil(full - level, self.refill), now + _LATE)
        return Absorbed(LimitState((at,), (level,)), expires_at)


Limit: TypeAlias = FixedWindow | SlidingWindow | TokenBucket


def micros(duration: timedelta) -> int:
    """A duration in whole microseconds."""
    return duration // _MICROSECOND


def to_micros(moment: datetime) -> int:
    """A moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(moment: int) -> datetime:
    """The moment that many microseconds after the beginning of 1970."""
    return _EPOCH + timedelta(microseconds=moment)


def _check(limit: int, window: timedelta, name: str = "limit") -> None:
    if not 0 < limit < _MOST:
        raise BadValueError(name, "must be a positive number")
    if window < _MICROSECOND:
        raise BadValueError("window", "must be longer than zero")


def _ceil(value: int, by: int) -> int:
    return -(-value // by)


def _last(kept: list[tuple[int, int]], now: int) -> int:
    return kept[-1][0] if kept else now


def _packed(kept: list[tuple[int, int]]) -> LimitState:
    while len(kept) > MOST_MOMENTS:
        at = min(range(len(kept) - 1), key=lambda place: kept[place + 1][0] - kept[place][0])
        kept[at : at + 2] = [(kept[at + 1][0], kept[at][1] + kept[at + 1][1])]
    return LimitState(tuple(moment for moment, _ in kept), tuple(taken for _, taken in kept))
