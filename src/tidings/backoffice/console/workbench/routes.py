"""Pages of the workbench."""

from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.visits import Visits, answering_with_pages
from tidings.backoffice.console.workbench.board_page import board_page, moved_to, nothing_page
from tidings.backoffice.console.workbench.names import BOARDS, DATED, GLANCE, HERE
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import NotFoundError

workbench_pages = Resource(
    "console-workbench", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_API: Final = "/bff/v1/properties"
_MOST: Final = 200


@workbench_pages.get("/", media_type=_HTML)
@answering_with_pages
async def choose_board(request: Request, visits: Visits) -> Reply:
    """Leads to what was chosen; without a choice to the first property."""
    visit = await visits.open(request, of_tenant=True)
    wanted = visit.query.get("property")
    if not wanted:
        found = await visit.api.get(_API, limit=1)
        if not found["items"]:
            return nothing_page(visit, found["missing"])
        wanted = found["items"][0]["id"]
    return redirect(moved_to(wanted, visit.query.get("view", GLANCE), visit.query.get("date")))


@workbench_pages.get("/{property_id}/{view}", media_type=_HTML)
@answering_with_pages
async def show_board(request: Request, property_id: str, view: str, visits: Visits) -> Reply:
    """One board of one property."""
    visit = await visits.open(request, of_tenant=True)
    if view not in BOARDS:
        raise NotFoundError("there is no such board")
    if view == GLANCE:
        board: Any = await visit.api.get(at(_API + "/{}/dashboard", property_id))
    else:
        date = visit.query.get("date") if view in DATED else None
        board = await visit.api.get(at(_API + "/{}/workbench/{}", property_id, view), date=date)
    listed = await visit.api.get(_API, limit=_MOST)
    return board_page(visit, listed["items"], view, board)
