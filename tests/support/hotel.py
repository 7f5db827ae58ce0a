"""A hotel whose reservations are told as events."""

from datetime import date, datetime, timedelta
from typing import Any

from tests.support.cloud_events import STRUCTURED, cloud_event
from tests.support.people import unused
from tests.support.pipeline import Sender, person
from tidings.operations.partitions import make_missing

TRIGGERS = "/api/v1/triggers"
SCHEDULED = "/api/v1/scheduled"
FIRINGS = f"{TRIGGERS}/firings"
#: What `reservation_confirmation` and `reservation_reminder` take.
VARIABLES = {"reservation_number": "$.subject", "place": "$.data.place", "starts_at": "$.data.starts_at"}
#: Days that a database has partitions for.
_days: set[tuple[int, date]] = set()
CONFIRMATION: dict[str, Any] = {
    "event_type": "reservation.confirmed",
    "template": "reservation_confirmation",
    "channel": "email",
    "recipient": "$.data.guest",
    "variables": VARIABLES,
}
#: At nine o'clock where the guest is, two days before arrival.
REMINDER: dict[str, Any] = {
    **CONFIRMATION,
    "template": "reservation_reminder",
    "anchor": "$.data.starts_at",
    "offset": "-P2D",
    "local_time": "09:00",
    "cancelled_by": ["reservation.cancelled"],
    "replanned_by": ["reservation.moved"],
}


def reservation(
    starts_at: datetime, *, to: str, kind: str = "confirmed", subject: str | None = None, **more: Any
) -> dict[str, Any]:
    """An event about a reservation that begins then."""
    guest = more.pop("guest", None) or person(
        to, timezone="Asia/Kabul", identity={"type": "guest", "id": f"g-{to.partition('@')[0]}"}
    )
    attributes = {name: more.pop(name) for name in ("id", "time", "source") if name in more}
    data = {
        "guest": guest,
        "place": "Hotel Kabul",
        "starts_at": starts_at.isoformat(),
        "ends_at": (starts_at + timedelta(days=3)).isoformat(),
        **more,
    }
    return cloud_event(type=f"reservation.{kind}", subject=subject or f"res-{to}", data=data, **attributes)


async def make_trigger(sender: Sender, **wish: Any) -> dict[str, Any]:
    """A trigger of this tenant."""
    answer = await sender.client.post(TRIGGERS, json=wish)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def tell(sender: Sender, *events: dict[str, Any]) -> list[str]:
    """Send these events and let all that is due happen; their ids."""
    world = sender.world
    day = (id(world.database), world.clock.now().date())
    if day not in _days:
        _days.add(day)
        async with world.database.owner() as owner:
            # Events are kept by the day, and the clock may have moved by weeks.
            await make_missing(owner, world.clock.now())
    ids: list[str] = []
    for event in events:
        await world.clock.advance(timedelta(seconds=1))
        answer = await sender.client.post("/api/v1/events", json=event, headers=STRUCTURED)
        assert answer.status_code == 202, answer.text
        ids.append(answer.json()["id"])
    await world.settle()
    return ids


async def scheduled(sender: Sender, **query: str) -> list[dict[str, Any]]:
    """What the schedule has, the oldest first."""
    answer = await sender.client.get(SCHEDULED, params=query)
    assert answer.status_code == 200, answer.text
    return list(reversed(answer.json()["items"]))


async def fired(sender: Sender, event_id: str) -> list[dict[str, Any]]:
    """What an event has led to."""
    answer = await sender.client.get(FIRINGS, params={"event": event_id})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def somebody() -> str:
    """An address of somebody new."""
    return f"{unused()}@example.test"
