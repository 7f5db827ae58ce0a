"""Events that other systems send to Tidings, as the bus tells of them."""

from typing import Final

from msgspec import Struct

from tidings.contracts.moments import Moment

EVENT_RECEIVED_SUBJECT: Final = "event.received.v1"


class EventReceived(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Another system has sent an event; what it says beyond this is sealed, and found by `event_id`."""

    event_id: str
    #: As its sender calls it: `reservation.confirmed`.
    type: str
    #: Where it happened, as its sender says: a URI.
    source: str
    #: When it happened, as its sender says.
    time: Moment
    #: What it is about, in its source.
    subject: str | None = None
    is_test: bool = False


RECEIVED_EVENTS: dict[str, type[Struct]] = {EVENT_RECEIVED_SUBJECT: EventReceived}
