"""A guest's stay, told by events alone: what the README promises."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.hotel import TRIGGERS, fired, reservation, scheduled, somebody, tell
from tests.support.pipeline import PipelineWorld, person

pytestmark = pytest.mark.xdist_group("triggers-story")


async def test_a_stay_from_the_reservation_to_the_thank_you(world: PipelineWorld) -> None:
    """Confirmed: a confirmation at once, a reminder at nine where the guest is, a thank-you after check-out. Moved: both move."""
    to, start = somebody(), world.clock.now()
    guest = person(
        to, locale="fr", timezone="Europe/Paris", identity={"type": "guest", "id": f"guest-{to[:8]}"}
    )
    first_arrival = datetime(2026, 12, 10, 14, 0, tzinfo=UTC)
    arrival = datetime(2026, 12, 20, 14, 0, tzinfo=UTC)
    departure = arrival + timedelta(days=3)
    async with world.sender() as sender:
        await sender.client.post(f"{TRIGGERS}/sets/hotel/adopt")

        [confirmed] = await tell(sender, reservation(first_arrival, to=to, guest=guest))
        at_once = [message.subject for message in world.received(to)]
        plans = {one["template"]: one["run_after"] for one in await scheduled(sender, status="planned")}
        moved = reservation(arrival, to=to, kind="moved")
        moved["data"] = {"starts_at": arrival.isoformat(), "ends_at": departure.isoformat()}
        await tell(sender, moved)
        anew = {one["template"]: one["run_after"] for one in await scheduled(sender, status="planned")}
        await world.until(datetime(2026, 12, 8, 20, 0, tzinfo=UTC))
        after_the_old_time = len(world.received(to))
        await world.until(datetime(2026, 12, 18, 7, 59, 59, tzinfo=UTC))
        before = len(world.received(to))
        await world.until(datetime(2026, 12, 18, 8, 0, tzinfo=UTC))
        reminded = len(world.received(to))
        await world.until(datetime(2026, 12, 24, 9, 0, tzinfo=UTC))
        messages = world.received(to)
        lines = [
            one
            for event in (await sender.client.get(f"{TRIGGERS}/firings")).json()["items"]
            for one in [event]
            if one["result"] == "sent"
        ]
        stories = {one["template"]: await sender.explain(one["notification_id"]) for one in lines}
        [line] = [
            one for one in await fired(sender, confirmed) if one["template"] == "reservation_confirmation"
        ]

    assert at_once == [messages[0].subject]
    assert "réservation" in (at_once[0] or ""), "in the guest's language"
    assert plans == {"reservation_reminder": "2026-12-08T08:00:00Z", "stay_thank_you": "2026-12-14T09:00:00Z"}
    assert anew == {"reservation_reminder": "2026-12-18T08:00:00Z", "stay_thank_you": "2026-12-24T09:00:00Z"}
    assert (after_the_old_time, before, reminded, len(messages)) == (1, 1, 2, 3)
    assert [(message.subject or "").partition(" ")[0] for message in messages] == ["Votre", "Rappel", "Merci"]
    assert set(stories) == {"reservation_confirmation", "reservation_reminder", "stay_thank_you"}
    assert all(story["notification"]["status"] == "delivered" for story in stories.values())
    assert stories["reservation_confirmation"]["trigger"]["event_id"] == confirmed == line["event_id"]
    assert stories["reservation_reminder"]["trigger"]["event_type"] == "reservation.moved"
    assert stories["reservation_reminder"]["trigger"]["planned_for"] == "2026-12-18T08:00:00Z"
    assert start < first_arrival


async def test_a_cancelled_stay_is_not_spoken_of_again(world: PipelineWorld) -> None:
    to, arrival = somebody(), world.clock.now() + timedelta(days=20)
    async with world.sender() as sender:
        await sender.client.post(f"{TRIGGERS}/sets/hotel/adopt")
        await tell(sender, reservation(arrival, to=to))
        await tell(sender, reservation(arrival, to=to, kind="cancelled"))
        left = await scheduled(sender, status="planned")
        await world.advance(days=40)

    assert left == []
    assert len(world.received(to)) == 1, "the confirmation had gone"
