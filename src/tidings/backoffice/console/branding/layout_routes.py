"""Layouts: the list, one of them, a new one."""

from typing import Final

from tidings.backoffice.console.branding.pages import LAYOUTS, layout_page, layouts_page
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.templates.editor_form import lines
from tidings.backoffice.console.visits import MOST_BYTES, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

layout_pages = Resource(
    "console-layouts", at="/console/layouts", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_ONE: Final = "/api/v1/layouts/{}"
#: A text of 300,000 letters, each of which may take nine bytes in a form.
_MOST_OF_A_LAYOUT: Final = 3 * 1024 * 1024


@layout_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_layouts(request: Request, visits: Visits) -> Reply:
    """All of them."""
    visit = await visits.open(request, of_tenant=True)
    return layouts_page(visit, await visit.api.get("/api/v1/layouts"))


@layout_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def ask_for_layout(request: Request, visits: Visits) -> Reply:
    """The form of a new one, with what it takes at least."""
    visit = await visits.open(request, of_tenant=True)
    return layout_page(visit, None, Typed(fields={"text": "<main>\n{{> body}}\n</main>\n"}))


@layout_pages.post("/new", media_type=_HTML, body_limit=_MOST_OF_A_LAYOUT)
@answering_with_pages
async def write_layout(request: Request, visits: Visits) -> Reply:
    """Make one; where there is one of this name, nothing is changed."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    name = fields.get("name", "").strip()
    try:
        await visit.api.call("PUT", at(_ONE, name), body={"text": lines(fields.get("text", ""))})
    except ApiProblemError as error:
        if error.status == 401:
            raise
        errors = {**error.errors}
        if error.status == 428:
            errors["name"] = "is taken: open that layout to change it"
        typed = Typed(fields=fields, errors=errors)
        return layout_page(visit, None, typed, told=visit.refused(error), status=error.status)
    return redirect(f"{LAYOUTS}/{name}?told=saved")


@layout_pages.get("/{name}", media_type=_HTML)
@answering_with_pages
async def show_layout(request: Request, name: str, visits: Visits) -> Reply:
    """One of them."""
    visit = await visits.open(request, of_tenant=True)
    layout = await visit.api.get(at(_ONE, name))
    return layout_page(
        visit, layout, Typed(fields={"text": layout["text"], "version": str(layout["version"])})
    )


@layout_pages.post("/{name}", media_type=_HTML, body_limit=_MOST_OF_A_LAYOUT)
@answering_with_pages
async def change_layout(request: Request, name: str, visits: Visits) -> Reply:
    """Change it; what is published keeps the text that it was published with."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    layout = await visit.api.get(at(_ONE, name))
    try:
        body = {"text": lines(fields.get("text", ""))}
        await visit.api.call("PUT", at(_ONE, name), body=body, if_match=f'"v{whole(fields, "version")}"')
    except ApiProblemError as error:
        if error.status == 401:
            raise
        # Saving once more is saving over what another has saved.
        newer = {"version": str(layout["version"])} if error.status == 412 else {}
        typed = Typed(fields={**fields, **newer}, errors=error.errors)
        return layout_page(visit, layout, typed, told=visit.refused(error), status=error.status)
    return redirect(f"{LAYOUTS}/{name}?told=saved")


@layout_pages.post("/{name}/delete", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def delete_layout(request: Request, name: str, visits: Visits) -> Reply:
    """Take it away; what was published with it keeps it."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.call("DELETE", at(_ONE, name), if_match=f'"v{whole(fields, "version")}"')
    return redirect(f"{LAYOUTS}?told=layout_deleted")
