"""The page of the activity ledger."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import any_of, filter_form, link_button, select_field, text_field
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, number
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

ACTIVITY: Final = "/console/activity"
FILTERS: Final = (
    "operator_id",
    "property_id",
    "category",
    "action",
    "outcome",
    "resource_id",
    "since",
    "until",
    "cursor",
)
_TONES: Final = {"success": "good", "refused": "warn", "failure": "bad"}
_OUTCOMES: Final = ("success", "refused", "failure")


def activity_page(
    visit: Visit,
    query: Mapping[str, str | None],
    found: Mapping[str, Any] | None,
    names: Mapping[str, str],
    error: ApiProblemError | None,
) -> Reply:
    """Who did what, and what they were refused."""
    words = visit.words
    body: list[Child] = [_filters(words, query, names, error)]
    if found is not None:
        body += [
            _table(words, found, names, query),
            pager(words, ACTIVITY, query, found["next_cursor"]),
        ]
    exports = link_button(words["ledgers.exports"], f"{ACTIVITY}/exports", "quiet")
    return page(
        words,
        words["place.activity"],
        body,
        reader=visit.reader,
        here=ACTIVITY,
        actions=exports,
        told=visit.refused(error) if error else None,
        status=error.status if error else 200,
        wide=True,
    )


def _filters(
    words: ConsoleStrings,
    query: Mapping[str, str | None],
    names: Mapping[str, str],
    error: ApiProblemError | None,
) -> Html:
    wrong = error.errors if error else {}
    people = sorted((name, id_) for id_, name in names.items())
    known = [(id_, name) for name, id_ in people]
    if query["operator_id"] and query["operator_id"] not in names:
        known.append((query["operator_id"], query["operator_id"]))
    return filter_form(
        words,
        ACTIVITY,
        select_field("operator_id", words["ledgers.operator"], any_of(words, known), query["operator_id"]),
        select_field(
            "outcome",
            words["ledgers.outcome"],
            any_of(words, [(one, words[f"ledgers.outcome.{one}"]) for one in _OUTCOMES]),
            query["outcome"],
        ),
        text_field(
            "action",
            words["ledgers.action"],
            query["action"],
            placeholder="invite_operator",
            maxlength=100,
            dir="ltr",
            error=wrong.get("action"),
        ),
        text_field(
            "property_id",
            words["ledgers.property"],
            query["property_id"],
            maxlength=64,
            dir="ltr",
            error=wrong.get("property_id"),
        ),
        text_field(
            "resource_id",
            words["ledgers.resource"],
            query["resource_id"],
            maxlength=100,
            dir="ltr",
            error=wrong.get("resource_id"),
        ),
        text_field("since", words["ledgers.since"], query["since"], kind="date", error=wrong.get("since")),
        text_field("until", words["ledgers.until"], query["until"], kind="date", error=wrong.get("until")),
    )


def _table(
    words: ConsoleStrings,
    found: Mapping[str, Any],
    names: Mapping[str, str],
    query: Mapping[str, str | None],
) -> Html:
    asked = any(value for name, value in query.items() if name != "cursor")
    none_such = "ledgers.activity_further" if found["next_cursor"] else "ledgers.activity_none_such"
    nothing = (
        empty(words[none_such], el("a", words["clear"], href=ACTIVITY))
        if asked
        else empty(words["ledgers.activity_none"], words["ledgers.activity_none_hint"])
    )
    columns: list[Column[Mapping[str, Any]]] = [
        Column(words["ledgers.when"], lambda row: moment(row["occurred_at"])),
        Column(
            words["ledgers.operator"],
            lambda row: _only(
                "operator_id", row["operator_id"], names.get(row["operator_id"]) or code(row["operator_id"])
            ),
        ),
        Column(words["ledgers.action"], _action),
        Column(words["ledgers.resource"], _resource),
        Column(
            words["ledgers.property"],
            lambda row: _only("property_id", row["property_id"], code(row["property_id"])),
        ),
        Column(words["ledgers.outcome"], lambda row: _outcome(words, row)),
        Column(words["ledgers.took"], lambda row: f"{number(words, row['latency_ms'])} ms", "num"),
    ]
    return table(words["place.activity"], columns, found["items"], empty=nothing)


def _action(row: Mapping[str, Any]) -> Html:
    return join(_only("action", row["action"], code(row["action"])), " ", badge(row["category"], "off"))


def _resource(row: Mapping[str, Any]) -> Child:
    if not row["resource_id"]:
        return "–"
    return _only("resource_id", row["resource_id"], code(row["resource_id"]))


def _outcome(words: ConsoleStrings, row: Mapping[str, Any]) -> Html:
    shown = badge(words[f"ledgers.outcome.{row['outcome']}"], _TONES[row["outcome"]])  # type: ignore[arg-type]
    return join(shown, " ", code(row["error_code"])) if row["error_code"] else shown


def _only(name: str, value: str | None, shown: Child) -> Child:
    """Leads to the rows that have the same."""
    return el("a", shown, href=address(ACTIVITY, {name: value})) if value else "–"
