"""The editor of a version: shows it, shows what was typed without saving it, saves, publishes, approves."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tidings.backoffice.console.approvals import Approvable, Approvals
from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.own_api import ApiAnswer, ApiProblemError
from tidings.backoffice.console.templates.copy_version import copy_version
from tidings.backoffice.console.templates.editor_form import TypedVersion, read_form, sides_of
from tidings.backoffice.console.templates.editor_page import editor_page
from tidings.backoffice.console.templates.paths import (
    Which,
    template_api,
    template_path,
    version_api,
    version_path,
)
from tidings.backoffice.console.templates.seen import faults_of, seen
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

editor_pages = Resource(
    "console-template-editor",
    at="/console/templates",
    tag="console",
    owner=Owner.PUBLIC,
    of_backoffice=True,
)
_HTML: Final = "text/html"
_VERSION: Final = "/{key}/{channel}/versions/{semver}"
#: Two texts of 300,000 letters, each of which may take nine bytes in a form, and what surrounds them.
MOST_OF_A_VERSION: Final = 8 * 1024 * 1024
_STALE: Final = 412


@editor_pages.get(_VERSION, media_type=_HTML)
@answering_with_pages
async def show_version(
    request: Request, key: str, channel: str, semver: str, visits: Visits, approvals: Approvals
) -> Reply:
    """A version: its texts in two languages, with what people would see."""
    visit = await visits.open(request)
    owner = visit.query.get("owner")
    read = await _read(visit, key, channel, semver, owner)
    fallback = await _default_locale(visit, key, channel, owner)
    tags = sides_of(read.data, visit.query, fallback)
    editor = await seen(
        visit,
        Which(key, channel, owner),
        _with_new_language(TypedVersion(version=read.data), tags, fallback),
        tags=tags,
        fields=visit.query,
        made_from=read.data["version"],
        asked_by=await _asked_by(visit, approvals, Which(key, channel), read.data),
    )
    return editor_page(visit, editor)


@editor_pages.post(f"{_VERSION}/preview", media_type=_HTML, body_limit=MOST_OF_A_VERSION)
@answering_with_pages
async def show_typed(request: Request, key: str, channel: str, semver: str, visits: Visits) -> Reply:
    """What is in the form as people would see it, and what is wrong with it; nothing is written."""
    visit, fields = await visits.posted(request, writes=False)
    owner = fields.get("owner") or None
    read = await _read(visit, key, channel, semver, owner)
    editor = await seen(
        visit,
        Which(key, channel, owner),
        read_form(read.data, channel, fields),
        tags=_tags(fields),
        fields=fields,
        made_from=_number(fields.get("version")),
        is_live=True,
    )
    return editor_page(visit, editor)


@editor_pages.post(f"{_VERSION}/save", media_type=_HTML, body_limit=MOST_OF_A_VERSION)
@answering_with_pages
async def save_version(
    request: Request, key: str, channel: str, semver: str, visits: Visits, approvals: Approvals
) -> Reply:
    """Save what was typed, and do what the button says besides."""
    visit, fields = await visits.posted(request, writes=lambda fields: fields.get("do") != "show")
    do = fields.get("do", "save")
    read = await _read(visit, key, channel, semver, fields.get("owner") or None)
    typed = read_form(read.data, channel, fields)
    made_from = read.data["version"] if do == "overwrite" else _number(fields.get("version"))
    path = version_path(key, channel, semver)

    async def again(told: Told | None, status: int, **more: Any) -> Reply:
        editor = await seen(
            visit,
            Which(key, channel, fields.get("owner") or None),
            typed,
            tags=_tags(fields) or tuple(read.data["locales"])[:1],
            fields=fields,
            made_from=made_from,
            asked_by=await _asked_by(visit, approvals, Which(key, channel), read.data),
            **more,
        )
        return editor_page(visit, editor, told=told, status=status)

    if typed.faults:
        return await again(Told(text=visit.words["templates.unreadable"], is_error=True), 400)
    if made_from != read.data["version"] and (typed.changes or do in ("publish", "approve", "ask")):
        told = Told(text=visit.words["templates.conflict"], is_error=True)
        return await again(told, _STALE, theirs=read.data)
    try:
        await _saved_and_done(visit, Which(key, channel), read, typed, do=do, approvals=approvals)
    except ApiProblemError as error:
        if error.status == 401:
            raise
        if error.status == _STALE:
            read = await _read(visit, key, channel, semver, None)
            return await again(visit.refused(error), _STALE, theirs=read.data)
        if do in ("publish", "approve", "ask"):
            # The words are saved, and what follows is not done.
            read = await _read(visit, key, channel, semver, None)
            typed, made_from = replace(typed, version=read.data, changes={}), read.data["version"]
        return await again(
            visit.refused(error), error.status, faults=() if do == "publish" else faults_of(error) or ()
        )
    return redirect(address(path, _next(fields, do)))


@editor_pages.post(f"{_VERSION}/copy", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def copy_to_draft(request: Request, key: str, channel: str, semver: str, visits: Visits) -> Reply:
    """Make a draft that begins with what this version says."""
    visit, _ = await visits.posted(request, writes=True)
    made = await copy_version(visit.api, key, channel, semver)
    return redirect(f"{version_path(key, channel, made)}?told=template_copied")


@editor_pages.post(f"{_VERSION}/archive", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def archive_version(request: Request, key: str, channel: str, semver: str, visits: Visits) -> Reply:
    """Put a version away."""
    visit, fields = await visits.posted(request, writes=True)
    body = {"reason": fields.get("reason") or None}
    await visit.api.post(version_api(key, channel, semver, "/archive"), body)
    return redirect(f"{template_path(key, channel)}?told=template_archived")


@editor_pages.post(f"{_VERSION}/delete", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def delete_draft(
    request: Request, key: str, channel: str, semver: str, visits: Visits, approvals: Approvals
) -> Reply:
    """Take a draft away."""
    visit, fields = await visits.posted(request, writes=True)
    read = await _read(visit, key, channel, semver, None)
    wanted = f'"v{_number(fields.get("version"))}"'
    await visit.api.call("DELETE", version_api(key, channel, semver), if_match=wanted)
    await approvals.settled(visit, _approvable(Which(key, channel), read.data))
    return redirect("/console/templates?told=draft_deleted")


async def _saved_and_done(
    visit: Visit,
    which: Which,
    read: ApiAnswer,
    typed: TypedVersion,
    *,
    do: str,
    approvals: Approvals,
) -> None:
    version: Mapping[str, Any] = read.data
    path, tag = version_api(which.key, which.channel, version["semver"]), read.etag
    if typed.changes:
        saved = await visit.api.call("PATCH", path, body=typed.changes, if_match=tag)
        version, tag = saved.data, saved.etag
        # What was asked for was an approval of the words before.
        await approvals.settled(visit, _approvable(which, version))
    if do == "approve":
        await visit.api.call("POST", f"{path}/approve", if_match=tag)
        await approvals.settled(visit, _approvable(which, version))
    elif do == "publish":
        await visit.api.post(f"{path}/publish")
        await approvals.settled(visit, _approvable(which, version))
    elif do == "ask":
        await approvals.ask(visit, _approvable(which, version))


def _approvable(which: Which, version: Mapping[str, Any]) -> Approvable:
    return Approvable(
        category="template_approval",
        id=version["id"],
        version=version["version"],
        facts={"key": which.key, "channel": which.channel, "semver": version["semver"]},
    )


async def _asked_by(
    visit: Visit, approvals: Approvals, which: Which, version: Mapping[str, Any]
) -> str | None:
    if version["status"] != "draft" or version["approved_by"] is not None:
        return None
    return await approvals.asked_by(visit, _approvable(which, version))


async def _read(visit: Visit, key: str, channel: str, semver: str, owner: str | None) -> ApiAnswer:
    return await visit.api.call("GET", version_api(key, channel, semver), query={"owner": owner})


async def _default_locale(visit: Visit, key: str, channel: str, owner: str | None) -> str:
    found = await visit.api.get(template_api(key, channel), owner=owner)
    return str(found["default_locale"])


def _with_new_language(typed: TypedVersion, tags: tuple[str, ...], fallback: str) -> TypedVersion:
    """A language that is not there yet begins with the words of the default one; nothing is written until it is saved."""
    locales = dict(typed.version["locales"])
    base = locales.get(fallback) or next(iter(locales.values()))
    for tag in tags:
        locales.setdefault(tag, {name: value for name, value in base.items() if name != "direction"})
    new = {tag: text for tag, text in locales.items() if tag not in typed.version["locales"]}
    changes = {"locales": new} if new else {}
    return replace(typed, version={**typed.version, "locales": locales}, changes=changes)


def _tags(fields: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(tag for side in ("left", "right") if (tag := fields.get(side)))


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def _next(fields: Mapping[str, str], do: str) -> dict[str, str | None]:
    """Where the editor goes on: with these languages and this sample."""
    told = {
        "publish": "template_published",
        "approve": "template_approved",
        "ask": "approval_asked",
        "show": None,
    }.get(do, "saved")
    added = fields.get("add_language", "").strip()
    left, right = (
        fields.get("show_left") or fields.get("left"),
        fields.get("show_right") or fields.get("right"),
    )
    return {
        "left": left,
        "right": added or right,
        "sample": fields.get("sample"),
        "recipient": fields.get("recipient"),
        "width": fields.get("width") if fields.get("width") == "mobile" else None,
        "owner": fields.get("owner"),
        "told": told,
    }
