"""A day of the desk in numbers."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.html import NOTHING, Html
from tidings.backoffice.console.kit.marks import Tile, number, percent, tiles
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.workbench.names import board_path


def occupancy_tiles(visit: Visit, board: Mapping[str, Any]) -> Html:
    """Arrivals, departures, guests, rooms; each leads to its board."""
    words, found = visit.words, board["occupancy"]
    if found is None:
        return NOTHING
    of = board["property"]["id"]
    share = found["rooms_occupied"] / found["rooms_total"] if found["rooms_total"] else 0.0

    def done(name: str) -> Tile:
        value = f"{number(words, found[f'{name}_done'])} / {number(words, found[f'{name}_expected'])}"
        return Tile(words[f"workbench.view.{name}"], value, tone="info", href=board_path(of, name))

    return tiles(
        done("arrivals"),
        done("departures"),
        Tile(
            words["workbench.guests"],
            number(words, found["in_house_guests"]),
            href=board_path(of, "in-house"),
        ),
        Tile(words["workbench.occupied"], percent(words, share)),
        Tile(
            words["workbench.count.no_shows"],
            number(words, found["no_shows"]),
            tone="warn" if found["no_shows"] else "",
        ),
    )
