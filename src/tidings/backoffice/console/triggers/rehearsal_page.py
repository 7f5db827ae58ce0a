"""What an event would do: pasted, taken from those that were received, or made up for a trigger; each step explained."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    link_button,
    post_form,
    select_field,
)
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, said, section, timeline
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.triggers.list_page import HERE, Row
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply


def rehearsal_page(
    visit: Visit,
    typed: Typed,
    *,
    received: Sequence[Row],
    names: Mapping[str, str],
    found: Row | None = None,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """The event, and what would come of it; nothing is sent."""
    words = visit.words
    take: Child = None
    if received:
        options = [
            (one["id"], f"{one['type']} · {one.get('subject') or one['source']} · {one['received_at'][:16]}")
            for one in received
        ]
        choose = select_field("event", words["triggers.received"], options, visit.query.get("event"))
        take = el(
            "form",
            choose,
            button(words["triggers.take"], "quiet"),
            action=f"{HERE}/rehearse",
            class_="filters",
        )
    event = area_field(
        "event",
        words["triggers.event"],
        typed.value("event"),
        rows=14,
        id_="event-text",
        hint=words["triggers.event_hint"],
        error=typed.fault("event"),
        required=True,
        dir="ltr",
        spellcheck="false",
    )
    wrong = [
        el("li", el("code", name, dir="ltr"), " ", said(text))
        for name, text in typed.errors.items()
        if name != "event"
    ]
    faults = el("ul", wrong, class_="faults") if wrong else None
    form = post_form(visit.reader, f"{HERE}/rehearse", event, faults, button(words["triggers.ask"]))
    parts = [
        section(words["triggers.event"], take, form, id_="event"),
        section(
            words["triggers.would"],
            rehearsal(visit, found, names) if found else el("p", words["triggers.would_hint"], class_="soft"),
            id_="would",
        ),
    ]
    return page(
        words,
        words["triggers.rehearse"],
        el("div", parts, class_="cards"),
        reader=visit.reader,
        here=HERE,
        trail=[(words["triggers.title"], HERE)],
        told=told,
        wide=True,
        status=status,
    )


def rehearsal(visit: Visit, found: Row, names: Mapping[str, str]) -> Html:
    """Each message that it would make, each trigger that makes nothing of it, and what it would end; and why."""
    words = visit.words
    steps: list[tuple[Child, Child, Any]] = []
    for one in found["planned"]:
        head = join(
            badge(words["triggers.sends"], "good"),
            _trigger(one, names),
            code(one["template"]),
            words.channel(one["channel"]),
            between=" ",
        )
        steps.append(
            (
                moment(one["send_at"], exact=True),
                [
                    el("p", head),
                    el("p", _who(visit, one["recipient"])),
                    el("p", said(one["why"]), class_="soft"),
                ],
                "good",
            )
        )
    for one in found["not_planned"]:
        head = join(
            badge(words["triggers.nothing"], "warn"), _trigger(one, names), code(one["template"]), between=" "
        )
        steps.append((None, [el("p", head), el("p", said(one["why"]), class_="soft")], "warn"))
    for one in found["clears"]:
        head = join(
            badge(words["triggers.clears"], "info"),
            _trigger(one, names),
            code(one["scheduled_id"]),
            between=" ",
        )
        steps.append((None, [el("p", head), el("p", said(one["why"]), class_="soft")], "info"))
    if not steps:
        hint = words["triggers.nobody_hears_hint"]
        return empty(
            words["triggers.nobody_hears"], hint, link_button(words["triggers.new"], f"{HERE}/new", "quiet")
        )
    return timeline(steps)


def _trigger(one: Row, names: Mapping[str, str]) -> Html:
    return el("a", el("bdi", names.get(one["trigger"], one["trigger"])), href=f"{HERE}/{one['trigger']}")


def _who(visit: Visit, recipient: Row) -> Html:
    """Whom it would reach; addresses are hints."""
    words = visit.words
    known: Child = code(recipient["id"]) if recipient["id"] else badge(words["triggers.new_person"], "info")
    identity = (
        f"{recipient['identity_type']}:{recipient['identity_id']}" if recipient["identity_id"] else None
    )
    addresses = ", ".join(f"{one['channel']} {one['hint']}" for one in recipient["addresses"])
    parts = [
        known,
        el("bdi", identity) if identity else None,
        el("bdi", addresses, dir="ltr") if addresses else None,
        el("bdi", recipient["timezone"]),
        el("bdi", recipient["locale"]) if recipient["locale"] else None,
    ]
    return join(*parts, between=" · ")
