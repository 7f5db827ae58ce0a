"""What the builder's form says, as the API takes it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tidings.backoffice.console.kit.typed import given, moment_of, text, whole

#: Shares of an A/B test that a new batch has room for, and that any has.
SHARES: Final = 2
_MOST_SHARES: Final = 10
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBatch:
    """The body of a request, and what can't be read of the form."""

    body: Mapping[str, Any]
    errors: Mapping[str, str] = field(default_factory=dict)


def read_batch(fields: Mapping[str, str], before: Mapping[str, Any] | None = None) -> WrittenBatch:
    """The batch; of one that is there already, what the form has no room for stays, such as paces of accounts."""
    errors: dict[str, str] = {}

    def parsed(name: str) -> dict[str, Any]:
        typed = fields.get(name, "").strip()
        if not typed:
            return {}
        try:
            found = json.loads(typed)
        except ValueError as error:
            errors[name] = f"is no JSON: {error}"
            return {}
        if not isinstance(found, dict):
            errors[name] = 'must be an object such as {"name": "Laila"}'
            return {}
        return found

    kept = before or {}
    window = None
    if fields.get("window_start") or fields.get("window_end"):
        days = [day for day in DAYS if f"day_{day}" in fields]
        window = given(
            start=text(fields, "window_start"),
            end=text(fields, "window_end"),
            timezone=text(fields, "window_timezone"),
            days=days or None,
        )
    pacing = {**(kept.get("pacing") or {}), "per_minute": whole(fields, "per_minute")}
    variants = []
    for place in range(shares_of(fields)):
        share = given(
            name=text(fields, f"share_{place}_name"),
            percent=whole(fields, f"share_{place}_percent"),
            template=text(fields, f"share_{place}_template"),
            variables=parsed(f"share_{place}_variables"),
        )
        if share.keys() - {"name"}:
            variants.append({**share, "percent": share.get("percent", 0)})
    listed = fields.get("audience") == "list"
    body = given(
        name=text(fields, "name"),
        template=text(fields, "template"),
        channel=text(fields, "channel"),
        filter=None if listed else text(fields, "filter"),
        variables=parsed("variables"),
        category=text(fields, "category"),
        priority=text(fields, "priority"),
        scheduled_for=moment_of(fields, "scheduled_for"),
        local_time=text(fields, "local_time"),
        window=window,
        pacing=given(**pacing),
        variants=variants,
        needs_approval="needs_approval" in fields,
    )
    if not listed and "filter" not in body:
        errors["filter"] = "says whom it is for, such as tag = 'vip'"
    return WrittenBatch(body=body, errors=errors)


def fields_of_batch(batch: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, str]:
    """A batch as the form shows it."""
    window, pacing = batch["window"] or {}, batch["pacing"] or {}
    found = {
        "name": batch["name"],
        "template": batch["template"],
        "channel": batch["channel"],
        "audience": "list" if batch["listed"] and not batch["filter"] else "filter",
        "filter": batch["filter"] or "",
        "variables": _pretty(variables["variables"]),
        "category": batch["category"],
        "priority": batch["priority"],
        "scheduled_for": (batch["scheduled_for"] or "")[:16],
        "local_time": batch["local_time"] or "",
        "window_start": window.get("start", ""),
        "window_end": window.get("end", ""),
        "window_timezone": window.get("timezone", "tenant"),
        "per_minute": str(pacing.get("per_minute") or ""),
    }
    for day in window.get("days", DAYS):
        found[f"day_{day}"] = "on"
    for place, (share, own) in enumerate(zip(batch["variants"], variables["variants"], strict=True)):
        found[f"share_{place}_name"] = share["name"]
        found[f"share_{place}_percent"] = str(share["percent"])
        found[f"share_{place}_template"] = share["template"] or ""
        found[f"share_{place}_variables"] = _pretty(own)
    if batch["needs_approval"]:
        found["needs_approval"] = "on"
    return found


def shares_of(fields: Mapping[str, str]) -> int:
    """How many shares a form has."""
    named = [place for place in range(_MOST_SHARES) if f"share_{place}_percent" in fields]
    return max(SHARES, len(named))


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""
