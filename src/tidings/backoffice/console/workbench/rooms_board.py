"""The board of housekeeping: every room as a chip, floor by floor."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.marks import empty, section
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.workbench.glance import room_tiles
from tidings.backoffice.console.workbench.names import HouseClock, board_path, room_tone

STATUSES: Final = ("dirty", "cleaning", "clean", "inspected", "out_of_order")

Room = Mapping[str, Any]


def rooms_board(visit: Visit, board: Mapping[str, Any]) -> Html:
    """All rooms, or those of one state, as the address says."""
    words = visit.words
    counts, rooms = board["room_counts"], board["rooms"]
    head = room_tiles(visit, board, counts) if counts is not None else NOTHING
    if rooms is None:
        return join(head, empty(words["workbench.missing"]))
    wanted = visit.query.get("status")
    shown: list[Room] = [one for one in rooms if wanted not in STATUSES or one["status"] == wanted]
    all_of_them = el(
        "a", words["workbench.all_rooms"], href=board_path(board["property"]["id"], "housekeeping")
    )
    if wanted in STATUSES:
        only = filled(words["workbench.only"], state=words[f"workbench.room.{wanted}"])
        head = join(head, el("p", only, " ", all_of_them))
    if not shown:
        return join(head, empty(words["workbench.no_rooms"]))
    clock = HouseClock(visit, board)
    floors: dict[str, list[Room]] = {}
    for room in shown:
        floors.setdefault(room["floor"], []).append(room)
    parts = [
        section(filled(words["workbench.floor"], floor=floor), _chips(visit, clock, some))
        for floor, some in floors.items()
    ]
    return join(head, el("div", parts))


def _chips(visit: Visit, clock: HouseClock, rooms: Sequence[Room]) -> Html:
    return el("ul", [_chip(visit, clock, room) for room in rooms], class_="chips")


def _chip(visit: Visit, clock: HouseClock, room: Room) -> Html:
    """The word of a room's state stands there as well as its colour."""
    words = visit.words
    lines: list[Child] = [
        el("strong", el("bdi", room["room"])),
        el("span", words[f"workbench.room.{room['status']}"]),
    ]
    use = words[f"workbench.use.{room['use']}"]
    due = join(" ", clock.time(room["due_at"])) if room["due_at"] else NOTHING
    lines.append(el("span", use, due, class_="soft"))
    if room["tasks"]:
        lines.append(el("span", ", ".join(room["tasks"]), class_="soft", dir="auto"))
    return el("li", lines, class_=room_tone(room["status"]))
