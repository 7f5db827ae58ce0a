"""Quiet hours by the clock on the recipient's wall: over midnight, and in the nights in which it is changed."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.pipeline.arranging import EVERY_DAY
from tests.support.people import unused
from tests.support.pipeline import Prepared, person, pipeline_world
from tidings.contracts.tenants import NotificationPolicy, QuietHours

pytestmark = pytest.mark.xdist_group("pipeline-nights")


def utc(month: int, day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2027 if month < 6 else 2026, month, day, hour, minute, tzinfo=UTC)


#: When it is sent, to where, how long it is quiet there, and when it goes.
NIGHTS = {
    "over midnight": (utc(11, 15, 18, 30), "Asia/Kabul", "22:00", "07:00", utc(11, 16, 2, 30)),
    "the autumn night is an hour longer": (
        utc(10, 24, 21),
        "Europe/Berlin",
        "22:00",
        "07:00",
        utc(10, 25, 6),
    ),
    "an end that comes twice in autumn": (
        utc(10, 24, 21),
        "Europe/Berlin",
        "22:00",
        "02:30",
        utc(10, 25, 1, 30),
    ),
    "the spring night is an hour shorter": (
        utc(3, 27, 22),
        "Europe/Berlin",
        "22:00",
        "07:00",
        utc(3, 28, 5),
    ),
    "an end that never comes in spring": (utc(3, 27, 22), "Europe/Berlin", "22:00", "02:30", utc(3, 28, 1)),
}


@pytest.mark.parametrize("night", NIGHTS)
async def test_it_waits_for_the_morning(prepared: Prepared, night: str) -> None:
    now, zone, start, end, morning = NIGHTS[night]
    to = f"{unused()}@example.test"
    policy = NotificationPolicy(quiet_hours=(QuietHours(days=EVERY_DAY, start=start, end=end),))
    async with pipeline_world(prepared, now) as world, world.sender(policy) as sender:
        sent = await sender.send(recipient=person(to, timezone=zone))
        await world.settle()
        told = await sender.explain(sent["id"])
        [line] = [line for line in told["decision"] if line["verdict"] == "defer"]
        assert (line["gate"], line["reason"]) == ("quiet_hours", "quiet_hours")
        assert datetime.fromisoformat(line["until"]) == morning
        await world.until(morning - timedelta(seconds=1))
        assert not world.received(to)
        await world.until(morning)
        assert await sender.status(sent["id"]) == "delivered"
        assert len(world.received(to)) == 1
