"""The HTTP skin of the feed: pages with a long poll, a stream, and readers whose place we keep."""

import asyncio
from typing import Annotated, Final

from tidings.kernel.bus import EVERYTHING, EventFeed, SubjectFilter
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import to_cloudevent
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller, StillAllowed
from tidings.kernel.http.injection import OpenTx, Parsed
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Resource
from tidings.kernel.http.server_events import HEADERS, MEDIA_TYPE
from tidings.kernel.ids import TenantId
from tidings.notify.event_feed import store
from tidings.notify.event_feed.errors import TooManyReadersError, UnknownReaderError
from tidings.notify.event_feed.model import MOST_READERS, EventReader, parse_name
from tidings.notify.event_feed.read import FeedReader, Wanted
from tidings.notify.event_feed.stream import stream
from tidings.notify.event_feed.wire import (
    EventReaderList,
    EventReaderView,
    EventsView,
    FeedQuery,
    PutEventReader,
    StreamQuery,
)

_READS: Final = "events:read"
#: Events of a stream that are read at once.
_AT_ONCE: Final = 100
_PROBLEMS: Final = ("events_expired", "event_reader_not_found", "too_many_listeners")
ReaderName = Annotated[str, Parsed(parse_name)]

feed = Resource("events", at="/events", tag="events", scope="events")
readers = Resource("event-readers", at="/events/readers", tag="events", scope="events")


@feed.get(verb="read", test_keys=True, answer=EventsView, problems=_PROBLEMS)
async def read_events(
    query: FeedQuery,
    request: Request,
    tenant_id: TenantId,
    caller: Caller,
    reader: FeedReader,
    events: EventFeed,
    open_tx: OpenTx[TenantTx],
) -> Reply:
    """Read what happened, in order: every event of the last 7 days, without gaps.

    Repeat it with `after=<next_cursor>`. With `wait` the answer comes as soon as there is an event. An event may come
    again after a failure: its `id` says which it is. With a test key only events of tests are shown. A cursor that is
    too old is `410 events_expired`.
    """
    known = await _known(open_tx, query.reader, caller)
    wanted = await _wanted(events, tenant_id, caller, query, known, limit=query.limit)
    page = await reader.read_within(wanted, float(query.wait), _until_gone(request))
    told = b",".join(to_cloudevent(event) for event in page.events)
    return Reply(body=b'{"events":[%s],"next_cursor":"%s"}' % (told, page.next_cursor.encode()))


@feed.get(
    "/stream",
    verb="stream",
    test_keys=True,
    media_type=MEDIA_TYPE,
    headers=["Last-Event-ID"],
    problems=_PROBLEMS,
)
async def stream_events(
    query: StreamQuery,
    request: Request,
    tenant_id: TenantId,
    caller: Caller,
    reader: FeedReader,
    events: EventFeed,
    still_allowed: StillAllowed,
    open_tx: OpenTx[TenantTx],
) -> Reply:
    """Hear what happens, as server-sent events.

    Each has the type as its `event`, the CloudEvent as its `data`, and a cursor as its `id`: with `Last-Event-ID` a
    stream goes on where the one before ended. It begins with the next event, unless `after` or `reader` says otherwise.
    It ends after five minutes, and with the session of an operator; clients come back by themselves.
    """
    known = await _known(open_tx, query.reader, caller)
    if (last := request.header("Last-Event-ID")) is not None:
        query = StreamQuery(after=last, types=query.types)
    wanted = await _wanted(events, tenant_id, caller, query, known, limit=_AT_ONCE)
    # What is wrong with the cursor, or that too many listen, is said before the stream begins.
    await reader.check(wanted)
    pieces = await stream(reader, still_allowed, wanted, every=still_allowed.every)
    return Reply(body=pieces, media_type=MEDIA_TYPE, headers=HEADERS)


@readers.get(verb="list", test_keys=True)
async def list_event_readers(tx: TenantTx, caller: Caller) -> EventReaderList:
    """List the readers whose place is kept here."""
    found = await store.list_readers(tx, tests_only=_tests_only(caller))
    return EventReaderList(items=[EventReaderView.of(one) for one in found])


@readers.get("/{name}", verb="show", test_keys=True, problems=["event_reader_not_found"])
async def show_event_reader(tx: TenantTx, name: ReaderName, caller: Caller) -> EventReaderView:
    """Show a reader and its place."""
    found = await store.find_reader(tx, name, tests_only=_tests_only(caller))
    if found is None:
        raise UnknownReaderError
    return EventReaderView.of(found)


@readers.put(
    "/{name}",
    verb="put",
    scope=_READS,
    writes=False,
    test_keys=True,
    problems=["events_expired", "too_many_event_readers", "event_reader_not_found", "not_permitted"],
)
async def put_event_reader(
    name: ReaderName,
    body: PutEventReader,
    tenant_id: TenantId,
    caller: Caller,
    reader: FeedReader,
    events: EventFeed,
    clock: Clock,
    open_tx: OpenTx[TenantTx],
) -> EventReaderView:
    """Make a reader, or move it to what it has read.

    `GET /events?reader=<name>` goes on from there: what was read and not told here comes again.
    """
    types = None if body.types is None else SubjectFilter(body.types).patterns
    cursor = body.after or "beginning"
    if cursor in ("beginning", "now"):
        cursor = await events.cursor("now" if cursor == "now" else "beginning")
    else:
        await reader.check(
            Wanted(tenant_id=tenant_id, types=EVERYTHING, tests_only=False, after=cursor, limit=1)
        )
    tests_only = _tests_only(caller)
    async with open_tx() as tx:
        known = await store.find_reader(tx, name, tests_only=tests_only)
        if known is None and await store.count_readers(tx) >= MOST_READERS:
            raise TooManyReadersError
        put = await store.put_reader(
            tx,
            name,
            types=types,
            cursor=cursor,
            moves=body.after is not None,
            tests_only=tests_only,
            now=clock.now(),
        )
    if put is None:
        raise UnknownReaderError("a reader of the other environment has this name; use another")
    return EventReaderView.of(put)


@readers.delete(
    "/{name}",
    verb="delete",
    scope=_READS,
    writes=False,
    test_keys=True,
    problems=["event_reader_not_found", "not_permitted"],
)
async def delete_event_reader(tx: TenantTx, name: ReaderName, caller: Caller) -> None:
    """Forget a reader and its place."""
    if not await store.delete_reader(tx, name, tests_only=_tests_only(caller)):
        raise UnknownReaderError


def _tests_only(caller: Caller) -> bool:
    return caller.environment == "test"


async def _known(open_tx: OpenTx[TenantTx], name: str | None, caller: Caller) -> EventReader | None:
    if name is None:
        return None
    async with open_tx() as tx:
        found = await store.find_reader(tx, parse_name(name), tests_only=_tests_only(caller))
    if found is None:
        raise UnknownReaderError
    return found


async def _wanted(
    events: EventFeed,
    tenant_id: TenantId,
    caller: Caller,
    query: FeedQuery | StreamQuery,
    known: EventReader | None,
    *,
    limit: int,
) -> Wanted:
    if known is not None and (query.after is not None or query.types is not None):
        field = "after" if query.after is not None else "types"
        raise BadValueError(field, "is the reader's own; leave it out, or leave out reader")
    types = EVERYTHING
    if known is not None:
        types = known.wanted
    elif query.types is not None:
        types = SubjectFilter(word.strip() for word in query.types.split(","))
    after = known.cursor if known is not None else query.after
    if after in (None, "beginning", "now"):
        # Who asks for pages wants what there is; who opens a stream wants what comes.
        start = after or ("beginning" if isinstance(query, FeedQuery) else "now")
        after = await events.cursor("now" if start == "now" else "beginning")
    return Wanted(
        tenant_id=tenant_id, types=types, tests_only=_tests_only(caller), after=str(after), limit=limit
    )


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)
