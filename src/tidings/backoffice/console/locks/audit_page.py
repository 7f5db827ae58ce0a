"""The page of what was done to locks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import any_of, button, filter_form, select_field, text_field
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.locks.names import ACTIONS, HERE, OUTCOMES, TONES, reservation_path
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

FILTERS: Final = ("property_id", "reservation_id", "operator_id", "action", "outcome", "cursor")


def audit_page(
    visit: Visit,
    query: Mapping[str, str | None],
    found: Mapping[str, Any] | None,
    *,
    properties: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    error: ApiProblemError | None,
) -> Reply:
    """The way to a reservation, and the audit."""
    words = visit.words
    body: list[Child] = [_find(words, properties)]
    shown: list[Child] = [_filters(words, query, properties, names)]
    if found is not None:
        nothing = empty(words["locks.none"], words["locks.none_hint"])
        shown += [
            audit_table(words, found["items"], names, empty=nothing),
            pager(words, HERE, query, found["next_cursor"]),
        ]
    body.append(section(words["locks.audit"], shown))
    return page(
        words,
        words["place.locks"],
        body,
        reader=visit.reader,
        here=HERE,
        told=visit.refused(error) if error else None,
        status=error.status if error else 200,
        wide=True,
    )


def audit_table(
    words: ConsoleStrings,
    rows: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    *,
    of_reservation: bool = False,
    empty: Child = None,
) -> Html:
    """Lock actions, the newest first."""
    columns: list[Column[Mapping[str, Any]]] = [
        Column(words["locks.when"], lambda row: moment(row["occurred_at"])),
        Column(words["locks.action"], lambda row: words[f"locks.action.{row['action']}"]),
        Column(words["locks.outcome"], lambda row: _outcome(words, row)),
        Column(
            words["locks.operator"], lambda row: names.get(row["operator_id"]) or code(row["operator_id"])
        ),
        Column(words["locks.vendor"], lambda row: row["vendor"] or "–"),
    ]
    if not of_reservation:
        columns[2:2] = [
            Column(words["locks.reservation"], _reservation),
            Column(words["locks.property"], lambda row: code(row["property_id"])),
        ]
    return table(words["locks.audit"], columns, rows, empty=empty)


def _reservation(row: Mapping[str, Any]) -> Html:
    path = reservation_path(row["property_id"], row["reservation_id"])
    return el("a", code(row["reservation_id"]), href=path)


def _outcome(words: ConsoleStrings, row: Mapping[str, Any]) -> Html:
    shown = badge(words[f"locks.outcome.{row['outcome']}"], TONES[row["outcome"]])
    parts: list[Child] = [shown]
    if row["error_code"]:
        parts += [" ", code(row["error_code"])]
    if row["settles_id"]:
        parts += [" ", el("span", words["locks.settled"], class_="soft")]
    return join(*parts)


def _find(words: ConsoleStrings, properties: Sequence[Mapping[str, Any]]) -> Html:
    if not properties:
        return empty(words["locks.no_property"], words["locks.no_property_hint"])
    options = [(one["id"], one["name"] or one["id"]) for one in properties]
    form = el(
        "form",
        select_field("property", words["locks.property"], options, id_="find-property"),
        text_field(
            "reservation",
            words["locks.reservation"],
            id_="find-reservation",
            required=True,
            maxlength=64,
            dir="ltr",
        ),
        el("div", button(words["locks.open"]), class_="actions"),
        action=f"{HERE}/find",
        class_="filters",
    )
    return section(words["locks.find"], form)


def _filters(
    words: ConsoleStrings,
    query: Mapping[str, str | None],
    properties: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
) -> Html:
    houses = [(one["id"], one["name"] or one["id"]) for one in properties]
    people = [(id_, name) for name, id_ in sorted((name, id_) for id_, name in names.items())]
    actions = [(one, words[f"locks.action.{one}"]) for one in ACTIONS]
    outcomes = [(one, words[f"locks.outcome.{one}"]) for one in OUTCOMES]
    return filter_form(
        words,
        HERE,
        select_field("property_id", words["locks.property"], any_of(words, houses), query["property_id"]),
        text_field(
            "reservation_id", words["locks.reservation"], query["reservation_id"], maxlength=64, dir="ltr"
        ),
        select_field("operator_id", words["locks.operator"], any_of(words, people), query["operator_id"]),
        select_field("action", words["locks.action"], any_of(words, actions), query["action"]),
        select_field("outcome", words["locks.outcome"], any_of(words, outcomes), query["outcome"]),
    )
