"""Pages of alerts: the inbox, one alert, what the buttons do, and the number in the navigation."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import urlencode

from tidings.backoffice.console.alerts.alert_card import HERE, MUTES
from tidings.backoffice.console.alerts.alerts_page import FILTERS, alert_page, alerts_page
from tidings.backoffice.console.alerts.telling_page import telling_page
from tidings.backoffice.console.frame import HEADERS, Told, open_alerts, redirect
from tidings.backoffice.console.kit.forms import button, hidden, post_form
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

alerts_pages = Resource("console-alerts", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/bff/v1/alerts"


@alerts_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_alerts(request: Request, visits: Visits) -> Reply:
    """What operators have to know of."""
    return await _inbox(await visits.open(request))


@alerts_pages.get("/count", media_type=_HTML)
@answering_with_pages
async def show_count(request: Request, visits: Visits) -> Reply:
    """The number beside the navigation's link alone, which every page asks for now and then."""
    visit = await visits.open(request)
    body = f"<!doctype html>\n{open_alerts(visit.words, visit.reader)}\n"
    return Reply(body=body.encode(), media_type=_HTML, headers=HEADERS)


@alerts_pages.get("/telling", media_type=_HTML)
@answering_with_pages
async def show_telling_page(request: Request, visits: Visits) -> Reply:
    """Of which alerts one is told by a message."""
    visit = await visits.open(request)
    return await _telling(visit, told=visit.told())


@alerts_pages.post("/telling", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def choose_telling_by_page(request: Request, visits: Visits) -> Reply:
    """Choose that."""
    visit, fields = await visits.posted(request, writes=True)
    severity = fields.get("severity", "")
    chosen = {
        "severity": severity if severity in ("critical", "warning", "info") else None,
        "phone": fields.get("phone", "").replace(" ", "") or None,
        "language": fields.get("language", "en"),
    }
    try:
        await visit.api.call("PUT", f"{_API}/telling", body=chosen)
    except ApiProblemError as error:
        return await _telling(visit, chosen, error)
    return redirect(f"{HERE}/telling?told=alert_telling")


@alerts_pages.post("/budgets", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def put_budget_by_page(request: Request, visits: Visits) -> Reply:
    """Say what the tenant means to spend in a month."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    amount = fields.get("amount", "").strip().replace(",", ".")
    path = at(_API + "/budgets/{}", fields.get("currency", "").strip().upper() or "-")
    try:
        micros = None if not amount else int(Decimal(amount) * 1_000_000)
        await visit.api.call("PUT", path, body={"micros": micros})
    except ApiProblemError as error:
        return await _telling(visit, error=error)
    except ArithmeticError:
        return await _telling(visit, told=Told(text=visit.words["alerts.budget_wrong"], is_error=True))
    return redirect(f"{HERE}/telling?told=alert_budget#budgets")


@alerts_pages.get("/{alert_id}", media_type=_HTML)
@answering_with_pages
async def show_alert(request: Request, alert_id: str, visits: Visits) -> Reply:
    """One of them."""
    visit = await visits.open(request)
    alert = await visit.api.get(at(_API + "/{}", alert_id))
    return alert_page(visit, alert, told=_told(visit))


@alerts_pages.post("/mutes", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def mute(request: Request, visits: Visits) -> Reply:
    """Tell nobody of a category for a time."""
    visit, fields = await visits.posted(request, writes=True)
    known = dict(MUTES)
    minutes = fields.get("minutes", "")
    body = {"minutes": int(minutes) if minutes in known else 60}
    try:
        await visit.api.call("PUT", at(_API + "/mutes/{}", fields.get("category") or "-"), body=body)
    except ApiProblemError as error:
        return await _inbox(visit, error)
    return redirect(_back(fields.get("back"), told="alerts_muted"))


@alerts_pages.post("/mutes/{category}/end", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def end_mute(request: Request, category: str, visits: Visits) -> Reply:
    """Tell of it again."""
    visit, fields = await visits.posted(request, writes=True)
    await visit.api.call("DELETE", at(_API + "/mutes/{}", category))
    return redirect(_back(fields.get("back"), told="alerts_unmuted"))


@alerts_pages.post("/{alert_id}/acknowledge", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def acknowledge(request: Request, alert_id: str, visits: Visits) -> Reply:
    """Say that one looks after it."""
    visit, fields = await visits.posted(request, writes=True)
    note = fields.get("note", "").strip()
    try:
        await visit.api.post(at(_API + "/{}/acknowledge", alert_id), {"note": note} if note else {})
    except ApiProblemError as error:
        return await _inbox(visit, error)
    return redirect(_back(fields.get("back"), told="alert_acknowledged", alert=alert_id))


@alerts_pages.post("/{alert_id}/withdraw", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def withdraw(request: Request, alert_id: str, visits: Visits) -> Reply:
    """Take that back."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        await visit.api.post(at(_API + "/{}/withdraw-acknowledgement", alert_id))
    except ApiProblemError as error:
        return await _inbox(visit, error)
    return redirect(_back(fields.get("back"), told="alert_withdrawn"))


@alerts_pages.post("/{alert_id}/resolve", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def resolve(request: Request, alert_id: str, visits: Visits) -> Reply:
    """End it by hand."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        await visit.api.post(at(_API + "/{}/resolve", alert_id))
    except ApiProblemError as error:
        return await _inbox(visit, error)
    return redirect(_back(fields.get("back"), told="alert_resolved"))


async def _inbox(visit: Visit, error: ApiProblemError | None = None) -> Reply:
    wanted = {} if error else {name: visit.query.get(name) for name in FILTERS}
    try:
        found = await visit.api.get(_API, **wanted)
    except ApiProblemError as wrong:
        if wrong.status not in (400, 404, 422):
            raise
        error, found = wrong, {"items": [], "next_cursor": None}
    counts = await visit.api.get(f"{_API}/counts")
    mutes = (await visit.api.get(f"{_API}/mutes"))["items"]
    told = visit.refused(error) if error else _told(visit)
    return alerts_page(visit, found, counts, mutes, told=told, status=error.status if error else 200)


async def _telling(
    visit: Visit,
    chosen: Mapping[str, Any] | None = None,
    error: ApiProblemError | None = None,
    *,
    told: Told | None = None,
) -> Reply:
    budgets = [] if visit.tenant_is_missing else (await visit.api.get(f"{_API}/budgets"))["items"]
    return telling_page(
        visit,
        chosen if chosen is not None else await visit.api.get(f"{_API}/telling"),
        budgets,
        told=visit.refused(error) if error else told,
        errors=error.errors if error else None,
        status=error.status if error else 400 if told is not None and told.is_error else 200,
    )


def _told(visit: Visit) -> Told | None:
    """What was just done, with a button that undoes an acknowledgement."""
    told, alert_id = visit.told(), visit.query.get("alert")
    if told is None or not alert_id or visit.query.get("told") != "alert_acknowledged":
        return told
    undo = post_form(
        visit.reader,
        at(HERE + "/{}/withdraw", alert_id),
        hidden("back", HERE),
        button(visit.words["alerts.undo"], "quiet"),
    )
    return Told(text=told.text, action=undo)


def _back(path: str | None, **said: str) -> str:
    """The page of alerts where the button was pressed."""
    known = path if path is not None and (path == HERE or path.startswith((f"{HERE}?", f"{HERE}/"))) else HERE
    return f"{known}{'&' if '?' in known else '?'}{urlencode(said)}"
