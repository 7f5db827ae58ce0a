"""Templates as files: zips in and out, and the frames in which mails are shown."""

from typing import Final

from tidings.backoffice.console.frame import HEADERS, Told
from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.static import versioned
from tidings.backoffice.console.templates.import_page import import_page
from tidings.backoffice.console.templates.paths import version_api
from tidings.backoffice.console.uploads import ROOM
from tidings.backoffice.console.visits import Visits, answering_with_pages, file_of
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

template_files = Resource(
    "console-template-files", at="/console/templates", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_MOST_OF_A_ZIP: Final = 8 * 1024 * 1024
#: Of a frame: the mail's own style, pictures from where mails may have them, and no right to anything.
_FRAME_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; {scripts}"
)
_LIVE: Final = _FRAME_POLICY.format(scripts="script-src 'self'; sandbox allow-scripts")
_STILL: Final = _FRAME_POLICY.format(scripts="sandbox")


@template_files.get("/export", media_type="application/zip", pages={200: "A zip of templates."})
@answering_with_pages
async def export_templates_to_file(request: Request, visits: Visits) -> Reply:
    """The templates as a zip: all, or those of a key and channel."""
    visit = await visits.open(request)
    wanted = {name: visit.query.get(name) for name in ("key", "channel", "version", "owner")}
    found = await visit.api.call("GET", "/api/v1/templates/export", query=wanted)
    name = "-".join(part for part in ("templates", wanted["key"], wanted["channel"]) if part)
    headers = {**HEADERS, "content-disposition": f'attachment; filename="{_safe(name)}.zip"'}
    return Reply(body=found.content, media_type="application/zip", headers=headers)


@template_files.get("/import", media_type=_HTML)
@answering_with_pages
async def ask_for_zip(request: Request, visits: Visits) -> Reply:
    """Which zip is to be taken."""
    return import_page(await visits.open(request))


@template_files.post("/import", media_type=_HTML, body_limit=_MOST_OF_A_ZIP + ROOM)
@answering_with_pages
async def import_zip(request: Request, visits: Visits) -> Reply:
    """Try a zip, or take it as drafts; the report names every file."""
    visit, fields = await visits.posted(request, writes=True)
    content = await file_of(request, "file")
    query = {"dry_run": "true" if fields.get("do") != "take" else None}
    try:
        answered = await visit.api.call(
            "POST", "/api/v1/templates/import", query=query, content=content, media_type="application/zip"
        )
    except ApiProblemError as error:
        if error.status == 401:
            raise
        return import_page(visit, told=visit.refused(error), status=error.status)
    report = answered.data
    text = visit.words["templates.imported"] if report["written"] else visit.words["templates.import_tried"]
    return import_page(visit, report, told=Told(text=text))


@template_files.get("/frame", media_type=_HTML)
@answering_with_pages
async def show_frame(request: Request, visits: Visits) -> Reply:
    """An empty frame, which takes the mail that its page hands it."""
    visit = await visits.open(request)
    head = el("head", el("meta", charset="utf-8"), el("script", src=versioned("frame.js"), defer=True))
    return _framed(el("html", head, el("body"), lang=visit.words.language), _LIVE)


@template_files.get("/{key}/{channel}/versions/{semver}/frame", media_type=_HTML)
@answering_with_pages
async def show_saved_mail(request: Request, key: str, channel: str, semver: str, visits: Visits) -> Reply:
    """A mail as it is saved, for browsers without scripts."""
    visit = await visits.open(request)
    body = {name: visit.query[name] for name in ("locale", "sample") if visit.query.get(name)}
    path = version_api(key, channel, semver, "/preview")
    found = await visit.api.call("POST", path, query={"owner": visit.query.get("owner")}, body=body)
    return _framed(Html(found.data["html"] or ""), _STILL)


def _framed(html: Html, policy: str) -> Reply:
    headers = {**HEADERS, "content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
    return Reply(body=f"<!doctype html>\n{html}".encode(), media_type=_HTML, headers=headers)


def _safe(name: str) -> str:
    return "".join(letter for letter in name if letter.isascii() and (letter.isalnum() or letter in "._-"))
