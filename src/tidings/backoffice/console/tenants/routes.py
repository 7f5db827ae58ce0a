"""Pages of tenants, which are the platform's."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, several, text, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.tenants.tenants_page import (
    HERE,
    STATUSES,
    new_tenant_page,
    tenant_page,
    tenants_page,
)
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

tenants_pages = Resource("console-tenants", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/internal/v1/tenants"
_ONE: Final = f"{_API}/{{}}"
_IDENTITY: Final = ("name", "slug", "default_locale", "default_timezone")

Fields = Mapping[str, str]


@tenants_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_tenants(request: Request, visits: Visits) -> Reply:
    """All tenants."""
    visit = await visits.open(request)
    status = visit.query.get("status")
    found = await visit.api.get(
        _API, cursor=visit.query.get("cursor"), status=status if status in STATUSES else None
    )
    return tenants_page(visit, found)


@tenants_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def show_new_tenant(request: Request, visits: Visits) -> Reply:
    """A tenant to be."""
    return new_tenant_page(await visits.open(request), Typed())


@tenants_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_tenant(request: Request, visits: Visits) -> Reply:
    """Make a tenant."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        made = await visit.api.post(_API, given(**{name: text(fields, name) for name in _IDENTITY}))
    except ApiProblemError as error:
        typed = Typed(fields=fields, errors=error.errors)
        return new_tenant_page(visit, typed, told=visit.refused(error), status=error.status)
    return redirect(f"{HERE}/{made['id']}?told=tenant_made")


@tenants_pages.get("/{tenant_id}", media_type=_HTML)
@answering_with_pages
async def show_tenant(request: Request, tenant_id: str, visits: Visits) -> Reply:
    """One tenant."""
    return await _tenant(await visits.open(request), tenant_id)


@tenants_pages.post("/{tenant_id}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_tenant(request: Request, tenant_id: str, visits: Visits) -> Reply:
    """Change who it is, and what the platform grants it; the rest of its policy stays."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        known = await visit.api.get(at(_ONE, tenant_id))
        body = given(**{name: text(fields, name) for name in _IDENTITY}, weight=whole(fields, "weight"))
        body["notification_policy"] = _policy(fields, known["notification_policy"])
        await visit.api.call("PATCH", at(_ONE, tenant_id), body=body, if_match=fields.get("etag"))
    except ApiProblemError as error:
        return await _tenant(visit, tenant_id, error, typed=Typed(fields=fields, errors=error.errors))
    return redirect(f"{HERE}/{tenant_id}?told=tenant_saved")


def _closing(verb: str, told: str) -> None:
    @tenants_pages.post(
        f"/{{tenant_id}}/{verb}", name=f"{verb}_tenant_by_page", media_type=_HTML, body_limit=MOST_BYTES
    )
    @answering_with_pages
    async def close(request: Request, tenant_id: str, visits: Visits) -> Reply:
        """Close it, with a code of the authenticator."""
        visit, fields = await visits.posted(request, writes=True)
        try:
            attestation = await visit.attest("tenant.close", fields)
            body = given(reason=text(fields, "reason"))
            await visit.api.post(f"{at(_ONE, tenant_id)}/{verb}", body, attestation=attestation)
        except ApiProblemError as error:
            return await _tenant(visit, tenant_id, error)
        return redirect(f"{HERE}/{tenant_id}?told={told}")


def _opening(verb: str) -> None:
    @tenants_pages.post(
        f"/{{tenant_id}}/{verb}", name=f"{verb}_tenant_by_page", media_type=_HTML, body_limit=MOST_BYTES
    )
    @answering_with_pages
    async def reopen(request: Request, tenant_id: str, visits: Visits) -> Reply:
        """Open it again."""
        visit, _ = await visits.posted(request, writes=True)
        await visit.api.post(f"{at(_ONE, tenant_id)}/{verb}")
        return redirect(f"{HERE}/{tenant_id}?told=tenant_open")


_closing("freeze", "tenant_frozen")
_closing("suspend", "tenant_suspended")
_opening("unfreeze")
_opening("resume")


async def _tenant(
    visit: Visit, tenant_id: str, error: ApiProblemError | None = None, *, typed: Typed | None = None
) -> Reply:
    answer = await visit.api.call("GET", at(_ONE, tenant_id))
    etag = typed.value("etag") if typed else answer.etag
    told = visit.refused(error) if error else None
    return tenant_page(
        visit, answer.data, etag, told=told, typed=typed, status=error.status if error else 200
    )


def _policy(fields: Fields, known: Mapping[str, Any]) -> dict[str, Any]:
    limits = {
        **(known.get("limits") or {}),
        "per_second": whole(fields, "per_second"),
        "per_day": whole(fields, "per_day"),
    }
    return {
        **known,
        "limits": given(**limits),
        "allowed_sender_domains": several(fields, "allowed_sender_domains"),
        "allowed_sender_ids": several(fields, "allowed_sender_ids"),
    }
