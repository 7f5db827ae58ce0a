"""What became of each person of a batch, and the report on all of them."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.batches.batch_page import batch_tabs
from tidings.backoffice.console.batches.builder_page import HERE
from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import any_of, filter_form, link_button, select_field
from tidings.backoffice.console.kit.marks import (
    TONES,
    Tile,
    badge,
    code,
    empty,
    moment,
    note,
    number,
    percent,
    section,
    status_badge,
    tiles,
)
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

STATES = (
    "planned",
    "accepted",
    "sent",
    "delivered",
    "bounced",
    "failed",
    "refused",
    "expired",
    "suppressed",
    "superseded",
    "cancelled",
    "withdrawn",
)
Row = Mapping[str, Any]


def ledger_page(visit: Visit, batch: Row, found: Row) -> Reply:
    """The ledger: each person once."""
    words, query = visit.words, visit.query
    path = f"{HERE}/{batch['id']}/people"
    states = [(one, words[f"batches.state.{one}"]) for one in STATES]
    fields: list[Child] = [select_field("state", words["status"], any_of(words, states), query.get("state"))]
    if batch["variants"]:
        shares = [("0", words["batches.as_it_is"])]
        shares += [(str(place), one["name"]) for place, one in enumerate(batch["variants"], 1)]
        fields.append(
            select_field("variant", words["batches.ab_test"], any_of(words, shares), query.get("variant"))
        )
    people, messages = path_of("people"), path_of("notifications")
    listed = table(
        words["batches.ledger"],
        [
            Column[Row](words["batches.recipient"], lambda one: code(one["recipient_id"])),
            Column[Row](words["status"], lambda one: _state(visit, one)),
            Column[Row](words["batches.ab_test"], lambda one: one["variant"]),
            Column[Row](words["batches.reason"], lambda one: (one["reason"] or "").replace("_", " ")),
            Column[Row](
                words["batches.message"],
                lambda one: (
                    el("a", words["batches.see"], href=f"{messages}/{one['notification_id']}")
                    if messages and one["notification_id"]
                    else None
                ),
            ),
            Column[Row](words["batches.send_at"], lambda one: moment(one["send_at"])),
        ],
        found["items"],
        href=(lambda one: f"{people}/{one['recipient_id']}") if people else None,
        empty=empty(words["batches.no_lines"], words["batches.no_lines_hint"]),
    )
    kept = {name: query.get(name) for name in ("state", "variant", "unread", "cursor")}
    body = join(
        batch_tabs(words, batch, "people"),
        filter_form(words, path, *fields),
        listed,
        pager(words, path, kept, found.get("next_cursor")),
    )
    return _page(visit, batch, body)


def report_page(visit: Visit, batch: Row, report: Row) -> Reply:
    """What it came to, the shares beside each other, and the proof where it was asked for."""
    words = visit.words
    states = [
        Tile(
            words.get(f"batches.state.{name}", name),
            number(words, count),
            # Accepted and sent are one number while the batch runs: there is no list of both.
            href=f"{HERE}/{batch['id']}/people?state={name}" if name in STATES else None,
        )
        for name, count in report["states"].items()
    ]
    met = (
        words["batches.met"]
        .replace("{met}", number(words, report["met"]))
        .replace("{unmet}", number(words, report["unmet"]))
    )
    proof = report["proof"]
    check: Child = link_button(words["batches.verify"], f"{HERE}/{batch['id']}/report?verify=true", "quiet")
    if proof is not None:
        agrees = bool(proof["agrees"])
        check = note(
            words["batches.agrees" if agrees else "batches.differs"], tone="good" if agrees else "bad"
        )
    parts: list[Child] = [
        batch_tabs(words, batch, "report"),
        section(words["batches.report"], el("p", met), tiles(*states), check, id_="report"),
    ]
    if batch["variants"]:
        parts.append(section(words["batches.ab_test"], _shares(visit, report), id_="shares"))
    if report["unread_answers"]:
        lines = [
            el("li", code(one["recipient_id"]), code(one["notification_id"]))
            for one in report["unread_answers"]
        ]
        parts.append(
            section(
                words["batches.uncertain"],
                el("p", words["batches.uncertain_text"]),
                el("ul", lines, class_="rows"),
                id_="uncertain",
            )
        )
    return _page(visit, batch, parts)


def _shares(visit: Visit, report: Row) -> Html:
    words = visit.words

    def share(name: str) -> Column[Row]:
        return Column[Row](
            words[f"batches.total.{name}"],
            lambda one: (
                f"{number(words, one[name])} ({percent(words, one[name] / one['people'])})"
                if one["people"]
                else "–"
            ),
            "num",
        )

    return table(
        words["batches.ab_test"],
        [
            Column[Row](words["name"], lambda one: el("bdi", one["name"])),
            Column[Row](words["batches.template"], lambda one: el("code", one["template"], dir="ltr")),
            Column[Row](words["batches.people"], lambda one: number(words, one["people"]), "num"),
            *(share(name) for name in ("delivered", "failed", "suppressed", "opened", "clicked")),
        ],
        report["variants"],
    )


def _state(visit: Visit, one: Row) -> Html:
    text = visit.words.get(f"batches.state.{one['state']}", one["state"])
    return badge(text, TONES.get(one["state"], "info"))


def _page(visit: Visit, batch: Row, body: Child) -> Reply:
    words = visit.words
    return page(
        words,
        batch["name"],
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["batches.title"], HERE), (batch["name"], f"{HERE}/{batch['id']}")],
        actions=status_badge(words, "batches", batch["status"]),
        told=visit.told(),
    )
