"""Pages of the audit."""

from typing import Any, Final

from tidings.backoffice.console.audit.audit_page import HERE, LOGS, audit_page
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

audit_pages = Resource("console-audit", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_USUAL: Final = "notify"


@audit_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_audit(request: Request, visits: Visits) -> Reply:
    """One of the logs; of the tenant, or the platform's own."""
    visit = await visits.open(request)
    return await _audit(visit, visit.query.get("log"))


@audit_pages.post("/verify", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def verify_audit(request: Request, visits: Visits) -> Reply:
    """Whether it is as it was written."""
    visit, fields = await visits.posted(request, writes=False)
    log = fields.get("log") if fields.get("log") in LOGS else _USUAL
    return await _audit(visit, log, verified=await visit.api.post(f"{LOGS[log or _USUAL]}/verify"))


async def _audit(visit: Visit, asked: str | None, *, verified: dict[str, Any] | None = None) -> Reply:
    log = asked if asked in LOGS else _USUAL
    filters = {key: visit.query.get(key) for key in ("entity_type", "entity_id", "cursor")}
    try:
        found = await visit.api.get(LOGS[log or _USUAL], **filters)
    except ApiProblemError as error:
        if error.code != "bad_value":
            raise
        # A kind of thing that this log does not speak of.
        found = {"items": [], "next_cursor": None}
    return audit_page(visit, log or _USUAL, found, verified=verified)
