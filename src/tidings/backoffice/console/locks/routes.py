"""Pages of locks."""

import secrets
from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.locks.audit_page import FILTERS, audit_page
from tidings.backoffice.console.locks.names import ACTIONS, API, HERE, reservation_path
from tidings.backoffice.console.locks.reservation_page import TriedAction, reservation_page
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people_names import names_of_operators
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.refusals import NotFoundError

locks_pages = Resource("console-locks", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_MOST: Final = 200
_ATTESTED: Final[Mapping[str, AttestedAction]] = {
    "issue": "lock.issue",
    "revoke": "lock.revoke",
    "rebind": "lock.rebind",
    "extend": "lock.extend",
}


@locks_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_lock_actions(request: Request, visits: Visits) -> Reply:
    """What was done to locks, and the way to a reservation's keys."""
    visit = await visits.open(request, of_tenant=True)
    query = {name: visit.query.get(name) for name in FILTERS}
    error, found = None, None
    try:
        found = await visit.api.get(f"{API}/actions", **query)
    except ApiProblemError as wrong:
        if wrong.status not in (400, 404, 422):
            raise
        error = wrong
    properties = await visit.api.get("/bff/v1/properties", limit=_MOST)
    return audit_page(
        visit,
        query,
        found,
        properties=properties["items"],
        names=await names_of_operators(visit),
        error=error,
    )


@locks_pages.get("/find", media_type=_HTML)
@answering_with_pages
async def find_reservation(request: Request, visits: Visits) -> Reply:
    """Leads to the keys of a reservation."""
    visit = await visits.open(request, of_tenant=True)
    property_id, reservation = visit.query.get("property", ""), visit.query.get("reservation", "").strip()
    if not property_id or not reservation:
        return redirect(HERE)
    return redirect(reservation_path(property_id, reservation))


@locks_pages.get("/{property_id}/{reservation}", media_type=_HTML)
@answering_with_pages
async def show_reservation_keys(
    request: Request, property_id: str, reservation: str, visits: Visits
) -> Reply:
    """The keys of a reservation, and what may be done with them."""
    visit = await visits.open(request, of_tenant=True)
    return await _reservation(visit, property_id, reservation, told=visit.told())


@locks_pages.post("/{property_id}/{reservation}/{action}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def act_on_lock(
    request: Request, property_id: str, reservation: str, action: str, visits: Visits
) -> Reply:
    """Do one of four things, with a code."""
    # Keys are taken away in a frozen tenant, too.
    visit, fields = await visits.posted(request, writes=action != "revoke", of_tenant=True)
    if action not in ACTIONS:
        raise NotFoundError("there is no such action")
    body: dict[str, Any] = {"property_id": property_id}
    if action == "issue":
        body["credential"] = fields.get("credential", "card")
    if action == "rebind":
        body["room"] = fields.get("room", "").strip()
    if fields.get("until") and action in ("issue", "extend"):
        body["valid_until"] = _moment(fields["until"])
    try:
        attestation = await visit.attest(_ATTESTED[action], fields)
        answer = await visit.api.call(
            "POST",
            at(API + "/{}/{}", reservation, action),
            body=body,
            attestation=attestation,
            headers={"idempotency-key": fields.get("once") or secrets.token_urlsafe(16)},
        )
    except ApiProblemError as error:
        return await _reservation(
            visit,
            property_id,
            reservation,
            tried=TriedAction(action, fields, error),
            told=visit.refused(error),
        )
    done = answer.data
    if done["outcome"] == "failure":
        text = visit.words["locks.failed"].replace("{code}", done["error_code"] or "–")
        return await _reservation(visit, property_id, reservation, told=Told(text=text, is_error=True))
    told = "lock_unknown" if done["outcome"] == "unknown" else f"lock_{action}"
    return redirect(f"{reservation_path(property_id, reservation)}?told={told}")


async def _reservation(
    visit: Visit,
    property_id: str,
    reservation: str,
    *,
    told: Told | None,
    tried: TriedAction | None = None,
) -> Reply:
    keys, away = None, None
    try:
        keys = (await visit.api.get(at(API + "/{}/keys", reservation), property_id=property_id))["items"]
    except ApiProblemError as error:
        if error.status != 503:
            raise
        away = error
    done = await visit.api.get(
        f"{API}/actions", reservation_id=reservation, property_id=property_id, limit=20
    )
    names = await names_of_operators(visit)
    return reservation_page(
        visit,
        property_id,
        reservation,
        keys,
        done=done["items"],
        names=names,
        told=told,
        tried=tried,
        away=away,
    )


def _moment(text: str) -> str:
    """What a field of day and time holds, in UTC, as it says; what is none is the API's to refuse."""
    return f"{text}:00Z" if len(text) == len("2026-11-19T12:00") else text
