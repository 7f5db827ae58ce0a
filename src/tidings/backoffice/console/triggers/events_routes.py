"""Received events: the list, one with what came of it, and sending it again."""

from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.triggers.event_body import anew
from tidings.backoffice.console.triggers.events_page import EVENTS, event_page, events_page
from tidings.backoffice.console.triggers.routes import names_of_triggers
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

events_pages = Resource(
    "console-events", at="/console/events", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_RECEIVED: Final = "/api/v1/events/received"


@events_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_events(request: Request, visits: Visits) -> Reply:
    """The events of the last fifteen days."""
    visit = await visits.open(request, of_tenant=True)
    wanted = {name: visit.query.get(name, "").strip() for name in ("type", "source", "subject", "cursor")}
    return events_page(visit, await visit.api.get(_RECEIVED, **wanted))


@events_pages.get("/{event_id}", media_type=_HTML)
@answering_with_pages
async def show_event(request: Request, event_id: str, visits: Visits) -> Reply:
    """What it says, and what came of it."""
    return await _event(await visits.open(request, of_tenant=True), event_id)


@events_pages.post("/{event_id}/replay", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def send_again(request: Request, event_id: str, visits: Visits, clock: Clock) -> Reply:
    """Send it again, as something that happens now."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    event = await visit.api.get(at(f"{_RECEIVED}/{{}}", event_id))
    if not visit.may("recipients:read"):
        # Its data is hidden from them, so that they would send another event.
        raise ApiProblemError(403, {"code": "missing_scope"})
    try:
        made = await visit.api.post("/api/v1/events", anew(event, clock.now()))
    except ApiProblemError as error:
        return await _event(visit, event_id, error=error)
    return redirect(f"{EVENTS}/{made['id']}?told=event_sent_again")


async def _event(visit: Visit, event_id: str, *, error: ApiProblemError | None = None) -> Reply:
    if error is not None and error.status == 401:
        raise error
    event = await visit.api.get(at(f"{_RECEIVED}/{{}}", event_id))
    firings: dict[str, Any] = {"items": []}
    if visit.may("triggers:read"):
        firings = await visit.api.get("/api/v1/triggers/firings", event=event_id, limit=100)
    names = await names_of_triggers(visit)
    told = visit.refused(error) if error else None
    return event_page(visit, event, firings, names, told=told, status=error.status if error else 200)
