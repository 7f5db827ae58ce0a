"""What operators' browsers and devices ask for, in which proportion."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

#: Of a hundred requests.
_SHARES: Final = {
    "board": 50,
    "dashboard": 20,
    "session": 8,
    "heartbeat": 7,
    "alerts": 5,
    "properties": 5,
    "preferences": 5,
}
#: What the cache is for.
CACHED: Final = frozenset({"board", "dashboard"})
_VIEWS: Final = ("today", "arrivals", "departures", "in-house", "housekeeping", "maintenance")
#: Some boards are open on many screens, others on few.
_VIEW_WEIGHTS: Final = (6, 4, 3, 3, 3, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSeat:
    """An operator at a browser, with what it sends along."""

    cookie: str
    csrf_token: str
    device_id: str
    properties: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """One request."""

    kind: str
    method: str
    path: str
    seat: GateSeat
    body: bytes | None = None


def draw(random: Random, seats: Sequence[GateSeat]) -> GateRequest:
    """The next request, as chance has it."""
    seat = random.choice(seats)
    kind = random.choices(list(_SHARES), weights=list(_SHARES.values()))[0]
    place = f"/bff/v1/properties/{random.choice(seat.properties)}"
    match kind:
        case "board":
            view = random.choices(_VIEWS, weights=_VIEW_WEIGHTS)[0]
            return _get(kind, f"{place}/workbench/{view}", seat)
        case "dashboard":
            return _get(kind, f"{place}/dashboard", seat)
        case "heartbeat":
            path = f"/bff/v1/devices/{seat.device_id}/heartbeat"
            return GateRequest(kind=kind, method="POST", path=path, seat=seat, body=b"{}")
    paths = {
        "session": "/bff/v1/session",
        "alerts": "/bff/v1/alerts",
        "properties": "/bff/v1/properties",
        "preferences": "/bff/v1/preferences",
    }
    return _get(kind, paths[kind], seat)


def _get(kind: str, path: str, seat: GateSeat) -> GateRequest:
    return GateRequest(kind=kind, method="GET", path=path, seat=seat)
