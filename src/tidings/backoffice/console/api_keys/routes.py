"""Pages of API keys: of the tenant, or of the platform where its people have chosen none."""

from typing import Final

from tidings.backoffice.console.api_keys.keys_page import HERE, key_once_page, keys_page
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, moment_of, several, text, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

keys_pages = Resource("console-api-keys", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/api/v1/api-keys"


@keys_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_keys(request: Request, visits: Visits) -> Reply:
    """All keys; never their secrets."""
    return await _keys(await visits.open(request))


@keys_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_key(request: Request, visits: Visits) -> Reply:
    """Make a key, and show it, this once."""
    visit, fields = await visits.posted(request, writes=True)
    body = given(
        name=text(fields, "name"),
        role=text(fields, "role"),
        environment=text(fields, "environment"),
        expires_at=moment_of(fields, "expires_at"),
        scopes=several(fields, "scopes"),
    )
    try:
        made = await visit.api.post(_API, body, attestation=await visit.attest("api_key.make", fields))
    except ApiProblemError as error:
        return await _keys(visit, error, typed=Typed(fields=fields, errors=error.errors))
    return key_once_page(visit, made)


@keys_pages.post("/{key_id}/rotate", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def rotate_key(request: Request, key_id: str, visits: Visits) -> Reply:
    """Give a key a successor, and show that, this once."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        attestation = await visit.attest("api_key.make", fields)
        body = given(overlap_seconds=whole(fields, "overlap"))
        made = await visit.api.post(at(f"{_API}/{{}}/rotate", key_id), body, attestation=attestation)
    except ApiProblemError as error:
        return await _keys(visit, error)
    return key_once_page(visit, made)


@keys_pages.post("/{key_id}/revoke", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def revoke_key(request: Request, key_id: str, visits: Visits) -> Reply:
    """It stops working everywhere within a second."""
    visit, _ = await visits.posted(request, writes=False)
    await visit.api.call("DELETE", at(f"{_API}/{{}}", key_id))
    return redirect(f"{HERE}?told=key_revoked")


async def _keys(visit: Visit, error: ApiProblemError | None = None, *, typed: Typed | None = None) -> Reply:
    found = await visit.api.get(_API, cursor=visit.query.get("cursor"))
    told = visit.refused(error) if error else None
    return keys_page(visit, found, told=told, typed=typed, status=error.status if error else 200)
