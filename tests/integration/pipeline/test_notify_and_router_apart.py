"""Notify and the router in two processes: handed over on the bus, prepared by request, settled by the outcome's event."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.support.apart import ApartWorld, apart
from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.delivery import DISPATCH_REQUESTED_SUBJECT
from tidings.contracts.delivery_requests import ENDED_EXECUTIONS, PREPARE_STEPS, TAKEN_HAND_OVERS, FoundTaken
from tidings.router.executions.remote_preparer import NOTIFY_AWAY

pytestmark = pytest.mark.xdist_group("pipeline-apart")

CODE: dict[str, Any] = {"template": "otp", "variables": {"code": "482915"}, "channel": "auto"}
#: By her clock, at noon.
NIGHT = {
    "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    "start": "11:00",
    "end": "14:00",
    "timezone": "UTC",
}
_phones = iter(range(79_000, 79_900))


@pytest.fixture
async def split(world: PipelineWorld) -> AsyncIterator[ApartWorld]:
    """What other tests have handed over is none of the next one's."""
    async with world.database.owner() as owner:
        await owner.execute("TRUNCATE notification.dispatch_requests")
    async with apart(world) as made:
        yield made


def phone() -> str:
    return f"+49151235{next(_phones)}"


async def count(sender: Sender, table: str) -> int:
    [row] = await sender.rows(f"SELECT count(*) AS n FROM {table}")
    return int(row["n"])


async def test_messages_arrive_and_are_explained_as_in_one_process(
    split: ApartWorld, world: PipelineWorld
) -> None:
    files = [{"filename": "a.txt", "media_type": "text/plain", "content": "aGVsbG8="}]
    timelines = []
    for one in (split, world):
        mail, number = f"{unused()}@example.test", phone()
        async with one.sender(channels=("email", "sms")) as sender:
            sent = await sender.send(
                mail, attachments=files, metadata={"order": {"id": 7, "tags": ["a", None]}}
            )
            second = await sender.send(**CODE, recipient=person(number))
            await one.settle()
            told = [await sender.explain(this["id"]) for this in (sent, second)]
            assert [this["notification"]["status"] for this in told] == ["delivered", "delivered"]
            assert len(one.received(mail)) == len(one.received(number)) == 1
            assert await count(sender, "chan.delivery_outbox") == 2
            if one is split:
                assert await count(sender, "chan.delivery_inbox") == 2
                assert split.requests.asked.count(PREPARE_STEPS) >= 1
            else:
                assert await count(sender, "chan.delivery_inbox") == 0
            timelines.append([[shape(step) for step in this["timeline"]] for this in told])
    assert timelines[0] == timelines[1]


def shape(step: dict[str, Any]) -> dict[str, Any]:
    """A line of a timeline, without what is of one message alone."""
    own = {
        "at",
        "id",
        "attempt_id",
        "execution_id",
        "provider_message_id",
        "ended_at",
        "until",
        "address_hash",
    }
    return {name: value for name, value in step.items() if name not in own}


async def test_what_passes_the_bus_has_no_address(split: ApartWorld) -> None:
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        sent = await sender.send(mail)
        await split.notify.dispatch.job.drain()
        async with split.unguarded("notification.outbox") as owner:
            [row] = await owner.fetch(
                "SELECT payload FROM notification.outbox WHERE subject = $1", DISPATCH_REQUESTED_SUBJECT
            )
        [kept] = await sender.rows("SELECT request FROM notification.dispatch_requests")
        assert row["payload"] == kept["request"]
        assert sent["id"] in row["payload"]
        assert "@" not in row["payload"]
        assert "Laila" not in row["payload"]
        await split.settle()
        assert await sender.status(sent["id"]) == "delivered"


async def test_an_urgent_hand_over_does_not_wait_behind_a_backlog(split: ApartWorld) -> None:
    """A group of its own passes over the others; who comes second finds it taken, and each arrives once."""
    mail, number = f"{unused()}@example.test", phone()
    await split.router.executions.urgent_requests.register()  # type: ignore[attr-defined]
    async with split.sender(channels=("email", "sms")) as sender:
        usual = [await sender.send(mail) for _ in range(5)]
        urgent = await sender.send(**CODE, recipient=person(number), priority="critical")
        await split.notify.dispatch.job.drain()
        await split.relays[0].drain()

        assert await split.router.executions.urgent_requests.drain() == 1

        assert await count(sender, "chan.delivery_inbox") == 1
        await split.router.executions.due.drain()
        assert len(split.received(number)) == 1
        assert split.received(mail) == []
        await split.settle()
        assert len(split.received(number)) == 1
        assert len(split.received(mail)) == 5
        assert await count(sender, "chan.delivery_inbox") == 6
        for sent in (*usual, urgent):
            assert await sender.status(sent["id"]) == "delivered"


async def test_a_hand_over_that_is_announced_again_begins_no_second_execution(split: ApartWorld) -> None:
    """Also where the first one is over: only the inbox knows of it then."""
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        sent = await sender.send(mail)
        await split.settle()
        assert await sender.status(sent["id"]) == "delivered"
        # A router that has forgotten what it took: the request is announced once more.
        split.requests.serve(TAKEN_HAND_OVERS, nothing_taken)
        await split.clock.advance(timedelta(minutes=6))
        assert await split.notify.dispatch._untaken.sweep(100) == 1
        await split.settle()
        assert len(split.received(mail)) == 1
        assert await count(sender, "chan.fallback_executions") == 1
        assert await count(sender, "chan.executions_live") == 0


async def nothing_taken(_: bytes) -> bytes:
    return msgspec.msgpack.encode(FoundTaken(taken=()))


async def test_what_was_taken_is_forgotten_and_what_was_lost_is_announced_again(split: ApartWorld) -> None:
    taken, lost = f"{unused()}@example.test", f"{unused()}@example.test"
    async with split.sender() as sender:
        await sender.send(taken)
        await split.settle()
        sent = await sender.send(lost)
        await split.notify.dispatch.job.drain()
        async with split.database.owner() as owner:
            await owner.execute("TRUNCATE notification.outbox")  # The bus has lost it.
        await split.settle()
        assert split.received(lost) == []
        sweeper = split.notify.dispatch._untaken
        assert await sweeper.sweep(100) == 0  # Too early to ask.
        await split.clock.advance(timedelta(minutes=6))
        assert await sweeper.sweep(100) == 2
        assert await count(sender, "notification.dispatch_requests") == 1
        await split.settle()
        assert await sender.status(sent["id"]) == "delivered"
        assert len(split.received(lost)) == len(split.received(taken)) == 1
        # It is asked about once more, later, and forgotten.
        assert await sweeper.sweep(100) == 0
        await split.clock.advance(timedelta(minutes=11))
        assert await sweeper.sweep(100) == 1
        assert await count(sender, "notification.dispatch_requests") == 0


async def test_a_process_of_both_takes_what_was_left_announced(
    split: ApartWorld, world: PipelineWorld
) -> None:
    """An installation that goes back to one process loses nothing."""
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        sent = await sender.send(mail)
        await split.notify.dispatch.job.drain()
        async with split.database.owner() as owner:
            await owner.execute("TRUNCATE notification.outbox")
        await split.clock.advance(timedelta(minutes=6))
        assert await world.system.dispatch._untaken.sweep(100) == 1
        await world.settle()
        assert await sender.status(sent["id"]) == "delivered"
        assert len(world.received(mail)) == 1


async def test_while_notify_is_away_steps_wait_and_nothing_is_lost(split: ApartWorld) -> None:
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        split.requests.unheard = lambda subject: subject == PREPARE_STEPS
        sent = await sender.send(mail)
        await split.settle()
        told = await sender.explain(sent["id"])
        assert told["notification"]["status"] == "dispatched"
        assert NOTIFY_AWAY in str(told["timeline"])
        await split.advance(seconds=20)
        assert split.received(mail) == []
        split.requests.unheard = lambda _: False
        await split.advance(seconds=20)
        assert await sender.status(sent["id"]) == "delivered"
        assert len(split.received(mail)) == 1


async def test_a_reply_that_is_lost_is_asked_for_again_and_counted_once(split: ApartWorld) -> None:
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        split.requests.reply_lost = lambda subject: subject == PREPARE_STEPS
        sent = await sender.send(mail)
        await split.settle()
        split.requests.reply_lost = lambda _: False
        await split.advance(seconds=20)
        assert await sender.status(sent["id"]) == "delivered"
        assert len(split.received(mail)) == 1
        assert split.requests.asked.count(PREPARE_STEPS) == 2


async def test_quiet_hours_that_begin_after_the_hand_over_are_heeded(split: ApartWorld) -> None:
    """The router takes it up when it is night for her, and notify says: not now."""
    async with split.sender() as sender:
        now = split.clock.now()
        await split.clock.advance(now.replace(hour=12, minute=0) + timedelta(days=1) - now)
        mail = f"{unused()}@example.test"
        sent = await sender.send(mail)
        await split.notify.dispatch.job.drain()
        await sender.choose(sent["recipient_id"], quiet_hours=[NIGHT])
        await split.settle()
        assert split.received(mail) == []
        assert (await sender.explain(sent["id"]))["notification"]["status"] == "dispatched"
        await split.advance(hours=3)
        assert len(split.received(mail)) == 1


async def test_it_can_be_cancelled_until_it_is_handed_over(split: ApartWorld) -> None:
    """As in one process: what is dispatched is too late to cancel, and goes out once."""
    mail, later = f"{unused()}@example.test", f"{unused()}@example.test"
    async with split.sender() as sender:
        sent = await sender.send(mail)
        tomorrow = (split.clock.now() + timedelta(days=1)).isoformat()
        planned = await sender.send(later, scheduled_for=tomorrow)
        await split.notify.dispatch.job.drain()
        answers = [
            await sender.client.post(f"/api/v1/notifications/{one['id']}/cancel") for one in (sent, planned)
        ]
        assert [answer.status_code for answer in answers] == [409, 200]
        await split.advance(days=1, minutes=1)
        assert [await sender.status(one["id"]) for one in (sent, planned)] == ["delivered", "cancelled"]
        assert (len(split.received(mail)), len(split.received(later))) == (1, 0)


async def test_what_expires_on_its_way_is_not_sent(split: ApartWorld) -> None:
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        soon = (split.clock.now() + timedelta(minutes=5)).isoformat()
        sent = await sender.send(mail, expires_at=soon)
        await split.notify.dispatch.job.drain()
        await split.clock.advance(timedelta(minutes=10))
        await split.settle()
        assert await sender.status(sent["id"]) == "expired"
        assert split.received(mail) == []
        assert await count(sender, "chan.delivery_outbox") == 1


async def test_a_poisoned_request_fails_alone(split: ApartWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    taker = split.router.executions.request_taker
    whole = type(taker).take

    good, bad = f"{unused()}@example.test", f"{unused()}@example.test"
    async with split.sender() as sender:
        await sender.send(good)
        poisoned = await sender.send(bad)

        async def take(self: Any, tx: Any, hand_offs: Any) -> None:
            if any(one.notification_id == poisoned["id"] for one in hand_offs):
                raise ValueError
            await whole(self, tx, hand_offs)

        monkeypatch.setattr(type(taker), "take", take)
        await split.settle()
        assert len(split.received(good)) == 1
        assert split.received(bad) == []
        monkeypatch.undo()
        await split.advance(minutes=1)
        assert len(split.received(bad)) == 1


async def test_outcomes_that_the_bus_has_lost_are_asked_for_at_the_router(split: ApartWorld) -> None:
    mail = f"{unused()}@example.test"
    async with split.sender() as sender:
        sent = await sender.send(mail)
        await split.notify.dispatch.job.drain()
        at_once = replace(split.notify.consumers.missed_outcomes, settled_for=timedelta(0))
        await at_once.sweep(100)
        for drain in (
            split.relays[0].drain,
            split.router.executions.requests.drain,
            split.router.executions.due.drain,
        ):
            await drain()
        async with split.database.owner() as owner:
            await owner.execute("TRUNCATE chan.outbox")
        assert await sender.status(sent["id"]) == "dispatched"
        assert await at_once.sweep(100) >= 1
        assert ENDED_EXECUTIONS in split.requests.asked
        assert await sender.status(sent["id"]) == "delivered"


async def test_killed_between_any_two_statements_there_is_one_execution_and_one_outcome(
    split: ApartWorld,
) -> None:
    """The handler is cut off after its writes and before its commit, again and again."""
    taker = split.router.executions.request_taker
    whole = type(taker).take
    cuts = 0

    async def take(self: Any, tx: Any, hand_offs: Any) -> None:
        nonlocal cuts
        await whole(self, tx, hand_offs)
        if cuts < 3:
            cuts += 1
            raise asyncio.CancelledError

    mails = [f"{unused()}@example.test" for _ in range(20)]
    async with split.sender() as sender:
        for mail in mails:
            await sender.send(mail)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(type(taker), "take", take)
            for _ in range(4):
                try:
                    await split.settle()
                except asyncio.CancelledError:
                    continue
        await split.advance(seconds=30)
        assert cuts == 3
        assert [len(split.received(mail)) for mail in mails] == [1] * 20
        assert await count(sender, "chan.delivery_outbox") == 20
        assert await count(sender, "chan.fallback_executions") == 20
