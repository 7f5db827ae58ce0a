"""Paths into an event: `$.data.guest`, `$.data.rooms[0].kind`, `$.data.guests[*]`, `$.data['odd name']`. Pure.

A small part of JSONPath: members, places and all items of a list. A path that leads nowhere finds nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tidings.kernel.errors import BadValueError

_STEP = re.compile(
    r"""\.(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|\[(?P<place>\d{1,6})\]|\[(?P<all>\*)\]|\['(?P<quoted>[^'\x00-\x1f]{1,200})'\]"""
)
#: What a path may begin with: the attributes of a CloudEvent, and what it says.
_LONGEST: Final = 200
_MOST_STEPS: Final = 20
_REMEDY: Final = "must be a path such as $.data.guest, $.data.rooms[0].kind or $.data.guests[*]"

#: All items of a list.
_ALL: Final = None


@dataclass(frozen=True, slots=True)
class EventPath:
    """A path, read."""

    text: str
    steps: tuple[str | int | None, ...]

    def find(self, scope: Mapping[str, Any], spend: Callable[[int], None] | None = None) -> list[Any]:
        """All that it leads to; null counts as nothing. `spend` is told how many values each step has led to."""
        found: list[Any] = [scope]
        for step in self.steps:
            found = [value for one in found for value in _after(one, step)]
            if spend is not None:
                spend(len(found))
        return [value for value in found if value is not None]

    def first(self, scope: Mapping[str, Any]) -> Any:
        """The first that it leads to; None where it leads nowhere."""
        found = self.find(scope)
        return found[0] if found else None

    @property
    def many(self) -> bool:
        """Whether it may lead to several."""
        return _ALL in self.steps


def _after(value: Any, step: str | int | None) -> Sequence[Any]:
    if isinstance(step, str):
        return [value[step]] if isinstance(value, Mapping) and step in value else []
    if not isinstance(value, list):
        return []
    if step is _ALL:
        return value
    return [value[step]] if step < len(value) else []


@lru_cache(maxsize=10_000)
def _parse(text: str) -> EventPath | None:
    if not text.startswith("$.") or len(text) > _LONGEST:
        return None
    steps: list[str | int | None] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or len(steps) == _MOST_STEPS:
            return None
        if step["place"] is not None:
            steps.append(int(step["place"]))
        else:
            steps.append(_ALL if step["all"] else step["name"] or step["quoted"])
        at = step.end()
    return EventPath(text, tuple(steps))


def is_path(text: str) -> bool:
    """Whether a text is meant as a path: it begins with `$.`."""
    return text.startswith("$.")


def parse_path(text: str, *, field: str) -> EventPath:
    """The path; a `BadValueError` that names the field where it is none."""
    found = _parse(text)
    if found is None:
        raise BadValueError(field, _REMEDY)
    return found
