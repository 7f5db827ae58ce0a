"""Events of somebody who means no good: they fail alone, and cost the others nothing but their turn."""

import base64
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.hotel import (
    CONFIRMATION,
    REMINDER,
    fired,
    make_trigger,
    reservation,
    scheduled,
    somebody,
    tell,
)
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.kernel.bus import Subscription
from tidings.notify.received_events import store as received_store
from tidings.notify.received_events.errors import SetTooLargeError
from tidings.notify.triggers.heard_events import SUBJECTS, pass_over

pytestmark = pytest.mark.xdist_group("triggers-hostile")

_NUL = "a\0b"


async def _parked(world: PipelineWorld) -> int:
    async with world.system.db.worker() as tx:
        found: int = await tx.connection.fetchval(
            "SELECT count(*) FROM kernel.bus_parked WHERE group_name = 'notify.triggers'"
        )
    return found


@pytest.mark.parametrize("way", ["structured", "base64", "binary", "batch"])
async def test_a_character_that_no_database_keeps_is_refused_at_the_door(
    world: PipelineWorld, way: str
) -> None:
    """Whichever door: what is inside `data` becomes an anchor, a subject, a name."""
    bad = reservation(world.clock.now() + timedelta(days=10), to=somebody(), reference=_NUL)
    attributes = {name: value for name, value in bad.items() if name != "data"}
    data = json.dumps(bad["data"])
    binary = {f"ce-{name}": value for name, value in attributes.items()} | {
        "content-type": "application/json"
    }
    async with world.sender() as sender:
        await make_trigger(sender, **(REMINDER | {"subject": "$.data.reference"}))
        if way == "binary":
            answer = await sender.client.post("/api/v1/events", content=data, headers=binary)
        elif way == "batch":
            answer = await sender.client.post("/api/v1/events/batch", json={"events": [bad]})
        elif way == "base64":
            wrapped = attributes | {"data_base64": base64.b64encode(data.encode()).decode()}
            answer = await sender.client.post("/api/v1/events", json=wrapped)
        else:
            answer = await sender.client.post("/api/v1/events", json=bad)
        await world.settle()
        parked = await _parked(world)

    assert answer.status_code in (400, 422), answer.text
    assert "zero character" in answer.text or "data_base64" in answer.text
    assert parked == 0


async def _hear(world: PipelineWorld, group: str, *, most_of_set: int) -> None:
    """Let another group hear of all events, with other bounds."""
    planner = replace(world.system.triggers.planner, most_of_set=most_of_set)
    consumer = world.system.kernel.bus.consumer(
        Subscription(
            group,
            SUBJECTS,
            ledger="notification",
            by_index=True,
            on_tenants_events=planner.handle,
            on_platform_events=pass_over,
        )
    )
    await consumer.drain()


async def _come(sender: Sender, *events: dict[str, Any]) -> list[str]:
    """They are received and on the bus, and no trigger has heard of them yet."""
    ids = []
    for event in events:
        answer = await sender.client.post("/api/v1/events", json=event)
        ids.append(answer.json()["id"])
    for relay in sender.world.relays:
        await relay.drain()
    return ids


async def test_many_large_events_are_taken_in_smaller_sets(world: PipelineWorld) -> None:
    arrival = world.clock.now() + timedelta(days=10)
    wish = CONFIRMATION | {"recipient": "$.data.guests"}
    events = [
        reservation(arrival, to=somebody(), guests=[person(somebody()) for _ in range(4)]) for _ in range(3)
    ]
    async with world.sender() as sender:
        await tell(sender)
        await make_trigger(sender, **wish)
        ids = await _come(sender, *events)
        await _hear(world, "tests.smaller_sets", most_of_set=4)
        lines = [await fired(sender, event_id) for event_id in ids]

    assert [[one["result"] for one in of_event] for of_event in lines] == [["sent"] * 4] * 3


async def test_what_all_triggers_together_make_of_an_event_is_bounded(world: PipelineWorld) -> None:
    """The trigger for which there is no room any more says so, and sends to nobody; the others are whole."""
    wish = CONFIRMATION | {"recipient": "$.data.guests"}
    event = reservation(
        world.clock.now() + timedelta(days=10), to=somebody(), guests=[person(somebody()) for _ in range(4)]
    )
    async with world.sender() as sender:
        await tell(sender)
        for template in ("reservation_confirmation", "reservation_reminder"):
            await make_trigger(sender, **(wish | {"template": template}))
        [event_id] = await _come(sender, event)
        await _hear(world, "tests.bounded", most_of_set=5)
        lines = await fired(sender, event_id)

    assert sorted((one["result"], one["reason"]) for one in lines) == [
        *[("sent", None)] * 4,
        ("skipped", "too_many_recipients"),
    ]


async def test_events_that_say_too_much_together_are_not_read_together(world: PipelineWorld) -> None:
    large = 200 * 1024
    count = received_store.MOST_LOADED_BYTES // large + 2
    async with world.sender() as sender:
        await tell(sender)
        ids = await _come(
            sender,
            *(
                reservation(world.clock.now() + timedelta(days=10), to=somebody(), filler="x" * large)
                for _ in range(count)
            ),
        )
        async with world.db.tenant(sender.tenant_id) as tx:
            keyring = world.system.kernel.keyring
            with pytest.raises(SetTooLargeError):
                await received_store.load(tx, keyring, [(sender.tenant_id, id_) for id_ in ids])  # type: ignore[misc]
            some = await received_store.load(tx, keyring, [(sender.tenant_id, id_) for id_ in ids[:3]])  # type: ignore[misc]
        await make_trigger(sender, **REMINDER)
        await world.settle()
        parked = await _parked(world)
        planned = await scheduled(sender, status="planned", limit="200")

    assert len(some) == 3
    assert parked == 0
    assert len(planned) == count
