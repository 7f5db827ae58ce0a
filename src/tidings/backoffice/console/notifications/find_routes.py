"""Finds what somebody typed. An address comes by POST alone: what stands in a URL ends up in logs."""

from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.notifications.find_page import FIND, find_page
from tidings.backoffice.console.notifications.list_page import HOME
from tidings.backoffice.console.notifications.routes import searchable_names
from tidings.backoffice.console.notifications.searches import Search, read_search
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

find_pages = Resource("console-find", at=FIND, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_LONGEST: Final = 320
_SHOWN: Final = 50
#: Kinds of people that an id of the tenant's own system may be of.
_KINDS: Final = ("guest", "user", "vendor", "anonymous")
#: Channels that an address is suppressed on.
_SUPPRESSIBLE: Final = frozenset({"email", "sms", "push", "telegram", "viber"})


@find_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_find(request: Request, visits: Visits) -> Reply:
    """The search; a link may hold a word or an id, and of an address nothing is looked up."""
    visit = await visits.open(request, of_tenant=True)
    text = visit.query.get("q", "")[:_LONGEST]
    if not text.strip():
        return find_page(visit)
    search = read_search(text)
    if search.channel is not None:
        return find_page(visit, search.text, asks=True)
    return await _answer(visit, search)


@find_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def find(request: Request, visits: Visits) -> Reply:
    """Find by an address, an order number, an id or a template's key."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    text = fields.get("q", "")[:_LONGEST]
    if not text.strip():
        return find_page(visit)
    return await _answer(visit, read_search(text, fields.get("channel")))


async def _answer(visit: Visit, search: Search) -> Reply:
    if search.path is not None:
        return redirect(search.path)
    if search.channel is None:
        return await _by_word(visit, search.text)
    try:
        return await _by_address(visit, search, search.channel)
    except ApiProblemError as problem:
        if problem.status not in (400, 403, 422):
            raise
        return find_page(visit, told=visit.refused(problem), people=(), status=problem.status)


async def _by_address(visit: Visit, search: Search, channel: str) -> Reply:
    """Whose it is, what holds it back, and what was sent to them; the audit knows who asked."""
    wanted = {"channel": channel, "address": search.text}
    people = (await visit.api.post("/api/v1/recipients/lookup", wanted))["items"]
    held: list[Any] = []
    if channel in _SUPPRESSIBLE and visit.may("suppressions:read"):
        held = (await visit.api.post("/api/v1/suppressions/lookup", wanted))["items"]
    found: list[Any] = []
    if people:
        asked = {"address": wanted, "limit": _SHOWN}
        found = (await visit.api.post("/api/v1/notifications/lookup", asked))["items"]
    return find_page(visit, people=people, held=held, found=found)


async def _by_word(visit: Visit, text: str) -> Reply:
    """The first of these that finds something: an order number, a value of metadata, a template's key, a person's own id."""
    names = await searchable_names(visit)
    filters: list[dict[str, str]] = [{"correlation_id": text}]
    filters += [{"name": name, "value": text} for name in names]
    filters.append({"template": text})
    for wanted in filters:
        if await _finds(visit, wanted):
            return redirect(address(HOME, wanted))
    people: list[Any] = []
    if visit.may("recipients:read"):
        for kind in _KINDS:
            people += (await _asked(visit, "/api/v1/recipients", identity_type=kind, identity_id=text))[
                "items"
            ]
    if len(people) == 1:
        return redirect(f"/console/people/{people[0]['id']}")
    return find_page(visit, text, people=people)


async def _finds(visit: Visit, wanted: dict[str, str]) -> bool:
    query = {f"metadata.{wanted['name']}": wanted["value"]} if "name" in wanted else wanted
    return bool((await _asked(visit, "/api/v1/notifications", limit="1", **query))["items"])


async def _asked(visit: Visit, path: str, **query: str) -> Any:
    """Nothing, where the text can't be what is asked for: an order number with a blank in it is no template's key."""
    try:
        return await visit.api.get(path, **query)
    except ApiProblemError as problem:
        if problem.status not in (400, 422):
            raise
        return {"items": []}
