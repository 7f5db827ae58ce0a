"""Words and paths that the pages of locks share."""

from typing import Final

from tidings.backoffice.console.kit.marks import Tone
from tidings.backoffice.console.own_api import at

HERE: Final = "/console/locks"
API: Final = "/bff/v1/locks"
ACTIONS: Final = ("issue", "extend", "rebind", "revoke")
OUTCOMES: Final = ("success", "failure", "refused", "unknown")
TONES: Final[dict[str, Tone]] = {"success": "good", "failure": "bad", "refused": "warn", "unknown": "info"}


def reservation_path(property_id: str, reservation_id: str) -> str:
    """The page of a reservation's keys."""
    return at(HERE + "/{}/{}", property_id, reservation_id)
