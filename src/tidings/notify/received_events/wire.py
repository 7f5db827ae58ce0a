"""Received events as the API shows them."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.http.problems import Problem
from tidings.kernel.mapping import by_name
from tidings.notify.received_events.model import ReceivedEvent
from tidings.notify.received_events.read import MOST_IN_BATCH, CloudEventInput


class EventAccepted(Struct, frozen=True, kw_only=True):
    """The event is kept and announced."""

    #: Ours; the sender's own stays the event's.
    id: str
    #: It was received before, with the same source and id: this is what was answered then.
    duplicate: bool


class EventBatchInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Several events, each in the CloudEvents form."""

    events: Annotated[list[CloudEventInput], Meta(min_length=1, max_length=MOST_IN_BATCH)]


class EventResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one event of a batch."""

    #: Its place in the batch, from 0.
    index: int
    id: str | UnsetType = UNSET
    duplicate: bool | UnsetType = UNSET
    #: Why it was refused.
    problem: Problem | UnsetType = UNSET


class EventBatchView(Struct, frozen=True, kw_only=True):
    """What became of a batch of events, in their order."""

    accepted: int
    #: Those that were received before.
    duplicates: int
    refused: int
    results: list[EventResult]


class RefusedEventBatch(Problem, frozen=True, kw_only=True):
    """Not one event of a batch was accepted."""

    accepted: int
    duplicates: int
    refused: int
    results: list[EventResult]


class ListReceivedEvents(PageQuery, frozen=True, kw_only=True):
    """Which received events to list."""

    #: Only of this type.
    type: Annotated[str, Meta(max_length=255)] | None = None
    #: Only from there.
    source: Annotated[str, Meta(max_length=500)] | None = None
    #: Only about this.
    subject: Annotated[str, Meta(max_length=500)] | None = None


class ReceivedEventView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A received event."""

    id: str
    type: str
    source: str
    #: The sender's own id of it.
    source_event_id: str
    #: When it happened, as its sender said.
    time: Moment
    received_at: Moment
    subject: str | None = None
    is_test: bool = False
    #: What it says; shown one by one, to callers who may read what is known of recipients.
    data: Any = UNSET
    #: Attributes beyond those of CloudEvents; as `data`.
    extensions: dict[str, str | int | bool] | UnsetType = UNSET

    @classmethod
    def of(cls, event: ReceivedEvent) -> "ReceivedEventView":
        """Its facts."""
        return by_name(cls, event, time=event.happened_at, data=UNSET, extensions=UNSET)

    @classmethod
    def whole(cls, event: ReceivedEvent) -> "ReceivedEventView":
        """Its facts and what it says."""
        said = event.data if event.has_data else UNSET
        return by_name(
            cls, event, time=event.happened_at, data=said, extensions=event.content.extensions or UNSET
        )
