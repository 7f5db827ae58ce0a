"""Several reminders of one template: each time is a message of its own, and each time is told once."""

from datetime import datetime, timedelta
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
from tests.support.pipeline import PipelineWorld, Sender

pytestmark = pytest.mark.xdist_group("triggers-reminders")

WEEK_BEFORE = REMINDER | {"offset": "-P7D"}
DAY_BEFORE = REMINDER | {"offset": "-P1D"}


async def _due(sender: Sender) -> list[datetime]:
    return sorted(
        datetime.fromisoformat(one["run_after"]) for one in await scheduled(sender, status="planned")
    )


async def _results(sender: Sender, event_id: str) -> list[tuple[str, str | None]]:
    return sorted((one["result"], one["reason"]) for one in await fired(sender, event_id))


async def test_a_week_before_and_a_day_before_both_come(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **WEEK_BEFORE)
        second = await make_trigger(sender, **DAY_BEFORE)
        [event_id] = await tell(sender, reservation(world.clock.now() + timedelta(days=10), to=to))
        first_due, second_due = await _due(sender)
        await world.until(first_due)
        after_first = len(world.received(to))
        await world.until(second_due)
        results = await _results(sender, event_id)

    assert second_due - first_due == timedelta(days=6)
    assert (after_first, len(world.received(to))) == (1, 2)
    assert results == [("sent", None)] * 2
    assert second["warnings"] == []


@pytest.mark.parametrize("offset", ["-P1W", "-P7D"])
async def test_two_triggers_that_send_at_the_same_time_send_one(world: PipelineWorld, offset: str) -> None:
    """A week is seven days, however it is written; the person's move to another zone changes nothing about it."""
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **WEEK_BEFORE)
        twin = await make_trigger(sender, **(WEEK_BEFORE | {"offset": offset}))
        [event_id] = await tell(sender, reservation(world.clock.now() + timedelta(days=20), to=to))
        plans = await scheduled(sender, status="planned")
        await sender.choose(plans[0]["recipient_id"], timezone="Asia/Tokyo")
        await world.settle()
        await world.advance(days=19)
        results = await _results(sender, event_id)

    assert len(plans) == 2
    assert len(world.received(to)) == 1
    assert results == [("sent", None), ("skipped", "duplicate")]
    assert "at the same time" in twin["warnings"][0]


async def test_reminders_that_are_moved_come_once_each(world: PipelineWorld) -> None:
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        for wish in (WEEK_BEFORE, DAY_BEFORE, DAY_BEFORE):
            await make_trigger(sender, **wish)
        await tell(sender, reservation(now + timedelta(days=20), to=to))
        for days in (25, 30):
            moved = reservation(now + timedelta(days=days), to=to, kind="moved")
            moved["data"] = {"starts_at": moved["data"]["starts_at"]}
            await tell(sender, moved)
        await world.advance(days=31)

    assert len(world.received(to)) == 2


async def test_reminders_whose_times_are_all_over_are_one_message_and_it_is_the_last_one(
    world: PipelineWorld,
) -> None:
    """A booking for tomorrow: what comes says "tomorrow", and not "next week"."""
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **(WEEK_BEFORE | {"variables": _said("next week")}))
        await make_trigger(sender, **(REMINDER | {"variables": _said("in two days")}))
        await make_trigger(sender, **(REMINDER | {"offset": "-P5D", "variables": _said("in five days")}))
        [event_id] = await tell(sender, reservation(world.clock.now() + timedelta(hours=30), to=to))
        lines = await fired(sender, event_id)

    [message] = world.received(to)
    assert "in two days" in (message.text or "")
    assert (
        sorted((one["result"], one["reason"]) for one in lines)
        == [("sent", None)] + [("skipped", "duplicate")] * 2
    )
    assert len({one["notification_id"] for one in lines}) == 1


async def test_one_that_is_over_and_one_that_is_ahead_both_come(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **WEEK_BEFORE)
        await make_trigger(sender, **DAY_BEFORE)
        await tell(sender, reservation(world.clock.now() + timedelta(days=3), to=to))
        at_once = len(world.received(to))
        await world.advance(days=3)

    assert (at_once, len(world.received(to))) == (1, 2)


async def test_who_was_told_by_one_of_two_twins_is_not_told_by_the_other(world: PipelineWorld) -> None:
    """What is moved to a time that is over was said already, whichever of the two has said it."""
    to, now = somebody(), world.clock.now()
    async with world.sender() as sender:
        await make_trigger(sender, **REMINDER)
        await make_trigger(sender, **REMINDER)
        await tell(sender, reservation(now + timedelta(days=1), to=to))
        [event_id] = await tell(sender, reservation(now + timedelta(days=1, hours=2), to=to, kind="moved"))
        results = await _results(sender, event_id)

    assert len(world.received(to)) == 1
    assert results == [("skipped", "already_sent")] * 2


async def test_a_confirmation_and_a_reminder_of_one_template_both_come(world: PipelineWorld) -> None:
    to = somebody()
    async with world.sender() as sender:
        await make_trigger(sender, **CONFIRMATION)
        await make_trigger(sender, **(REMINDER | {"template": CONFIRMATION["template"]}))
        await tell(sender, reservation(world.clock.now() + timedelta(days=10), to=to))
        await world.advance(days=9)

    assert len(world.received(to)) == 2


def _said(place: str) -> dict[str, Any]:
    return {**REMINDER["variables"], "place": place}
