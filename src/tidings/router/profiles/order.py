"""In which order a ladder's steps are taken for one person."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from tidings.contracts.ladder import StepRank
from tidings.contracts.tenants import Channel
from tidings.router.profiles.model import Discovery, Profile
from tidings.router.profiles.thompson_sampling import draw

Order = Literal["fixed", "learned", "cheapest"]

#: What a second of waiting costs where the policy does not say: without it a free channel that never arrives would always come first.
USUAL_SECOND: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Orderable:
    """A step, as far as its order is concerned."""

    #: Where it stands in the policy's ladder.
    place: int
    channel: Channel
    #: What it is expected to cost; all steps in one currency.
    cost_micros: int
    deadline_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOrder:
    """The steps in the order in which they are taken."""

    places: tuple[int, ...]
    #: One each, in the same order.
    why: tuple[StepRank, ...]


def arrange(
    steps: Sequence[Orderable],
    profile: Profile | None,
    *,
    order: Order,
    random_unit: Callable[[], float],
    now: datetime | None = None,
    value_of_a_second: int = USUAL_SECOND,
) -> StepOrder:
    """The order for one person.

    `random_unit` gives numbers in [0, 1), evenly spread. `value_of_a_second`, in micros, is what waiting costs. `now` lets what was learned fade until then; left out, it stands as
    it did at the newest observation.
    """
    match order:
        case "cheapest":
            return _in_order([(step, _plain(step)) for step in sorted(steps, key=lambda s: s.cost_micros)])
        case "learned" if profile is not None and profile.discovery is not Discovery.UNSEEN:
            return _learned(steps, profile, random_unit, now, value_of_a_second)
        case _:
            return _in_order([(step, _plain(step)) for step in steps])


def _learned(
    steps: Sequence[Orderable],
    profile: Profile,
    random_unit: Callable[[], float],
    now: datetime | None,
    value_of_a_second: int,
) -> StepOrder:
    drawn = profile.discovery is Discovery.LEARNING
    # One guess for a channel, however many steps it has.
    guesses: dict[Channel, float] = {}
    told: list[tuple[float, Orderable, StepRank]] = []
    for step in steps:
        p = guesses.get(step.channel)
        if p is None:
            posterior = profile.posterior(step.channel, now)
            p = guesses[step.channel] = draw(posterior, random_unit) if drawn else posterior.mean
        index = p * 1_000_000 / max(1, step.cost_micros + step.deadline_seconds * value_of_a_second)
        why = StepRank(channel=step.channel, p=p, cost_micros=step.cost_micros, index=index, drawn=drawn)
        told.append((index, step, why))
    told.sort(key=lambda one: -one[0])
    return _in_order([(step, why) for _, step, why in told])


def _plain(step: Orderable) -> StepRank:
    return StepRank(channel=step.channel, p=None, cost_micros=step.cost_micros, index=None, drawn=False)


def _in_order(told: Sequence[tuple[Orderable, StepRank]]) -> StepOrder:
    return StepOrder(places=tuple(step.place for step, _ in told), why=tuple(why for _, why in told))
