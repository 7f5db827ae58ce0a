"""What was found for something that somebody typed: people, what holds an address back, and notifications."""

from collections.abc import Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.forms import button, field_row, post_form, select_field, text_field
from tidings.backoffice.console.kit.marks import empty, moment, note, section, status_badge
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.notifications.list_page import HOME, notifications_table
from tidings.backoffice.console.notifications.searches import UNSEEN_CHANNELS
from tidings.backoffice.console.people.list_page import name_of
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

FIND: Final = "/console/find"
Row = dict[str, Any]


def find_page(
    visit: Visit,
    text: str = "",
    *,
    people: Sequence[Row] | None = None,
    held: Sequence[Row] = (),
    found: Sequence[Row] = (),
    asks: bool = False,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """`people` None: nothing was looked for yet; `asks`: it is an address that came in a link, and is looked for by the button only."""
    words = visit.words
    parts: list[Child] = [_form(visit, text)]
    if asks:
        parts.append(note(words["notifications.find_in_link"], tone="info"))
    elif people is None:
        parts.append(empty(words["notifications.find_title"], words["notifications.find_hint"]))
    elif not (people or held or found):
        parts.append(empty(words["notifications.find_none"], words["notifications.find_none_hint"]))
    else:
        parts += _found(visit, people, held, found)
    return page(
        words,
        words["notifications.find"],
        parts,
        reader=visit.reader,
        here=HOME,
        trail=[(words["place.notifications"], HOME)],
        told=told,
        status=status,
    )


def _form(visit: Visit, text: str) -> Html:
    words = visit.words
    kinds = [("", words["notifications.find_any"]), *((one, words.channel(one)) for one in UNSEEN_CHANNELS)]
    fields = field_row(
        text_field(
            "q",
            words["notifications.find_what"],
            text,
            id_="find-what",
            hint=words["notifications.find_kinds"],
            required=True,
            maxlength=320,
            autocomplete="off",
            spellcheck="false",
            dir="auto",
        ),
        select_field("channel", words["notifications.find_channel"], kinds, id_="find-channel"),
    )
    return el("div", post_form(visit.reader, FIND, fields, button(words["find"])), class_="card")


def _found(visit: Visit, people: Sequence[Row], held: Sequence[Row], found: Sequence[Row]) -> list[Child]:
    words = visit.words
    parts: list[Child] = []
    if held:
        parts.append(_held(visit, held))
    if people:
        parts.append(section(words["notifications.found_people"], people_table(visit, people), id_="people"))
    if found or people:
        parts.append(
            section(
                words["notifications.found_notifications"],
                notifications_table(visit, found, names={one["id"]: name_of(one) for one in people}),
                id_="found",
            )
        )
    return parts


def people_table(visit: Visit, people: Sequence[Row]) -> Html:
    """Recipients by name and hints of their addresses; each leads to their page."""
    words = visit.words
    return table(
        words["notifications.found_people"],
        [
            Column[Row](words["notifications.recipient"], lambda one: el("bdi", name_of(one))),
            Column[Row](words["notifications.identity"], _identity),
            Column[Row](words["notifications.addresses"], lambda one: _addresses(visit, one), "grow"),
            Column[Row](words["notifications.language"], lambda one: el("bdi", one["locale"], dir="ltr")),
        ],
        people,
        href=lambda one: f"/console/people/{one['id']}",
    )


def _identity(one: Row) -> Html | str:
    identity = one["identity"]
    return el("bdi", f"{identity['type']} {identity['id'] or ''}") if identity else "–"


def _addresses(visit: Visit, one: Row) -> Html:
    shown = [
        el("span", visit.words.channel(known["channel"]), " ", el("bdi", known["address"] or "–", dir="ltr"))
        for known in one.get("addresses") or ()
    ]
    return join(*shown, between=" · ")


def _held(visit: Visit, held: Sequence[Row]) -> Html:
    """Suppressions of the address; those in force are the answer already."""
    words = visit.words
    in_force = any(one["released_at"] is None for one in held)
    return section(
        words["notifications.found_held"],
        note(words["notifications.held_now"], tone="bad") if in_force else None,
        table(
            words["notifications.found_held"],
            [
                Column[Row](
                    words["notifications.reason"],
                    lambda one: words.get(f"notifications.held.{one['reason']}", one["reason"]),
                ),
                Column[Row](words["notifications.channel"], lambda one: words.channel(one["channel"])),
                Column[Row](
                    words["notifications.status"],
                    lambda one: status_badge(
                        words, "notifications", "released" if one["released_at"] else "suppressed"
                    ),
                ),
                Column[Row](words["notifications.since_when"], lambda one: moment(one["occurred_at"])),
            ],
            held,
            href=lambda one: f"/console/suppressions/{one['id']}",
        ),
        id_="held",
    )
