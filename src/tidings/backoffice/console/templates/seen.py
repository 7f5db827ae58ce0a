"""Asks the API what an editor shows: previews of what was typed, and what the validator says of it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.people_names import names_of_operators
from tidings.backoffice.console.templates.editor_form import EditorFault, TypedVersion, found_faults
from tidings.backoffice.console.templates.editor_page import Shown, TemplateEditor
from tidings.backoffice.console.templates.paths import Which, version_api
from tidings.backoffice.console.visits import Visit

#: What is over in some seconds, and is no fault of what was typed.
_BUSY: Final = ("too_much_checking", "render_interrupted")


async def seen(
    visit: Visit,
    which: Which,
    typed: TypedVersion,
    *,
    tags: tuple[str, ...],
    fields: Mapping[str, str],
    made_from: int,
    faults: Sequence[EditorFault] = (),
    is_live: bool = False,
    theirs: Mapping[str, Any] | None = None,
    asked_by: str | None = None,
) -> TemplateEditor:
    """The editor with its previews and faults; `is_live`: only what changes while somebody types."""
    shown = [await _shown(visit, which, typed, tag, fields) for tag in tags]
    found = await _validated(visit, which, typed, shown)
    known = None
    if found is not None or typed.faults or faults:
        # What publishing refuses the validator has found as well.
        known = tuple(dict.fromkeys((*typed.faults, *faults, *(found or ()))))
    layouts: list[str] = []
    names: Mapping[str, str] = {}
    if not is_live:
        names = await names_of_operators(visit)
        if which.channel == "email" and not visit.tenant_is_missing:
            layouts = [one["name"] for one in (await visit.api.get("/api/v1/layouts"))["items"]]
    return TemplateEditor(
        key=which.key,
        channel=which.channel,
        owner=which.owner,
        typed=typed,
        tags=tags,
        shown=shown,
        faults=known,
        made_from=made_from,
        fields=fields,
        layouts=layouts,
        names=names,
        asked_by=asked_by,
        theirs=theirs,
    )


async def _shown(
    visit: Visit,
    which: Which,
    typed: TypedVersion,
    tag: str,
    fields: Mapping[str, str],
) -> Shown:
    body: dict[str, Any] = {
        "locale": tag,
        "width": "mobile" if fields.get("width") == "mobile" else "desktop",
    }
    if fields.get("sample") in typed.version["preview_samples"]:
        body["sample"] = fields["sample"]
    if recipient := fields.get("recipient", "").strip():
        body["recipient_id"] = recipient
    if typed.changes:
        body["changes"] = typed.changes
    path = version_api(which.key, which.channel, typed.version["semver"], "/preview")
    try:
        answered = await visit.api.call("POST", path, query={"owner": which.owner}, body=body)
    except ApiProblemError as error:
        if error.status == 401:
            raise
        return Shown(preview=None, why=_why(visit, error), is_busy=error.code in _BUSY)
    return Shown(preview=answered.data)


async def _validated(
    visit: Visit, which: Which, typed: TypedVersion, shown: Sequence[Shown]
) -> tuple[EditorFault, ...] | None:
    """What the validator says of a draft of one's own; of what is published it has said it then."""
    if typed.version["status"] != "draft" or (which.owner == "platform" and not visit.tenant_is_missing):
        return () if all(one.preview for one in shown) else None
    body = {"changes": typed.changes} if typed.changes else None
    try:
        report = await visit.api.post(
            version_api(which.key, which.channel, typed.version["semver"], "/validate"), body
        )
    except ApiProblemError as error:
        if error.status == 401:
            raise
        return faults_of(error)
    return found_faults(report["findings"])


def faults_of(error: ApiProblemError) -> tuple[EditorFault, ...] | None:
    """What the API refuses about single fields; None where it is about none."""
    findings = error.problem.get("findings")
    if findings:
        return found_faults(findings)
    named = {name.removeprefix("changes."): remedy for name, remedy in error.errors.items()}
    return tuple(EditorFault(field=name, what=remedy) for name, remedy in named.items()) or None


def _why(visit: Visit, error: ApiProblemError) -> str:
    known = visit.words.texts.get(f"error.{error.code}")
    if known:
        return known
    remedies = "; ".join(f"{name}: {remedy}" for name, remedy in list(error.errors.items())[:3])
    return remedies or error.detail
