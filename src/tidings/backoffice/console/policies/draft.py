"""A policy as the fields of a form, and back; steps are `s0.channel`, `s1.channel`, and so on. No I/O."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.kit.typed import (
    amount,
    decimal,
    given,
    micros,
    several,
    text,
    whole,
)

Fields = Mapping[str, str]

MOST_STEPS: Final = 20
#: Names of a step's fields.
STEP: Final = (
    "channel", "vendor", "deadline", "retries", "call", "success", "priorities", "prefixes", "from", "to", "zone",
    "reachable", "online", "score",
)  # fmt: skip
#: A field of the API → the one of the form.
_OF_API: Final = {
    "channel": "channel",
    "vendor": "vendor",
    "deadline_seconds": "deadline",
    "retry_budget": "retries",
    "call_seconds": "call",
    "success": "success",
    "conditions.priorities": "priorities",
    "conditions.prefixes": "prefixes",
    "conditions.hours.start": "from",
    "conditions.hours.end": "to",
    "conditions.hours.timezone": "zone",
    "conditions.reachable": "reachable",
    "conditions.online": "online",
    "conditions.min_score": "score",
}
_CONDITIONS: Final = ("priorities", "prefixes", "from", "to", "zone", "reachable", "online", "score")
_NEW_STEP: Final = {"channel": "email", "deadline": "60", "retries": "2", "success": "delivered"}


def blank(use_case: str) -> dict[str, str]:
    """A policy to be: one step."""
    return {
        "use_case": use_case,
        "strategy": "SEQUENTIAL",
        "order": "fixed",
        "currency": "USD",
        "ttl": "86400",
        "steps": "1",
        **{f"s0.{name}": value for name, value in _NEW_STEP.items()},
    }


def fields_of(policy: Mapping[str, Any]) -> dict[str, str]:
    """A policy as it is, for the form."""
    made = {
        "use_case": policy["use_case"],
        "strategy": policy["strategy"],
        "order": policy["order"],
        "second": amount(policy["value_of_a_second"]),
        "cap": amount(policy["cost_cap_micros"]),
        "currency": policy["cost_cap_currency"],
        "ttl": str(policy["session_ttl_seconds"]),
        "stop": ", ".join(policy["stop_keywords"]),
        "description": policy["description"] or "",
        "steps": str(len(policy["ladder"])),
    }
    for place, step in enumerate(policy["ladder"]):
        for name, value in _step_fields(step).items():
            made[f"s{place}.{name}"] = value
    return made


def _step_fields(step: Mapping[str, Any]) -> dict[str, str]:
    conditions = step.get("conditions") or {}
    hours = conditions.get("hours") or {}
    online = conditions.get("online")
    return {
        "channel": step["channel"],
        "vendor": step.get("vendor") or "",
        "deadline": str(step["deadline_seconds"]),
        "retries": str(step.get("retry_budget", 2)),
        "call": f"{step['call_seconds']:g}" if step.get("call_seconds") else "",
        "success": step.get("success", "delivered"),
        "priorities": " ".join(conditions.get("priorities") or ()),
        "prefixes": " ".join(conditions.get("prefixes") or ()),
        "from": hours.get("start", ""),
        "to": hours.get("end", ""),
        "zone": hours.get("timezone", ""),
        "reachable": conditions.get("reachable") or "",
        "online": "" if online is None else "true" if online else "false",
        "score": f"{conditions['min_score']:g}" if conditions.get("min_score") is not None else "",
    }


def count_of(fields: Fields) -> int:
    """How many steps the form has."""
    found = fields.get("steps", "")
    return min(int(found), MOST_STEPS) if found.isascii() and found.isdecimal() else 0


def terms_of(fields: Fields) -> dict[str, Any]:
    """What the API is told: the policy whole."""
    return given(
        ladder=[_step_of(fields, place) for place in range(count_of(fields))],
        strategy=text(fields, "strategy"),
        order=text(fields, "order"),
        value_of_a_second=micros(fields, "second"),
        cost_cap_micros=micros(fields, "cap"),
        cost_cap_currency=text(fields, "currency"),
        session_ttl_seconds=whole(fields, "ttl"),
        stop_keywords=[word.strip() for word in fields.get("stop", "").split(",") if word.strip()],
        description=text(fields, "description"),
    )


def _step_of(fields: Fields, place: int) -> dict[str, Any]:
    typed = {name: fields.get(f"s{place}.{name}", "") for name in STEP}
    hours = given(start=text(typed, "from"), end=text(typed, "to"), timezone=text(typed, "zone"))
    online = {"true": True, "false": False}.get(typed["online"])
    conditions = given(
        priorities=several(typed, "priorities"),
        prefixes=several(typed, "prefixes"),
        hours=hours,
        reachable=text(typed, "reachable"),
        online=online,
        min_score=decimal(typed, "score"),
    )
    return given(
        channel=text(typed, "channel"),
        vendor=text(typed, "vendor"),
        deadline_seconds=whole(typed, "deadline"),
        retry_budget=whole(typed, "retries"),
        call_seconds=decimal(typed, "call"),
        success=text(typed, "success"),
        conditions=conditions,
    )


def has_conditions(fields: Fields, place: int) -> bool:
    """Whether a step has any."""
    return any(fields.get(f"s{place}.{name}") for name in _CONDITIONS)


def rearranged(fields: Fields, do: str) -> tuple[dict[str, str], int | None]:
    """The form after `add`, `remove-2`, `up-2` or `down-2`, and the step that moved."""
    count = count_of(fields)
    steps = [{name: fields.get(f"s{place}.{name}", "") for name in STEP} for place in range(count)]
    verb, _, number = do.partition("-")
    place = int(number) if number.isascii() and number.isdecimal() else -1
    moved: int | None = None
    if verb == "add" and count < MOST_STEPS:
        steps.append(dict.fromkeys(STEP, "") | _NEW_STEP)
        moved = count
    elif verb == "remove" and 0 <= place < count and count > 1:
        del steps[place]
        moved = min(place, count - 2)
    elif verb in ("up", "down") and 0 <= place < count:
        moved = place - 1 if verb == "up" else place + 1
        if 0 <= moved < count:
            steps.insert(moved, steps.pop(place))
        else:
            moved = place
    kept = {name: value for name, value in fields.items() if not name.startswith("s") or "." not in name}
    for index, step in enumerate(steps):
        kept.update({f"s{index}.{name}": value for name, value in step.items()})
    return {**kept, "steps": str(len(steps))}, moved


def faults_of(errors: Mapping[str, str]) -> dict[str, str]:
    """What the API says against a policy, by the names of the form's fields; the rest keeps its own."""
    found = {}
    for told, remedy in errors.items():
        name = told.removeprefix("policy.")
        head, bracket, tail = name.partition("]")
        place = head.removeprefix("ladder[")
        ours = _OF_API.get(tail.removeprefix("."))
        found[f"s{place}.{ours}" if bracket and ours and place.isdecimal() else name] = remedy
    return found
