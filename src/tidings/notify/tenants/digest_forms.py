"""The forms of a digest schedule: which of its fields mean something beside each other; pure."""

from typing import Final

from tidings.contracts.tenants import DigestChoice
from tidings.kernel.refusals import FieldError

_BY_CLOCK: Final = ("day", "week")
_BY_COUNT: Final = ("minutes", "pause")


def form_faults(choice: DigestChoice, *, at: str) -> list[FieldError]:
    """Fields that are missing, or that would mean nothing."""
    every, minutes, most = choice.every, choice.minutes, choice.at_most_minutes
    if every == "never":
        given = choice.at or choice.day or choice.days or minutes or most or choice.merge_unread
        return [FieldError(at, "with never, leave everything else out")] if given else []
    wrong: list[FieldError] = []
    if choice.at is not None and every not in _BY_CLOCK:
        wrong.append(FieldError(f"{at}.at", "goes with every day or every week only"))
    if (choice.day or choice.days) and every != "week":
        wrong.append(FieldError(f"{at}.{'day' if choice.day else 'days'}", "goes with every week only"))
    if choice.day and choice.days:
        wrong.append(FieldError(f"{at}.days", "name the days here or in day, and not in both"))
    if len(set(choice.days)) != len(choice.days):
        wrong.append(FieldError(f"{at}.days", "must name each day once"))
    if minutes is None and every in _BY_COUNT:
        wrong.append(FieldError(f"{at}.minutes", f"is needed with every {every}: 1 to 1440"))
    if minutes is not None and every not in _BY_COUNT:
        wrong.append(FieldError(f"{at}.minutes", "goes with every minutes or every pause only"))
    if every == "pause" and (most is None or most < (minutes or 1)):
        wrong.append(
            FieldError(f"{at}.at_most_minutes", "is needed with every pause, and must be at least minutes")
        )
    if most is not None and every != "pause":
        wrong.append(FieldError(f"{at}.at_most_minutes", "goes with every pause only"))
    return wrong
