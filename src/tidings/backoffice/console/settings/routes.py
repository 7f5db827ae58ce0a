"""Pages of a tenant's settings."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, lines, several, text, whole
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.settings.settings_page import DAYS, HERE, MOST_QUIET, settings_page
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

settings_pages = Resource("console-settings", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/api/v1/settings"
_SINGLE: Final = ("per_recipient_per_hour", "per_recipient_per_day")
_BY_CHANNEL: Final = ("per_recipient_per_channel_per_hour", "per_recipient_per_channel_per_day")

Fields = Mapping[str, str]


@settings_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_settings(request: Request, visits: Visits) -> Reply:
    """What is so."""
    return await _settings(await visits.open(request, of_tenant=True))


@settings_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def save_settings(request: Request, visits: Visits) -> Reply:
    """Change them, from the version that is on the page."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        known = await visit.api.get(_API)
        await visit.api.call("PATCH", _API, body=_wanted(fields, known), if_match=fields.get("etag"))
    except ApiProblemError as error:
        return await _settings(visit, error, typed=Typed(fields=fields, errors=error.errors))
    return redirect(f"{HERE}?told=settings_saved")


async def _settings(
    visit: Visit, error: ApiProblemError | None = None, *, typed: Typed | None = None
) -> Reply:
    answer = await visit.api.call("GET", _API)
    # What was typed was typed over the version that its page showed.
    etag = typed.value("etag") if typed else answer.etag
    told = visit.refused(error) if error else None
    return settings_page(
        visit, answer.data, etag, told=told, typed=typed, status=error.status if error else 200
    )


def _wanted(fields: Fields, known: Mapping[str, Any]) -> dict[str, Any]:
    hours = [_hours(fields, place) for place in range(MOST_QUIET)]
    # Those that the page has no room for stay.
    kept = known["quiet_hours"][MOST_QUIET:]
    return {
        "default_locale": text(fields, "default_locale") or "",
        "default_timezone": text(fields, "default_timezone") or "",
        "quiet_hours": [one for one in hours if one] + kept,
        "limits": given(
            **{name: whole(fields, name) for name in _SINGLE},
            **{name: _by_channel(fields, name) for name in _BY_CHANNEL},
        ),
        "allowed_link_domains": several(fields, "allowed_link_domains"),
        "searchable_metadata": several(fields, "searchable_metadata"),
        "double_opt_in": "double_opt_in" in fields,
        "batches_need_approval": "batches_need_approval" in fields,
        "tracking": {name: name in fields for name in ("opens", "clicks")},
    }


def _hours(fields: Fields, place: int) -> dict[str, Any]:
    days = [day for day in DAYS if f"q{place}.{day}" in fields]
    times = given(start=text(fields, f"q{place}.start"), end=text(fields, f"q{place}.end"))
    if not days and not times:
        return {}
    return {"days": days, **times, **given(timezone=text(fields, f"q{place}.timezone"))}


def _by_channel(fields: Fields, name: str) -> dict[str, Any]:
    found = {}
    for line in lines(fields, name):
        channel, _, count = line.partition(" ")
        found[channel] = whole({name: count}, name)
    return found
