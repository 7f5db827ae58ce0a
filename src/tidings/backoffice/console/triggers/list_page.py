"""The list of triggers, and the sets that are shipped."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import button, filter_form, link_button, post_form, text_field
from tidings.backoffice.console.kit.marks import badge, empty, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.triggers.trigger_form import offset_of
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE = "/console/triggers"
Row = Mapping[str, Any]


def triggers_page(visit: Visit, found: Row, sets: Row) -> Reply:
    """All triggers, one's own and the platform's."""
    words, query = visit.words, visit.query
    new = link_button(words["triggers.new"], f"{HERE}/new") if visit.may("triggers:write") else None
    rehearse = link_button(words["triggers.rehearse"], f"{HERE}/rehearse", "quiet")
    filters = filter_form(
        words,
        HERE,
        text_field(
            "event_type", words["triggers.event_type"], query.get("event_type"), dir="ltr", spellcheck="false"
        ),
    )
    listed = table(
        words["triggers.title"],
        [
            Column[Row](words["name"], lambda one: el("bdi", one["name"] or one["template"])),
            Column[Row](words["triggers.event_type"], lambda one: el("code", one["event_type"], dir="ltr")),
            Column[Row](words["triggers.template"], lambda one: el("code", one["template"], dir="ltr")),
            Column[Row](words["triggers.channel"], lambda one: words.channel(one["channel"])),
            Column[Row](words["triggers.when"], lambda one: when(words, one)),
            Column[Row](words["status"], lambda one: states(words, one)),
        ],
        found["items"],
        href=lambda one: f"{HERE}/{one['id']}",
        empty=empty(words["triggers.none"], words["triggers.none_hint"], new),
    )
    kept = {name: query.get(name) for name in ("event_type", "cursor")}
    return page(
        words,
        words["triggers.title"],
        join(filters, listed, pager(words, HERE, kept, found.get("next_cursor")), _sets(visit, sets)),
        reader=visit.reader,
        here=HERE,
        actions=[rehearse, new],
        told=visit.told(),
    )


def when(words: ConsoleStrings, trigger: Row) -> Html:
    """When its message is sent, in words."""
    offset, hour = offset_of(trigger["offset"]), trigger["local_time"]
    parts: list[Child] = []
    if offset is not None:
        side = words["triggers.before" if offset.is_before else "triggers.after"]
        amount = duration(words, offset.count, offset.unit)
        parts.append(filled(side, amount=amount, anchor=trigger["anchor"]))
    elif trigger["offset"]:
        parts.append(el("code", f"{trigger['anchor']} {trigger['offset']}", dir="ltr"))
    elif trigger["anchor"] != "$.time":
        parts.append(filled(words["triggers.at"], anchor=trigger["anchor"]))
    if hour:
        parts.append(filled(words["triggers.local"], hour=hour))
    return join(*parts, between=", ") if parts else join(words["triggers.at_once"])


def duration(words: ConsoleStrings, count: int, unit: str) -> str:
    """A time as the language writes it; the unit in the plural, as forms have it."""
    from babel.units import format_unit

    return format_unit(count, f"duration-{unit.removesuffix('s')}", locale=words.language.replace("-", "_"))


def states(words: ConsoleStrings, trigger: Row) -> Html:
    """Whether it fires, and whose it is."""
    on = trigger["enabled"]
    marks = [
        badge(words["triggers.on" if on else "triggers.off"], "good" if on else "off"),
        badge(words[f"triggers.owner.{trigger['owner']}"]),
        badge(words["triggers.warning"], "warn") if trigger["warnings"] else None,
    ]
    return join(*marks, between=" ")


def _sets(visit: Visit, sets: Row) -> Child:
    if not sets["items"]:
        return None
    words = visit.words
    rows = []
    for one in sets["items"]:
        count = filled(words["triggers.set_count"], enabled=str(one["enabled"]), all=str(one["triggers"]))
        adopt = None
        if visit.may("triggers:write") and one["enabled"] < one["triggers"]:
            path = f"{HERE}/sets/{one['name']}/adopt"
            adopt = post_form(visit.reader, path, button(words["triggers.adopt"], "quiet"))
        rows.append(
            el("li", el("span", el("strong", el("bdi", one["name"])), " ", count, class_="grow"), adopt)
        )
    return section(
        words["triggers.sets"],
        el("p", words["triggers.sets_text"], class_="soft"),
        el("ul", rows, class_="rows"),
        id_="sets",
    )
