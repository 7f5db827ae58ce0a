"""A world drawn from a seed: a ladder, its vendors, its gates and circuits, and how unlucky its workers are."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, Literal

from tests.simulation.conduct import Conduct
from tidings.contracts.delivery import DeliveryResult, SkipStep, WaitStep
from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import Hours, LadderStep, Strategy, Success
from tidings.contracts.tenants import Channel

_CHANNELS: Final[tuple[Channel, ...]] = ("email", "sms", "whatsapp", "telegram", "viber", "voice")
_USE_CASES: Final[tuple[UseCase, ...]] = ("otp", "alert", "txn", "conversational", "marketing")
_STRATEGIES: Final[tuple[Strategy, ...]] = ("SEQUENTIAL", "SEQUENTIAL", "PARALLEL", "FAILOVER")
_SUCCESS: Final[tuple[Success, ...]] = ("delivered",) * 5 + ("read",) * 2 + ("accepted", "sent")
_NIGHTS: Final = ("Europe/Berlin", "Asia/Kabul", "America/New_York")
_DAY: Final = datetime(2026, 3, 14, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Spell:
    """For some time something else holds."""

    start: datetime
    end: datetime
    kind: Literal["skip", "wait", "ends", "open", "limit"]


class Weather:
    """Spells that do not overlap; between them all is well."""

    def __init__(self, spells: list[Spell]) -> None:
        self._spells = sorted(spells, key=lambda spell: spell.start)
        self._starts = [spell.start for spell in self._spells]

    def at(self, now: datetime) -> Spell | None:
        """What holds at that moment."""
        place = bisect_right(self._starts, now) - 1
        if place < 0 or now >= self._spells[place].end:
            return None
        return self._spells[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything but what the ladder decides."""

    begin: datetime
    expires_at: datetime
    use_case: UseCase
    strategy: Strategy
    steps: tuple[LadderStep, ...]
    cap: int | None
    vendors: dict[str, Conduct]
    #: By step.
    gates: dict[int, Weather]
    #: By vendor.
    circuits: dict[str, Weather]
    #: Whether the address of a channel has the prefix that steps ask for.
    right_prefix: frozenset[str]
    #: The first step is prepared with the hand-off.
    first_is_ready: bool
    #: How likely a worker dies, or is taken for dead, between two things that it does.
    dies: float
    loses: float
    #: How likely the answer to a commit is lost on its way.
    forgets: float

    def gate(self, step: int, now: datetime) -> SkipStep | WaitStep | None:
        """None: it may be sent."""
        return held_back(self.gates[step].at(now))


def held_back(spell: Spell | None) -> SkipStep | WaitStep | None:
    """What a gate says in such weather."""
    if spell is None:
        return None
    if spell.kind == "wait":
        return WaitStep(until=spell.end, reason="quiet_hours")
    result: DeliveryResult = "FAILED" if spell.kind == "ends" else "REFUSED_CONSENT"
    return SkipStep(reason=f"gate_{spell.kind}", result=result, ends=spell.kind == "ends")


def draw(luck: Random) -> World:
    """One world."""
    begin = _DAY + timedelta(seconds=luck.randrange(86_400), milliseconds=luck.randrange(1000))
    lives = timedelta(
        seconds=luck.choice((0, 5, 45, 120, 600, 3_600, 20_000, 90_000)) * luck.uniform(0.5, 1.5)
    )
    strategy = luck.choice(_STRATEGIES)
    vendors: dict[str, Conduct] = {}
    steps = _steps(luck, strategy, vendors)
    prices = [vendor.price for vendor in vendors.values()] or [0]
    cap = None if luck.random() < 0.35 else int(max(prices) * luck.choice((0, 0.9, 1, 1.5, 2, 2.5, 4, 10)))
    first = steps[0] if steps else None
    return World(
        begin=begin,
        expires_at=begin + lives,
        use_case=luck.choice(_USE_CASES),
        strategy=strategy,
        steps=steps,
        cap=cap,
        vendors=vendors,
        gates={
            place: weather(luck, begin, lives, kinds=("skip", "skip", "wait", "wait", "wait", "ends"))
            for place in range(1, len(steps) + 1)
        },
        circuits={name: weather(luck, begin, lives, kinds=("open", "limit")) for name in vendors},
        right_prefix=frozenset(channel for channel in _CHANNELS if luck.random() < 0.5),
        first_is_ready=first is not None
        and strategy != "PARALLEL"
        and first.barred is None
        and first.hours is None
        and bool(first.vendors)
        and luck.random() < 0.5,
        dies=luck.choice((0.0, 0.0, 0.02, 0.1)),
        loses=luck.choice((0.0, 0.0, 0.01, 0.06)),
        forgets=luck.choice((0.0, 0.0, 0.0, 0.05)),
    )


def _steps(luck: Random, strategy: Strategy, vendors: dict[str, Conduct]) -> tuple[LadderStep, ...]:
    count = luck.choice((1, 1, 2, 2, 3, 3, 4, 5))
    if strategy == "PARALLEL":
        count = max(count, 2)
    if luck.random() < 0.01:
        return ()
    one_channel = luck.choice(_CHANNELS)
    return tuple(
        _step(luck, one_channel if strategy == "FAILOVER" else luck.choice(_CHANNELS), strategy, vendors)
        for _ in range(count)
    )


def _step(luck: Random, channel: Channel, strategy: Strategy, vendors: dict[str, Conduct]) -> LadderStep:
    many = 1 if strategy == "FAILOVER" else luck.choice((1, 1, 1, 2, 3))
    names = tuple(f"{channel}_{letter}" for letter in luck.sample("abcd", many))
    for name in names:
        if name not in vendors:
            price = luck.choice((0, 700, 5_000, 20_000))
            vendors[name] = Conduct(name, luck, price=price, receipts=luck.random() < 0.85)
    night = luck.choice(_NIGHTS) if luck.random() < 0.1 else None
    return LadderStep(
        channel=channel,
        vendors=() if luck.random() < 0.02 else names,
        success=luck.choice(_SUCCESS),
        deadline=None if luck.random() < 0.15 else luck.choice((1, 5, 30, 120, 900, 7_200)),
        retries=None if luck.random() < 0.15 else luck.choice((0, 0, 1, 2, 4)),
        prefixes=("+93",) if luck.random() < 0.05 else None,
        hours=None if night is None else Hours(start="08:00", end="20:00", timezone=night),
        barred="condition_reachable" if luck.random() < 0.03 else None,
    )


def weather(
    luck: Random,
    begin: datetime,
    lives: timedelta,
    *,
    kinds: tuple[Literal["skip", "wait", "ends", "open", "limit"], ...],
) -> Weather:
    """Some spells within the time that something lives, and a while after it."""
    spells: list[Spell] = []
    end = begin - timedelta(seconds=1)
    for _ in range(luck.choice((0, 0, 0, 1, 1, 2, 3))):
        start = end + lives * luck.uniform(0, 0.4)
        end = start + timedelta(seconds=luck.choice((0.5, 5, 60, 900, 20_000)) * luck.uniform(0.2, 1.0))
        end = end.replace(microsecond=0)
        if end > start:
            spells.append(Spell(start, end, luck.choice(kinds)))
    return Weather(spells)
