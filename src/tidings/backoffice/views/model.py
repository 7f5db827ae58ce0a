"""What views say."""

from datetime import date, datetime
from typing import Final, Literal

from msgspec import Struct

from tidings.backoffice.upstreams.contract.housekeeping import Room, RoomStatus, RoomSummary
from tidings.backoffice.upstreams.contract.locks import LockSummary
from tidings.backoffice.upstreams.contract.maintenance import Ticket, TicketSummary
from tidings.backoffice.upstreams.contract.reservations import OccupancySummary, Stay, UpstreamProperty
from tidings.backoffice.upstreams.names import UpstreamName

BoardName = Literal["today", "arrivals", "departures", "in-house", "housekeeping", "maintenance"]

#: What each board is called in keys of the cache, and which services it asks.
BOARDS: Final[dict[BoardName, tuple[str, tuple[UpstreamName, ...]]]] = {
    "today": ("today", ("reservations", "housekeeping", "maintenance")),
    "arrivals": ("arr", ("reservations", "housekeeping")),
    "departures": ("dep", ("reservations", "housekeeping")),
    "in-house": ("ih", ("reservations", "housekeeping")),
    "housekeeping": ("hk", ("reservations", "housekeeping")),
    "maintenance": ("mt", ("reservations", "maintenance")),
}
#: Boards that can be asked for on another day than today.
DATED: Final[frozenset[BoardName]] = frozenset({"arrivals", "departures"})


class MissingUpstream(Struct, frozen=True, kw_only=True):
    """A service whose answer a view lacks."""

    upstream: UpstreamName
    #: `not_connected`, `connection`, `timeout`, `broken_off`, `error`, `schema`, `refused`, `circuit_open`, `busy`, or `not_found` where it does
    #: not know the property.
    reason: str
    #: Since when it has not answered, as far as the process that asked knows.
    since: datetime | None


class BoardStay(Stay, frozen=True, kw_only=True):
    """A reservation with the state of its room."""

    #: None: there is no room yet, it is about another day than today, or housekeeping did not say.
    room_status: RoomStatus | None = None


class SuggestionCounts(Struct, frozen=True, kw_only=True):
    """Open suggestions of the assistant."""

    open: int
    critical: int


class PropertyView(Struct, frozen=True, kw_only=True):
    """A property that the operator may see; only its id is known while `reservations` does not answer."""

    id: str
    name: str | None = None
    kind: Literal["hotel", "school"] | None = None
    timezone: str | None = None
    rooms: int | None = None

    @classmethod
    def of(cls, known: UpstreamProperty) -> "PropertyView":
        """One that the service knows."""
        return cls(id=known.id, name=known.name, kind=known.kind, timezone=known.timezone, rooms=known.rooms)


class DashboardView(Struct, frozen=True, kw_only=True):
    """A property at a glance, as far as the role looks after it; a section that is null is missing or not of the role."""

    property: PropertyView
    role: str
    #: What belongs to this role's dashboard.
    sections: list[str]
    made_at: datetime
    partial: bool
    missing: list[MissingUpstream]
    occupancy: OccupancySummary | None = None
    rooms: RoomSummary | None = None
    tickets: TicketSummary | None = None
    locks: LockSummary | None = None
    suggestions: SuggestionCounts | None = None


class BoardView(Struct, frozen=True, kw_only=True):
    """One board of the workbench; a list that is null is missing, or not on this board."""

    property: PropertyView
    view: BoardName
    #: The day that it shows, where the property is.
    date: date
    made_at: datetime
    partial: bool
    missing: list[MissingUpstream]
    occupancy: OccupancySummary | None = None
    room_counts: RoomSummary | None = None
    ticket_counts: TicketSummary | None = None
    stays: list[BoardStay] | None = None
    rooms: list[Room] | None = None
    tickets: list[Ticket] | None = None
