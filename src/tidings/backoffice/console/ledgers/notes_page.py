"""The page of notes, for data stewards."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, filled
from tidings.backoffice.console.kit.forms import any_of, confirm, filter_form, select_field, text_field
from tidings.backoffice.console.kit.marks import badge, code, empty, moment
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

NOTES: Final = "/console/notes"
NOTE_FILTERS: Final = ("kind", "written_by", "property_id", "cursor")
_KINDS: Final = ("alert_ack", "ai_decision")


def notes_page(
    visit: Visit,
    query: Mapping[str, str | None],
    found: Mapping[str, Any] | None,
    names: Mapping[str, str],
    error: ApiProblemError | None,
) -> Reply:
    """What operators wrote, with a way to redact it."""
    words = visit.words
    kinds = [(one, words[f"ledgers.kind.{one}"]) for one in _KINDS]
    known = [(id_, name) for name, id_ in sorted((name, id_) for id_, name in names.items())]
    body: list[Child] = [
        el("p", words["ledgers.notes_intro"], class_="soft"),
        filter_form(
            words,
            NOTES,
            select_field("kind", words["ledgers.kind"], any_of(words, kinds), query["kind"]),
            select_field("written_by", words["ledgers.operator"], any_of(words, known), query["written_by"]),
            text_field(
                "property_id", words["ledgers.property"], query["property_id"], maxlength=64, dir="ltr"
            ),
        ),
    ]
    if found is not None:
        columns: list[Column[Mapping[str, Any]]] = [
            Column(words["ledgers.when"], lambda one: moment(one["written_at"])),
            Column(words["ledgers.note"], lambda one: _text(visit, one, names), "grow"),
            Column(
                words["ledgers.operator"], lambda one: names.get(one["written_by"]) or code(one["written_by"])
            ),
            Column(words["ledgers.kind"], lambda one: words[f"ledgers.kind.{one['kind']}"]),
            Column(words["ledgers.property"], lambda one: code(one["property_id"])),
        ]
        if visit.may("notes:write"):
            columns.append(Column(words["ledgers.redact"], lambda one: _redact(visit, one)))
        nothing = empty(words["ledgers.notes_none"], words["ledgers.notes_none_hint"])
        body += [
            table(words["place.notes"], columns, found["items"], empty=nothing),
            pager(words, NOTES, query, found["next_cursor"]),
        ]
    return page(
        words,
        words["place.notes"],
        body,
        reader=visit.reader,
        here=NOTES,
        told=visit.refused(error) if error else visit.told(),
        status=error.status if error else 200,
        wide=True,
    )


def _text(visit: Visit, one: Mapping[str, Any], names: Mapping[str, str]) -> Html:
    if one["text"] is not None:
        return el("bdi", one["text"])
    by = names.get(one["redacted_by"] or "", one["redacted_by"] or "–")
    return el(
        "span",
        badge(visit.words["ledgers.redacted"], "off"),
        " ",
        filled(visit.words["ledgers.redacted_by"], name=by),
        class_="soft",
    )


def _redact(visit: Visit, one: Mapping[str, Any]) -> Child:
    if one["redacted_at"] is not None:
        return "–"
    words = visit.words
    return confirm(
        words,
        visit.reader,
        at("/console/notes/{}/redact", one["id"]),
        words["ledgers.redact"],
        words["ledgers.redact_question"],
        attested=True,
    )
