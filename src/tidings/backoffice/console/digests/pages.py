"""The list of digests, one with what is in it, and the tenant's schedule."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, filled, join
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    confirm,
    field_row,
    filter_form,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    empty,
    facts,
    moment,
    number,
    section,
    status_badge,
)
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.contracts.enums import CHANNELS
from tidings.kernel.http.answers import Reply

HERE = "/console/digests"
STATES = ("open", "flushing", "flushed")
EVERY = ("hour", "day", "week", "minutes", "pause", "never")
Row = Mapping[str, Any]
#: `open` is good here: more may join.
_TONES: Mapping[str, Any] = {"open": "info", "flushing": "warn", "flushed": "good"}


def digests_page(
    visit: Visit,
    found: Row,
    categories: Sequence[Row],
    schedule: Child,
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """Digests that are being gathered, or those of the last thirty days."""
    words, query = visit.words, visit.query
    channels = [(one, words.channel(one)) for one in ("auto", *CHANNELS)]
    filters = filter_form(
        words,
        HERE,
        select_field(
            "state",
            words["status"],
            [(one, words[f"digests.status.{one}"]) for one in STATES],
            query.get("state", "open"),
        ),
        select_field(
            "category",
            words["digests.category"],
            any_of(words, [(one["category"], one["category"]) for one in categories]),
            query.get("category"),
        ),
        select_field("channel", words["digests.channel"], any_of(words, channels), query.get("channel")),
        text_field(
            "recipient",
            words["digests.recipient"],
            query.get("recipient"),
            placeholder="rcp_…",
            dir="ltr",
            spellcheck="false",
        ),
    )
    listed = table(
        words["digests.title"],
        [
            Column[Row](words["digests.category"], lambda one: el("bdi", one["category"])),
            Column[Row](words["status"], lambda one: _state(words, one)),
            Column[Row](words["digests.items"], lambda one: number(words, one["item_count"]), "num"),
            Column[Row](words["digests.channel"], lambda one: words.channel(one["channel"])),
            Column[Row](words["digests.recipient"], lambda one: _person(one["recipient_id"])),
            Column[Row](words["digests.opened"], lambda one: moment(one["opened_at"])),
            Column[Row](words["digests.comes"], lambda one: moment(one["flushed_at"] or one["flush_at"])),
        ],
        found["items"],
        href=lambda one: f"{HERE}/{one['id']}",
        empty=empty(words["digests.none"], words["digests.none_hint"]),
    )
    kept = {name: query.get(name) for name in ("state", "category", "channel", "recipient", "cursor")}
    body = join(
        filters,
        el("div", listed, id="digests", data_live=10),
        pager(words, HERE, kept, found.get("next_cursor")),
        section(
            words["digests.schedule"],
            el("p", words["digests.schedule_text"], class_="soft"),
            schedule,
            id_="schedule",
        ),
    )
    return page(
        words,
        words["digests.title"],
        body,
        reader=visit.reader,
        here=HERE,
        told=told or visit.told(),
        status=status,
    )


def digest_page(visit: Visit, digest: Row, *, told: Told | None = None, status: int = 200) -> Reply:
    """One digest with its items, the oldest first."""
    words = visit.words
    messages = path_of("notifications")
    about = facts(
        (words["status"], _state(words, digest)),
        (words["digests.category"], el("bdi", digest["category"])),
        (words["digests.channel"], words.channel(digest["channel"])),
        (words["digests.recipient"], _person(digest["recipient_id"])),
        (words["digests.key"], code(digest["digest_key"]) if digest["digest_key"] else None),
        (words["digests.opened"], moment(digest["opened_at"])),
        (words["digests.comes"], moment(digest["flushed_at"] or digest["flush_at"])),
        (words["digests.result"], words[f"digests.result.{digest['result']}"] if digest["result"] else None),
        (words["digests.message"], _message(words, messages, digest["digest_notification_id"])),
        (words["digests.test"], badge(words["digests.test"], "info") if digest["is_test"] else None),
    )
    items = table(
        words["digests.items"],
        [
            Column[Row](words["digests.message"], lambda one: code(one["id"])),
            Column[Row](words["status"], lambda one: status_badge(words, "notifications", one["status"])),
        ],
        digest["items"],
        href=(lambda one: f"{messages}/{one['id']}") if messages else None,
        empty=empty(words["digests.no_items"]),
    )
    flush = None
    if digest["state"] == "open" and visit.may("notifications:write"):
        question = words["digests.flush_question"]
        flush = confirm(
            words, visit.reader, f"{HERE}/{digest['id']}/flush", words["digests.flush"], question, kind=""
        )
    live = None if digest["state"] == "flushed" else 2
    body = el(
        "div",
        section(words["digests.about"], about, id_="about"),
        section(words["digests.items"], items, id_="items"),
        id="digest",
        data_live=live,
    )
    return page(
        words,
        words["digests.of"].replace("{category}", digest["category"]),
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["digests.title"], HERE)],
        actions=flush,
        told=told or visit.told(),
        status=status,
    )


def schedule_table(visit: Visit, schedule: Row, categories: Sequence[Row]) -> Html:
    """When messages of each category come, for those who have not chosen."""
    words = visit.words
    known = [one for one in categories if one["may_digest"]]
    return table(
        words["digests.schedule"],
        [
            Column[Row](words["digests.category"], lambda one: el("bdi", one["category"])),
            Column[Row](
                words["digests.comes"], lambda one: said_schedule(words, schedule.get(one["category"]))
            ),
        ],
        known,
        empty=empty(words["digests.nothing_gathered"]),
    )


def schedule_form(visit: Visit, typed: Typed, categories: Sequence[Row]) -> Html:
    """The same as a form, for the platform's people: the policy of a tenant is theirs to write."""
    words = visit.words
    every = [("", words["digests.one_by_one"]), *((one, words[f"digests.every.{one}"]) for one in EVERY)]
    rows = []
    for one in categories:
        name = one["category"]
        if not one["may_digest"]:
            continue
        fault = next(
            (text for field, text in typed.errors.items() if f"digest_schedule.{name}" in field), None
        )
        rows.append(
            el(
                "fieldset",
                el("legend", el("bdi", name)),
                field_row(
                    select_field(
                        f"every-{name}",
                        words["digests.comes"],
                        every,
                        typed.value(f"every-{name}"),
                        error=fault,
                    ),
                    text_field(f"at-{name}", words["digests.at"], typed.value(f"at-{name}"), kind="time"),
                    text_field(
                        f"minutes-{name}",
                        words["digests.minutes"],
                        typed.value(f"minutes-{name}"),
                        kind="number",
                        min=1,
                    ),
                ),
            )
        )
    version = el("input", type="hidden", name="version", value=typed.value("version"))
    return post_form(visit.reader, f"{HERE}/schedule", version, rows, button(words["save"]), data_guard=True)


def said_schedule(words: ConsoleStrings, choice: Row | None) -> Html:
    """A schedule in words."""
    if choice is None:
        return el("span", words["digests.one_by_one"], class_="soft")
    every = choice["every"]
    parts: list[Child] = [words[f"digests.every.{every}"]]
    if every in ("day", "week"):
        parts.append(el("bdi", choice.get("at") or "09:00", dir="ltr"))
    days = choice.get("days") or ([choice["day"]] if choice.get("day") else [])
    parts += [words[f"digests.day.{day}"] for day in days]
    if choice.get("minutes"):
        parts.append(filled(words["digests.after_minutes"], count=number(words, choice["minutes"])))
    if choice.get("at_most_minutes"):
        parts.append(filled(words["digests.at_most"], count=number(words, choice["at_most_minutes"])))
    return join(*parts, between=" · ")


def _state(words: ConsoleStrings, one: Row) -> Html:
    return status_badge(words, "digests", one["state"], _TONES.get(one["state"], ""))


def _person(recipient_id: str) -> Html:
    people = path_of("people")
    shown = el("code", recipient_id, dir="ltr")
    return el("a", shown, href=f"{people}/{recipient_id}") if people else shown


def _message(words: ConsoleStrings, messages: str | None, id_: str | None) -> Child:
    if not id_:
        return None
    return el("a", words["digests.open"], href=f"{messages}/{id_}") if messages else code(id_)
