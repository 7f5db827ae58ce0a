"""Learned against fixed order: a simulated population, what arrives in time, and what a delivery costs.

`python -m bench.learned_order` prints the figures and draws `docs/images/learned-order.svg`. Nothing is measured by a
clock: the same seed gives the same figures on every machine. Ordering and learning are the product's own functions.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Final

from bench.chart import Line, Panel, draw_chart
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.router.profiles.model import PROFILE, Observation, Profile
from tidings.router.profiles.observe import observed
from tidings.router.profiles.order import USUAL_SECOND, Order, Orderable, arrange

CHART: Final = Path(__file__).parents[1] / "docs" / "images" / "learned-order.svg"

SEED: Final = 5
PEOPLE: Final = 2000
MESSAGES: Final = 40
#: Between two messages to one person.
APART: Final = timedelta(days=3)
#: What a second costs in a policy for codes, where nobody says otherwise.
IN_HASTE: Final = 1_000
#: A code is worth nothing after this: two of the four steps fit into it, three, or all.
CLOCKS: Final = (120, 180, 240)
#: The one in the chart.
CHARTED: Final = 180
#: From one message to the next, one person of a hundred changes phone or habits: all of their reach is drawn anew.
CHANGES: Final = 0.01
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)

#: As a policy would write it: the cheap one first, the sure one last.
LADDER: Final = (
    Orderable(place=0, channel="whatsapp", cost_micros=5_000, deadline_seconds=60),
    Orderable(place=1, channel="sms", cost_micros=35_000, deadline_seconds=60),
    Orderable(place=2, channel="telegram", cost_micros=1_000, deadline_seconds=60),
    Orderable(place=3, channel="voice", cost_micros=90_000, deadline_seconds=60),
)
#: How many have a channel at all, and how often it arrives in time with those who have it.
_HAVE: Final[Mapping[Channel, tuple[float, float]]] = {
    "whatsapp": (0.60, 0.95),
    "sms": (0.90, 0.90),
    "telegram": (0.35, 0.95),
    "voice": (0.80, 0.75),
}
#: With those who do not have it: a shared phone, a friend who tells.
_BY_ACCIDENT: Final = 0.02


@dataclass(slots=True)
class Tally:
    """What became of all messages of one round."""

    sent: int = 0
    arrived: int = 0
    micros: int = 0
    steps: int = 0


@dataclass(slots=True)
class Run:
    """One way to order, round by round."""

    rounds: list[Tally] = field(default_factory=lambda: [Tally() for _ in range(MESSAGES)])

    @property
    def share(self) -> float:
        """Of all messages, those that arrived in time."""
        return sum(one.arrived for one in self.rounds) / sum(one.sent for one in self.rounds)

    @property
    def cost(self) -> float:
        """Micros for each that arrived."""
        return sum(one.micros for one in self.rounds) / max(1, sum(one.arrived for one in self.rounds))

    @property
    def steps(self) -> float:
        """Steps for each message."""
        return sum(one.steps for one in self.rounds) / sum(one.sent for one in self.rounds)


def fortunes(people: int = PEOPLE, seed: int = SEED) -> Iterator[tuple[int, int, dict[Channel, bool]]]:
    """Round, person, and where a message would arrive: the same for every way to order."""
    chance = random.Random(seed)
    reaches = [_person(chance) for _ in range(people)]
    for n in range(MESSAGES):
        for who in range(people):
            if chance.random() < CHANGES:
                reaches[who] = _person(chance)
            yield n, who, {channel: chance.random() < reach for channel, reach in reaches[who].items()}


def simulate(
    order: Order,
    life: int,
    *,
    people: int = PEOPLE,
    seed: int = SEED,
    value_of_a_second: int = USUAL_SECOND,
) -> Run:
    """All messages to all people, ordered in one way."""
    luck = random.Random(seed + 1)
    profiles = [_nobody(n) for n in range(people)]
    run = Run()
    for n, who, arrives in fortunes(people, seed):
        now = _START + n * APART
        places = arrange(
            LADDER,
            profiles[who],
            order=order,
            random_unit=luck.random,
            now=now,
            value_of_a_second=value_of_a_second,
        ).places
        tried = climb([LADDER[place] for place in places], arrives, life, run.rounds[n])
        if order == "learned":
            seen = [_observation(who, step, arrived=arrives[step.channel], at=now) for step in tried]
            profiles[who] = observed(profiles[who], seen, now=now)
    return run


def best_fixed(life: int) -> tuple[str, Run]:
    """The one order for everybody that delivers most; known only afterwards."""
    runs = {ladder: Run() for ladder in permutations(LADDER)}
    for n, _, arrives in fortunes():
        for ladder, run in runs.items():
            climb(ladder, arrives, life, run.rounds[n])
    ladder, best = max(runs.items(), key=lambda one: (one[1].share, -one[1].cost))
    return ", ".join(step.channel for step in ladder), best


def climb(
    ladder: Sequence[Orderable], arrives: Mapping[Channel, bool], life: int, tally: Tally
) -> list[Orderable]:
    """The steps that were taken until one arrived or the time was over."""
    tried: list[Orderable] = []
    left = life
    tally.sent += 1
    for step in ladder:
        left -= step.deadline_seconds
        if left < 0:
            break
        tried.append(step)
        tally.steps += 1
        tally.micros += step.cost_micros
        if arrives[step.channel]:
            tally.arrived += 1
            break
    return tried


def _person(chance: random.Random) -> dict[Channel, float]:
    return {
        channel: arrives if chance.random() < have else _BY_ACCIDENT
        for channel, (have, arrives) in _HAVE.items()
    }


def _nobody(n: int) -> Profile:
    return Profile(id=PROFILE.new(_START), recipient_id=_id(n), created_at=_START, updated_at=_START)


def _observation(who: int, step: Orderable, *, arrived: bool, at: datetime) -> Observation:
    return Observation(recipient_id=_id(who), channel=step.channel, delivered=arrived, at=at)


def _id(n: int) -> RecipientId:
    return RecipientId(f"rcp_{n:026}")


def measure() -> dict[str, float]:
    """The figures of a whole run, and the chart."""
    figures: dict[str, float] = {}
    for life in CLOCKS:
        name, best = best_fixed(life)
        runs = {
            "fixed": simulate("fixed", life),
            "best fixed": best,
            "cheapest": simulate("cheapest", life),
            "learned": simulate("learned", life),
            "learned in haste": simulate("learned", life, value_of_a_second=IN_HASTE),
        }
        for order, run in runs.items():
            about = f"{order.replace(' ', '_')}_order_{life}s"
            figures[f"{about}_in_time"] = run.share
            figures[f"{about}_micros_a_delivery"] = run.cost
            figures[f"{about}_steps_a_message"] = run.steps
        if life == CHARTED:
            shown = {
                f"fixed: {', '.join(step.channel for step in LADDER)}": runs["fixed"],
                f"the best fixed one, known afterwards: {name}": best,
                "learned": runs["learned"],
            }
            CHART.write_text(_chart(shown), encoding="utf-8")
    return figures


def _chart(runs: Mapping[str, Run]) -> str:
    return draw_chart(
        title=f"{PEOPLE:,} simulated people, {MESSAGES} codes each, {CHARTED} seconds to arrive",
        across="message to the same person",
        panels=[
            Panel(
                title="arrived in time",
                unit="%",
                lines=[
                    Line(name, [100 * one.arrived / one.sent for one in run.rounds])
                    for name, run in runs.items()
                ],
            ),
            Panel(
                title="cost of a delivery",
                unit="cents",
                lines=[
                    Line(name, [one.micros / max(1, one.arrived) / 10_000 for one in run.rounds])
                    for name, run in runs.items()
                ],
            ),
        ],
    )


def main() -> None:
    """Simulate, print, draw."""
    for name, value in measure().items():
        print(f"{name:44} {value:>12,.3f}")
    print(f"drawn: {CHART}")


if __name__ == "__main__":
    main()
