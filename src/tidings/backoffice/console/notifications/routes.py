"""Pages of notifications, and what their buttons do."""

from datetime import date, timedelta
from typing import Any, Final

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.notifications.body_page import body_page, missing_page
from tidings.backoffice.console.notifications.explain_page import explain_page
from tidings.backoffice.console.notifications.list_page import FILTERS, HOME, list_page
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people.names import names_of
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

notifications_pages = Resource(
    "console-notifications", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_API: Final = "/api/v1/notifications"
_SHOWN: Final = 50


@notifications_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_notifications(request: Request, visits: Visits) -> Reply:
    """The newest first, with filters."""
    visit = await visits.open(request, of_tenant=True)
    searchable = await searchable_names(visit)
    try:
        found = await visit.api.get(_API, limit=_SHOWN, **_wanted(visit))
    except ApiProblemError as problem:
        if problem.status not in (400, 422):
            raise
        nothing: dict[str, Any] = {"items": [], "next_cursor": None}
        return list_page(visit, nothing, searchable, told=visit.refused(problem), status=400)
    names = await names_of(visit, (one["recipient_id"] for one in found["items"]))
    return list_page(visit, found, searchable, names=names, told=visit.told())


@notifications_pages.get("/{notification_id}", media_type=_HTML)
@answering_with_pages
async def show_explanation(request: Request, notification_id: str, visits: Visits) -> Reply:
    """Why somebody did, or did not, get it."""
    visit = await visits.open(request, of_tenant=True)
    return await _explained(visit, notification_id, told=visit.told())


@notifications_pages.get("/{notification_id}/body", media_type=_HTML)
@answering_with_pages
async def show_words(request: Request, notification_id: str, visits: Visits) -> Reply:
    """What was written, for a frame of its own policy."""
    visit = await visits.open(request, of_tenant=True)
    try:
        shown = await visit.api.get(
            at(f"{_API}/{{}}/body", notification_id), channel=visit.query.get("channel")
        )
    except ApiProblemError as problem:
        if problem.status == 401:
            raise
        return missing_page(visit, visit.refused(problem).text)
    return body_page(visit, shown)


@notifications_pages.post("/{notification_id}/resend", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def resend(request: Request, notification_id: str, visits: Visits) -> Reply:
    """Send it once more, to the same recipient; show the new one."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    key = fields.get("key", "")[:64]
    headers = {"idempotency-key": key} if key.isalnum() else None
    try:
        made = (
            await visit.api.call("POST", at(f"{_API}/{{}}/resend", notification_id), headers=headers)
        ).data
    except ApiProblemError as problem:
        return await _refused(visit, notification_id, problem)
    return redirect(f"{HOME}/{made['id']}?told=notifications_resent")


@notifications_pages.post("/{notification_id}/cancel", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def cancel(request: Request, notification_id: str, visits: Visits) -> Reply:
    """Take it back while it waits."""
    return await _do(request, visits, notification_id, "cancel", told="notifications_cancelled")


@notifications_pages.post("/{notification_id}/release", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def send_now(request: Request, notification_id: str, visits: Visits) -> Reply:
    """Have it wait no longer for the end of quiet hours, its digest or its time."""
    return await _do(request, visits, notification_id, "release", told="notifications_released")


@notifications_pages.post("/{notification_id}/release-suppression", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def release_suppression(request: Request, notification_id: str, visits: Visits) -> Reply:
    """Release what held it back; sending it again is another button."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    path = at("/api/v1/suppressions/{}", fields.get("suppression", ""))
    try:
        await visit.api.call("DELETE", path, query={"reason": fields.get("reason", "").strip()})
    except ApiProblemError as problem:
        return await _refused(visit, notification_id, problem)
    return redirect(at(f"{HOME}/{{}}?told=notifications_suppression_released", notification_id))


async def searchable_names(visit: Visit) -> list[str]:
    """Names in the metadata that the tenant finds notifications by."""
    known = await visit.api.get("/api/v1/tenant")
    policy = known["tenant"]["notification_policy"] or {}
    return [str(name) for name in policy.get("searchable_metadata") or ()]


async def _do(request: Request, visits: Visits, notification_id: str, verb: str, *, told: str) -> Reply:
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    try:
        await visit.api.post(at(f"{_API}/{{}}/{verb}", notification_id))
    except ApiProblemError as problem:
        return await _refused(visit, notification_id, problem)
    return redirect(f"{HOME}/{notification_id}?told={told}")


async def _refused(visit: Visit, notification_id: str, problem: ApiProblemError) -> Reply:
    """The page as it stands, with why nothing was done."""
    if problem.status in (401, 404):
        raise problem
    return await _explained(visit, notification_id, told=visit.refused(problem), status=problem.status)


async def _explained(
    visit: Visit, notification_id: str, *, told: Told | None = None, status: int = 200
) -> Reply:
    explained = await visit.api.get(at(f"{_API}/{{}}/explain", notification_id))
    person = None
    if visit.may("recipients:read"):
        recipient_id = explained["notification"]["recipient_id"]
        person = await visit.api.get(at("/api/v1/recipients/{}", recipient_id))
    return explain_page(visit, explained, person, told=told, status=status)


def _wanted(visit: Visit) -> dict[str, str | None]:
    """The filters of the address as the API takes them."""
    query = visit.query
    wanted: dict[str, str | None] = {key: query.get(key) for key in (*FILTERS, "cursor")}
    wanted["since"] = _moment(query.get("since"))
    wanted["until"] = _moment(query.get("until"), end=True)
    if query.get("name") and query.get("value"):
        wanted[f"metadata.{query['name']}"] = query["value"]
    return wanted


def _moment(text: str | None, *, end: bool = False) -> str | None:
    """A day of a date field as the moment that it begins or ends at; whatever else was typed as it is."""
    if not text or len(text) != len("2026-01-01"):
        return text
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return text
    return f"{day + timedelta(days=1) if end else day}T00:00:00Z"
