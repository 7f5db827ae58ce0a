"""Templates: the list, a new one, one with its versions, and what is done with it as a whole."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.approvals import Approvals
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.people_names import names_of_operators
from tidings.backoffice.console.templates.diff_page import diff_page
from tidings.backoffice.console.templates.editor_form import formats_of
from tidings.backoffice.console.templates.list_page import new_template_page, templates_page
from tidings.backoffice.console.templates.paths import template_api, template_path, version_path
from tidings.backoffice.console.templates.template_page import template_page
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

templates_pages = Resource(
    "console-templates", at="/console/templates", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_FIRST_WORDS: Final = {"html": "<p>…</p>", "json": '{"title": "…", "body": "…"}', "text": "…"}


@templates_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_templates(request: Request, visits: Visits, approvals: Approvals) -> Reply:
    """The tenant's templates and the platform's."""
    visit = await visits.open(request)
    query = visit.query
    found = await visit.api.get(
        "/api/v1/templates",
        key=query.get("key", "").strip(),
        channel=query.get("channel"),
        status=query.get("status"),
        cursor=query.get("cursor"),
    )
    names = await names_of_operators(visit)
    asked = await approvals.waiting(visit, "template_approval")
    waiting = {(str(one["key"]), str(one["channel"])): str(one["asked_by"]) for one in asked}
    return templates_page(visit, found, names, waiting)


@templates_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def ask_for_template(request: Request, visits: Visits) -> Reply:
    """What the new template is called and where it goes."""
    visit = await visits.open(request)
    return new_template_page(visit, await _categories(visit), {})


@templates_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def write_template(request: Request, visits: Visits) -> Reply:
    """Make its first draft, and go on in the editor."""
    visit, fields = await visits.posted(request, writes=True)
    key, channel = fields.get("key", "").strip(), fields.get("channel", "email")
    locale = fields.get("locale", "").strip() or "en"
    shape = formats_of(channel)[0]
    source: dict[str, Any] = {"format": shape, "body": _FIRST_WORDS.get(shape, "…")}
    if channel == "email":
        source["subject"] = "…"
    body: dict[str, Any] = {
        "semver": "1.0.0",
        "category": fields.get("category"),
        "default_locale": locale,
        "variables_schema": {"type": "object", "properties": {}},
        "preview_samples": {"usual": {}},
        "locales": {locale: source},
    }
    try:
        await visit.api.post(template_api(key, channel, "/versions"), body)
    except ApiProblemError as error:
        return new_template_page(
            visit,
            await _categories(visit),
            fields,
            errors=error.errors,
            told=visit.refused(error),
            status=error.status,
        )
    return redirect(f"{version_path(key, channel, '1.0.0')}?told=template_made")


@templates_pages.get("/{key}/{channel}", media_type=_HTML)
@answering_with_pages
async def show_template(request: Request, key: str, channel: str, visits: Visits) -> Reply:
    """What is in force, and its versions."""
    return await _template(await visits.open(request), key, channel)


@templates_pages.get("/{key}/{channel}/diff", media_type=_HTML)
@answering_with_pages
async def show_difference(request: Request, key: str, channel: str, visits: Visits) -> Reply:
    """What is different between two versions."""
    visit = await visits.open(request)
    wanted = {name: visit.query.get(name) for name in ("from", "to", "from_owner", "to_owner")}
    found = await visit.api.get(template_api(key, channel, "/diff"), **wanted)
    return diff_page(visit, key, channel, found)


@templates_pages.post("/{key}/{channel}/customise", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def customise_template(request: Request, key: str, channel: str, visits: Visits) -> Reply:
    """Copy the platform's into a draft of one's own, or note that its news were looked at."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    note_only = fields.get("note_only") == "yes"
    try:
        made = await visit.api.post(template_api(key, channel, "/customise"), {"note_only": note_only})
    except ApiProblemError as error:
        return await _template(visit, key, channel, error=error)
    if made["draft"]:
        return redirect(f"{version_path(key, channel, made['draft'])}?told=template_customised")
    return redirect(f"{template_path(key, channel)}?told=saved")


@templates_pages.post("/{key}/{channel}/archive", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def archive_template(request: Request, key: str, channel: str, visits: Visits) -> Reply:
    """Put the whole template away."""
    return await _done(request, visits, key, channel, "/archive", "template_archived")


@templates_pages.post("/{key}/{channel}/restore", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def restore_template(request: Request, key: str, channel: str, visits: Visits) -> Reply:
    """Take it back as it was."""
    return await _done(request, visits, key, channel, "/restore", "template_restored")


@templates_pages.post("/{key}/{channel}/rollback", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def roll_template_back(request: Request, key: str, channel: str, visits: Visits) -> Reply:
    """Put an earlier version in force again."""
    return await _done(request, visits, key, channel, "/rollback", "template_rolled_back")


async def _done(request: Request, visits: Visits, key: str, channel: str, end: str, told: str) -> Reply:
    visit, fields = await visits.posted(request, writes=True)
    body: dict[str, Any] = {"reason": fields.get("reason") or None}
    if end == "/rollback":
        body["to"] = fields.get("to") or None
    try:
        await visit.api.post(template_api(key, channel, end), body)
    except ApiProblemError as error:
        return await _template(visit, key, channel, error=error)
    return redirect(f"{template_path(key, channel)}?told={told}")


async def _template(visit: Visit, key: str, channel: str, *, error: ApiProblemError | None = None) -> Reply:
    path, owner = template_api(key, channel), visit.query.get("owner")
    archived = False
    try:
        template = await visit.api.get(path, owner=owner)
    except ApiProblemError as missing:
        if missing.status != 404 or owner == "platform":
            raise
        template = await _archived(visit, key, channel)
        if template is None:
            raise
        archived = True
    versions: dict[str, Any] = {"items": []}
    if not archived:
        whose = None if visit.tenant_is_missing else template["owner"]
        versions = await visit.api.get(f"{path}/versions", owner=whose, cursor=visit.query.get("cursor"))
    return template_page(
        visit,
        template,
        versions,
        archived=archived,
        names=await names_of_operators(visit),
        told=visit.refused(error) if error else None,
        status=error.status if error else 200,
    )


async def _archived(visit: Visit, key: str, channel: str) -> dict[str, Any] | None:
    """A template that is put away as a whole; only the list knows it."""
    found = await visit.api.get("/api/v1/templates", key=key, channel=channel, status="archived")
    one = next((one for one in found["items"] if one["archived"]), None)
    return None if one is None else {**one, "fallback_chain": ()}


async def _categories(visit: Visit) -> list[tuple[str, str]]:
    path = "/internal/v1/categories" if visit.tenant_is_missing else "/api/v1/categories"
    found = await visit.api.get(path)
    return [(one["category"], category_name(visit, one)) for one in found["items"] if not one["retired"]]


def category_name(visit: Visit, category: Mapping[str, Any]) -> str:
    """A category by the name that people read on pages, and its own."""
    names, language = category["names"], visit.words.language
    name = names.get(language) or names.get(language.partition("-")[0]) or names.get("en")
    return f"{name} ({category['category']})" if name else str(category["category"])
