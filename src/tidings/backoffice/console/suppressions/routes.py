"""Pages of suppressions, and what their buttons do."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.suppressions.list_page import FILTERS, HOME, found_page, list_page
from tidings.backoffice.console.suppressions.one_page import one_page
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import MissingScopeError

suppressions_pages = Resource(
    "console-suppressions", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_API: Final = "/api/v1/suppressions"
_SHOWN: Final = 50


@suppressions_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_suppressions(request: Request, visits: Visits) -> Reply:
    """Those in force, with filters."""
    visit = await visits.open(request, of_tenant=True)
    return await _listed(visit, told=visit.told() or _released(visit))


@suppressions_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def add_suppression(request: Request, visits: Visits) -> Reply:
    """Hold an address back, or a whole mail domain; shows it, with the button that releases it."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        made = await visit.api.post(_API, _wanted(fields))
    except ApiProblemError as problem:
        return await _listed(visit, told=_why(visit, problem), status=problem.status)
    return redirect(f"{HOME}/{made['id']}?told=suppressions_added")


@suppressions_pages.post("/find", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def find_suppressions(request: Request, visits: Visits) -> Reply:
    """All of one address, released ones too."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    wanted = {"channel": fields.get("channel", ""), "address": fields.get("address", "").strip()}
    try:
        found = await visit.api.post(f"{_API}/lookup", wanted)
    except ApiProblemError as problem:
        return await _listed(visit, told=_why(visit, problem), status=problem.status)
    return found_page(visit, found["items"])


@suppressions_pages.post("/release", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def release_many(request: Request, visits: Visits) -> Reply:
    """Release those that were chosen, by a code of now."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    # Before the code is used up.
    if not visit.may("suppressions:write"):
        raise MissingScopeError("suppressions:write")
    ids = [name.removeprefix("s:") for name in fields if name.startswith("s:")]
    if not ids:
        told = Told(text=visit.words["suppressions.none_chosen"], is_error=True)
        return await _listed(visit, told=told, status=400)
    reason = fields.get("reason", "").strip() or None
    try:
        attestation = await visit.api.attest("suppression.release_many", fields.get("code", "")[:40])
        done = await visit.api.post(
            f"{_API}/release", {"ids": ids, "reason": reason}, attestation=attestation
        )
    except ApiProblemError as problem:
        return await _listed(visit, told=_why(visit, problem), status=problem.status)
    return redirect(f"{HOME}?count={done['released']}")


@suppressions_pages.post("/export", media_type="text/csv", body_limit=MOST_BYTES)
@answering_with_pages
async def export_suppressions(request: Request, visits: Visits) -> Reply:
    """All of them as a CSV; addresses are hints."""
    visit, _ = await visits.posted(request, writes=False, of_tenant=True)
    return await visit.api.download("GET", f"{_API}/export")


@suppressions_pages.get("/{suppression_id}", media_type=_HTML)
@answering_with_pages
async def show_suppression(request: Request, suppression_id: str, visits: Visits) -> Reply:
    """One of them, with who did what."""
    visit = await visits.open(request, of_tenant=True)
    return await _one(visit, suppression_id, told=visit.told())


@suppressions_pages.post("/{suppression_id}/release", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def release_one(request: Request, suppression_id: str, visits: Visits) -> Reply:
    """The address may be written to again."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    query = {"reason": fields.get("reason", "").strip()}
    try:
        await visit.api.call("DELETE", at(f"{_API}/{{}}", suppression_id), query=query)
    except ApiProblemError as problem:
        if problem.status in (401, 404):
            raise
        return await _one(visit, suppression_id, told=_why(visit, problem), status=problem.status)
    return redirect(f"{HOME}/{suppression_id}?told=suppressions_released")


async def _listed(visit: Visit, *, told: Told | None = None, status: int = 200) -> Reply:
    stats = await visit.api.get(f"{_API}/stats")
    wanted = {key: visit.query.get(key) for key in (*FILTERS, "cursor")}
    try:
        found = await visit.api.get(_API, limit=_SHOWN, **wanted)
    except ApiProblemError as problem:
        if problem.status not in (400, 422):
            raise
        found = {"items": [], "next_cursor": None}
        return list_page(visit, found, stats, told=visit.refused(problem), status=400)
    return list_page(visit, found, stats, told=told, status=status)


async def _one(visit: Visit, suppression_id: str, *, told: Told | None = None, status: int = 200) -> Reply:
    path = at(f"{_API}/{{}}", suppression_id)
    one = await visit.api.get(path)
    history = await visit.api.get(f"{path}/history")
    return one_page(visit, one, history["items"], told=told, status=status)


def _wanted(fields: Mapping[str, str]) -> dict[str, Any]:
    """What a form asks for; `@example.org` means the whole domain."""
    channel, target = fields.get("channel", ""), fields.get("address", "").strip()
    wanted: dict[str, Any] = {"channel": channel, "reason": fields.get("reason", "manual")}
    if channel == "email" and target.startswith("@"):
        wanted["mail_domain"] = target.removeprefix("@")
    else:
        wanted["address"] = target
    until = fields.get("until", "")
    try:
        wanted["expires_at"] = f"{date.fromisoformat(until)}T00:00:00Z" if until else None
    except ValueError:
        wanted["expires_at"] = until
    wanted["notes"] = fields.get("notes", "").strip() or None
    return wanted


def _why(visit: Visit, problem: ApiProblemError) -> Told:
    """What the API says against it, by field where it names fields."""
    if problem.errors and problem.status in (400, 422):
        return Told(text="; ".join(f"{name} {what}" for name, what in problem.errors.items()), is_error=True)
    return visit.refused(problem)


def _released(visit: Visit) -> Told | None:
    """How many were released just now, as the address says."""
    count = visit.query.get("count", "")
    if not count.isdecimal() or len(count) > 4:
        return None
    return Told(text=visit.words["suppressions.released_many"].replace("{count}", count))
