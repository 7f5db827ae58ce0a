"""What the assistant suggests: a few things a day for each house, which expire."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final

from tidings.sandbox.property.houses import BY_ID, House, chance

_KINDS: Final = (
    (
        "pricing",
        "info",
        "Raise tonight's rate by {n} percent",
        "Only few rooms are left for tonight and demand in the town is high.",
        {"rate_change_percent": 8, "nights": 1},
    ),
    (
        "staffing",
        "warning",
        "Bring {n} more people for cleaning",
        "More rooms have to be ready before the first arrivals than the shift can clean.",
        {"people": 2, "from_hour": 11},
    ),
    (
        "maintenance",
        "critical",
        "Close room {room} until it is repaired",
        "The same fault was reported three times within a week.",
        {"room": "", "days": 2},
    ),
    (
        "guest_care",
        "info",
        "Offer an early check-in to {n} guests",
        "Their rooms are clean, and their flights land before noon.",
        {"guests": 3, "from_hour": 11},
    ),
)
_DAYS: Final = 2


def suggestions_at(seed: int, house: House, now: datetime) -> list[dict[str, Any]]:
    """Those of the last two days, the newest first; each as if nobody had decided."""
    day = now.astimezone(house.zone).date()
    found = [
        {**one, "status": "open" if now < one["expires_at"] else "expired"}
        for back in range(_DAYS + 1)
        for one in _of_day(seed, house.id, day - timedelta(days=back))
        if one["created_at"] <= now
    ]
    return sorted(found, key=lambda one: one["created_at"], reverse=True)


@lru_cache(maxsize=256)
def _of_day(seed: int, house_id: str, day: date) -> tuple[dict[str, Any], ...]:
    house = BY_ID[house_id]
    draw = chance(seed, house_id, "assistant", day)
    made = []
    for number, hour in enumerate((1, 7, 11, 15, 19)):
        category, severity, title, body, proposal = draw.choice(_KINDS)
        room = draw.choice(house.rooms)[1]
        created = datetime.combine(day, time(hour, draw.randint(0, 59)), house.zone).astimezone(UTC)
        made.append(
            {
                "id": f"sug-{house_id.partition('-')[0]}-{day:%Y%m%d}-{number}",
                "category": category,
                "severity": severity,
                "title": title.format(n=draw.randint(2, 9), room=room),
                "body": body,
                "proposal": {key: room if key == "room" else value for key, value in proposal.items()},
                "provenance": {
                    "model": "simulated-planner",
                    "version": "2026-10",
                    "produced_at": created,
                    "confidence": round(draw.uniform(0.55, 0.97), 2),
                    "sources": [f"property:{house_id}", f"room:{room}"],
                },
                "created_at": created,
                "expires_at": created + timedelta(hours=draw.randint(5, 9)),
            }
        )
    return tuple(made)
