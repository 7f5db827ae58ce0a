"""The page of exports: which files the ledgers stand in."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.kit.forms import any_of, filter_form, select_field
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, number
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.ledgers.activity_page import ACTIVITY
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

EXPORTS: Final = f"{ACTIVITY}/exports"
_LEDGERS: Final = ("operator_activity", "alert_ack_log", "ai_decision_log", "lock_action_proxy_audit")


def exports_page(visit: Visit, found: Mapping[str, Any]) -> Reply:
    """Files, the newest first."""
    words = visit.words
    query = {name: visit.query.get(name) for name in ("ledger", "cursor")}
    ledgers = [(one, words[f"ledgers.ledger.{one}"]) for one in _LEDGERS]
    filters = filter_form(
        words,
        EXPORTS,
        select_field("ledger", words["ledgers.ledger"], any_of(words, ledgers), query["ledger"]),
    )
    columns: list[Column[Mapping[str, Any]]] = [
        Column(words["ledgers.ledger"], lambda one: words[f"ledgers.ledger.{one['ledger']}"], "grow"),
        Column(words["ledgers.month"], lambda one: el("bdi", one["month"], dir="ltr")),
        Column(words["ledgers.from"], lambda one: moment(one["from_at"], exact=True)),
        Column(words["ledgers.to"], lambda one: moment(one["until_at"], exact=True)),
        Column(words["ledgers.rows"], lambda one: _count(words, one["rows"]), "num"),
        Column(words["ledgers.verified"], lambda one: _verified(words, one)),
        Column(words["ledgers.file"], lambda one: code(one["id"])),
    ]
    body = [
        el("p", words["ledgers.exports_intro"], class_="soft"),
        filters,
        table(
            words["ledgers.exports"],
            columns,
            found["items"],
            empty=empty(words["ledgers.exports_none"], words["ledgers.exports_none_hint"]),
        ),
        pager(words, EXPORTS, query, found["next_cursor"]),
    ]
    return page(
        words,
        words["ledgers.exports"],
        body,
        reader=visit.reader,
        here=ACTIVITY,
        trail=[(words["place.activity"], ACTIVITY)],
        wide=True,
    )


def _count(words: ConsoleStrings, rows: int | None) -> str:
    return "–" if rows is None else number(words, rows)


def _verified(words: ConsoleStrings, one: Mapping[str, Any]) -> Html:
    if one["verified_at"] is None:
        return badge(words["ledgers.being_written"], "info")
    return moment(one["verified_at"])
