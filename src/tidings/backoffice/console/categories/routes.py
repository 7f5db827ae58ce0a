"""Categories: the list, one of them, a new one. Who acts for no tenant sees the platform's own."""

from typing import Final

from tidings.backoffice.console.categories.category_form import fields_of_category, read_category
from tidings.backoffice.console.categories.pages import HERE, categories_page, category_page
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

categories_pages = Resource(
    "console-categories", at="/console/categories", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"


@categories_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_categories(request: Request, visits: Visits) -> Reply:
    """All of them, in the order of the preference page."""
    visit = await visits.open(request)
    return categories_page(visit, await visit.api.get(_api(visit)))


@categories_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def ask_for_category(request: Request, visits: Visits) -> Reply:
    """The form of a new one."""
    return category_page(await visits.open(request), None, Typed())


@categories_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def write_category(request: Request, visits: Visits) -> Reply:
    """Make a category of one's own."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        made = await visit.api.post(_api(visit), read_category(fields, is_own=True, is_new=True))
    except ApiProblemError as error:
        if error.status == 401:
            raise
        typed = Typed(fields=fields, errors=error.errors)
        return category_page(visit, None, typed, told=visit.refused(error), status=error.status)
    return redirect(f"{HERE}/{made['category']}?told=saved")


@categories_pages.get("/{category}", media_type=_HTML)
@answering_with_pages
async def show_category(request: Request, category: str, visits: Visits) -> Reply:
    """One of them."""
    visit = await visits.open(request)
    found = await visit.api.get(at(f"{_api(visit)}/{{}}", category))
    return category_page(visit, found, Typed(fields=fields_of_category(found)))


@categories_pages.post("/{category}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_category(request: Request, category: str, visits: Visits) -> Reply:
    """Change one of one's own, or how one of the platform's appears."""
    visit, fields = await visits.posted(request, writes=True)
    path = at(f"{_api(visit)}/{{}}", category)
    found = await visit.api.get(path)
    is_own = found["owner"] == ("platform" if visit.tenant_is_missing else "tenant")
    body = read_category(fields, is_own=is_own)
    if visit.tenant_is_missing:
        # Hiding is each tenant's own.
        del body["hidden"]
    try:
        await visit.api.call("PATCH", path, body=body, if_match=f'"v{whole(fields, "version")}"')
    except ApiProblemError as error:
        if error.status == 401:
            raise
        # Saving once more is saving over what another has saved.
        newer = {"version": str(found["version"])} if error.status == 412 else {}
        typed = Typed(fields={**fields, **newer}, errors=error.errors)
        return category_page(visit, found, typed, told=visit.refused(error), status=error.status)
    return redirect(f"{HERE}/{category}?told=saved")


def _api(visit: Visit) -> str:
    return "/internal/v1/categories" if visit.tenant_is_missing else "/api/v1/categories"
