"""Digests: the list with the tenant's schedule, one with its items, and sending one now."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.digests.pages import (
    HERE,
    digest_page,
    digests_page,
    schedule_form,
    schedule_table,
)
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, text, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

digests_pages = Resource(
    "console-digests", at="/console/digests", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_API: Final = "/api/v1/digests"
_FILTERS: Final = ("state", "category", "channel", "recipient", "cursor")


@digests_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_digests(request: Request, visits: Visits) -> Reply:
    """Digests that are being gathered, and the tenant's schedule."""
    return await _digests(await visits.open(request, of_tenant=True))


@digests_pages.post("/schedule", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_schedule(request: Request, visits: Visits) -> Reply:
    """Say when messages come, for those who have not chosen; the platform's people write a tenant's policy."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    tenant = (await visit.api.get("/api/v1/tenant"))["tenant"]
    policy = tenant["notification_policy"]
    schedule = _read(fields, policy.get("digest_schedule") or {})
    body = {"notification_policy": {**policy, "digest_schedule": schedule}}
    try:
        await visit.api.call(
            "PATCH",
            at("/internal/v1/tenants/{}", tenant["id"]),
            body=body,
            if_match=f'"v{whole(fields, "version")}"',
        )
    except ApiProblemError as error:
        newer = {"version": str(tenant["version"])} if error.status == 412 else {}
        return await _digests(visit, Typed(fields={**fields, **newer}, errors=error.errors), error)
    return redirect(f"{HERE}?told=saved")


@digests_pages.get("/{digest_id}", media_type=_HTML)
@answering_with_pages
async def show_digest(request: Request, digest_id: str, visits: Visits) -> Reply:
    """One of them with its items."""
    visit = await visits.open(request, of_tenant=True)
    return digest_page(visit, await visit.api.get(at(f"{_API}/{{}}", digest_id)))


@digests_pages.post("/{digest_id}/flush", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def flush_now(request: Request, digest_id: str, visits: Visits) -> Reply:
    """Send it now, without waiting for its time."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    path = at(f"{_API}/{{}}", digest_id)
    try:
        await visit.api.post(f"{path}/flush")
    except ApiProblemError as error:
        if error.status in (401, 404):
            raise
        return digest_page(visit, await visit.api.get(path), told=visit.refused(error), status=error.status)
    return redirect(f"{HERE}/{digest_id}?told=digest_flushed")


async def _digests(visit: Visit, typed: Typed | None = None, error: ApiProblemError | None = None) -> Reply:
    if error is not None and error.status == 401:
        raise error
    wanted = {name: visit.query.get(name, "").strip() for name in _FILTERS}
    found = await visit.api.get(_API, **wanted)
    categories = []
    if visit.may("templates:read"):
        categories = (await visit.api.get("/api/v1/categories"))["items"]
    tenant = (await visit.api.get("/api/v1/tenant"))["tenant"]
    schedule: Mapping[str, Any] = tenant["notification_policy"].get("digest_schedule") or {}
    if visit.may("tenants:write"):
        shown = schedule_form(visit, typed or Typed(fields=_fields(schedule, tenant["version"])), categories)
    else:
        shown = schedule_table(visit, schedule, categories)
    told = visit.refused(error) if error else None
    return digests_page(visit, found, categories, shown, told=told, status=error.status if error else 200)


def _fields(schedule: Mapping[str, Any], version: int) -> dict[str, str]:
    found = {"version": str(version)}
    for name, choice in schedule.items():
        found[f"every-{name}"] = choice["every"]
        found[f"at-{name}"] = choice.get("at") or ""
        found[f"minutes-{name}"] = str(choice.get("minutes") or "")
    return found


def _read(fields: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """The schedule of the form; what it has no field for (days, the longest wait) stays where the form does."""
    named = [name.removeprefix("every-") for name in fields if name.startswith("every-")]
    schedule = {name: choice for name, choice in before.items() if name not in named}
    for name in named:
        every = text(fields, f"every-{name}")
        if every is None:
            continue
        kept = before.get(name, {}) if before.get(name, {}).get("every") == every else {}
        minutes = whole(fields, f"minutes-{name}") if every in ("minutes", "pause") else None
        at_ = text(fields, f"at-{name}") if every in ("day", "week") else None
        choice = {**kept, **given(every=every, at=at_, minutes=minutes)}
        if every == "pause" and isinstance(minutes, int):
            choice.setdefault("at_most_minutes", minutes * 6)
        schedule[name] = choice
    return schedule
