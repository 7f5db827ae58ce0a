"""Events that were received, what each led to, and what triggers made of all of them."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    confirm,
    filter_form,
    link_button,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, code, empty, facts, json_block, moment, note, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.triggers.list_page import HERE, Row
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

EVENTS = "/console/events"
RESULTS = ("sent", "planned", "skipped", "failed", "obsolete", "cleared")
_TONES: Mapping[str, Any] = {"sent": "good", "planned": "info", "failed": "bad", "skipped": "warn"}
_PLAIN: Mapping[str, Any] = {"dir": "ltr", "spellcheck": "false"}


def events_page(visit: Visit, found: Row) -> Reply:
    """The events of the last fifteen days, the newest first."""
    words, query = visit.words, visit.query
    filters = filter_form(
        words,
        EVENTS,
        text_field("type", words["triggers.type"], query.get("type"), **_PLAIN),
        text_field("source", words["triggers.source"], query.get("source"), **_PLAIN),
        text_field("subject", words["triggers.subject"], query.get("subject"), **_PLAIN),
    )
    listed = table(
        words["triggers.events"],
        [
            Column[Row](words["triggers.type"], lambda one: el("bdi", one["type"], dir="ltr")),
            Column[Row](words["triggers.subject"], lambda one: el("bdi", one.get("subject") or "–")),
            Column[Row](words["triggers.source"], lambda one: el("bdi", one["source"], dir="ltr")),
            Column[Row](words["triggers.happened"], lambda one: moment(one["time"])),
            Column[Row](words["triggers.arrived"], lambda one: moment(one["received_at"])),
            Column[Row](
                "", lambda one: badge(words["triggers.test"], "info") if one.get("is_test") else None
            ),
        ],
        found["items"],
        href=lambda one: f"{EVENTS}/{one['id']}",
        empty=empty(words["triggers.no_events"], words["triggers.no_events_hint"]),
    )
    kept = {name: query.get(name) for name in ("type", "source", "subject", "cursor")}
    body = join(filters, listed, pager(words, EVENTS, kept, found.get("next_cursor")))
    rehearse = (
        link_button(words["triggers.rehearse"], f"{HERE}/rehearse", "quiet")
        if visit.may("triggers:read")
        else None
    )
    return page(
        words,
        words["triggers.events"],
        body,
        reader=visit.reader,
        here=EVENTS,
        actions=rehearse,
        told=visit.told(),
    )


def event_page(
    visit: Visit,
    event: Row,
    firings: Row,
    names: Mapping[str, str],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """What it says, and what came of it."""
    words = visit.words
    may_see = visit.may("recipients:read")
    about = facts(
        (words["triggers.type"], code(event["type"])),
        (words["triggers.subject"], el("bdi", event.get("subject")) if event.get("subject") else None),
        (words["triggers.source"], el("bdi", event["source"], dir="ltr")),
        (words["triggers.sender_id"], code(event["source_event_id"])),
        (words["triggers.happened"], moment(event["time"])),
        (words["triggers.arrived"], moment(event["received_at"])),
        (words["triggers.id"], code(event["id"], copy=True)),
        (words["triggers.test"], badge(words["triggers.test"], "info") if event.get("is_test") else None),
    )
    said: Child = note(words["triggers.data_hidden"], tone="info")
    if may_see:
        said = join(
            json_block(event.get("data")),
            json_block(event.get("extensions")) if event.get("extensions") else None,
        )
    actions: list[Child] = []
    if may_see and visit.may("triggers:read"):
        actions.append(
            link_button(words["triggers.what_if"], f"{HERE}/rehearse?event={event['id']}", "quiet")
        )
    if may_see and visit.may("events:write") and not event.get("is_test"):
        actions.append(
            confirm(
                words,
                visit.reader,
                f"{EVENTS}/{event['id']}/replay",
                words["triggers.replay"],
                words["triggers.replay_question"],
                kind="quiet",
            )
        )
    parts: list[Child] = [section(words["triggers.about"], about, id_="about")]
    if visit.may("triggers:read"):
        shown = firings_table(visit, firings, names, empty_text=words["triggers.nothing_came"], of_one=True)
        live = 3 if not firings["items"] else None
        parts.append(section(words["triggers.came"], shown, id_="came", live=live))
    parts.append(section(words["triggers.data"], said, id_="data"))
    return page(
        words,
        event["type"],
        parts,
        reader=visit.reader,
        here=EVENTS,
        trail=[(words["triggers.events"], EVENTS)],
        actions=actions,
        told=told or visit.told(),
        status=status,
    )


def firings_page(visit: Visit, found: Row, names: Mapping[str, str]) -> Reply:
    """What triggers made of events, the newest first."""
    words, query = visit.words, visit.query
    path = f"{HERE}/firings"
    results = [(one, words[f"triggers.result.{one}"]) for one in RESULTS]
    known = list(names.items())
    if (asked := query.get("trigger")) and asked not in names:
        known.append((asked, asked))
    filters = filter_form(
        words,
        path,
        select_field("trigger", words["triggers.trigger"], any_of(words, known), query.get("trigger")),
        select_field("result", words["triggers.result"], any_of(words, results), query.get("result")),
    )
    shown = firings_table(visit, found, names, empty_text=words["triggers.no_firings"])
    kept = {name: query.get(name) for name in ("trigger", "result", "event", "cursor")}
    return page(
        words,
        words["triggers.firings"],
        join(filters, shown, pager(words, path, kept, found.get("next_cursor"))),
        reader=visit.reader,
        here=HERE,
        trail=[(words["triggers.title"], HERE)],
    )


def firings_table(
    visit: Visit, found: Row, names: Mapping[str, str], *, empty_text: str, of_one: bool = False
) -> Html:
    """A line for each trigger and each person; `of_one`: all are of one event."""
    words = visit.words

    def trigger(one: Row) -> Html:
        name = el("bdi", names.get(one["trigger_id"], one["trigger_id"]))
        return el("a", name, href=f"{HERE}/{one['trigger_id']}")

    def event(one: Row) -> Html:
        return el("a", el("bdi", one["event_type"], dir="ltr"), href=f"{EVENTS}/{one['event_id']}")

    columns = [
        Column[Row](words["triggers.trigger"], trigger),
        Column[Row](words["triggers.result"], lambda one: _result(visit, one)),
        *([] if of_one else [Column[Row](words["triggers.event"], event)]),
        Column[Row](words["triggers.template"], lambda one: el("code", one["template"], dir="ltr")),
        Column[Row](words["triggers.recipient"], lambda one: _link(visit, "people", one["recipient_id"])),
        Column[Row](
            words["triggers.message"], lambda one: _link(visit, "notifications", one["notification_id"])
        ),
        Column[Row](words["triggers.send_at"], lambda one: moment(one["send_at"])),
    ]
    return table(words["triggers.firings"], columns, found["items"], empty=empty(empty_text))


def _result(visit: Visit, one: Row) -> Html:
    words = visit.words
    shown = badge(words[f"triggers.result.{one['result']}"], _TONES.get(one["result"], "off"))
    reason = (one["reason"] or "").replace("_", " ")
    return join(shown, el("span", reason, class_="soft", lang="en") if reason else None, between=" ")


def _link(visit: Visit, place: str, id_: str | None) -> Child:
    path = path_of(place)
    if not id_:
        return None
    return el("a", visit.words["triggers.open"], href=f"{path}/{id_}", title=id_) if path else code(id_)
