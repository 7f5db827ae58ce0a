"""The list of conversations: those who wait for an answer first."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Html, el, join
from tidings.backoffice.console.kit.forms import any_of, filter_form, hidden, select_field
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    empty,
    moment,
    number,
    section,
    status_badge,
    tabs,
)
from tidings.backoffice.console.kit.tables import Column, address, pager, table
from tidings.backoffice.console.notifications.list_page import NOBODY
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HOME: Final = "/console/conversations"
#: Which conversations a tab shows, as the API is asked for them.
VIEWS: Final[Mapping[str, Mapping[str, str]]] = {
    "waiting": {"status": "OPEN", "unanswered": "true"},
    "open": {"status": "OPEN"},
    "all": {},
}
CHANNELS: Final = ("sms", "whatsapp", "telegram", "viber")
_LIVE: Final = 5

Row = dict[str, Any]


def list_page(
    visit: Visit,
    view: str,
    found: Mapping[str, Any],
    unmatched: Sequence[Row] | None,
    *,
    names: Mapping[str, str] = NOBODY,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """One tab of them; `unmatched` is what nobody's numbers were written, for the platform's people."""
    words, query = visit.words, visit.query
    kept = {"view": view, "channel": query.get("channel"), "recipient": query.get("recipient")}
    names = {
        "waiting": words["conversations.view_waiting"],
        "open": words["conversations.view_open"],
        "all": words["conversations.view_all"],
    }
    views = tabs(
        words["conversations.views"],
        *((text, address(HOME, {**kept, "view": key}), key == view) for key, text in names.items()),
    )
    listed = section(
        words["conversations.list"],
        _table(visit, found["items"], view, names),
        pager(words, HOME, {**kept, "cursor": query.get("cursor")}, found.get("next_cursor")),
        id_="conversations",
        live=None if query.get("cursor") else _LIVE,
    )
    return page(
        words,
        words["place.conversations"],
        join(views, _filters(visit, view), listed, _unmatched(visit, unmatched)),
        reader=visit.reader,
        here=HOME,
        told=told,
        wide=True,
        status=status,
    )


def waits(one: Mapping[str, Any]) -> bool:
    """Whether the person spoke last."""
    received, sent = one["last_received_at"], one["last_sent_at"]
    return received is not None and (sent is None or sent < received)


def _table(visit: Visit, rows: Sequence[Row], view: str, names: Mapping[str, str]) -> Html:
    words = visit.words
    nothing = (
        empty(words["conversations.none_waiting"], words["conversations.none_waiting_hint"])
        if view == "waiting"
        else empty(words["conversations.none"], words["conversations.none_hint"])
    )
    return table(
        words["conversations.list"],
        [
            Column[Row](words["conversations.person"], lambda one: _person(visit, one, names)),
            Column[Row](words["conversations.channel"], lambda one: words.channel(one["channel"])),
            Column[Row](words["conversations.number"], lambda one: el("bdi", one["sender"], dir="ltr")),
            Column[Row](words["conversations.status"], lambda one: standing(visit, one)),
            Column[Row](words["conversations.lines"], lambda one: number(words, one["messages"]), "num"),
            Column[Row](words["conversations.last"], lambda one: moment(one["last_message_at"]), "tight"),
            Column[Row](
                words["conversations.ends"],
                lambda one: moment(one["expires_at"] if one["status"] == "OPEN" else one["closed_at"]),
                "tight",
            ),
        ],
        rows,
        href=lambda one: f"{HOME}/{one['id']}",
        empty=nothing,
    )


def standing(visit: Visit, one: Mapping[str, Any]) -> Html:
    """Its status, and whether somebody waits."""
    words = visit.words
    shown = status_badge(
        words, "conversations", one["status"].lower(), "info" if one["status"] == "OPEN" else "off"
    )
    waiting = one["status"] == "OPEN" and waits(one)
    return join(shown, badge(words["conversations.waits"], "warn") if waiting else None, between=" ")


def _person(visit: Visit, one: Row, names: Mapping[str, str]) -> Html:
    if one["recipient_id"] is None:
        return el("span", visit.words["conversations.stranger"])
    if known := names.get(one["recipient_id"]):
        return el("bdi", known)
    return el("code", f"…{one['recipient_id'][-6:]}", dir="ltr", title=one["recipient_id"])


def _filters(visit: Visit, view: str) -> Html:
    words, query = visit.words, visit.query
    channels = [(one, words.channel(one)) for one in CHANNELS]
    recipient = query.get("recipient")
    chip = None
    if recipient:
        without = address(HOME, {"view": view, "channel": query.get("channel")})
        chip = el(
            "div",
            el("span", words["conversations.person"], ": ", code(recipient)),
            el("a", "×", href=without, aria_label=words["conversations.leave_out"]),
            hidden("recipient", recipient),
            class_="chip",
        )
    return filter_form(
        words,
        HOME,
        hidden("view", view),
        select_field(
            "channel",
            words["conversations.channel"],
            any_of(words, channels),
            query.get("channel"),
            id_="f-channel",
        ),
        chip,
    )


def _unmatched(visit: Visit, found: Sequence[Row] | None) -> Html:
    """Numbers of the platform that people write to and that are nobody's: counts alone are kept."""
    words = visit.words
    if found is None:
        return NOTHING
    listed = table(
        words["conversations.unmatched"],
        [
            Column[Row](words["conversations.number"], lambda one: el("bdi", one["destination"], dir="ltr")),
            Column[Row](words["conversations.lines"], lambda one: number(words, one["messages"]), "num"),
            Column[Row](words["conversations.last"], lambda one: moment(one["last_at"]), "tight"),
        ],
        found,
        empty=el("p", words["conversations.unmatched_none"], class_="soft"),
    )
    hint = el("p", words["conversations.unmatched_hint"], class_="hint")
    return section(words["conversations.unmatched"], hint, listed, id_="unmatched")
