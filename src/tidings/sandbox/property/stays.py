"""Who stays in which room and when: made room by room for a fortnight at a time, so that no room is given twice."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final, Literal

from tidings.sandbox.property.houses import BY_ID, GUESTS, House, chance

_BLOCK: Final = 14
_CHANNELS: Final = ("direct", "web", "agency", "telephone")
_MORNING: Final = time(6)

Fate = Literal["comes", "no_show", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedStay:
    """A reservation, and what really becomes of it."""

    id: str
    room: str
    guest: str
    party: int
    channel: str
    is_vip: bool
    notes: int
    fate: Fate
    arrives_at: datetime
    departs_at: datetime
    #: When they are really there, and really gone.
    arrived_at: datetime
    departed_at: datetime

    def status(self, now: datetime) -> str:
        """What the reservation is at a moment."""
        if self.fate == "cancelled" and now >= self.arrives_at - timedelta(hours=20):
            return "cancelled"
        if now < self.arrives_at:
            return "expected"
        if self.fate == "no_show":
            return "late" if now < self.arrives_at + timedelta(hours=10) else "no_show"
        if now < self.arrived_at:
            return "late"
        return "in_house" if now < self.departed_at else "departed"

    def wire(self, now: datetime) -> dict[str, Any]:
        """As the contract has it."""
        return {
            "reservation_id": self.id,
            "guest": self.guest,
            "status": self.status(now),
            "arrives_at": self.arrives_at,
            "departs_at": self.departs_at,
            "party": self.party,
            "room": self.room,
            "channel": self.channel,
            "is_vip": self.is_vip,
            "notes": self.notes,
        }


def stays_around(seed: int, house: House, day: date) -> tuple[SimulatedStay, ...]:
    """Every stay that touches a day, or the days next to it."""
    block = day.toordinal() // _BLOCK
    near = timedelta(days=1)
    first, last = day - near, day + near
    found = [
        stay
        for one in {(day - near).toordinal() // _BLOCK, block, (day + near).toordinal() // _BLOCK}
        for stay in _block(seed, house.id, one)
        if stay.arrives_at.astimezone(house.zone).date() <= last
        and stay.departs_at.astimezone(house.zone).date() >= first
    ]
    return tuple(sorted(found, key=lambda stay: (stay.arrives_at, stay.room)))


def find_stay(seed: int, house: House, reservation_id: str) -> SimulatedStay | None:
    """The stay with this id, which ends in the day of its arrival."""
    try:
        day = datetime.strptime(reservation_id[-8:], "%Y%m%d").replace(tzinfo=UTC).date()
    except ValueError:
        return None
    return next(
        (stay for stay in _block(seed, house.id, day.toordinal() // _BLOCK) if stay.id == reservation_id),
        None,
    )


@lru_cache(maxsize=64)
def _block(seed: int, house_id: str, block: int) -> tuple[SimulatedStay, ...]:
    house = BY_ID[house_id]
    return tuple(stay for _, room in house.rooms for stay in _of_room(seed, house, room, block))


def _of_room(seed: int, house: House, room: str, block: int) -> list[SimulatedStay]:
    draw = chance(seed, house.id, room, block)
    made: list[SimulatedStay] = []
    first, day = block * _BLOCK, draw.choice((0, 0, 1, 2))
    while day < _BLOCK:
        nights = min(draw.choice((1, 1, 2, 2, 3, 4) if house.kind == "hotel" else (4, 5, 6)), _BLOCK - day)
        arrival, departure = date.fromordinal(first + day), date.fromordinal(first + day + nights)
        arrives = _at(house, arrival, draw.randint(13 * 60, 21 * 60))
        departs = _at(house, departure, draw.randint(8 * 60, 11 * 60 + 30))
        roll = draw.random()
        fate: Fate = "no_show" if roll < 0.03 else "cancelled" if roll < 0.06 else "comes"
        made.append(
            SimulatedStay(
                id=f"res-{house.id.partition('-')[0]}-{room}-{arrival:%Y%m%d}",
                room=room,
                guest=draw.choice(GUESTS),
                party=draw.choice((1, 1, 2, 2, 2, 3, 4)) if house.kind == "hotel" else 1,
                channel=draw.choice(_CHANNELS),
                is_vip=draw.random() < 0.07,
                notes=draw.choice((0, 0, 0, 1, 1, 2)),
                fate=fate,
                arrives_at=arrives,
                departs_at=departs,
                arrived_at=arrives + timedelta(minutes=draw.choice((0, 0, 5, 15, 40, 95))),
                departed_at=departs + timedelta(minutes=draw.choice((-25, 0, 0, 10, 30))),
            )
        )
        day += nights + draw.choice((0, 0, 0, 1, 1, 2))
    return made


def _at(house: House, day: date, minute: int) -> datetime:
    return datetime.combine(day, time(minute // 60, minute % 60), house.zone).astimezone(UTC)


def morning(house: House, now: datetime) -> datetime:
    """When the working day of a house began."""
    local = now.astimezone(house.zone)
    day = local.date() if local.time() >= _MORNING else local.date() - timedelta(days=1)
    return datetime.combine(day, _MORNING, house.zone).astimezone(UTC)
