"""The HTTP skin of events that come in, and of those that came."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.problems import MEDIA_TYPE
from tidings.kernel.http.problems import answer as problem_answer
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.ids import EventId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import NoneAcceptedError
from tidings.notify.received_events import store
from tidings.notify.received_events.errors import UnknownReceivedEventError
from tidings.notify.received_events.intake import EventIntake
from tidings.notify.received_events.model import EventOutcome, EventSender, RefusedEvent
from tidings.notify.received_events.read import MOST_IN_BATCH, CloudEventInput, read_batch, read_request
from tidings.notify.received_events.store import ReceivedCriteria
from tidings.notify.received_events.wire import (
    EventAccepted,
    EventBatchInput,
    EventBatchView,
    EventResult,
    ListReceivedEvents,
    ReceivedEventView,
    RefusedEventBatch,
)

TAG: Final = "events"
#: A thousand events have room, unless they are large.
_LEAST_LIMIT: Final = 12 * 1024 * 1024
_ACCEPTED: Final = 202
_PATH: Final = "/api/v1/events"
#: What may be read of a received event's data is what may be read of people.
_READS_DATA: Final = "recipients:read"
EXAMPLE: Final = {
    "specversion": "1.0",
    "id": "res-8812-confirmed",
    "source": "/hotels/kabul/pms",
    "type": "reservation.confirmed",
    "subject": "reservation-8812",
    "time": "2026-11-16T10:00:00Z",
    "data": {
        "guest": {"identity": {"type": "guest", "id": "g-1"}},
        "place": "Kabul",
        "starts_at": "2026-12-01T14:00:00+04:30",
    },
}

events = Resource("events", at="/events", tag=TAG, scope="events")


class EventsLimit(int):
    """How many bytes a body of events may have."""

    @classmethod
    def of(cls, usual: int) -> "EventsLimit":
        """At least what a batch needs, more where other bodies may have more."""
        return cls(max(_LEAST_LIMIT, usual))


class _RawEventBatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each event is read by itself: one that is wrong does not refuse the others."""

    events: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST_IN_BATCH)]


@events.post(
    verb="send",
    owner=Owner.CALLER,
    test_keys=True,
    body_limit=EventsLimit,
    status=_ACCEPTED,
    body=CloudEventInput,
    answer=EventAccepted,
    problems=["too_busy", "all_refused", "not_allowed"],
    example=EXAMPLE,
)
async def send_event(request: Request, caller: Caller, intake: EventIntake) -> Reply:
    """Send an event, in the CloudEvents 1.0 form.

    Structured (`application/cloudevents+json`, or plain JSON), binary (attributes as `ce-…` headers, the body is the
    data), or a batch of up to 1,000 (`application/cloudevents-batch+json`), which is answered as `POST /events/batch`
    is. `202` means that it is durable. Source and id say which event it is: a repeat, whatever its content, gets the
    same id and `duplicate: true`. With a test key it is a test event.
    """
    sender = _sender(caller)
    found = await read_request(request)
    if isinstance(found, list):
        return _batch_reply(await intake.accept_batch(sender, found))
    done = await intake.accept(sender, found)
    return Reply(body=msgspec.json.encode(EventAccepted(id=done.id, duplicate=done.duplicate)))


@events.post(
    "/batch",
    verb="send_batch",
    owner=Owner.CALLER,
    test_keys=True,
    body_limit=EventsLimit,
    status=_ACCEPTED,
    body=EventBatchInput,
    answer=EventBatchView,
    problems=["too_busy", "all_refused"],
    example={"events": [EXAMPLE]},
)
async def send_events(body: _RawEventBatch, caller: Caller, intake: EventIntake) -> Reply:
    """Send up to 1,000 events.

    Each has its own result, in their order: as for a single one, or the `problem` with it. One that is refused does
    not refuse the others. Where not one is accepted the answer is `422 all_refused`, with the same `results`.
    """
    found = read_batch(body.events, "events")
    return _batch_reply(await intake.accept_batch(_sender(caller), found))


@events.get("/received", verb="list_received", listing="received-events", test_keys=True)
async def list_received_events(
    tx: TenantTx, query: ListReceivedEvents, paging: Paging, caller: Caller, clock: Clock
) -> Page[ReceivedEventView]:
    """List the events that came in the last fifteen days, the newest first; what they say is shown one by one.

    Filters look among the newest, some 20,000 in a request: where few fit, a page may be short or empty and still have a
    `next_cursor`.
    """
    wanted = ReceivedCriteria(
        type=query.type,
        source=query.source,
        subject=query.subject,
        tests_only=caller.environment == "test",
    )
    before = EventId(paging.after_id) if paging.after_id else None
    found = await store.list_received_events(tx, wanted, before=before, now=clock.now(), limit=query.limit)
    return paging.page_until(found.next_id, [ReceivedEventView.of(one) for one in found.items])


@events.get("/received/{event_id}", verb="show", test_keys=True, problems=["event_not_found"])
async def show_received_event(
    tx: TenantTx, event_id: EventId, caller: Caller, keyring: Keyring
) -> ReceivedEventView:
    """Show an event that came in the last fifteen days.

    What it says may be about people: `data` and `extensions` are shown to callers with the scope `recipients:read`.
    """
    found = await store.load(tx, keyring, [(tx.tenant_id, event_id)])
    if not found or (caller.environment == "test" and not found[0].is_test):
        raise UnknownReceivedEventError(event_id)
    return (ReceivedEventView.whole if _READS_DATA in caller.scopes else ReceivedEventView.of)(found[0])


def _sender(caller: Caller) -> EventSender:
    return EventSender(
        tenant_id=caller.tenant_id,
        role=caller.role,
        is_test=caller.environment == "test",
        scopes=caller.scopes,
    )


def _batch_reply(outcomes: Sequence[EventOutcome]) -> Reply:
    """Where not one was accepted it is a problem, so that a caller who looks at the status alone notices."""
    results = [_result(index, outcome) for index, outcome in enumerate(outcomes)]
    refused = sum(isinstance(outcome, RefusedEvent) for outcome in outcomes)
    duplicates = sum(result.duplicate is True for result in results)
    if refused < len(results):
        view = EventBatchView(
            accepted=len(results) - refused - duplicates,
            duplicates=duplicates,
            refused=refused,
            results=results,
        )
        return Reply(body=msgspec.json.encode(view), status=_ACCEPTED)
    none = NoneAcceptedError(f"none of the {refused} events was accepted; results says why")
    told = problem_answer(none, path=_PATH, request_id="").problem
    facts = {name: getattr(told, name) for name in told.__struct_fields__}
    problem = RefusedEventBatch(**facts, accepted=0, duplicates=0, refused=refused, results=results)
    return Reply(body=msgspec.json.encode(problem), status=told.status, media_type=MEDIA_TYPE)


def _result(index: int, outcome: EventOutcome) -> EventResult:
    if isinstance(outcome, RefusedEvent):
        return EventResult(index=index, problem=problem_answer(outcome.error, path="", request_id="").problem)
    return EventResult(index=index, id=outcome.id, duplicate=outcome.duplicate)
