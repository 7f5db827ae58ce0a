"""Pages of inbound routes: where messages that people write are told."""

from collections.abc import Mapping
from typing import Final

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.kit.typed import Typed, text
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.backoffice.console.webhooks.inbound_page import INBOUND, STATUSES, inbound_page
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

inbound_pages = Resource("console-inbound", at=INBOUND, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/api/v1/router/inbound-routes"
_MOST_LISTED: Final = 100


@inbound_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_inbound(request: Request, visits: Visits) -> Reply:
    """Routes, and deliveries on their way."""
    return await _inbound(await visits.open(request, of_tenant=True))


@inbound_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_route(request: Request, visits: Visits) -> Reply:
    """Make a route."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    body = {name: text(fields, name) or "" for name in ("inbound", "webhook_url", "secret_ref")}
    try:
        await visit.api.post(_API, body)
    except ApiProblemError as error:
        return await _inbound(visit, error, fields=fields)
    return redirect(f"{INBOUND}?told=route_saved")


@inbound_pages.post("/redeliver", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def redeliver_dead(request: Request, visits: Visits) -> Reply:
    """Tell everything again that was given up."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(f"{_API}/deliveries/redeliver", {})
    return redirect(f"{INBOUND}?told=redelivered")


@inbound_pages.post("/deliveries/{delivery_id}/redeliver", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def redeliver_inbound(request: Request, delivery_id: str, visits: Visits) -> Reply:
    """Tell one again."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(at(f"{_API}/deliveries/{{}}/redeliver", delivery_id))
    return redirect(f"{INBOUND}?told=redelivered")


@inbound_pages.post("/{route_id}/test", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def test_route(request: Request, route_id: str, visits: Visits) -> Reply:
    """Call the webhook with a message that nobody wrote."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    tried = await visit.api.post(at(f"{_API}/{{}}/test", route_id))
    words = visit.words
    said = words["webhooks.test_taken"] if tried["delivered"] else words["webhooks.test_failed"]
    answer = words["webhooks.answer"].replace("{status}", str(tried["status"])) if tried["status"] else ""
    return await _inbound(visit, told=Told(text=f"{said} {answer}".strip(), is_error=not tried["delivered"]))


@inbound_pages.post("/{route_id}/remove", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def remove_route(request: Request, route_id: str, visits: Visits) -> Reply:
    """Remove a route; for a day it goes on working, and can be restored."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    version = fields.get("version", "")
    await visit.api.call("DELETE", at(f"{_API}/{{}}", route_id), if_match=f'"v{version}"')
    return redirect(f"{INBOUND}?told=route_removed")


@inbound_pages.post("/{route_id}/restore", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def restore_route(request: Request, route_id: str, visits: Visits) -> Reply:
    """Bring a removed route back."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(at(f"{_API}/{{}}/restore", route_id))
    return redirect(f"{INBOUND}?told=route_saved")


async def _inbound(
    visit: Visit,
    error: ApiProblemError | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    told: Told | None = None,
) -> Reply:
    routes = (await visit.api.get(_API, limit=_MOST_LISTED))["items"]
    status = visit.query.get("status")
    deliveries = await visit.api.get(
        f"{_API}/deliveries", cursor=visit.query.get("cursor"), status=status if status in STATUSES else None
    )
    typed = Typed(fields=fields, errors=error.errors) if error else None
    if error is not None:
        told = visit.refused(error)
    return inbound_page(
        visit, routes, deliveries, told=told, typed=typed, status=error.status if error else 200
    )
