"""What a person is owed, by buttons: their archive, a link of their own, and their erasure."""

from typing import Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people.list_page import HOME
from tidings.backoffice.console.people.routes import API, person_reply, refused
from tidings.backoffice.console.visits import MOST_BYTES, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import MissingScopeError

privacy_pages = Resource("console-privacy", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"


@privacy_pages.post("/{recipient_id}/link", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_link(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Show a link by which they choose for themselves."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    try:
        link = await visit.api.post(at(f"{API}/{{}}/preference-link", recipient_id))
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "privacy", problem)
    return await person_reply(visit, recipient_id, "privacy", link=link)


@privacy_pages.post("/{recipient_id}/archive", media_type="application/zip", body_limit=MOST_BYTES)
@answering_with_pages
async def download_archive(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Everything that is held about them, as a zip that is made while it is sent."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    try:
        return await visit.api.download("POST", at(f"{API}/{{}}/export", recipient_id))
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "privacy", problem)


@privacy_pages.post("/{recipient_id}/erase", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def erase_person(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Erase them for good, by a code of now, and show the receipt."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    # Before the code is used up.
    if not visit.may("recipients:write"):
        raise MissingScopeError("recipients:write")
    reason = fields.get("reason", "").strip()
    try:
        attestation = await visit.api.attest("recipient.erase", fields.get("code", "")[:40])
        await visit.api.post(
            at(f"{API}/{{}}/erase", recipient_id),
            {"reason": reason} if reason else {},
            attestation=attestation,
        )
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "privacy", problem)
    return redirect(f"{HOME}/{recipient_id}?tab=privacy&told=people_erased")
