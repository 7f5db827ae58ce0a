"""Pages of suggestions: the inbox, one of them, and what the buttons do."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.ai_inbox.inbox_page import FILTERS, inbox_page, suggestion_page
from tidings.backoffice.console.ai_inbox.suggestion_card import CHANGED, HERE, typed
from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

ai_inbox_pages = Resource("console-ai-inbox", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/bff/v1/ai-inbox"
_PROPERTIES: Final = "/bff/v1/properties"
_MOST: Final = 200


@ai_inbox_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_inbox(request: Request, visits: Visits) -> Reply:
    """What an AI suggests."""
    visit = await visits.open(request, of_tenant=True)
    return await _inbox(visit)


@ai_inbox_pages.get("/{entry_id}", media_type=_HTML)
@answering_with_pages
async def show_suggestion(request: Request, entry_id: str, visits: Visits) -> Reply:
    """One of them, as a link leads to it."""
    visit = await visits.open(request, of_tenant=True)
    entry = await visit.api.get(at(_API + "/{}", entry_id))
    return suggestion_page(visit, entry, told=visit.told())


@ai_inbox_pages.post("/deliveries/requeue", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def tell_again(request: Request, visits: Visits) -> Reply:
    """Have the service told again."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(f"{_API}/deliveries/requeue")
    return redirect(f"{HERE}?status=decided&told=ai_inbox_told_again")


@ai_inbox_pages.post("/{entry_id}/decide", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def decide(request: Request, entry_id: str, visits: Visits) -> Reply:
    """Accept, reject or change a suggestion."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    entry: Mapping[str, Any] = await visit.api.get(at(_API + "/{}", entry_id))
    body: dict[str, Any] = {"outcome": fields.get("outcome", "")}
    if note := fields.get("note", "").strip():
        body["note"] = note
    if body["outcome"] == "modified":
        body["delta"] = {
            name: value
            for name, before in entry["proposal"].items()
            if (value := typed(before, fields.get(f"{CHANGED}{name}"))) != before
        }
        if not body["delta"]:
            told = Told(text=visit.words["ai_inbox.nothing_changed"], is_error=True)
            return suggestion_page(visit, entry, told=told, status=400)
    try:
        await visit.api.post(at(_API + "/{}/decide", entry_id), body)
    except ApiProblemError as error:
        return suggestion_page(visit, entry, told=visit.refused(error), status=error.status)
    return redirect(_back(fields.get("back"), f"ai_inbox_{body['outcome']}"))


async def _inbox(visit: Visit) -> Reply:
    wanted = {name: visit.query.get(name) for name in FILTERS}
    found = await visit.api.get(_API, **wanted)
    listed = await visit.api.get(_PROPERTIES, limit=_MOST)
    return inbox_page(visit, found, listed["items"], told=visit.told())


def _back(path: str | None, told: str) -> str:
    """The list where the button was pressed."""
    known = path if path is not None and (path == HERE or path.startswith(f"{HERE}?")) else HERE
    return f"{known}{'&' if '?' in known else '?'}told={told}"
