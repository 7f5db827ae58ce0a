"""What the six services show of one house."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.property.houses import House
from tidings.sandbox.property.rooms import rooms_at
from tidings.sandbox.property.stays import SimulatedStay, find_stay, stays_around
from tidings.sandbox.property.suggestions import suggestions_at
from tidings.sandbox.property.tenant_changes import TenantChanges, lock_of
from tidings.sandbox.property.tickets import tickets_at

_LOW_BATTERY: Final = 8
_PAGE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseRequest:
    """What is asked of a service about a house."""

    house: House
    service: str
    #: The steps of the path after the house.
    rest: list[str]
    request: SandboxRequest
    query: dict[str, str] = field(default_factory=dict)


class HouseViews:
    """Answers one request to read."""

    def __init__(self, seed: int, now: datetime, asked: HouseRequest, state: TenantChanges) -> None:
        self._seed = seed
        self._now = now
        self._asked = asked
        self._house = asked.house
        self._state = state

    def answer(self) -> SandboxResponse | None:
        """What the service says; None where it has nothing there."""
        match (self._asked.service, *self._asked.rest):
            case ("reservations", *rest):
                return self._reservations(rest)
            case ("housekeeping", "rooms"):
                return json_answer({"rooms": self._rooms()})
            case ("housekeeping", "summary"):
                return json_answer(_room_summary(self._rooms()))
            case ("maintenance", "tickets"):
                found = tickets_at(self._seed, self._house, self._now)
                return json_answer({"tickets": [one.wire(self._now) for one in found]})
            case ("maintenance", "summary"):
                return json_answer(self._ticket_summary())
            case ("locks", "summary"):
                return json_answer(self._lock_summary())
            case ("locks", "reservations", reservation_id, "keys"):
                stay = find_stay(self._seed, self._house, reservation_id)
                if stay is None:
                    return problem(404, "reservation_not_found")
                return json_answer({"keys": self._state.keys_of(stay, self._now)})
            case ("locks", "lock-actions", key):
                known = self._state.once(key)
                return problem(404, "lock_action_not_found") if known is None else json_answer(known)
            case ("assistant", "suggestions"):
                return self._suggestions()
        return None

    def _reservations(self, rest: list[str]) -> SandboxResponse | None:
        match rest:
            case ["arrivals" | "departures" | "summary" as view]:
                day = _day(self._asked.query.get("date"), today=self._today)
                return problem(400, "bad_date") if day is None else self._of_day(view, day)
            case ["in-house"]:
                here = [one for one in self._around(self._today) if one.status(self._now) == "in_house"]
                here.sort(key=lambda one: one.room)
                return json_answer({"stays": [one.wire(self._now) for one in here]})
            case ["reservations", reservation_id]:
                stay = find_stay(self._seed, self._house, reservation_id)
                if stay is None:
                    return problem(404, "reservation_not_found")
                return json_answer(stay.wire(self._now))
        return None

    @property
    def _today(self) -> date:
        return self._now.astimezone(self._house.zone).date()

    def _around(self, day: date) -> tuple[SimulatedStay, ...]:
        return stays_around(self._seed, self._house, day)

    def _rooms(self) -> list[dict[str, Any]]:
        return rooms_at(self._seed, self._house, self._now)

    def _of_day(self, view: str, day: date) -> SandboxResponse:
        now, zone, around = self._now, self._house.zone, self._around(day)
        arrivals = [one for one in around if one.arrives_at.astimezone(zone).date() == day]
        departures = [
            one for one in around if one.departs_at.astimezone(zone).date() == day and one.fate == "comes"
        ]
        if view == "arrivals":
            return json_answer({"stays": [one.wire(now) for one in arrivals]})
        if view == "departures":
            departures.sort(key=lambda one: (one.departs_at, one.room))
            return json_answer({"stays": [one.wire(now) for one in departures]})
        here = [one for one in around if one.status(now) == "in_house"]
        comes = [one.status(now) for one in arrivals]
        summary = {
            "date": day.isoformat(),
            "arrivals_expected": sum(status not in ("cancelled", "no_show") for status in comes),
            "arrivals_done": sum(status in ("in_house", "departed") for status in comes),
            "departures_expected": len(departures),
            "departures_done": sum(one.status(now) == "departed" for one in departures),
            "no_shows": comes.count("no_show"),
            "in_house_guests": sum(one.party for one in here),
            "rooms_total": len(self._house.rooms),
            "rooms_occupied": len(here),
        }
        return json_answer(summary)

    def _ticket_summary(self) -> dict[str, int]:
        now = self._now
        found = [(one, one.status(now)) for one in tickets_at(self._seed, self._house, now)]
        waiting = [one for one, status in found if status != "resolved"]
        by_status = Counter(status for _, status in found)
        return {
            "open": by_status["open"],
            "in_progress": by_status["in_progress"],
            "waiting": by_status["waiting"],
            "resolved_today": by_status["resolved"],
            "urgent": sum(one.severity == "urgent" for one in waiting),
            "overdue": sum(one.due_at < now for one in waiting),
            "rooms_blocked": len({one.room for one in waiting if one.blocks}),
        }

    def _lock_summary(self) -> dict[str, Any]:
        locks = [lock_of(self._seed, self._house, room, self._now) for _, room in self._house.rooms]
        troubled = [one for one in locks if one["offline"] or one["battery"] < _LOW_BATTERY]
        return {
            "total": len(locks),
            "offline": sum(one["offline"] for one in locks),
            "low_battery": sum(one["battery"] < _LOW_BATTERY for one in locks),
            "keys_active": self._state.keys_active(self._house, self._now),
            "rooms": [one["room"] for one in troubled[:20]],
        }

    def _suggestions(self) -> SandboxResponse:
        found = [
            {**one, "status": self._state.decision(one["id"]) or one["status"]}
            for one in suggestions_at(self._seed, self._house, self._now)
        ]
        wanted = self._asked.query.get("status")
        found = [one for one in found if wanted in (None, one["status"])]
        cursor = self._asked.query.get("cursor", "0")
        first = int(cursor) if cursor.isdecimal() else 0
        more = str(first + _PAGE) if first + _PAGE < len(found) else None
        return json_answer({"suggestions": found[first : first + _PAGE], "next_cursor": more})


def problem(status: int, code: str) -> SandboxResponse:
    """What a service says against a request."""
    return json_answer({"status": status, "code": code, "title": code.replace("_", " ")}, status=status)


def _room_summary(rooms: list[dict[str, Any]]) -> dict[str, int]:
    by_status = Counter(one["status"] for one in rooms)
    urgent = sum(one["status"] in ("dirty", "cleaning") and one["due_at"] is not None for one in rooms)
    words = ("dirty", "cleaning", "clean", "inspected", "out_of_order")
    return {**{word: by_status[word] for word in words}, "urgent": urgent}


def _day(text: str | None, *, today: date) -> date | None:
    try:
        day = today if text is None else date.fromisoformat(text)
    except ValueError:
        return None
    return day if abs(day - today) <= timedelta(days=730) else None
