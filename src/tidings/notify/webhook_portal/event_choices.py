"""Which types of events a visitor may choose from, and what is chosen; pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.events import EVENTS
from tidings.kernel.bus import SubjectFilter
from tidings.notify.webhooks.model import ABOUT_ENDPOINTS, NEVER_TOLD

_WILD: Final = ("*", ">")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventChoice:
    """A box: one type, or all that a pattern takes."""

    value: str
    #: It stands for many types, and has no example of its own.
    is_pattern: bool


def choices_of(patterns: Sequence[str]) -> list[EventChoice]:
    """The boxes that these patterns give: each pattern that takes many, and every type that there is."""
    found: dict[str, EventChoice] = {}
    for pattern in patterns:
        wild = any(sign in pattern for sign in _WILD)
        if wild:
            found.setdefault(pattern, EventChoice(value=pattern, is_pattern=True))
        for subject in _subjects(pattern) if wild else [pattern]:
            found.setdefault(subject, EventChoice(value=subject, is_pattern=False))
    return sorted(found.values(), key=lambda choice: (not choice.is_pattern, choice.value))


def within(offered: Sequence[EventChoice], told: Sequence[str]) -> list[EventChoice]:
    """Of these boxes those of what is told already: by them an endpoint hears less, and never more."""
    heard = SubjectFilter(told)
    return [
        one
        for one in offered
        if one.value in told
        or (not (one.is_pattern or one.value.startswith(ABOUT_ENDPOINTS)) and heard.takes(one.value))
    ]


def chosen(
    ticked: Collection[str], offered: Sequence[EventChoice], before: Sequence[str] = ()
) -> tuple[str, ...]:
    """What an endpoint is told when these boxes are ticked: what was never offered stays as it was."""
    boxes = {choice.value for choice in offered}
    kept = [pattern for pattern in before if pattern not in boxes]
    return tuple(dict.fromkeys([*kept, *(one.value for one in offered if one.value in ticked)]))


def not_offered(told: Sequence[str], offered: Sequence[EventChoice]) -> list[str]:
    """What an endpoint is told that a visitor can't take away."""
    boxes = {choice.value for choice in offered}
    return [pattern for pattern in told if pattern not in boxes]


def examples_of(pattern: str) -> list[str]:
    """The types that a pattern takes, to be shown with what they say."""
    return _subjects(pattern)


def _subjects(pattern: str) -> list[str]:
    """What is told of endpoints is told where its type is named, and by no pattern."""
    wanted = SubjectFilter([pattern])
    return sorted(
        subject
        for subject in EVENTS
        if wanted.takes(subject)
        and not subject.startswith(NEVER_TOLD)
        and (subject == pattern or not subject.startswith(ABOUT_ENDPOINTS))
    )
