"""`reservations`: which properties there are, who arrives, who stays, who leaves."""

from datetime import date, datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.backoffice.upstreams.contract.texts import Count, ShortText, UpstreamId

StayStatus = Literal["expected", "late", "in_house", "departed", "no_show", "cancelled"]


class UpstreamProperty(Struct, frozen=True, kw_only=True):
    """A hotel, a school, a house."""

    id: UpstreamId
    name: ShortText
    kind: Literal["hotel", "school"]
    #: Whose "today" it is, as IANA calls it.
    timezone: Annotated[str, Meta(max_length=64)]
    rooms: Count


class UpstreamProperties(Struct, frozen=True, kw_only=True):
    """All of a tenant."""

    properties: Annotated[list[UpstreamProperty], Meta(max_length=1000)]


class Stay(Struct, frozen=True, kw_only=True):
    """A reservation, from its arrival to its departure."""

    reservation_id: UpstreamId
    #: The name to call somebody by at the desk; it is shown, and kept nowhere.
    guest: ShortText
    status: StayStatus
    arrives_at: datetime
    departs_at: datetime
    party: Annotated[int, Meta(ge=1, le=500)]
    #: None until one is assigned.
    room: ShortText | None = None
    channel: ShortText | None = None
    is_vip: bool = False
    #: How many wishes and remarks it carries.
    notes: Count = 0


class Stays(Struct, frozen=True, kw_only=True):
    """Those of a day, or those in house, in the order of the time that matters there."""

    stays: Annotated[list[Stay], Meta(max_length=2000)]


class OccupancySummary(Struct, frozen=True, kw_only=True):
    """A day in numbers."""

    date: date
    arrivals_expected: Count
    arrivals_done: Count
    departures_expected: Count
    departures_done: Count
    no_shows: Count
    in_house_guests: Count
    rooms_total: Count
    rooms_occupied: Count
