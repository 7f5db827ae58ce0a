"""Pages of policies: the list, the editor with its simulator, versions."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.kit.forms import button, hidden, post_form
from tidings.backoffice.console.kit.typed import given, text
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.policies.draft import blank, faults_of, fields_of, rearranged, terms_of
from tidings.backoffice.console.policies.editor_page import HERE, USE_CASES, Editor, editor_page
from tidings.backoffice.console.policies.list_page import policies_page, restore_form
from tidings.backoffice.console.policies.versions_page import versions_page
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.etags import etag
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

policies_pages = Resource("console-policies", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/api/v1/router/policies"
_ONE: Final = f"{_API}/{{}}"
_MOST_LISTED: Final = 100
_SIMULATED: Final = {"type": "anonymous", "id": "simulated"}

Fields = Mapping[str, str]


@policies_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_policies(request: Request, visits: Visits) -> Reply:
    """The ladder of each use case."""
    visit = await visits.open(request, of_tenant=True)
    found = await visit.api.get(_API, deleted="true", limit=_MOST_LISTED)
    told = visit.told()
    if told is not None and visit.query.get("told") == "policy_deleted" and visit.query.get("id"):
        told = Told(text=told.text, action=restore_form(visit, visit.query["id"]))
    return policies_page(visit, found["items"], told=told)


@policies_pages.post("/preview", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def preview_policy(request: Request, visits: Visits) -> Reply:
    """The picture and the simulation of what is in the form; nothing is kept."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    return await _shown(
        visit, None, fields, simulate=bool(text(fields, "recipient") and text(fields, "template"))
    )


@policies_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def show_new_policy(request: Request, visits: Visits) -> Reply:
    """A policy to be."""
    visit = await visits.open(request, of_tenant=True)
    asked = visit.query.get("use_case", "")
    return await _shown(visit, None, blank(asked if asked in USE_CASES else USE_CASES[0]))


@policies_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_policy(request: Request, visits: Visits) -> Reply:
    """Rearrange, simulate or make it, by the button that was pressed."""
    visit, fields = await visits.posted(request, writes=_saves, of_tenant=True)
    if fields.get("do") != "save":
        return await _tried(visit, None, fields)
    try:
        made = await visit.api.post(_API, {**terms_of(fields), "use_case": fields.get("use_case")})
    except ApiProblemError as error:
        return await _shown(visit, None, fields, error=error)
    return redirect(f"{HERE}/{made['id']}?told=policy_saved")


@policies_pages.get("/{policy_id}", media_type=_HTML)
@answering_with_pages
async def show_policy(request: Request, policy_id: str, visits: Visits) -> Reply:
    """One policy."""
    visit = await visits.open(request, of_tenant=True)
    answer = await visit.api.call("GET", at(_ONE, policy_id))
    policy = answer.data
    return await _shown(
        visit,
        policy_id,
        {**fields_of(policy), "etag": answer.etag},
        warnings=policy["warnings"],
        told=_told(visit, policy_id, policy["version"]),
    )


@policies_pages.post("/{policy_id}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_policy(request: Request, policy_id: str, visits: Visits) -> Reply:
    """Rearrange, simulate or save it, by the button that was pressed."""
    visit, fields = await visits.posted(request, writes=_saves, of_tenant=True)
    if fields.get("do") != "save":
        return await _tried(visit, policy_id, fields)
    try:
        saved = await visit.api.call(
            "PUT", at(_ONE, policy_id), body=terms_of(fields), if_match=fields.get("etag")
        )
    except ApiProblemError as error:
        return await _shown(visit, policy_id, fields, error=error)
    before = fields.get("etag", "").strip('"v')
    undo = f"&undo={before}" if before.isdecimal() and str(saved.data["version"]) != before else ""
    return redirect(f"{HERE}/{policy_id}?told=policy_saved{undo}")


@policies_pages.post("/{policy_id}/rollback", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def roll_back_policy(request: Request, policy_id: str, visits: Visits) -> Reply:
    """Let it say again what an earlier version said."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    version = fields.get("version", "")
    body = {"version": int(version) if version.isascii() and version.isdecimal() else version}
    await visit.api.call("POST", f"{at(_ONE, policy_id)}/rollback", body=body, if_match=fields.get("etag"))
    return redirect(f"{HERE}/{policy_id}?told=policy_rolled_back")


@policies_pages.post("/{policy_id}/delete", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def delete_policy(request: Request, policy_id: str, visits: Visits) -> Reply:
    """Take it out of force; the page after it brings it back."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.call("DELETE", at(_ONE, policy_id))
    return redirect(f"{HERE}?told=policy_deleted&id={policy_id}")


@policies_pages.post("/{policy_id}/restore", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def restore_policy(request: Request, policy_id: str, visits: Visits) -> Reply:
    """Put a deleted one in force again."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(f"{at(_ONE, policy_id)}/restore")
    return redirect(f"{HERE}/{policy_id}?told=policy_restored")


@policies_pages.get("/{policy_id}/versions", media_type=_HTML)
@answering_with_pages
async def show_versions(request: Request, policy_id: str, visits: Visits) -> Reply:
    """What it said before."""
    visit = await visits.open(request, of_tenant=True)
    policy = await visit.api.get(at(_ONE, policy_id))
    found = await visit.api.get(
        f"{at(_ONE, policy_id)}/versions", cursor=visit.query.get("cursor"), limit=_MOST_LISTED
    )
    return versions_page(visit, policy, found["items"], found.get("next_cursor"))


async def _tried(visit: Visit, policy_id: str | None, fields: Fields) -> Reply:
    do = fields.get("do", "")
    if do == "simulate":
        return await _shown(visit, policy_id, fields, simulate=True)
    made, moved = rearranged(fields, do)
    return await _shown(visit, policy_id, made, moved=moved)


async def _shown(
    visit: Visit,
    policy_id: str | None,
    fields: Fields,
    *,
    error: ApiProblemError | None = None,
    warnings: list[dict[str, Any]] | None = None,
    told: Told | None = None,
    simulate: bool = False,
    moved: int | None = None,
) -> Reply:
    rehearsal = None
    if simulate:
        try:
            rehearsal = await visit.api.post(f"{_API}/simulate", _message(fields))
        except ApiProblemError as refused:
            error = refused
    editor = Editor(
        policy_id=policy_id,
        fields=fields,
        etag=fields.get("etag", ""),
        faults=faults_of(error.errors) if error else {},
        warnings=rehearsal["warnings"] if rehearsal else warnings or (),
        rehearsal=rehearsal,
        vendors=await _vendors(visit),
        templates=await _templates(visit),
        moved=moved,
    )
    if error is not None:
        told = visit.refused(error)
    return editor_page(visit, editor, told=told, status=error.status if error else 200)


def _message(fields: Fields) -> dict[str, Any]:
    typed = text(fields, "recipient") or ""
    variables: Any = {}
    if written := text(fields, "variables"):
        try:
            variables = msgspec.json.decode(written)
        except msgspec.DecodeError:
            variables = written
    return given(
        recipient=_recipient(typed),
        template=text(fields, "template"),
        variables=variables,
        use_case=text(fields, "use_case"),
        policy={**terms_of(fields), "use_case": fields.get("use_case")},
    )


def _recipient(typed: str) -> Any:
    """A recipient by id, or somebody new by their address."""
    if "@" in typed:
        return {"identity": _SIMULATED, "addresses": [{"channel": "email", "address": typed}]}
    if typed.startswith("+"):
        return {
            "identity": _SIMULATED,
            "addresses": [{"channel": one, "address": typed} for one in ("sms", "whatsapp", "voice")],
        }
    return typed


async def _vendors(visit: Visit) -> list[str]:
    return [one["vendor"] for one in (await visit.api.get("/api/v1/router/adapters"))["items"]]


async def _templates(visit: Visit) -> list[str]:
    if not visit.may("templates:read"):
        return []
    found = await visit.api.get("/api/v1/templates", status="active", limit=_MOST_LISTED)
    return sorted({one["key"] for one in found["items"]})


def _told(visit: Visit, policy_id: str, version: int) -> Told | None:
    told, undo = visit.told(), visit.query.get("undo", "")
    if told is None or not undo.isdecimal() or not visit.may("router:write"):
        return told
    fields = (
        hidden("version", undo),
        hidden("etag", etag(version)),
        button(visit.words["policies.undo"], "quiet"),
    )
    return Told(text=told.text, action=post_form(visit.reader, f"{HERE}/{policy_id}/rollback", fields))


def _saves(fields: Fields) -> bool:
    return fields.get("do") == "save"
