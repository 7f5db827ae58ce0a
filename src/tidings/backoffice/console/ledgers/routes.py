"""Pages of the activity ledger, of exports and of notes."""

import re
from typing import Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.ledgers.activity_page import FILTERS, activity_page
from tidings.backoffice.console.ledgers.exports_page import exports_page
from tidings.backoffice.console.ledgers.notes_page import NOTE_FILTERS, NOTES, notes_page
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people_names import names_of_operators
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

ledgers_pages = Resource(
    "console-ledgers", at="/console", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_WRONG: Final = (400, 404, 422)


@ledgers_pages.get("/activity", media_type=_HTML)
@answering_with_pages
async def show_activity(request: Request, visits: Visits) -> Reply:
    """What operators did, the newest first."""
    visit = await visits.open(request)
    query = {name: visit.query.get(name) for name in FILTERS}
    asked = {
        **query,
        "since": _moment(query["since"], "00:00:00"),
        "until": _moment(query["until"], "23:59:59"),
    }
    error, found = None, None
    try:
        found = await visit.api.get("/bff/v1/activity", **asked)
    except ApiProblemError as wrong:
        if wrong.status not in _WRONG:
            raise
        error = wrong
    return activity_page(visit, query, found, await names_of_operators(visit), error)


@ledgers_pages.get("/activity/exports", media_type=_HTML)
@answering_with_pages
async def show_exports(request: Request, visits: Visits) -> Reply:
    """The files that ledgers are exported to."""
    visit = await visits.open(request)
    found = await visit.api.get(
        "/bff/v1/exports", ledger=visit.query.get("ledger"), cursor=visit.query.get("cursor")
    )
    return exports_page(visit, found)


@ledgers_pages.get("/notes", media_type=_HTML)
@answering_with_pages
async def show_notes(request: Request, visits: Visits) -> Reply:
    """What operators wrote."""
    return await _notes(await visits.open(request, of_tenant=True))


@ledgers_pages.post("/notes/{note_id}/redact", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def redact_note_by_form(request: Request, note_id: str, visits: Visits) -> Reply:
    """Forget what a note says."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        attestation = await visit.attest("note.redact", fields)
        await visit.api.post(at("/bff/v1/notes/{}/redact", note_id), attestation=attestation)
    except ApiProblemError as error:
        return await _notes(visit, error)
    return redirect(f"{NOTES}?told=note_redacted")


async def _notes(visit: Visit, error: ApiProblemError | None = None) -> Reply:
    query = {name: visit.query.get(name) for name in NOTE_FILTERS}
    found = None
    try:
        found = await visit.api.get("/bff/v1/notes", **query)
    except ApiProblemError as wrong:
        if wrong.status not in _WRONG:
            raise
        error = wrong
    return notes_page(visit, query, found, await names_of_operators(visit), error)


def _moment(day: str | None, time: str) -> str | None:
    """A day of the filter as the API takes it; what is none is the API's to refuse."""
    return f"{day}T{time}Z" if day and _DAY.fullmatch(day) else day
