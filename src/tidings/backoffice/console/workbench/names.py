"""How boards and what is on them are called, and in which colour."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.kit.marks import Tone, badge
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit

HERE: Final = "/console/workbench"
GLANCE: Final = "glance"
BOARDS: Final = (GLANCE, "today", "arrivals", "departures", "in-house", "housekeeping", "maintenance")
#: Boards of a day that can be chosen.
DATED: Final = frozenset({"arrivals", "departures"})

_ROOM_TONES: Final[Mapping[str, Tone]] = {
    "dirty": "warn",
    "cleaning": "info",
    "clean": "good",
    "inspected": "good",
    "out_of_order": "bad",
}
_STAY_TONES: Final[Mapping[str, Tone]] = {
    "expected": "info",
    "late": "warn",
    "in_house": "good",
    "departed": "off",
    "no_show": "bad",
    "cancelled": "off",
}
_TICKET_TONES: Final[Mapping[str, Tone]] = {
    "open": "warn",
    "in_progress": "info",
    "waiting": "off",
    "resolved": "good",
}
_SEVERITY_TONES: Final[Mapping[str, Tone]] = {"urgent": "bad", "high": "warn", "normal": "", "low": "off"}


def board_path(property_id: str, view: str) -> str:
    """Where a board is."""
    return at(HERE + "/{}/{}", property_id, view)


def view_name(words: ConsoleStrings, view: str) -> str:
    """What a board is called."""
    return words[f"workbench.view.{view}"]


def room_badge(words: ConsoleStrings, status: str) -> Html:
    """The state of a room."""
    return badge(words[f"workbench.room.{status}"], _ROOM_TONES[status])


def room_tone(status: str) -> Tone:
    """Its colour."""
    return _ROOM_TONES[status]


def stay_badge(words: ConsoleStrings, status: str) -> Html:
    """Where a reservation stands."""
    return badge(words[f"workbench.stay.{status}"], _STAY_TONES[status])


def ticket_badge(words: ConsoleStrings, status: str) -> Html:
    """Where a ticket stands."""
    return badge(words[f"workbench.ticket.{status}"], _TICKET_TONES[status])


def severity_badge(words: ConsoleStrings, severity: str) -> Html:
    """How grave it is."""
    return badge(words[f"workbench.severity.{severity}"], _SEVERITY_TONES[severity])


class HouseClock:
    """Times as they are where the property is: whoever works there goes by them."""

    def __init__(self, visit: Visit, view: Mapping[str, Any]) -> None:
        self._words = visit.words
        try:
            self._zone = ZoneInfo(view["property"]["timezone"] or "UTC")
        except (ZoneInfoNotFoundError, ValueError):
            self._zone = ZoneInfo("UTC")

    def time(self, value: str | None) -> Html:
        """Hour and minute."""
        local = self._local(value)
        return el("span", "–", class_="soft") if local is None else _shown(f"{local:%H:%M}", local)

    def day(self, value: str | None) -> Html:
        """Day, hour and minute."""
        local = self._local(value)
        return el("span", "–", class_="soft") if local is None else _shown(f"{local:%m-%d %H:%M}", local)

    def _local(self, value: str | None) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value).astimezone(self._zone)


def _shown(text: str, at_: datetime) -> Html:
    return el("span", text, dir="ltr", class_="when", title=f"{at_:%Y-%m-%d %H:%M %Z}")
