"""What a trigger's form says, as the API takes it, and times as people say them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.backoffice.console.kit.typed import given, lines, several, text

_SIMPLE: Final = re.compile(r"(-?)P(?:(\d+)([DW])|T(\d+)([HM]))")
UNITS: Final = ("minutes", "hours", "days", "weeks")
_LETTERS: Final[Mapping[str, str]] = {"M": "minutes", "H": "hours", "D": "days", "W": "weeks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTrigger:
    """The body of a request, and what can't be read of the form."""

    body: Mapping[str, Any]
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOffset:
    """A duration before or after the anchor, as people say it."""

    count: int
    unit: str
    is_before: bool


def offset_of(duration: str | None) -> SaidOffset | None:
    """A duration of one unit; None where it is none, or of several."""
    found = _SIMPLE.fullmatch(duration or "")
    if found is None:
        return None
    sign, days, day_unit, hours, hour_unit = found.groups()
    return SaidOffset(count=int(days or hours), unit=_LETTERS[day_unit or hour_unit], is_before=bool(sign))


def read_trigger(fields: Mapping[str, str]) -> WrittenTrigger:
    """The trigger."""
    errors: dict[str, str] = {}
    variables: Any = {}
    try:
        variables = json.loads(fields.get("variables", "").strip() or "{}")
    except ValueError as error:
        errors["variables"] = f"is no JSON: {error}"
    people = lines(fields, "recipient")
    body = given(
        name=text(fields, "name"),
        event_type=text(fields, "event_type"),
        condition=text(fields, "condition"),
        recipient=people[0] if len(people) == 1 else people,
        template=text(fields, "template"),
        channel=text(fields, "channel"),
        variables=variables,
        anchor=text(fields, "anchor"),
        offset=_duration(fields),
        local_time=text(fields, "local_time"),
        category=text(fields, "category"),
        priority=text(fields, "priority"),
        subject=text(fields, "subject"),
        cancelled_by=several(fields, "cancelled_by"),
        replanned_by=several(fields, "replanned_by"),
        enabled="enabled" in fields,
    )
    return WrittenTrigger(body=body, errors=errors)


def fields_of_trigger(trigger: Mapping[str, Any]) -> dict[str, str]:
    """A trigger as the form shows it."""
    people, offset = trigger["recipient"], offset_of(trigger["offset"])
    found = {
        name: str(trigger[name] or "")
        for name in (
            "name", "event_type", "condition", "template", "channel", "anchor", "local_time", "category", "priority", "subject",
        )
    }  # fmt: skip
    found["recipient"] = people if isinstance(people, str) else "\n".join(people)
    found["variables"] = json.dumps(trigger["variables"], indent=2, ensure_ascii=False)
    found["cancelled_by"] = " ".join(trigger["cancelled_by"])
    found["replanned_by"] = " ".join(trigger["replanned_by"])
    if offset is not None:
        found |= {
            "direction": "before" if offset.is_before else "after",
            "count": str(offset.count),
            "unit": offset.unit,
        }
    elif trigger["offset"]:
        found |= {"direction": "other", "duration": trigger["offset"]}
    if trigger["enabled"]:
        found["enabled"] = "on"
    return found


def example_event(trigger: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """An event that this trigger would hear, with a place for each path that it reads."""
    data: dict[str, Any] = {}
    people = trigger["recipient"]
    paths = [trigger["anchor"], *([people] if isinstance(people, str) else people)]
    paths += [value for value in trigger["variables"].values() if isinstance(value, str)]
    for path in paths:
        if not path.startswith("$.data."):
            continue
        place = data
        *steps, last = re.split(r"\.", re.sub(r"\[[^\]]*\]", "", path.removeprefix("$.data.")))
        for step in steps:
            below = place.setdefault(step, {})
            place = below if isinstance(below, dict) else place
        place.setdefault(last, _example(last, now))
    return {
        "specversion": "1.0",
        "id": "example-1",
        "source": "/example",
        "type": trigger["event_type"],
        "subject": "example-1",
        "data": data,
    }


def _example(name: str, now: datetime) -> Any:
    if name in ("guest", "student", "primary_guest", "user", "assignee"):
        person = {"identity": {"type": name, "id": "example"}, "locale": "en"}
        return {**person, "addresses": [{"channel": "email", "address": "laila@example.com"}]}
    if name.endswith(("_at", "_on", "date", "time")):
        return f"{now + timedelta(days=30):%Y-%m-%d}T15:00:00Z"
    return "…"


def _duration(fields: Mapping[str, str]) -> str | None:
    direction, count, unit = (fields.get(name, "") for name in ("direction", "count", "unit"))
    if direction == "other":
        return text(fields, "duration")
    if direction not in ("before", "after") or not count.strip():
        return None
    letter = next((letter for letter, known in _LETTERS.items() if known == unit), "D")
    amount = f"P{count.strip()}{letter}" if letter in "DW" else f"PT{count.strip()}{letter}"
    return f"-{amount}" if direction == "before" else amount
