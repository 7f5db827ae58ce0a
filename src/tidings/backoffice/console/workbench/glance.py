"""The dashboard of a property: each section as far as the role looks after it."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.kit.marks import Tile, empty, meter, number, percent, section, tiles
from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.workbench.names import board_path


def glance(visit: Visit, board: Mapping[str, Any]) -> Html:
    """All sections of the role, side by side where there is room."""
    words = visit.words
    shown = []
    for name in board["sections"]:
        found = board[name]
        title = words[f"workbench.section.{name}"]
        body = empty(words["workbench.missing"]) if found is None else _SECTIONS[name](visit, board, found)
        shown.append(section(title, body, id_=f"section-{name}"))
    return el("div", shown, class_="cards")


def _occupancy(visit: Visit, board: Mapping[str, Any], found: Mapping[str, int]) -> Html:
    words = visit.words
    share = found["rooms_occupied"] / found["rooms_total"] if found["rooms_total"] else 0.0
    lines = [
        el(
            "div",
            el("p", words["workbench.occupied"], class_="label"),
            meter(words["workbench.occupied"], share, percent(words, share)),
        )
    ]
    for name in ("arrivals", "departures"):
        done, due = found[f"{name}_done"], found[f"{name}_expected"]
        link = el("a", words[f"workbench.view.{name}"], href=board_path(board["property"]["id"], name))
        text = f"{number(words, done)} / {number(words, due)}"
        lines.append(
            el(
                "div",
                el("p", link, class_="label"),
                meter(words[f"workbench.view.{name}"], done / due if due else 1.0, text, "good"),
            )
        )
    guests = Tile(
        words["workbench.guests"],
        number(words, found["in_house_guests"]),
        href=board_path(board["property"]["id"], "in-house"),
    )
    return el("div", lines, tiles(guests, _tile(visit, "no_shows", found["no_shows"], bad="warn")))


def _rooms(visit: Visit, board: Mapping[str, Any], found: Mapping[str, int]) -> Html:
    return room_tiles(visit, board, found)


def _tickets(visit: Visit, board: Mapping[str, Any], found: Mapping[str, int]) -> Html:
    return ticket_tiles(visit, board, found)


def _locks(visit: Visit, board: Mapping[str, Any], found: Mapping[str, Any]) -> Html:  # noqa: ARG001  # as all sections
    words = visit.words
    shown = tiles(
        Tile(
            words["workbench.keys"],
            number(words, found["keys_active"]),
            href=path_of("locks") if visit.may("locks:read") else None,
        ),
        _tile(visit, "locks_offline", found["offline"], bad="bad"),
        _tile(visit, "low_battery", found["low_battery"], bad="warn"),
    )
    rooms = ", ".join(found["rooms"])
    return el("div", shown, el("p", words["workbench.look_at"], " ", el("bdi", rooms)) if rooms else None)


def _suggestions(visit: Visit, board: Mapping[str, Any], found: Mapping[str, int]) -> Html:
    inbox = path_of("ai_inbox") if visit.may("ai_inbox:read") else None
    href = address(inbox, {"property_id": board["property"]["id"]}) if inbox else None
    return tiles(
        _tile(visit, "suggestions_open", found["open"], bad="info")._replace(href=href),
        _tile(visit, "suggestions_critical", found["critical"], bad="bad")._replace(href=href),
    )


_SECTIONS = {
    "occupancy": _occupancy,
    "rooms": _rooms,
    "tickets": _tickets,
    "locks": _locks,
    "suggestions": _suggestions,
}


def room_tiles(visit: Visit, board: Mapping[str, Any], found: Mapping[str, int]) -> Html:
    """How many rooms are in which state; each leads to those."""
    words, place = visit.words, board_path(board["property"]["id"], "housekeeping")
    tones = {"dirty": "warn", "cleaning": "info", "clean": "good", "inspected": "good", "out_of_order": "bad"}
    urgent = Tile(
        words["workbench.urgent_rooms"],
        number(words, found["urgent"]),
        tone="bad" if found["urgent"] else "",
        href=place,
    )
    states = [
        Tile(
            words[f"workbench.room.{status}"],
            number(words, found[status]),
            tone=tone if found[status] else "",  # type: ignore[arg-type]  # the tones of marks
            href=f"{place}?status={status}",
        )
        for status, tone in tones.items()
    ]
    return tiles(urgent, *states)


def ticket_tiles(visit: Visit, board: Mapping[str, Any], found: Mapping[str, int]) -> Html:
    """How many tickets there are of which sort."""
    words, place = visit.words, board_path(board["property"]["id"], "maintenance")
    waiting = found["open"] + found["in_progress"] + found["waiting"]
    return tiles(
        Tile(words["workbench.tickets_open"], number(words, waiting), href=place),
        _tile(visit, "tickets_urgent", found["urgent"], bad="bad"),
        _tile(visit, "tickets_overdue", found["overdue"], bad="warn"),
        _tile(visit, "rooms_blocked", found["rooms_blocked"], bad="warn"),
        Tile(words["workbench.resolved_today"], number(words, found["resolved_today"])),
    )


def _tile(visit: Visit, name: str, value: int, *, bad: str) -> Tile:
    """A number that is better zero."""
    tone = bad if value else ""
    return Tile(visit.words[f"workbench.count.{name}"], number(visit.words, value), tone=tone)  # type: ignore[arg-type]  # the tones of marks
