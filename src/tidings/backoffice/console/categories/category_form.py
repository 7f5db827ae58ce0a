"""What a category's form says, as the API takes it."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.kit.typed import given, lines, text, whole

#: What a category of one's own says yes or no to.
RULES: Final = ("needs_consent", "can_unsubscribe", "breaks_quiet_hours", "may_digest", "tracking_allowed")
USE_CASES: Final = ("txn", "alert", "marketing", "conversational", "otp")
RETENTIONS: Final = ("standard", "regulated", "marketing")
PRIORITIES: Final = ("critical", "high", "normal", "low")
_UNITS: Final[Mapping[str, int]] = {"days": 86_400, "hours": 3_600, "minutes": 60}
UNITS: Final = tuple(_UNITS)


def read_category(fields: Mapping[str, str], *, is_own: bool, is_new: bool = False) -> dict[str, Any]:
    """The body of a request; of one of the platform's only how it appears."""
    names: dict[str, str] = {}
    for line in lines(fields, "names"):
        tag, _, name = line.partition(":")
        names[tag.strip()] = name.strip()
    body: dict[str, Any] = {"names": names, **given(position=whole(fields, "position"))}
    if not is_new:
        body["hidden"] = "hidden" in fields
    if not is_own:
        return body
    body |= given(
        use_case=text(fields, "use_case"),
        retention_class=text(fields, "retention_class"),
        priority=text(fields, "priority"),
        expires_after_seconds=_seconds(fields),
    )
    body |= {rule: rule in fields for rule in RULES}
    if is_new:
        body["category"] = text(fields, "category") or ""
    else:
        body["retired"] = "retired" in fields
    return body


def fields_of_category(category: Mapping[str, Any]) -> dict[str, str]:
    """A category as the form shows it."""
    seconds = category["expires_after_seconds"]
    unit = next((name for name, size in _UNITS.items() if seconds % size == 0), "minutes")
    found = {
        "names": "\n".join(f"{tag}: {name}" for tag, name in category["names"].items()),
        "position": str(category["position"]),
        "use_case": category["use_case"],
        "retention_class": category["retention_class"],
        "priority": category["priority"],
        "expires": str(seconds // _UNITS[unit]),
        "expires_unit": unit,
        "version": str(category["version"]),
    }
    return found | {name: "on" for name in (*RULES, "hidden", "retired") if category[name]}


def _seconds(fields: Mapping[str, str]) -> int | str | None:
    count = whole(fields, "expires")
    size = _UNITS.get(fields.get("expires_unit", ""), 3_600)
    return count * size if isinstance(count, int) else count
