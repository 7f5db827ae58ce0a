"""How a tenant looks: the form with what it would look like, and saving it."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.branding.pages import HERE, branding_page
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.kit.typed import Typed, given, text, whole
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.templates.editor_form import is_rtl
from tidings.backoffice.console.templates.paths import template_api, version_api
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

branding_pages = Resource(
    "console-branding", at="/console/branding", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_API: Final = "/api/v1/branding"
#: The mail that shows most of a look.
_USUAL_MAIL: Final = "reservation_confirmation"


@branding_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_branding(request: Request, visits: Visits) -> Reply:
    """How the tenant looks."""
    visit = await visits.open(request, of_tenant=True)
    found = await visit.api.get(_API)
    fields = {**found["branding"], "version": str(found["version"]), "mail": visit.query.get("mail", "")}
    if "primary_colour" in fields:
        fields["has_colour"] = "on"
    return await _page(visit, fields)


@branding_pages.post("/preview", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def show_look(request: Request, visits: Visits) -> Reply:
    """What is typed as it would look; nothing is written."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    return await _page(visit, fields)


@branding_pages.post("/", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def save_branding(request: Request, visits: Visits) -> Reply:
    """Save it: it counts for every message that is made from then on."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        wanted = f'"v{whole(fields, "version")}"'
        await visit.api.call("PUT", _API, body=_read(fields), if_match=wanted)
    except ApiProblemError as error:
        if error.status == 401:
            raise
        if error.status == 412:
            # Saving once more is saving over what another has saved.
            fields = {**fields, "version": str((await visit.api.get(_API))["version"])}
        return await _page(visit, fields, error=error)
    return redirect(f"{HERE}?told=saved")


def _read(fields: Mapping[str, str]) -> dict[str, Any]:
    colour = text(fields, "primary_colour")
    # Who picks another colour means it, whether or not the box is ticked.
    if "has_colour" not in fields and colour == fields.get("colour_before", colour):
        colour = None
    return given(
        name=text(fields, "name"),
        logo_url=text(fields, "logo_url"),
        primary_colour=colour,
        footer=text(fields, "footer"),
        support_url=text(fields, "support_url"),
    )


async def _page(visit: Visit, fields: Mapping[str, str], *, error: ApiProblemError | None = None) -> Reply:
    mails: list[str] = []
    mail = None
    shown: list[Any] = []
    faults: Mapping[str, str] = {}
    if visit.may("templates:read"):
        found = await visit.api.get("/api/v1/templates", channel="email", status="active", limit=100)
        mails = sorted({one["key"] for one in found["items"]})
        chosen = next(
            (key for key in (fields.get("mail", ""), _USUAL_MAIL, *mails[:1]) if key in mails), None
        )
        if chosen is not None:
            mail = await visit.api.get(template_api(chosen, "email"))
            shown, faults = await _shown(visit, mail, _read(fields))
    return branding_page(
        visit,
        Typed(fields=fields, errors=error.errors if error else {}),
        mails=mails,
        mail=mail,
        shown=shown,
        faults=faults,
        told=visit.refused(error) if error else None,
        status=error.status if error else 200,
    )


async def _shown(
    visit: Visit, mail: Mapping[str, Any], branding: Mapping[str, Any]
) -> tuple[list[Any], Mapping[str, str]]:
    """The mail in its own language and in one that is read the other way; what the API has against the look."""
    path = version_api(mail["key"], "email", mail["active_version"])
    query = {"owner": mail["owner"]}
    version = (await visit.api.call("GET", path, query=query)).data
    first = (
        mail["default_locale"]
        if mail["default_locale"] in version["locales"]
        else next(iter(version["locales"]))
    )
    others = [tag for tag in version["locales"] if is_rtl(tag, version) != is_rtl(first, version)]
    shown = []
    for tag in (first, *others[:1]):
        body = {"locale": tag, "branding": branding}
        try:
            shown.append((await visit.api.call("POST", f"{path}/preview", query=query, body=body)).data)
        except ApiProblemError as error:
            if error.status == 401:
                raise
            said = {name.removeprefix("branding."): remedy for name, remedy in error.errors.items()}
            return shown, said or {error.code: error.detail}
    return shown, {}
