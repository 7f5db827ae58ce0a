"""Changes of what somebody chose: preferences with an undo, consent, and their guardian."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people.list_page import HOME
from tidings.backoffice.console.people.preference_form import CHANGED, change_of
from tidings.backoffice.console.people.preferences_page import undo_of
from tidings.backoffice.console.people.routes import API, person_reply, refused
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

choice_pages = Resource("console-choices", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"


@choice_pages.post("/{recipient_id}/preferences", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def save_preferences(request: Request, recipient_id: str, visits: Visits, clock: Clock) -> Reply:
    """Keep what was chosen, and offer to undo it."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    path = at(f"{API}/{{}}", recipient_id)
    before = await visit.api.get(f"{path}/preferences")
    try:
        after = await _change(visit, path, fields, change_of(fields, before, clock.now().isoformat()))
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "preferences", problem)
    told = undo_of(visit, {"id": recipient_id}, before, after)
    return await person_reply(visit, recipient_id, "preferences", told=told)


@choice_pages.post("/{recipient_id}/preferences/undo", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def undo_preferences(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Put back what was there before it was saved, unless somebody has changed it since."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        kept = msgspec.json.decode(fields.get("before", "{}"), type=dict[str, Any])
    except msgspec.DecodeError:
        kept = {}
    wanted: dict[str, Any] = {name: kept[name] for name in CHANGED if name in kept}
    try:
        await _change(visit, at(f"{API}/{{}}", recipient_id), fields, wanted)
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "preferences", problem)
    return redirect(f"{HOME}/{recipient_id}?tab=preferences&told=people_preferences_undone")


@choice_pages.post("/{recipient_id}/consent", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_consent(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Write a consent down, or that it was withdrawn."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    granted = fields.get("granted") == "yes"
    consent: dict[str, Any] = {"granted": granted}
    if granted:
        consent["source"] = fields.get("source", "").strip()
        consent["evidence"] = fields.get("evidence", "").strip() or None
    try:
        await _change(visit, at(f"{API}/{{}}", recipient_id), fields, {"marketing_consent": consent})
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "consents", problem)
    return redirect(f"{HOME}/{recipient_id}?tab=consents&told=people_consent_noted")


@choice_pages.post("/{recipient_id}/guardian", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_guardian(request: Request, recipient_id: str, visits: Visits) -> Reply:
    """Have a guardian hear for them, or nobody any more."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    guardian = fields.get("guardian", "").strip()
    path = at(f"{API}/{{}}", recipient_id)
    routing: dict[str, Any] | None = None
    if guardian:
        known = (await visit.api.get(f"{path}/preferences"))["guardian_routing"] or {}
        routing = {"guardian_id": guardian, "mode": fields.get("mode", "")}
        # The form has no field for them: they stay as they are.
        routing["categories"] = known.get("categories") or []
    try:
        await _change(visit, path, fields, {"guardian_routing": routing})
    except ApiProblemError as problem:
        return await refused(visit, recipient_id, "preferences", problem)
    return redirect(f"{HOME}/{recipient_id}?tab=preferences&told=saved")


async def _change(visit: Visit, path: str, fields: Mapping[str, str], wanted: Mapping[str, Any]) -> Any:
    """Made from the version that the form showed; another one in between is not overwritten."""
    version = fields.get("version", "")
    answer = await visit.api.call(
        "PATCH",
        f"{path}/preferences",
        body=wanted,
        if_match=f'"v{version}"' if version.isdecimal() else '"v0"',
    )
    return answer.data
