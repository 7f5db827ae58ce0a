"""Operations of a person on the live stream of their own inbox, with an inbox token."""

from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import OWN_INBOX, Caller
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Resource
from tidings.kernel.http.server_events import HEADERS, MEDIA_TYPE
from tidings.kernel.ids import TenantId
from tidings.notify.inbox.desk import InboxVisitor
from tidings.notify.inbox_live.hub import InboxHub
from tidings.notify.inbox_live.socket import parse_after
from tidings.notify.inbox_live.sse import stream

own_inbox_live = Resource("own-inbox", at="/inbox", tag="inbox (with an inbox token)", any_origin=True)


@own_inbox_live.get(
    "/stream",
    verb="stream",
    scope=OWN_INBOX,
    test_keys=True,
    media_type=MEDIA_TYPE,
    headers=["Last-Event-ID"],
    problems=["too_many_inbox_streams"],
)
async def stream_own_inbox(request: Request, caller: Caller, tenant_id: TenantId, hub: InboxHub) -> Reply:
    """Hear what changes in your inbox, as server-sent events: `item`, `change`, `counts`, `reset`, and `end`.

    The `id` of each is the number of the last change that it tells of: with `Last-Event-ID` a stream goes on behind it. `reset`
    says that too much was missed: load the feed anew. The stream begins with the counts, and ends with its token.
    """
    after = parse_after(request.header("Last-Event-ID"), "Last-Event-ID")
    pieces = await stream(hub, InboxVisitor.owner(caller, tenant_id), after)
    return Reply(body=pieces, media_type=MEDIA_TYPE, headers=HEADERS)
