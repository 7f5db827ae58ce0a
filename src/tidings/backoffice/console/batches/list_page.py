"""The list of batches, with how far each is."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.batches.builder_page import HERE
from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import any_of, filter_form, link_button, select_field
from tidings.backoffice.console.kit.marks import empty, meter, moment, number, percent, status_badge
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

STATES = ("draft", "scheduled", "running", "paused", "completed", "cancelled", "failed")
LIVE = ("scheduled", "running")


def batches_page(visit: Visit, found: Mapping[str, Any]) -> Reply:
    """All batches, the newest first; while one runs the list follows it."""
    words, query = visit.words, visit.query
    states = [(one, words[f"batches.status.{one}"]) for one in STATES]
    filters = filter_form(
        words, HERE, select_field("status", words["status"], any_of(words, states), query.get("status"))
    )
    new = link_button(words["batches.new"], f"{HERE}/new") if visit.may("batches:write") else None
    listed = table(
        words["batches.title"],
        [
            Column[Mapping[str, Any]](words["name"], lambda one: el("bdi", one["name"])),
            Column[Mapping[str, Any]](
                words["status"], lambda one: status_badge(words, "batches", one["status"])
            ),
            Column[Mapping[str, Any]](words["batches.progress"], lambda one: progress(words, one)),
            Column[Mapping[str, Any]](words["batches.people"], lambda one: _people(words, one), "num"),
            Column[Mapping[str, Any]](
                words["batches.template"], lambda one: el("code", one["template"], dir="ltr")
            ),
            Column[Mapping[str, Any]](
                words["batches.begins"], lambda one: moment(one["started_at"] or one["scheduled_for"])
            ),
        ],
        found["items"],
        href=lambda one: f"{HERE}/{one['id']}",
        empty=empty(words["batches.none"], words["batches.none_hint"], new),
    )
    live = 5 if any(one["status"] in LIVE for one in found["items"]) else None
    body = join(
        filters,
        el("div", listed, id="batches", data_live=live),
        pager(
            words, HERE, {name: query.get(name) for name in ("status", "cursor")}, found.get("next_cursor")
        ),
    )
    return page(
        words, words["batches.title"], body, reader=visit.reader, here=HERE, actions=new, told=visit.told()
    )


def progress(words: ConsoleStrings, batch: Mapping[str, Any]) -> Html:
    """How far it is, of the people it is for."""
    totals = batch["totals"]
    if not totals["people"]:
        return el("span", "–", class_="soft")
    share = (totals["people"] - totals["remaining"]) / totals["people"]
    tone = {"completed": "good", "failed": "bad", "paused": "warn"}.get(batch["status"], "")
    return meter(words["batches.progress"], share, percent(words, share), tone)  # type: ignore[arg-type]


def _people(words: ConsoleStrings, batch: Mapping[str, Any]) -> str:
    return number(words, batch["totals"]["people"]) if batch["totals"]["people"] else "–"
