"""Pages of people, and what their buttons do."""

import asyncio
from typing import Any, Final

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people.consents_page import consents_tab
from tidings.backoffice.console.people.list_page import FILTERS, HOME, list_page
from tidings.backoffice.console.people.person_page import TABS, Around, overview, person_page
from tidings.backoffice.console.people.preferences_page import preferences_tab
from tidings.backoffice.console.people.privacy_page import privacy_tab
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

people_pages = Resource("console-people", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

API: Final = "/api/v1/recipients"
_HTML: Final = "text/html"
_SHOWN: Final = 50
_NEWEST: Final = 10
_TALKS: Final = 5


@people_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_people(request: Request, visits: Visits) -> Reply:
    """The newest first, with filters."""
    visit = await visits.open(request, of_tenant=True)
    wanted = {key: visit.query.get(key) for key in (*FILTERS, "cursor")}
    try:
        found = await visit.api.get(API, limit=_SHOWN, **wanted)
    except ApiProblemError as problem:
        if problem.status not in (400, 422):
            raise
        nothing: dict[str, Any] = {"items": [], "next_cursor": None}
        return list_page(visit, nothing, told=visit.refused(problem), status=400)
    return list_page(visit, found, told=visit.told())


@people_pages.get("/{recipient_id}", media_type=_HTML)
@answering_with_pages
async def show_person(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """One of them, on one of their tabs."""
    visit = await visits.open(request, of_tenant=True)
    return await person_reply(visit, recipient_id, visit.query.get("tab", ""), told=visit.told())


@people_pages.post("/{recipient_id}/reveal", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def reveal_addresses(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Show their addresses in full, this once; it is audited."""
    visit, _ = await visits.posted(request, writes=False, of_tenant=True)
    return await person_reply(visit, recipient_id, "overview", reveal=True)


@people_pages.post("/{recipient_id}/addresses", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def add_address(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Write another address down."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    wanted = {
        "channel": fields.get("channel", ""),
        "address": fields.get("address", "").strip(),
        "primary": fields.get("primary") == "on",
    }
    try:
        await visit.api.post(at(f"{API}/{{}}/addresses", recipient_id), wanted)
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "overview", problem)
    return redirect(f"{HOME}/{recipient_id}?told=people_address_added")


@people_pages.post("/{recipient_id}/addresses/{address_id}/delete", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def forget_address(request: Request, recipient_id: str, address_id: str, visits: Visits) -> Reply:
    """Forget an address of theirs."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    try:
        await visit.api.call("DELETE", at(f"{API}/{{}}/addresses/{{}}", recipient_id, address_id))
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "overview", problem)
    return redirect(f"{HOME}/{recipient_id}?told=people_address_forgotten")


async def refused(visit: Visit, recipient_id: str, tab: str, problem: ApiProblemError) -> Reply:
    """The page as it stands, with why nothing was done and which field it is about."""
    if problem.status in (401, 404):
        raise problem
    told = visit.refused(problem)
    if problem.errors and problem.status in (400, 422):
        told = Told(text="; ".join(f"{name} {what}" for name, what in problem.errors.items()), is_error=True)
    return await person_reply(visit, recipient_id, tab, told=told, status=problem.status)


async def person_reply(
    visit: Visit,
    recipient_id: str,
    tab: str,
    *,
    told: Told | None = None,
    reveal: bool = False,
    link: dict[str, Any] | None = None,
    status: int = 200,
) -> Reply:
    """A tab with what it shows, all asked for at once."""
    path = at(f"{API}/{{}}", recipient_id)
    person = await visit.api.get(path, reveal="true" if reveal else None)
    if person["erased_at"] is not None:
        receipt = await visit.api.get(f"{path}/erasure")
        return person_page(
            visit, person, "privacy", privacy_tab(visit, person, receipt, None), told=told, status=status
        )
    shown = tab if tab in TABS else "overview"
    if shown == "privacy":
        body = privacy_tab(visit, person, None, link)
    elif shown == "overview":
        body = overview(visit, person, await _around(visit, path, recipient_id), revealed=reveal)
    else:
        preferences = await visit.api.get(f"{path}/preferences")
        if shown == "preferences":
            categories = (await visit.api.get("/api/v1/categories"))["items"]
            body = preferences_tab(visit, person, preferences, categories)
        else:
            cursor = visit.query.get("cursor")
            found = await visit.api.get(f"{path}/consents", limit=_SHOWN, cursor=cursor)
            body = consents_tab(visit, person, preferences, found)
    return person_page(visit, person, shown, body, told=told, status=status)


async def _around(visit: Visit, path: str, recipient_id: str) -> Around:
    """What the reader may see of what was going on."""

    async def asked(scope: str, place: str, **query: Any) -> Any:
        return await visit.api.get(place, **query) if visit.may(scope) else None

    notifications, talks, presence, counts, profile, preferences = await asyncio.gather(
        asked("notifications:read", "/api/v1/notifications", recipient=recipient_id, limit=_NEWEST),
        asked("conversations:read", "/api/v1/router/conversations", recipient=recipient_id, limit=_TALKS),
        asked("inbox:read", f"{path}/presence"),
        asked("inbox:read", f"{path}/inbox/counts"),
        asked("router:read", at("/api/v1/router/profiles/{}", recipient_id)),
        visit.api.get(f"{path}/preferences"),
    )
    return Around(
        notifications=None if notifications is None else notifications["items"],
        conversations=None if talks is None else talks["items"],
        presence=presence,
        counts=counts,
        profile=profile,
        preferences=preferences,
    )
