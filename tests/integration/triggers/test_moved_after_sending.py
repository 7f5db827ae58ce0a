"""A thing is moved after its reminder was sent, by an event that says nothing but the new time: the people are told again."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.hotel import (
    REMINDER,
    TRIGGERS,
    fired,
    make_trigger,
    reservation,
    scheduled,
    somebody,
    tell,
)
from tests.support.pipeline import PipelineWorld, Sender, person

pytestmark = pytest.mark.xdist_group("triggers-moved-after-sending")


def _moved(to: str, starts_at: datetime) -> dict[str, Any]:
    """What a hotel's system sends: the new date, and nobody's name."""
    event = reservation(starts_at, to=to, kind="moved")
    event["data"] = {"starts_at": event["data"]["starts_at"]}
    return event


async def _reminded(world: PipelineWorld, sender: Sender, to: str, **more: Any) -> datetime:
    """Somebody has got their reminder; the day of arrival."""
    arrival = world.clock.now() + timedelta(days=10)
    await tell(sender, reservation(arrival, to=to, **more))
    await world.until(arrival - timedelta(days=1))
    assert len(world.received(to)) == 1
    return arrival


async def test_who_was_reminded_is_reminded_again_of_the_new_date_with_the_same_words(
    world: PipelineWorld,
) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, to, place="Bagh-e Babur")
        [event_id] = await tell(sender, _moved(to, arrival + timedelta(days=30)))
        [line] = await fired(sender, event_id)
        await world.until(arrival + timedelta(days=30))

    assert line["result"] == "planned"
    first, second = world.received(to)
    assert "Bagh-e Babur" in (first.text or "")
    assert "Bagh-e Babur" in (second.text or "")
    assert first.text != second.text, "the second one has the new date"


async def test_it_may_be_moved_again_and_again(world: PipelineWorld) -> None:
    """By an hour, which was said already; to a day that is over, by mistake; and to a day that is ahead."""
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, to)
        days = (timedelta(hours=1), timedelta(days=-30), timedelta(days=20), timedelta(days=30))
        events = [event for by in days for event in await tell(sender, _moved(to, arrival + by))]
        lines = [(one["result"], one["reason"]) for event in events for one in await fired(sender, event)]
        await world.until(arrival + timedelta(days=31))

    assert lines == [
        ("skipped", "already_sent"),
        ("skipped", "too_late"),
        ("obsolete", "replanned"),
        ("planned", None),
    ]
    assert len(world.received(to)) == 2


@pytest.mark.parametrize("days", [-30, 2000], ids=["over", "too far"])
async def test_a_plan_that_was_moved_out_of_reach_comes_back_with_the_next_move(
    world: PipelineWorld, days: int
) -> None:
    """A slip of the pen at the desk; nothing was sent before it."""
    to, arrival = somebody(), world.clock.now() + timedelta(days=20)
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(arrival, to=to, place="Bagh-e Babur"))
        await tell(sender, _moved(to, arrival + timedelta(days=days)))
        out_of_reach = [(one["status"], one["obsolete_reason"]) for one in await scheduled(sender)]
        await tell(sender, _moved(to, arrival))
        planned = await scheduled(sender, status="planned")
        kept = await sender.rows(
            "SELECT obsolete FROM notification.notification_scheduled WHERE payload_ciphertext IS NOT NULL"
        )
        await world.until(arrival)

    assert [reason for _, reason in out_of_reach] == ["replanned", "too_late" if days < 0 else "too_far"]
    assert len(planned) == 1
    assert kept == [{"obsolete": False}], "what took its place has the words now"
    [message] = world.received(to)
    assert "Bagh-e Babur" in (message.text or "")


async def test_a_plan_out_of_reach_ends_with_the_person_and_with_the_thing(world: PipelineWorld) -> None:
    erased, cancelled = somebody(), somebody()
    arrival = world.clock.now() + timedelta(days=20)
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        for to in (erased, cancelled):
            await tell(sender, reservation(arrival, to=to), _moved(to, arrival - timedelta(days=40)))
        [entry, *_] = await scheduled(sender, subject=f"res-{erased}")
        await sender.client.post(f"/api/v1/recipients/{entry['recipient_id']}/erase", json={})
        await tell(sender, reservation(arrival, to=cancelled, kind="cancelled"))
        kept = await sender.rows(
            "SELECT id FROM notification.notification_scheduled WHERE payload_ciphertext IS NOT NULL"
        )
        for to in (erased, cancelled):
            await tell(sender, _moved(to, arrival))
        planned = await scheduled(sender, status="planned")

    assert (kept, planned) == ([], [])


async def test_one_who_was_reminded_at_once_is_reminded_again(world: PipelineWorld) -> None:
    """Nothing was ever planned for a booking of today for tomorrow."""
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(now + timedelta(days=1), to=to))
        at_once = len(world.received(to))
        await tell(sender, _moved(to, now + timedelta(days=10)))
        await world.advance(days=10)

    assert (at_once, len(world.received(to))) == (1, 2)


async def test_those_who_were_reminded_and_those_who_were_not_yet_are_moved_together(
    world: PipelineWorld,
) -> None:
    """Nine o'clock comes earlier in the east."""
    east, west = somebody(), somebody()
    arrival = (world.clock.now() + timedelta(days=10)).replace(hour=12, minute=0, second=0)
    guests = [person(east, timezone="Asia/Tokyo"), person(west, timezone="America/Los_Angeles")]
    async with world.sender() as sender:
        await make_trigger(sender, **(REMINDER | {"recipient": "$.data.guests"}))
        await tell(sender, reservation(arrival, to=east, guests=guests))
        first, _ = sorted(datetime.fromisoformat(one["run_after"]) for one in await scheduled(sender))
        await world.until(first)
        before = len(world.received(east)), len(world.received(west))
        await tell(sender, _moved(east, arrival + timedelta(days=20)))
        await world.until(arrival + timedelta(days=20))

    assert before == (1, 0)
    assert (len(world.received(east)), len(world.received(west))) == (2, 1)


async def test_only_those_are_told_again_whom_the_last_event_has_named(world: PipelineWorld) -> None:
    """The booking has changed hands after the first guest was reminded."""
    first, second = somebody(), somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, first)
        later = arrival + timedelta(days=10)
        await tell(sender, reservation(later, to=second, subject=f"res-{first}"))
        await tell(sender, _moved(first, later + timedelta(days=10)))
        await world.until(later + timedelta(days=11))

    assert (len(world.received(first)), len(world.received(second))) == (1, 1)


async def test_what_does_not_hold_any_more_is_not_told_again(world: PipelineWorld) -> None:
    """Its condition does not hold after the last confirmation; also where both come in one set."""
    one_by_one, at_once = somebody(), somebody()
    wish = REMINDER | {"condition": "data.nights >= 2"}
    async with world.sender() as sender:
        await make_trigger(sender, **wish)
        for to in (one_by_one, at_once):
            arrival = await _reminded(world, sender, to, nights=3)
            shorter = reservation(arrival, to=to, nights=1)
            moved = _moved(to, arrival + timedelta(days=20))
            if to == one_by_one:
                await tell(sender, shorter)
                await tell(sender, moved)
            else:
                await tell(sender, shorter, moved)
        planned = await scheduled(sender, status="planned")

    assert planned == []


async def test_what_a_person_has_taken_back_is_not_planned_again(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, to)
        await tell(sender, _moved(to, arrival + timedelta(days=20)))
        [entry] = await scheduled(sender, status="planned")
        await sender.client.post(f"/api/v1/scheduled/{entry['id']}/cancel")
        [event_id] = await tell(sender, _moved(to, arrival + timedelta(days=30)))
        [line] = await fired(sender, event_id)

    assert (line["result"], line["reason"]) == ("skipped", "nothing_planned")


async def test_a_trigger_that_is_off_tells_nobody_again(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        trigger = await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, to)
        await sender.client.post(f"{TRIGGERS}/{trigger['id']}/disable")
        await tell(sender, _moved(to, arrival + timedelta(days=30)))
        planned = await scheduled(sender, status="planned")

    assert planned == []


async def test_an_erased_person_is_not_told_again(world: PipelineWorld) -> None:
    """And no copy of the words is anywhere but with the message, under the key that is destroyed."""
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, to)
        [entry] = await scheduled(sender)
        [kept] = await sender.rows("SELECT payload_ciphertext FROM notification.notification_scheduled")
        await sender.client.post(f"/api/v1/recipients/{entry['recipient_id']}/erase", json={})
        [event_id] = await tell(sender, _moved(to, arrival + timedelta(days=30)))
        [line] = await fired(sender, event_id)
        await world.until(arrival + timedelta(days=31))

    assert kept == {"payload_ciphertext": None}
    assert (line["result"], line["reason"]) == ("skipped", "nothing_planned")
    assert len(world.received(to)) == 1


async def test_a_rehearsal_says_who_would_be_told_again(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        arrival = await _reminded(world, sender, to)
        answer = await sender.client.post(f"{TRIGGERS}/test", json=_moved(to, arrival + timedelta(days=30)))
        [entry] = await scheduled(sender)

    assert answer.status_code == 200, answer.text
    assert [one["recipient"]["id"] for one in answer.json()["planned"]] == [entry["recipient_id"]]
