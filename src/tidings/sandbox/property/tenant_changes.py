"""What people have changed: keys to doors, decisions, preferences; of each tenant for itself."""

from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from tidings.sandbox.property.houses import House, chance
from tidings.sandbox.property.stays import SimulatedStay, find_stay, stays_around

_MOST: Final = 5_000
DEFAULTS: Final[Mapping[str, Any]] = {
    "start_page": "workbench",
    "density": "comfortable",
    "sounds": True,
    "workbench_view": "today",
}
_SHORTCUTS: Final = (
    ("g t", "workbench.today", "Today"),
    ("g a", "workbench.arrivals", "Arrivals"),
    ("g d", "workbench.departures", "Departures"),
    ("g i", "workbench.in-house", "In house"),
    ("g h", "workbench.housekeeping", "Housekeeping"),
    ("g m", "workbench.maintenance", "Maintenance"),
    ("/", "search", "Search"),
    ("?", "help", "Show keys"),
)


class TenantChanges:
    """One tenant's; the oldest makes room."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._done: OrderedDict[str, Any] = OrderedDict()
        #: By reservation: keys as the contract has them.
        self._keys: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()
        self._decided: OrderedDict[str, str] = OrderedDict()
        self._preferences: OrderedDict[tuple[str, str | None], tuple[int, dict[str, Any]]] = OrderedDict()

    def once(self, key: str | None) -> Any:
        """What was answered to this Idempotency-Key."""
        return None if key is None else self._done.get(key)

    def remember(self, key: str | None, answer: Any) -> None:
        """Answer a repetition the same."""
        if key is not None:
            _put(self._done, key, answer)

    # --- locks

    def keys_of(self, stay: SimulatedStay, now: datetime) -> list[dict[str, Any]]:
        """Keys of a reservation; who is in house has had one since they came."""
        known = self._keys.get(stay.id)
        if known is None:
            known = []
            if stay.status(now) == "in_house":
                known.append(_key(stay, "card", 1, stay.departs_at))
            _put(self._keys, stay.id, known)
        for key in known:
            if key["status"] == "active" and key["valid_until"] <= now:
                key["status"] = "expired"
        return known

    def act(
        self, house: House, wanted: Mapping[str, Any], *, now: datetime, request_id: str
    ) -> dict[str, Any]:
        """Do something with keys; a failure is an answer, too."""
        result: dict[str, Any] = {
            "request_id": request_id,
            "outcome": "failure",
            "vendor": house.lock_vendor,
            "error_code": None,
            "key_id": None,
            "valid_until": None,
        }
        stay = find_stay(self._seed, house, str(wanted.get("reservation_id")))
        if stay is None or stay.status(now) in ("cancelled", "departed", "no_show"):
            return {**result, "error_code": "reservation_not_found"}
        room = str(wanted.get("room") or stay.room)
        if room not in {name for _, name in house.rooms}:
            return {**result, "error_code": "room_not_found"}
        if lock_of(self._seed, house, room, now)["offline"]:
            return {**result, "error_code": "lock_offline"}
        keys = self.keys_of(stay, now)
        active = next((key for key in keys if key["status"] == "active"), None)
        until = _moment(wanted.get("valid_until")) or stay.departs_at
        match wanted.get("action"):
            case "issue":
                active = _key(stay, str(wanted.get("credential") or "card"), len(keys) + 1, until)
                keys.insert(0, active)
            case _ if active is None:
                return {**result, "error_code": "no_key"}
            case "revoke":
                for key in keys:
                    key["status"] = "revoked" if key["status"] == "active" else key["status"]
            case "rebind":
                active["room"] = room
            case _:
                active["valid_until"] = until
        return {
            **result,
            "outcome": "success",
            "key_id": active["id"],
            "valid_until": active["valid_until"],
        }

    def keys_active(self, house: House, now: datetime) -> int:
        """How many keys open something."""
        day = now.astimezone(house.zone).date()
        here = [one for one in stays_around(self._seed, house, day) if one.status(now) == "in_house"]
        keys = [key for stay in here for key in self.keys_of(stay, now)]
        return sum(key["status"] == "active" for key in keys)

    # --- the assistant

    def decision(self, suggestion_id: str) -> str | None:
        """What somebody has decided."""
        return self._decided.get(suggestion_id)

    def decide(self, suggestion_id: str, outcome: str) -> None:
        """It is decided."""
        _put(self._decided, suggestion_id, outcome)

    # --- operators

    def preferences(self, operator_id: str, property_id: str | None) -> tuple[int, dict[str, Any]]:
        """Version and content; everybody begins with the same."""
        return self._preferences.get((operator_id, property_id), (1, dict(DEFAULTS)))

    def put_preferences(
        self, operator_id: str, property_id: str | None, content: dict[str, Any], *, version: int
    ) -> bool:
        """All of them anew; False where the version is not the newest."""
        newest, _ = self.preferences(operator_id, property_id)
        if version != newest:
            return False
        _put(self._preferences, (operator_id, property_id), (version + 1, content))
        return True


def shortcuts(theme_version: str) -> dict[str, Any]:
    """The map that everybody gets."""
    found = [{"keys": keys, "action": action, "title": title} for keys, action, title in _SHORTCUTS]
    return {"theme_version": theme_version, "shortcuts": found}


def lock_of(seed: int, house: House, room: str, now: datetime) -> dict[str, Any]:
    """How a lock is: its battery empties over a year, and now and then it can't be reached."""
    day = now.astimezone(house.zone).date()
    bought = chance(seed, house.id, room, "battery").randint(0, 364)
    battery = 100 - (day.toordinal() + bought) % 365 * 100 // 365
    offline = chance(seed, house.id, room, "lock", day).random() < 0.02
    return {"room": room, "battery": battery, "offline": offline}


def _key(stay: SimulatedStay, credential: str, number: int, until: datetime) -> dict[str, Any]:
    return {
        "id": f"key-{stay.id[4:]}-{number}",
        "reservation_id": stay.id,
        "room": stay.room,
        "credential": credential,
        "status": "active",
        "valid_until": until + timedelta(hours=1),
    }


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _put(kept: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _MOST:
        kept.popitem(last=False)
