"""What each board of the workbench is made of."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from msgspec import structs

from tidings.backoffice.upstreams.contract.housekeeping import Rooms, RoomSummary
from tidings.backoffice.upstreams.contract.maintenance import Tickets, TicketSummary
from tidings.backoffice.upstreams.contract.reservations import OccupancySummary, Stay, Stays
from tidings.backoffice.views.gathering import DayQuery, Gathering, nothing, together
from tidings.backoffice.views.model import BoardName, BoardStay

_DUE_SOON: Final = 12


async def _today(gathering: Gathering) -> dict[str, Any]:
    found = await together(
        occupancy=gathering.read(OccupancySummary, "reservations", "/summary"),
        room_counts=gathering.read(RoomSummary, "housekeeping", "/summary"),
        ticket_counts=gathering.read(TicketSummary, "maintenance", "/summary"),
        arrivals=gathering.read(Stays, "reservations", "/arrivals", gathering.day),
        departures=gathering.read(Stays, "reservations", "/departures", gathering.day),
        rooms=gathering.read(Rooms, "housekeeping", "/rooms"),
    )
    arrivals: Stays | None = found.pop("arrivals")
    departures: Stays | None = found.pop("departures")
    rooms: Rooms | None = found.pop("rooms")
    if arrivals is None or departures is None:
        return found
    # What comes next at the desk: who is still to arrive, and who is still to leave.
    due = [
        *(one for one in arrivals.stays if one.status in ("expected", "late")),
        *(one for one in departures.stays if one.status == "in_house"),
    ]
    due.sort(key=lambda one: one.departs_at if one.status == "in_house" else one.arrives_at)
    return {**found, "stays": _with_rooms(due[:_DUE_SOON], rooms)}


async def _stays_of(gathering: Gathering, path: str, query: DayQuery) -> dict[str, Any]:
    found = await together(
        stays=gathering.read(Stays, "reservations", path, query),
        rooms=gathering.read(Rooms, "housekeeping", "/rooms") if gathering.is_of_now else nothing(),
    )
    stays: Stays | None = found["stays"]
    return {"stays": None if stays is None else _with_rooms(stays.stays, found["rooms"])}


async def _arrivals(gathering: Gathering) -> dict[str, Any]:
    return await _stays_of(gathering, "/arrivals", gathering.day)


async def _departures(gathering: Gathering) -> dict[str, Any]:
    return await _stays_of(gathering, "/departures", gathering.day)


async def _in_house(gathering: Gathering) -> dict[str, Any]:
    return await _stays_of(gathering, "/in-house", None)


async def _housekeeping(gathering: Gathering) -> dict[str, Any]:
    found = await together(
        rooms=gathering.read(Rooms, "housekeeping", "/rooms"),
        room_counts=gathering.read(RoomSummary, "housekeeping", "/summary"),
    )
    rooms: Rooms | None = found["rooms"]
    return {**found, "rooms": None if rooms is None else rooms.rooms}


async def _maintenance(gathering: Gathering) -> dict[str, Any]:
    found = await together(
        tickets=gathering.read(Tickets, "maintenance", "/tickets"),
        ticket_counts=gathering.read(TicketSummary, "maintenance", "/summary"),
    )
    tickets: Tickets | None = found["tickets"]
    return {**found, "tickets": None if tickets is None else tickets.tickets}


def _with_rooms(stays: Sequence[Stay], rooms: Rooms | None) -> list[BoardStay]:
    status = {} if rooms is None else {one.room: one.status for one in rooms.rooms}
    return [BoardStay(**structs.asdict(one), room_status=status.get(one.room or "")) for one in stays]


#: The fields of a board by its name.
MAKERS: Final[dict[BoardName, Callable[[Gathering], Awaitable[dict[str, Any]]]]] = {
    "today": _today,
    "arrivals": _arrivals,
    "departures": _departures,
    "in-house": _in_house,
    "housekeeping": _housekeeping,
    "maintenance": _maintenance,
}
