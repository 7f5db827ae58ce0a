"""The page of the platform's health."""

from tidings.backoffice.console.health.health_page import HERE, health_page
from tidings.backoffice.console.visits import Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

health_pages = Resource("console-health", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)


@health_pages.get("/", media_type="text/html")
@answering_with_pages
async def show_health_page(request: Request, visits: Visits) -> Reply:
    """How the installation is, for the platform's people."""
    visit = await visits.open(request)
    return health_page(visit, await visit.api.get("/bff/v1/health"))
