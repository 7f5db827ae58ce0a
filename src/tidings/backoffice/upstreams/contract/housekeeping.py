"""`housekeeping`: how rooms are, and who cleans them."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.backoffice.upstreams.contract.texts import Count, ShortText, UpstreamId

RoomStatus = Literal["dirty", "cleaning", "clean", "inspected", "out_of_order"]
RoomUse = Literal["vacant", "occupied", "arriving", "departing"]


class Room(Struct, frozen=True, kw_only=True):
    """A room as housekeeping sees it."""

    room: ShortText
    floor: ShortText
    status: RoomStatus
    use: RoomUse
    #: When it has to be ready; None: there is no hurry.
    due_at: datetime | None = None
    assignee_id: UpstreamId | None = None
    #: What else is to be done there: towels, a cot.
    tasks: Annotated[list[ShortText], Meta(max_length=50)] = []


class Rooms(Struct, frozen=True, kw_only=True):
    """All of a property."""

    rooms: Annotated[list[Room], Meta(max_length=3000)]


class RoomSummary(Struct, frozen=True, kw_only=True):
    """How many rooms are in which state."""

    dirty: Count
    cleaning: Count
    clean: Count
    inspected: Count
    out_of_order: Count
    #: Of the dirty ones, those for which guests arrive today.
    urgent: Count
