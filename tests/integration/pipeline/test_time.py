"""Time: scheduled sends, expiry, cancelling, retries by the clock, and limits that hold for many workers at once."""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.integration.pipeline.arranging import quiet_soon
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, order, person
from tidings.contracts.tenants import NotificationPolicy, SendingLimits
from tidings.notify.dispatch.pace import DispatchSettings
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("pipeline-time")

OFTEN = FaultSpec(adapter="smtp", mode="reject_temporary")


def someone() -> str:
    return f"{unused()}@example.test"


def after(world: PipelineWorld, **by: float) -> str:
    return (world.clock.now() + timedelta(**by)).isoformat()


async def test_a_scheduled_one_goes_at_its_time_and_not_before(world: PipelineWorld) -> None:
    to, now = someone(), world.clock.now()
    async with world.sender() as sender:
        sent = await sender.send(to, scheduled_for=after(world, hours=2))
        await world.settle()
        waiting = await sender.explain(sent["id"])
        await world.advance(hours=1, minutes=59, seconds=59)
        assert not world.received(to)
        await world.advance(seconds=1)
        told = await sender.explain(sent["id"])
        expires = datetime.fromisoformat(told["notification"]["expires_at"])
    assert (sent["status"], waiting["notification"]["status"]) == ("scheduled", "scheduled")
    assert waiting["next"], "it says what comes next"
    assert told["notification"]["status"] == "delivered"
    assert expires == now + timedelta(hours=2, days=3), "the category's time counts from the schedule"
    assert len(world.received(to)) == 1


async def test_one_scheduled_for_a_moment_ago_goes_now(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        sent = await sender.send(to, scheduled_for=after(world, seconds=-30))
        await world.settle()
    assert sent["status"] == "queued"
    assert len(world.received(to)) == 1


async def test_a_scheduled_one_that_lands_in_quiet_hours_waits_for_their_end(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender(quiet_soon(world.clock.now())) as sender:
        sent = await sender.send(to, scheduled_for=after(world, minutes=30))
        await world.advance(minutes=30)
        told = await sender.explain(sent["id"])
        assert (told["notification"]["status"], world.received(to)) == ("scheduled", [])
        await world.advance(hours=1, minutes=30)
        assert await sender.status(sent["id"]) == "delivered"
    assert told["decision"][-1]["reason"] == "quiet_hours"
    assert len(world.received(to)) == 1


async def test_one_that_expires_while_it_is_scheduled_is_never_sent(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        times = {"scheduled_for": after(world, hours=1), "expires_at": after(world, hours=2)}
        sent = await sender.send(to, **times)
        await world.advance(hours=3)  # Nobody worked meanwhile.
        told = (await sender.explain(sent["id"]))["notification"]
    assert (told["status"], told["reason"]) == ("expired", "expired")
    assert not world.received(to)


@pytest.mark.parametrize("scheduled", [False, True])
async def test_one_that_waits_can_be_cancelled(world: PipelineWorld, *, scheduled: bool) -> None:
    to = someone()
    wish = {"scheduled_for": after(world, hours=1)} if scheduled else {}
    async with world.sender() as sender, world.sender() as stranger:
        sent = await sender.send(to, **wish)
        path = f"{HOME}/{sent['id']}/cancel"
        foreign = await stranger.client.post(path)
        first, again = [await sender.client.post(path) for _ in range(2)]
        await world.advance(hours=2)
        told = await sender.explain(sent["id"])
        counts = await sender.rows(
            "SELECT name, sum(n)::integer AS n FROM notification.counters WHERE name <> 'template' GROUP BY name"
        )
    assert foreign.status_code == 404
    assert (first.status_code, again.status_code) == (200, 200)
    assert told["notification"]["status"] == "cancelled"
    assert told["notification"]["cancelled_at"] == first.json()["cancelled_at"]
    assert {row["name"]: row["n"] for row in counts} == {"accepted": 1, "cancelled": 1}
    assert not world.received(to)


async def test_one_that_was_handed_over_can_not_be_cancelled(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        over = await sender.send()
        await world.settle()
        world.sandbox.faults.set(OFTEN)
        retried = await sender.send()
        await world.settle()
        answers = [await sender.client.post(f"{HOME}/{one['id']}/cancel") for one in (over, retried)]
        world.sandbox.faults.clear()
        await world.advance(minutes=1)
        assert await sender.status(retried["id"]) == "delivered"
    assert [(a.status_code, a.json()["code"]) for a in answers] == [(409, "too_late_to_cancel")] * 2
    assert "delivered" in answers[0].json()["detail"]
    assert "dispatched" in answers[1].json()["detail"]


async def test_cancelling_and_sending_at_once_end_one_way_or_the_other(world: PipelineWorld) -> None:
    people = [someone() for _ in range(20)]
    async with world.sender() as sender:
        sent = [await sender.send(to) for to in people]
        settling = asyncio.create_task(world.settle())
        answers = await asyncio.gather(*(sender.client.post(f"{HOME}/{one['id']}/cancel") for one in sent))
        await settling
        await world.settle()
        for one, to, answer in zip(sent, people, answers, strict=True):
            status = await sender.status(one["id"])
            expected = ("cancelled", 0) if answer.status_code == 200 else ("delivered", 1)
            assert (status, len(world.received(to))) == expected, answer.text


async def test_a_vendor_that_wants_it_later_is_asked_later(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=2))
        sent = await sender.send(to)
        await world.settle()
        for calls in (1, 2):
            told = await sender.explain(sent["id"])
            assert len(told["attempts"]) == calls
            due = datetime.fromisoformat(told["next"]["at"])
            assert due > world.clock.now()
            await world.until(due - timedelta(milliseconds=1))
            assert len((await sender.explain(sent["id"]))["attempts"]) == calls, "not before its time"
            await world.until(due)
        told = await sender.explain(sent["id"])
    assert told["notification"]["status"] == "delivered"
    assert [a["status"] for a in told["attempts"]] == ["failed_temp", "failed_temp", "accepted"]
    assert len(world.received(to)) == 1


async def test_retries_end_with_the_clock_of_the_message(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        world.sandbox.faults.set(OFTEN)
        sent = await sender.send(to, expires_at=after(world, minutes=20))
        calls = [await _calls_after(world, sender, sent["id"], minutes=1) for _ in range(25)]
        world.sandbox.faults.clear()
        await world.advance(hours=5)
        told = await sender.explain(sent["id"])
    # The next call would come too late, and so it ends with what the vendor said last.
    assert (told["notification"]["status"], told["notification"]["reason"]) == ("failed", "4.3.0")
    assert 3 <= calls[-1] <= 9, "again and again, with growing pauses"
    assert calls[-1] == calls[19] == len(told["attempts"]), "and never after its time"
    assert not world.received(to)


async def test_retries_end_with_the_patience_for_its_kind(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        world.sandbox.faults.set(OFTEN)
        sent = await sender.send(to, use_case="otp")
        for _ in range(6):
            await world.advance(seconds=15)
        told = await sender.explain(sent["id"])
    assert (told["notification"]["status"], told["notification"]["reason"]) == ("failed", "4.3.0")
    assert len(told["attempts"]) == 3


async def test_the_fallback_vendor_takes_what_the_first_does_not_want(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        await sender.channel("email", fallback_vendor="http")
        world.sandbox.faults.set(OFTEN)
        sent = await sender.send(to, use_case="otp")
        for _ in range(6):
            await world.advance(seconds=5)
        told = await sender.explain(sent["id"])
    assert told["notification"]["status"] == "delivered"
    assert [(a["step"], a["vendor"]) for a in told["attempts"]] == [(1, "smtp")] * 3 + [(2, "http")]
    assert [message.adapter for message in world.received(to)] == ["http"]


async def test_an_address_that_is_wrong_is_not_tried_elsewhere(world: PipelineWorld) -> None:
    to = someone()
    async with world.sender() as sender:
        await sender.channel("email", fallback_vendor="http")
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_permanent", count=1))
        sent = await sender.send(to)
        await world.settle()
        told = await sender.explain(sent["id"])
    assert (told["notification"]["status"], told["notification"]["reason"]) == ("failed", "5.1.1")
    assert [(a["step"], a["vendor"], a["reason"]) for a in told["attempts"]] == [
        (1, "smtp", "5.1.1"),
        (2, None, "address_refused"),
    ]
    assert not world.received(to)


async def _calls_after(world: PipelineWorld, sender: Sender, id_: str, **by: float) -> int:
    await world.advance(**by)
    return len((await sender.explain(id_))["attempts"])


@pytest.mark.parametrize("kind", ["tenant", "recipient", "channel"])
async def test_limits_are_exact_for_two_workers_at_once(
    world: PipelineWorld, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: dict[str, Any] = {
        "tenant": SendingLimits(per_day=7),
        "recipient": SendingLimits(per_recipient_per_day=7),
        "channel": SendingLimits(),
    }
    to = someone()
    many = DispatchSettings(most=4, turns=3)
    async with (
        world.sender(NotificationPolicy(limits=limits[kind])) as sender,
        world.another_worker() as other,
    ):
        if kind == "channel":
            await sender.channel("email", rate_limit={"per_day": 7})
        somebody = (await sender.client.post("/api/v1/recipients", json=person(to))).json()["id"]
        wishes = {"notifications": [order(recipient=somebody) for _ in range(20)]}
        answer = await sender.client.post(f"{HOME}/bulk", json=wishes)
        assert answer.json()["accepted"] == 20
        for worker in (world.system, other):
            monkeypatch.setattr(worker.dispatch.job._pace, "_settings", many)
        took = await asyncio.gather(world.system.dispatch.job.drain(), other.dispatch.job.drain())
        await world.settle()
        statuses = Counter(
            {
                row["status"]: row["n"]
                for row in await sender.rows(
                    "SELECT status, count(*) AS n FROM notification.notifications GROUP BY status"
                )
            }
        )
        assert min(took) > 0, "both had a part in it"
        assert statuses["delivered"] == len(world.received(to)) == 7
        assert statuses["scheduled"] + statuses["dispatched"] == 13
        await world.advance(days=1)
        assert len(world.received(to)) == 14, "the next day there is room for as many again"


async def test_one_who_is_cut_off_leaves_no_turn_running(world: PipelineWorld) -> None:
    """The vendor hangs, and the grace is over: whoever closes the database afterwards takes it from nobody."""
    to = someone()
    world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="hang", count=1))
    async with world.sender() as sender:
        before = asyncio.all_tasks()
        sent = await sender.send(to)
        running = asyncio.ensure_future(world.system.dispatch.job.run(asyncio.Event()))
        while not await sender.rows(
            "SELECT FROM chan.executions_live WHERE notification_id = $1 AND state LIKE '%\"calling\"%'",
            sent["id"],
        ):
            await asyncio.sleep(0.01)
        turns = {task for task in asyncio.all_tasks() - before if "DispatchJob._turn" in repr(task)}

        running.cancel()
        await asyncio.wait({running})

        assert running.cancelled()
        assert len(turns) == 1
        assert all(task.done() for task in turns)
