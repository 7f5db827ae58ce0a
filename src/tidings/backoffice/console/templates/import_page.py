"""Templates as a zip: the form that takes one, and the report on it."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import button, post_form
from tidings.backoffice.console.kit.marks import badge, note, section, status_badge
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.templates.paths import HERE, version_path
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply


def import_page(
    visit: Visit,
    report: Mapping[str, Any] | None = None,
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """A zip is tried first or taken as drafts, all or none; the report names every file."""
    words = visit.words
    field = el(
        "div",
        el("label", words["templates.zip"], for_="file"),
        el("input", type="file", name="file", id="file", accept=".zip,application/zip", required=True),
        el("p", words["templates.zip_hint"], class_="hint"),
        class_="field",
    )
    buttons = el(
        "div",
        button(words["templates.import_try"], "quiet", name="do", value="try"),
        button(words["templates.import_take"], name="do", value="take"),
        class_="actions",
    )
    form = post_form(visit.reader, f"{HERE}/import", field, buttons, enctype="multipart/form-data")
    body = join(el("section", form, class_="card"), _report(visit, report) if report else None)
    return page(
        words,
        words["templates.import"],
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["templates.title"], HERE)],
        told=told,
        status=status,
    )


def _report(visit: Visit, report: Mapping[str, Any]) -> Html:
    words = visit.words
    verdict = note(
        words["templates.import_publishable" if report["publishable"] else "templates.import_faulty"],
        tone="good" if report["publishable"] else "bad",
    )

    def name(one: Mapping[str, Any]) -> Child:
        text = el("bdi", f"{one['key']} · {words.channel(one['channel'])} {one['semver']}")
        if not report["written"]:
            return text
        return el("a", text, href=version_path(one["key"], one["channel"], one["semver"]))

    templates = table(
        words["templates.title"],
        [
            Column[dict[str, Any]](words["templates.key"], name, "grow"),
            Column[dict[str, Any]](
                words["status"],
                lambda one: badge(words.get(f"templates.outcome.{one['outcome']}", one["outcome"]), "info"),
            ),
        ],
        report["templates"],
    )
    files = table(
        words["templates.files"],
        [
            Column[dict[str, Any]](
                words["templates.file"], lambda one: el("code", one["file"], dir="ltr"), "grow"
            ),
            Column[dict[str, Any]](words["status"], lambda one: _outcome(visit, one["outcome"])),
        ],
        report["files"],
    )
    findings = [
        el(
            "li",
            status_badge(words, "templates", one["severity"]),
            el("code", f"{one['file']}:{one['line']}" if one.get("line") else one["file"], dir="ltr"),
            el("span", f"{one['what']}; {one['how']}", class_="grow", dir="auto"),
        )
        for one in report["findings"]
    ]
    return join(
        section(words["templates.report"], verdict, templates, id_="report"),
        section(words["templates.findings"], el("ul", findings, class_="rows"), id_="findings")
        if findings
        else None,
        section(words["templates.files"], files, id_="files"),
    )


def _outcome(visit: Visit, outcome: str) -> Html:
    tone = {"taken": "good", "faulty": "warn", "refused": "bad"}.get(outcome, "off")
    return badge(visit.words.get(f"templates.outcome.{outcome}", outcome), tone)  # type: ignore[arg-type]
