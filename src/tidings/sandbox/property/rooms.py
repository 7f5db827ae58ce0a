"""How the rooms are: dirty when somebody has left or slept there, cleaned in turn, then looked at."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.sandbox.property.houses import STAFF, House, chance
from tidings.sandbox.property.stays import SimulatedStay, morning, stays_around
from tidings.sandbox.property.tickets import tickets_at

_WISHES: Final = ("towels", "cot", "minibar", "extra pillow", "flowers")


def rooms_at(seed: int, house: House, now: datetime) -> list[dict[str, Any]]:
    """Every room, as the contract has it."""
    day = now.astimezone(house.zone).date()
    by_room: dict[str, list[SimulatedStay]] = {}
    for stay in stays_around(seed, house, day):
        by_room.setdefault(stay.room, []).append(stay)
    blocked = {
        one.room for one in tickets_at(seed, house, now) if one.blocks and one.status(now) != "resolved"
    }
    return [
        _room(seed, house, floor, room, by_room.get(room, ()), now=now, blocked=room in blocked)
        for floor, room in house.rooms
    ]


def _room(
    seed: int,
    house: House,
    floor: str,
    room: str,
    stays: Sequence[SimulatedStay],
    *,
    now: datetime,
    blocked: bool,
) -> dict[str, Any]:
    began = morning(house, now)
    today = now.astimezone(house.zone).date()
    draw = chance(seed, house.id, room, "cleaning", began.date())
    wait, work, look = draw.randint(15, 150), draw.randint(20, 40), draw.randint(15, 60)
    slot = began + timedelta(minutes=draw.randint(120, 9 * 60))
    assignee, wishes = draw.choice(STAFF), draw.sample(_WISHES, draw.choice((0, 0, 0, 1, 2)))
    here = next((stay for stay in stays if stay.status(now) == "in_house"), None)
    comes = next((stay for stay in stays if stay.status(now) in ("expected", "late")), None)
    left = max((stay.departed_at for stay in stays if stay.status(now) == "departed"), default=None)
    if left is not None and left >= began:
        start = left + timedelta(minutes=wait)
        status = _cleaned(now, start, work, look)
    elif here is not None and here.arrived_at < began:
        status = "dirty" if now < slot else "cleaning" if now < slot + timedelta(minutes=work) else "clean"
    else:
        status = "clean" if here is not None else "inspected"
    use, due = "vacant", None
    if here is not None:
        leaves = here.departs_at.astimezone(house.zone).date() == today
        use, due = ("departing", here.departs_at) if leaves else ("occupied", None)
    elif comes is not None and comes.arrives_at.astimezone(house.zone).date() == today:
        use, due = "arriving", comes.arrives_at
    return {
        "room": room,
        "floor": floor,
        "status": "out_of_order" if blocked and here is None else status,
        "use": use,
        "due_at": due,
        "assignee_id": assignee if status in ("dirty", "cleaning") else None,
        "tasks": wishes if use in ("arriving", "occupied") else [],
    }


def _cleaned(now: datetime, start: datetime, work: int, look: int) -> str:
    done = start + timedelta(minutes=work)
    if now < start:
        return "dirty"
    if now < done:
        return "cleaning"
    return "clean" if now < done + timedelta(minutes=look) else "inspected"
