"""The page of what messages cost."""

import asyncio
from typing import Final

from tidings.backoffice.console.spend.spend_page import HERE, spend_page
from tidings.backoffice.console.visits import Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

spend_pages = Resource("console-spend", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_PARTS: Final = ("day", "channel", "vendor", "template")


@spend_pages.get("/", media_type="text/html")
@answering_with_pages
async def show_spend(request: Request, visits: Visits) -> Reply:
    """What messages cost, in a time that the address names."""
    visit = await visits.open(request, of_tenant=True)
    days = {name: visit.query.get(name) for name in ("since", "until")}
    answers = await asyncio.gather(*(visit.api.get("/api/v1/router/spend", by=by, **days) for by in _PARTS))
    caps = await visit.api.get("/api/v1/router/policies", limit=100)
    return spend_page(visit, dict(zip(_PARTS, answers, strict=True)), caps["items"])
