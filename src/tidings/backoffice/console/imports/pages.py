"""The list of imports with the form that sends a file, and the page of one."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Html, el, join
from tidings.backoffice.console.kit.forms import (
    button,
    check_field,
    field_row,
    hidden,
    link_button,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    Tile,
    badge,
    code,
    empty,
    facts_across,
    moment,
    note,
    number,
    section,
    status_badge,
    tiles,
)
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HOME: Final = "/console/imports"
#: What can be imported → the scope that it takes.
KINDS: Final[Mapping[str, str]] = {
    "suppressions": "suppressions:write",
    "recipients": "recipients:write",
    "preferences": "recipients:write",
}
#: Whose list it is: dialects of files of suppressions.
DIALECTS: Final = ("auto", "generic", "sendgrid", "mailgun", "postmark", "ses")
#: Seconds after which a list with something under way is asked for anew.
_LIVE: Final = 2

Row = dict[str, Any]


def imports_page(
    visit: Visit, found: Mapping[str, Any], *, told: Told | None = None, status: int = 200
) -> Reply:
    """The newest first; one that runs is followed while its file is still being sent from this very page."""
    words, query = visit.words, visit.query
    listed = table(
        words["imports.list"],
        [
            Column[Row](words["imports.kind"], lambda one: _named(visit, one)),
            Column[Row](words["imports.status"], lambda one: status_badge(words, "imports", one["status"])),
            Column[Row](words["imports.lines"], lambda one: number(words, one["lines"]), "num"),
            Column[Row](words["imports.added"], lambda one: number(words, one["added"]), "num"),
            Column[Row](words["imports.changed"], lambda one: number(words, one["changed"]), "num"),
            Column[Row](words["imports.refused"], lambda one: _refused(visit, one), "num"),
            Column[Row](words["imports.begun"], lambda one: moment(one["created_at"]), "tight"),
        ],
        found["items"],
        href=lambda one: f"{HOME}/{one['id']}",
        empty=empty(words["imports.none"], words["imports.none_hint"]),
    )
    older = pager(words, HOME, {"cursor": query.get("cursor")}, found.get("next_cursor"))
    body = join(_form(visit), section(words["imports.list"], listed, older, id_="imports", live=_LIVE))
    return page(
        words,
        words["place.imports"],
        body,
        reader=visit.reader,
        here=HOME,
        told=told,
        wide=True,
        status=status,
    )


def import_page(visit: Visit, one: Mapping[str, Any], *, told: Told | None = None) -> Reply:
    """How far it came, and what was wrong."""
    words = visit.words
    running = one["status"] == "running"
    said = None
    if one["dry_run"]:
        said = note(words["imports.was_dry_run"], tone="info")
    elif one["status"] == "interrupted":
        said = note(words["imports.was_interrupted"], tone="warn")
    counted = section(
        words["imports.counts"],
        facts_across(
            (words["imports.status"], status_badge(words, "imports", one["status"])),
            (words["imports.format"], el("bdi", one["format"]) if one["format"] else None),
            (words["imports.begun"], moment(one["created_at"], exact=True)),
            (
                words["imports.ended"],
                moment(one["completed_at"], exact=True) if one["completed_at"] else None,
            ),
            (words["imports.bytes"], number(words, one["bytes"])),
            (words["imports.id"], code(one["id"], copy=True)),
        ),
        tiles(
            Tile(words["imports.lines"], number(words, one["lines"])),
            Tile(words["imports.added"], number(words, one["added"]), tone="good"),
            Tile(words["imports.changed"], number(words, one["changed"]), tone="info"),
            Tile(words["imports.unchanged"], number(words, one["unchanged"])),
            Tile(
                words["imports.refused"], number(words, one["refused"]), tone="bad" if one["refused"] else ""
            ),
            Tile(words["imports.skipped"], number(words, one["skipped"])),
        ),
        id_="counts",
        live=_LIVE if running else None,
    )
    return page(
        words,
        words[f"imports.kind.{one['kind']}"],
        join(said, counted, _problems(visit, one)),
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.imports"], HOME)],
        actions=link_button(words["imports.another"], HOME, "quiet"),
        told=told,
        wide=True,
    )


def _named(visit: Visit, one: Row) -> Html:
    words = visit.words
    rehearsal = join(" ", badge(words["imports.dry_run"], "info")) if one["dry_run"] else None
    return join(words.get(f"imports.kind.{one['kind']}", one["kind"]), rehearsal)


def _refused(visit: Visit, one: Row) -> Html:
    shown = number(visit.words, one["refused"])
    return badge(shown, "bad") if one["refused"] else el("span", shown)


def _problems(visit: Visit, one: Mapping[str, Any]) -> Html:
    """The first of them; the report has all."""
    words = visit.words
    first: Sequence[Row] = one["first_problems"]
    if not one["problems"]:
        return section(words["imports.problems"], el("p", words["imports.no_problem"]), id_="problems")
    report = post_form(visit.reader, f"{HOME}/{one['id']}/report", button(words["imports.report"], "quiet"))
    listed = table(
        words["imports.problems"],
        [
            Column[Row](words["imports.line"], lambda row: number(words, row["line"]), "num"),
            Column[Row](words["imports.column"], lambda row: el("bdi", row["column"] or "–")),
            Column[Row](
                words["imports.what"], lambda row: el("span", row["what"], lang="en", dir="auto"), "grow"
            ),
            Column[Row](
                words["imports.severity"],
                lambda row: badge(
                    words.get(f"imports.severity.{row['severity']}", row["severity"]),
                    "bad" if row["severity"] == "error" else "warn",
                ),
            ),
            Column[Row](words["imports.code"], lambda row: code(row["code"])),
        ],
        first,
    )
    more = None
    if one["problems"] > len(first):
        more = el("p", words["imports.more_problems"].replace("{count}", number(words, one["problems"])))
    return section(words["imports.problems"], listed, more, actions=report, id_="problems")


def _form(visit: Visit) -> Html:
    """Sends a file; the fields stand before it, as they are read first."""
    words = visit.words
    kinds = [(kind, words[f"imports.kind.{kind}"]) for kind, scope in KINDS.items() if visit.may(scope)]
    if not kinds:
        return NOTHING
    dialects = [(one, words[f"imports.dialect.{one}"]) for one in DIALECTS]
    file = el(
        "div",
        el("label", words["imports.file"], for_="import-file"),
        el(
            "input",
            type="file",
            name="file",
            id="import-file",
            required=True,
            accept=".csv,.txt,.ndjson,.jsonl,text/csv",
            aria_describedby="import-file-hint",
        ),
        el("p", words["imports.file_hint"], class_="hint", id="import-file-hint"),
        class_="field",
    )
    form = post_form(
        visit.reader,
        HOME,
        hidden("key", secrets.token_hex(16)),
        field_row(
            select_field(
                "kind", words["imports.what_kind"], kinds, visit.query.get("kind"), id_="import-kind"
            ),
            select_field(
                "format",
                words["imports.dialect"],
                dialects,
                id_="import-format",
                hint=words["imports.dialect_hint"],
            ),
        ),
        text_field(
            "mapping",
            words["imports.mapping"],
            id_="import-mapping",
            hint=words["imports.mapping_hint"],
            maxlength=500,
            dir="ltr",
        ),
        check_field("dry_run", words["imports.rehearse"], checked=True, id_="import-dry"),
        file,
        button(words["imports.send"]),
        enctype="multipart/form-data",
    )
    return section(words["imports.new"], form, id_="new")
