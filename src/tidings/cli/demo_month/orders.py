"""What is sent at one time of one day: made up from the seed, the same however often it is asked."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from tidings.cli.demo_month.dice import dice
from tidings.cli.demo_month.people import Guest

Time = Literal["morning", "midday", "evening"]
TIMES: Final[tuple[Time, ...]] = ("morning", "midday", "evening")
_HOURS: Final[Mapping[Time, int]] = {"morning": 7, "midday": 12, "evening": 20}
_HOUSES: Final = ("Harbour House", "Old Town Inn", "Airport Lodge")
_NEWS: Final = (
    ("Pool closed on Thursday", "The pool is closed on Thursday between 8 and 12."),
    ("Live music tonight", "A trio plays in the lobby at 20:00."),
    ("Lift under repair", "The lift of the east wing stands still until noon."),
    ("Breakfast from six", "Breakfast begins at six o'clock this week."),
)
#: How busy each day of the week is, from Monday; hotels live by the weekend.
_BUSY: Final = (0.7, 0.7, 0.8, 0.95, 1.3, 1.45, 1.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One time of one day."""

    number: int
    day: int
    time: Time
    at: datetime


def slots(first: datetime, days: int, seed: int, *, now: datetime | None) -> Sequence[Slot]:
    """All of them, in order; the hour of each is not the same every day. All are `now`, where the clock can't be moved."""
    found = []
    for day in range(days):
        for place, time in enumerate(TIMES):
            minutes = dice(seed, "slot", day, time).randrange(0, 170)
            at = first.replace(hour=_HOURS[time], minute=0, second=0, microsecond=0) + timedelta(
                days=day, minutes=minutes
            )
            found.append(Slot(number=day * len(TIMES) + place, day=day, time=time, at=now or at))
    return found


def messages(slot: Slot, people: Sequence[Guest], count: int, *, seed: int) -> list[dict[str, Any]]:
    """Notifications of a slot."""
    chance = dice(seed, "messages", slot.number)
    # Business grows a little over the month.
    many = max(4, round(count * _BUSY[slot.at.weekday()] * (0.85 + 0.01 * slot.day)))
    return [_message(chance, slot, chance.choice(people), place) for place in range(many)]


def _message(chance: random.Random, slot: Slot, guest: Guest, place: int) -> dict[str, Any]:
    order = f"R-{1000 + slot.number * 7 + place}"
    common = {
        "recipient": {"identity": guest.identity},
        "metadata": {"order": order},
        "correlation_id": order,
    }
    roll = chance.random()
    if roll < 0.3:
        channel = chance.choice(
            ["auto", "auto", "sms", "email", *(["voice"] if "voice" in guest.addresses else [])]
        )
        code = f"{chance.randrange(10**6):06}"
        return {**common, "template": "otp", "channel": channel, "variables": {"code": code}}
    if roll < 0.62:
        said = {"room": str(chance.randrange(101, 540)), "house": chance.choice(_HOUSES)}
        return {**common, "template": "room_ready", "channel": "auto", "variables": said}
    if roll < 0.86:
        title, text = chance.choice(_NEWS)
        channel = "email" if chance.random() < 0.45 else "inapp"
        said = {"title": title, "text": text}
        late = chance.random() < 0.2 and slot.time == "evening"
        until = {"expires_at": (slot.at + timedelta(hours=2)).isoformat()} if late else {}
        return {**common, "template": "house_news", "channel": channel, "variables": said, **until}
    if roll < 0.93:
        return {
            **common,
            "template": "reservation_reminder",
            "channel": "email",
            "variables": {
                "reservation_number": order,
                "place": chance.choice(_HOUSES),
                "starts_at": (slot.at + timedelta(days=2)).isoformat(),
            },
        }
    return {
        **common,
        "template": "autumn_offer",
        "channel": "email",
        "variables": {"percent": 15, "until": "the end of the month"},
    }


def texts(slot: Slot, people: Sequence[Guest], *, seed: int) -> list[dict[str, Any]]:
    """A code for each of them, as a text."""
    chance = dice(seed, "texts", slot.number)
    return [
        {
            "recipient": {"identity": guest.identity},
            "template": "otp",
            "channel": "sms",
            "variables": {"code": f"{chance.randrange(10**6):06}"},
        }
        for guest in people
    ]


def events(slot: Slot, people: Sequence[Guest], count: int, *, seed: int) -> list[dict[str, Any]]:
    """Reservations that are told of: triggers confirm them, remind of them and thank for them."""
    chance = dice(seed, "events", slot.number)
    told = []
    for place in range(max(1, count // 12)):
        guest = chance.choice(people)
        starts = slot.at + timedelta(days=chance.randrange(2, 9), hours=4)
        name = f"demo-{seed}-{slot.number}-{place}"
        told.append(
            {
                "specversion": "1.0",
                "id": name,
                "source": "/demo/reservations",
                "type": "reservation.confirmed",
                "subject": f"R-{4000 + slot.number * 9 + place}",
                "time": slot.at.isoformat(),
                "data": {
                    "guest": {"identity": guest.identity},
                    "primary_guest": {"identity": guest.identity},
                    "place": chance.choice(_HOUSES),
                    "starts_at": starts.isoformat(),
                    "ends_at": (starts + timedelta(days=chance.randrange(1, 5))).isoformat(),
                    "guest_count": chance.randrange(1, 4),
                },
            }
        )
        if chance.random() < 0.12:
            cancelled = {key: told[-1][key] for key in ("specversion", "source", "subject", "time", "data")}
            told.append({**cancelled, "id": f"{name}-cancelled", "type": "reservation.cancelled"})
    return told
