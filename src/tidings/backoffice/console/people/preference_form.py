"""The form of somebody's preferences: how choices become fields, and fields the change that the API takes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: What the form changes, and undoing it puts back.
CHANGED: Final = ("channels", "quiet_hours", "global_unsubscribed_at")
#: Rows of quiet hours beside those that are there.
_SPARE_ROWS: Final = 1
_MOST_ROWS: Final = 10


def channels_shown(
    addresses: Sequence[Mapping[str, Any]], choices: Mapping[str, Any], order: Sequence[str]
) -> list[str]:
    """Where the person is reached, and what they have chosen about."""
    known = {one["channel"] for one in addresses} | set(choices)
    return [channel for channel in order if channel in known]


def quiet_rows(preferences: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of quiet hours, with room for another."""
    known = list(preferences["quiet_hours"] or ())
    return [*known, *({"days": [], "start": "", "end": ""} for _ in range(_SPARE_ROWS))]


def field_of(channel: str, category: str) -> str:
    """The name of the field that stands for a category on a channel; an empty category: everything on it."""
    return f"c:{channel}:{category}"


def change_of(fields: Mapping[str, str], before: Mapping[str, Any], now: str) -> dict[str, Any]:
    """The change that a form asks for; what it showed no field for stays as in the preferences `before`."""
    channels = {key: _copied(value) for key, value in before["channels"].items()}
    for name, value in fields.items():
        parts = name.split(":")
        if len(parts) != 3 or parts[0] != "c":
            continue
        _, channel, category = parts
        choice = channels.setdefault(channel, {"allow": True, "categories": {}})
        if not category:
            choice["allow"] = value != "no"
        elif value in ("yes", "no"):
            choice["categories"][category] = value == "yes"
        else:
            choice["categories"].pop(category, None)
    kept = {key: value for key, value in channels.items() if not value["allow"] or value["categories"]}
    said_no = before["global_unsubscribed_at"]
    return {
        "channels": kept,
        "quiet_hours": _quiet_of(fields),
        "global_unsubscribed_at": (said_no or now) if fields.get("nothing") == "on" else None,
    }


def _copied(choice: Mapping[str, Any]) -> dict[str, Any]:
    return {"allow": choice.get("allow", True), "categories": dict(choice.get("categories") or {})}


def _quiet_of(fields: Mapping[str, str]) -> list[dict[str, Any]] | None:
    whose = fields.get("quiet", "tenant")
    if whose == "tenant":
        return None
    if whose == "none":
        return []
    rows = []
    for place in range(_MOST_ROWS):
        start, end = fields.get(f"q{place}-start", ""), fields.get(f"q{place}-end", "")
        days = [day for day in DAYS if fields.get(f"q{place}-{day}") == "on"]
        if start or end or days:
            zone = fields.get(f"q{place}-timezone")
            rows.append({"days": days, "start": start, "end": end, **({"timezone": zone} if zone else {})})
    return rows
