"""How vendors of one channel share its traffic: where the weights stand and how the vendors do in, a move out. No I/O.

Points sum to 100. A sick vendor loses ten of them at a time to one that is well, not twice within a minute. Where all
are sick nothing moves: it would not help. After fifteen quiet minutes the points drift home, ten at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.router.traffic.circuit import NONE, Counts

#: What all vendors of a channel have together.
ALL_POINTS: Final = 100

Points = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a vendor does just now."""

    counts: Counts = NONE
    #: Its circuit lets nothing through.
    open: bool = False


#: Nothing is known.
QUIET: Final = Health()


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRules:
    """When points move."""

    #: What counts: the calls of so long.
    window: timedelta = timedelta(seconds=60)
    #: With fewer calls than these nothing is said.
    least_calls: int = 10
    #: The share of failed calls from which on a vendor is sick.
    failing: float = 0.1
    #: The share of slow calls from which on a vendor is sick.
    slow: float = 0.25
    #: Points that move at once.
    step: int = 10
    #: Between two moves.
    rest: timedelta = timedelta(minutes=1)
    #: No vendor was sick for so long: points may go home.
    quiet: timedelta = timedelta(minutes=15)

    def fault(self, health: Health) -> str | None:
        """What is wrong with a vendor that does so; None where nothing is known to be."""
        if health.open:
            return "its circuit is open"
        counts = health.counts
        if counts.calls < self.least_calls:
            return None
        if counts.failed >= self.failing * counts.calls:
            return f"{counts.failed} of {counts.calls} calls failed"
        if counts.slow >= self.slow * counts.calls:
            return f"{counts.slow} of {counts.calls} calls were slow"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightShift:
    """Points that are, or were, away from home."""

    points: Points
    moved_at: datetime
    #: When a vendor was last seen sick, to the minute.
    sick_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightMove:
    """What follows from a look."""

    shift: WeightShift
    #: Who loses points and who gets them; None where only the time of the sickness is noted.
    frm: str | None = None
    to: str | None = None
    many: int = 0
    reason: str | None = None


def next_move(
    home: Points,
    shift: WeightShift | None,
    health: Mapping[str, Health],
    *,
    now: datetime,
    rules: WeightRules,
) -> WeightMove | None:
    """The move to make now, if there is one."""
    faults = {vendor: fault for vendor in home if (fault := rules.fault(health.get(vendor, QUIET)))}
    points = dict(shift.points if shift is not None else home)
    rested = shift is None or now >= shift.moved_at + rules.rest
    if faults:
        move = _away(points, faults, health, now=now, rules=rules) if rested else None
        return move or _note_sickness(shift, now=now, rules=rules)
    if shift is None or not rested or now < shift.sick_at + rules.quiet:
        return None
    return _homewards(home, points, shift, now=now, rules=rules)


def _away(
    points: dict[str, int],
    faults: Mapping[str, str],
    health: Mapping[str, Health],
    *,
    now: datetime,
    rules: WeightRules,
) -> WeightMove | None:
    sick = [vendor for vendor in faults if points.get(vendor, 0) > 0]
    well = [vendor for vendor in points if vendor not in faults]
    if not sick or not well:
        return None
    frm = max(sick, key=lambda vendor: (_badness(health.get(vendor, QUIET)), points[vendor], vendor))
    to = min(well, key=lambda vendor: (_badness(health.get(vendor, QUIET)), -points[vendor], vendor))
    return _move(points, frm, to, reason=faults[frm], now=now, sick_at=now, most=rules.step)


def _homewards(
    home: Points, points: dict[str, int], shift: WeightShift, *, now: datetime, rules: WeightRules
) -> WeightMove | None:
    above = {vendor: points[vendor] - home.get(vendor, 0) for vendor in points}
    frm = max(above, key=lambda vendor: (above[vendor], vendor))
    to = min(above, key=lambda vendor: (above[vendor], vendor))
    most = min(rules.step, above[frm], -above[to])
    if most <= 0:
        return None
    return _move(points, frm, to, reason="quiet: towards home", now=now, sick_at=shift.sick_at, most=most)


def _move(
    points: dict[str, int], frm: str, to: str, *, reason: str, now: datetime, sick_at: datetime, most: int
) -> WeightMove:
    many = min(most, points[frm])
    points[frm] -= many
    points[to] += many
    after = WeightShift(points=points, moved_at=now, sick_at=sick_at)
    return WeightMove(shift=after, frm=frm, to=to, many=many, reason=reason)


def _note_sickness(shift: WeightShift | None, *, now: datetime, rules: WeightRules) -> WeightMove | None:
    """Points stay away from home while a vendor is sick; once a minute is often enough to say so."""
    if shift is None or now < shift.sick_at + rules.rest:
        return None
    return WeightMove(shift=WeightShift(points=shift.points, moved_at=shift.moved_at, sick_at=now))


def _badness(health: Health) -> float:
    if health.open:
        return 2.0
    counts = health.counts
    return (counts.failed + counts.slow) / counts.calls if counts.calls else 0.0
