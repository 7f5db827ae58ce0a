"""Digest schedules: when a window that is opened now is flushed. Pure, by the reader's local time."""

from collections.abc import Collection
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from msgspec import json

from tidings.contracts.enums import UseCase
from tidings.contracts.tenants import Day, DigestChoice
from tidings.kernel.local_time import next_local_time
from tidings.kernel.refusals import FieldError
from tidings.notify.tenants.digest_forms import form_faults

_DAYS: Final[tuple[Day, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOUR: Final = timedelta(hours=1)
#: Where a schedule names no time of day, or no day.
_USUAL_TIME: Final = time(9)
_USUAL_DAY: Final = 0
#: What is about security waits for no digest, whatever a registry says.
_SECURITY: Final = "security"
#: A window is flushed so long before the first of its items expires.
EXPIRY_MARGIN: Final = timedelta(minutes=1)


# Rows were checked when they were written, and may have been written by newer code: read leniently.
class _StoredDigest(DigestChoice, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


#: A schedule, as it is stored with preferences.
read_schedule = json.Decoder(dict[str, _StoredDigest]).decode


class DigestPlan(NamedTuple):
    """When a window is flushed."""

    flush_at: datetime
    #: At the latest, however often items put it off.
    end: datetime
    #: Each item puts it off.
    slides: bool = False


def about_security(category: str, use_case: UseCase) -> bool:
    """Whether such messages wait for no digest, whatever anybody has chosen."""
    return use_case == "otp" or category == _SECURITY


def in_force(own: DigestChoice | None, usual: DigestChoice | None) -> DigestChoice | None:
    """What was chosen, or else the tenant's; None where messages come one by one."""
    choice = own if own is not None else usual
    return None if choice is None or choice.every == "never" else choice


def plan(
    choice: DigestChoice,
    zone: str,
    now: datetime,
    *,
    opened: datetime | None = None,
    last_item: datetime | None = None,
) -> DigestPlan:
    """When a window is flushed that is opened now; or one that was `opened` before, and got its `last_item` then."""
    opened, last_item = opened or now, last_item or now
    if choice.every in ("minutes", "pause"):
        least = timedelta(minutes=choice.minutes or 1)
        if choice.every == "minutes":
            return DigestPlan(opened + least, opened + least)
        end = opened + max(least, timedelta(minutes=choice.at_most_minutes or 0))
        return DigestPlan(min(last_item + least, end), end, slides=True)
    here = ZoneInfo(zone)
    if choice.every == "hour":
        # Some zones are half an hour apart from the others.
        local = now.astimezone(here)
        past = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        return DigestPlan(now + _HOUR - past, now + _HOUR - past)
    clock = _USUAL_TIME if choice.at is None else time.fromisoformat(choice.at)
    weekdays = _weekdays(choice) if choice.every == "week" else None
    at = next_local_time(clock, here, after=now, weekdays=weekdays)
    return DigestPlan(at, at)


def schedule_faults(
    choice: DigestChoice, *, at: str, may_digest: bool, expires_after: int
) -> list[FieldError]:
    """What can't act: fields that mean nothing beside each other, and digests that would come too late.

    `expires_after`: the seconds after which messages of the category expire, where nobody says otherwise.
    """
    if choice.every != "never" and not may_digest:
        return [
            FieldError(at, "messages of this category are never gathered (may_digest is false); leave it out")
        ]
    wrong, longest = form_faults(choice, at=at), _longest_wait(choice)
    if not wrong and longest.total_seconds() > expires_after:
        wrong.append(
            FieldError(
                at,
                f"messages of this category expire after {_words(timedelta(seconds=expires_after))}, and such a digest may "
                f"come only after {_words(longest)}; choose one that comes sooner",
            )
        )
    elif not wrong and choice.merge_unread and longest.total_seconds() >= expires_after:
        wrong.append(
            FieldError(
                f"{at}.merge_unread",
                f"messages of this category expire after {_words(timedelta(seconds=expires_after))}, before the next digest "
                "could tell them again; leave it out",
            )
        )
    return wrong


def _weekdays(choice: DigestChoice) -> Collection[int]:
    named = choice.days or ((choice.day,) if choice.day else ())
    return frozenset(_DAYS.index(day) for day in named) or frozenset({_USUAL_DAY})


def _longest_wait(choice: DigestChoice) -> timedelta:
    """The longest that a message may wait for its digest."""
    if choice.every == "minutes":
        return timedelta(minutes=choice.minutes or 0)
    if choice.every == "pause":
        return timedelta(minutes=choice.at_most_minutes or 0)
    if choice.every == "hour":
        return _HOUR
    if choice.every == "day":
        return timedelta(days=1)
    if choice.every == "never":
        return timedelta()
    days = sorted(_weekdays(choice))
    return timedelta(
        days=max((later - day) % 7 or 7 for day, later in zip(days, [*days[1:], days[0]], strict=True))
    )


def _words(span: timedelta) -> str:
    hours = span.total_seconds() / 3600
    return f"{hours / 24:g} days" if hours >= 48 else f"{hours:g} hours"
