"""What is broken: some tickets a day for each house, which are taken up and done after a while."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final

from tidings.sandbox.property.houses import BY_ID, STAFF, House, chance

#: Title, category, severity, whether the room can't be used.
_KINDS: Final = (
    ("Air conditioning blows warm", "climate", "high", False),
    ("Water heater gives no hot water", "plumbing", "urgent", True),
    ("Tap drips", "plumbing", "low", False),
    ("Lamp over the desk is out", "electric", "low", False),
    ("Window does not close", "carpentry", "normal", False),
    ("Toilet leaks", "plumbing", "urgent", True),
    ("Television shows no picture", "electronics", "normal", False),
    ("Wireless network is weak", "electronics", "normal", False),
    ("Shower drain is blocked", "plumbing", "high", False),
    ("Smoke detector beeps", "safety", "high", False),
)
_DAYS: Final = 4
_ORDER: Final = {"urgent": 0, "high": 1, "normal": 2, "low": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTicket:
    """Something to repair, and when it really is."""

    id: str
    title: str
    category: str
    severity: str
    room: str
    blocks: bool
    assignee: str
    opened_at: datetime
    due_at: datetime
    taken_at: datetime
    waits_at: datetime | None
    resolved_at: datetime

    def status(self, now: datetime) -> str:
        """What the ticket is at a moment after it was opened."""
        if now >= self.resolved_at:
            return "resolved"
        if now < self.taken_at:
            return "open"
        return "waiting" if self.waits_at is not None and now >= self.waits_at else "in_progress"

    def wire(self, now: datetime) -> dict[str, Any]:
        """As the contract has it."""
        status = self.status(now)
        return {
            "id": self.id,
            "title": self.title,
            "category": self.category,
            "severity": self.severity,
            "status": status,
            "opened_at": self.opened_at,
            "room": self.room,
            "due_at": self.due_at,
            "assignee_id": None if status == "open" else self.assignee,
            "blocks_room": self.blocks,
        }


def tickets_at(seed: int, house: House, now: datetime) -> list[SimulatedTicket]:
    """Those that are open, and those that were resolved in the last day; the gravest first."""
    day = now.astimezone(house.zone).date()
    found = [
        ticket
        for back in range(_DAYS + 1)
        for ticket in _of_day(seed, house.id, day - timedelta(days=back))
        if ticket.opened_at <= now < ticket.resolved_at + timedelta(days=1)
    ]
    return sorted(found, key=lambda one: (one.status(now) == "resolved", _ORDER[one.severity], one.opened_at))


@lru_cache(maxsize=256)
def _of_day(seed: int, house_id: str, day: date) -> tuple[SimulatedTicket, ...]:
    house = BY_ID[house_id]
    draw = chance(seed, house_id, "tickets", day)
    made = []
    for number in range(draw.randint(2, 3 + len(house.rooms) // 25)):
        title, category, severity, blocks = draw.choice(_KINDS)
        opened = datetime.combine(day, time(6), house.zone).astimezone(UTC)
        opened += timedelta(minutes=draw.randint(0, 15 * 60))
        taken = opened + timedelta(minutes=draw.randint(5, 150))
        lasts = timedelta(minutes=draw.randint(30, 240 if severity == "urgent" else 40 * 60))
        made.append(
            SimulatedTicket(
                id=f"mt-{house_id.partition('-')[0]}-{day:%Y%m%d}-{number}",
                title=title,
                category=category,
                severity=severity,
                room=draw.choice(house.rooms)[1],
                blocks=blocks,
                assignee=draw.choice(STAFF),
                opened_at=opened,
                due_at=opened + timedelta(hours={"urgent": 4, "high": 12, "normal": 36, "low": 72}[severity]),
                taken_at=taken,
                waits_at=taken + lasts / 3 if draw.random() < 0.25 else None,
                resolved_at=taken + lasts,
            )
        )
    return tuple(made)
