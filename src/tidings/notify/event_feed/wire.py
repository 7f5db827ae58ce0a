"""The feed of events as the API shows it."""

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.kernel.mapping import by_name
from tidings.notify.event_feed.model import EventReader

_TYPES: Final = (
    "Only these types, with commas between them: `notification.*.v1` (one word), `notification.>` (the rest)."
)
_AFTER: Final = (
    "`next_cursor` of the answer before, or `beginning` (the oldest event that is kept), or `now`."
)
_READER: Final = "The name of a reader: go on from its place. `PUT /events/readers/{name}` moves it."
Types = Annotated[str, Meta(min_length=1, max_length=2000, description=_TYPES)]
After = Annotated[str, Meta(min_length=1, max_length=100, description=_AFTER)]
ReaderName = Annotated[str, Meta(min_length=1, max_length=100, description=_READER)]


class FeedQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events are wanted, and from where on."""

    after: After | None = None
    types: Types | None = None
    #: How many events at most.
    limit: Annotated[int, Meta(ge=1, le=500, description="How many events at most.")] = 100
    #: Seconds to wait for events where there are none yet.
    wait: Annotated[
        int, Meta(ge=0, le=30, description="Seconds to wait for events where there are none yet.")
    ] = 0
    reader: ReaderName | None = None


class StreamQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events a stream brings, and from where on."""

    after: After | None = None
    types: Types | None = None
    reader: ReaderName | None = None


class PublishedEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event in the CloudEvents 1.0 form; `/asyncapi.json` says what its data is, by its type."""

    specversion: str
    #: Which event this is; a reader who has seen it does nothing again.
    id: str
    source: str
    #: What happened, in which version.
    type: str
    time: Moment
    #: Events with one key come in their order.
    partitionkey: str
    schemaversion: str
    datacontenttype: str
    data: dict[str, Any]
    tenantid: str | UnsetType = UNSET
    traceparent: str | UnsetType = UNSET


class EventsView(Struct, frozen=True, kw_only=True):
    """Some events, in their order, and where to go on."""

    events: list[PublishedEvent]
    #: For `after` of the next request; it moves on although no event came.
    next_cursor: str


class PutEventReader(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a reader is to stand, and what it reads."""

    #: `next_cursor` of what it has read, or `beginning`, or `now`; left out, a reader stays where it is, and a new one begins at the beginning.
    after: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    #: The types it reads, such as `notification.*.v1`; left out, those of before, and of a new one all.
    types: (
        Annotated[list[Annotated[str, Meta(min_length=1, max_length=200)]], Meta(min_length=1, max_length=50)]
        | None
    ) = None


class EventReaderView(Struct, frozen=True, kw_only=True):
    """A reader of events whose place we keep."""

    name: str
    types: list[str]
    #: The cursor behind what it has read.
    after: str
    created_at: Moment
    #: When it was last moved.
    updated_at: Moment

    @classmethod
    def of(cls, reader: EventReader) -> "EventReaderView":
        """As it stands."""
        return by_name(cls, reader, types=list(reader.types), after=reader.cursor)


class EventReaderList(Struct, frozen=True, kw_only=True):
    """All readers of a tenant, by their names."""

    items: list[EventReaderView]
