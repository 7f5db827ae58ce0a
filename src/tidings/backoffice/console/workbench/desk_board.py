"""Boards of the desk: what comes next today, who arrives, who leaves, who is there."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.marks import badge, empty, number, section
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.workbench.glance import room_tiles, ticket_tiles
from tidings.backoffice.console.workbench.names import HouseClock, room_badge, stay_badge
from tidings.backoffice.console.workbench.occupancy import occupancy_tiles

Stay = Mapping[str, Any]

#: What stands in the columns of each board, in this order.
_COLUMNS: Final = {
    "today": ("guest", "next", "room", "state", "status"),
    "arrivals": ("guest", "arrives", "room", "state", "nights", "party", "status", "channel"),
    "departures": ("guest", "leaves", "room", "state", "party", "status"),
    "in-house": ("room", "guest", "leaves", "state", "party", "status"),
}


def today_board(visit: Visit, board: Mapping[str, Any]) -> Html:
    """The day in numbers, and what comes next at the desk."""
    words = visit.words
    parts: list[Child] = [
        section(words["workbench.desk"], _stays(visit, "today", board), id_="desk"),
    ]
    for name, tiles_of in (("room_counts", room_tiles), ("ticket_counts", ticket_tiles)):
        title = words["workbench.section.rooms" if name == "room_counts" else "workbench.section.tickets"]
        found = board[name]
        body = empty(words["workbench.missing"]) if found is None else tiles_of(visit, board, found)
        parts.append(section(title, body, id_=name.replace("_", "-")))
    return join(occupancy_tiles(visit, board), el("div", parts))


def stays_board(visit: Visit, view: str, board: Mapping[str, Any]) -> Html:
    """Everybody of a day, or everybody who is there."""
    return el("div", _stays(visit, view, board))


def _stays(visit: Visit, view: str, board: Mapping[str, Any]) -> Html:
    words = visit.words
    if board["stays"] is None:
        return empty(words["workbench.missing"])
    columns = _columns(visit, HouseClock(visit, board))
    # On another day than today rooms have no state yet.
    has_states = board["missing"] or any(stay["room_status"] for stay in board["stays"])
    shown = [columns[name] for name in _COLUMNS[view] if name != "state" or has_states]
    caption = words[f"workbench.view.{view}"]
    nobody = empty(words[f"workbench.nobody.{view}"])
    return table(caption, shown, board["stays"], href=_keys_of(visit, board), empty=nobody)


def _keys_of(visit: Visit, board: Mapping[str, Any]) -> Callable[[Stay], str | None] | None:
    """A row leads to the keys of its reservation."""
    locks = path_of("locks")
    if locks is None or not visit.may("locks:read"):
        return None
    return lambda stay: at(locks + "/{}/{}", board["property"]["id"], stay["reservation_id"])


def _columns(visit: Visit, clock: HouseClock) -> dict[str, Column[Stay]]:
    words = visit.words

    def heading(name: str) -> str:
        return words[f"workbench.column.{name}"]

    def state(stay: Stay) -> Child:
        if stay["room_status"] is None:
            return el("span", "–", class_="soft")
        return room_badge(words, stay["room_status"])

    def next_(stay: Stay) -> Child:
        leaves = stay["status"] == "in_house"
        word = words["workbench.leaves" if leaves else "workbench.arrives"]
        moment = clock.time(stay["departs_at"] if leaves else stay["arrives_at"])
        return el("span", word, " ", moment, class_="when")

    return {
        "guest": Column(heading("guest"), lambda stay: _guest(visit, stay), "grow"),
        "next": Column(heading("next"), next_),
        "arrives": Column(heading("arrives"), lambda stay: clock.time(stay["arrives_at"])),
        "leaves": Column(heading("leaves"), lambda stay: clock.day(stay["departs_at"])),
        "room": Column(
            heading("room"),
            lambda stay: el("bdi", stay["room"] or "–"),
        ),
        "state": Column(heading("state"), state),
        "nights": Column(heading("until"), lambda stay: clock.day(stay["departs_at"])),
        "party": Column(heading("party"), lambda stay: number(words, stay["party"]), "num"),
        "status": Column(heading("status"), lambda stay: stay_badge(words, stay["status"])),
        "channel": Column(heading("channel"), lambda stay: el("span", stay["channel"] or "–", dir="auto")),
    }


def _guest(visit: Visit, stay: Stay) -> Html:
    words = visit.words
    marks: list[Child] = []
    if stay["is_vip"]:
        marks.append(badge(words["workbench.vip"], "info"))
    if stay["notes"]:
        marks.append(badge(f"{words['workbench.notes']} {number(words, stay['notes'])}"))
    return el("span", el("bdi", stay["guest"]), [join(" ", one) for one in marks])
