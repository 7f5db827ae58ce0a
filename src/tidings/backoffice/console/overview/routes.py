"""The first page of the console."""

from typing import Final

from tidings.backoffice.console.overview.figures import figures
from tidings.backoffice.console.overview.first_steps import has_sent, look_at_first_steps
from tidings.backoffice.console.overview.overview_page import overview_page
from tidings.backoffice.console.overview.platform_page import PLATFORM_SPANS, platform_figures, platform_page
from tidings.backoffice.console.overview.spans import span_of
from tidings.backoffice.console.visits import Visits, answering_with_pages
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

overview_pages = Resource(
    "console-overview", at="/console", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"


@overview_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_overview(request: Request, visits: Visits, clock: Clock) -> Reply:
    """What was sent and how it went; for the platform's people who act for no tenant, over all of them."""
    visit = await visits.open(request)
    wanted = visit.query.get("span")
    if visit.tenant_is_missing:
        span = span_of(wanted if wanted in PLATFORM_SPANS else None, clock.now())
        return platform_page(visit, span, await platform_figures(visit, span))
    span = span_of(wanted, clock.now())
    found = await figures(visit, span)
    is_new = found.counters is not None and not found.totals and not await has_sent(visit, span)
    steps = await look_at_first_steps(visit) if is_new else None
    return overview_page(visit, span, found, steps)
