"""Totals are counted with the work, whatever becomes of a message and whoever's it is."""

import asyncio
from collections import Counter
from typing import Any

from tests.integration.batches.arranging import HOME, Written, crowd, write
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.tenants import NotificationPolicy, Tracking
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import UnauthenticatedError
from tidings.notify.batches.progress import progress_lines
from tidings.notify.ids import BatchId
from tidings.notify.receipts.engagement import Engagements
from tidings.notify.receipts.model import Seen
from tidings.notify.receipts.store import lock_subjects


async def _suppressed(sender: Sender, recipient_id: str) -> None:
    shown = (await sender.client.get(f"/api/v1/recipients/{recipient_id}", params={"reveal": "true"})).json()
    address = shown["addresses"][0]["address"]
    answer = await sender.client.post(
        "/api/v1/suppressions", json={"channel": "email", "address": address, "reason": "manual"}
    )
    assert answer.status_code == 201, answer.text


async def _mixture(world: PipelineWorld, sender: Sender) -> Written:
    """People of whom some are suppressed, some have no mail address, and one leaves before the end."""
    ids = await crowd(world, sender.tenant_id, 12, tags=["vip"])
    for one in ids[:3]:
        await _suppressed(sender, one)
    for number in range(2):
        person = {
            "identity": {"type": "guest", "id": f"phone-{sender.tenant_id}-{number}"},
            "addresses": [
                {"channel": "sms", "address": f"+9370{number}{sender.tenant_id[-6:].translate(_DIGITS)}"}
            ],
            "tags": ["vip"],
        }
        made = await sender.client.post("/api/v1/recipients", json=person)
        assert made.status_code in (200, 201), made.text
    return await write(sender)


_DIGITS = {ord(letter): str(ord(letter) % 10) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


async def test_batches_of_many_tenants_are_settled_together_and_count_as_each_would_alone(
    world: PipelineWorld,
) -> None:
    """One dispatcher's set holds messages of all of them, and of no batch at all."""
    async with world.sender() as a, world.sender() as b, world.sender() as alone:
        first, second = await _mixture(world, a), await _mixture(world, b)
        await asyncio.gather(first.do("start"), second.do("start"))
        await a.send()
        await b.send()
        await world.settle()
        await world.advance(seconds=2)
        single = await _mixture(world, alone)
        await single.do("start")
        await world.settle()
        await world.advance(seconds=2)

        expected = await single.totals()
        assert await first.totals() == await second.totals() == expected
        assert expected["people"] == 14
        assert expected["delivered"] == 9
        assert expected["failed"] + expected.get("suppressed", 0) == 5
        for batch in (first, second, single):
            report = await batch.get("/report", verify="true")
            assert report["proof"]["agrees"], report
            assert sum(report["states"].values()) == 14
            assert (await batch.show())["status"] == "completed"


async def test_a_message_that_is_cancelled_by_hand_is_counted(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 2, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await world.system.batches.job.drain()
        [line, _] = await batch.people()

        cancelled = await sender.client.post(f"/api/v1/notifications/{line['notification_id']}/cancel")
        await world.settle()
        await world.advance(seconds=2)

        assert cancelled.status_code == 200
        assert await batch.totals() == {"people": 2, "sent": 1, "delivered": 1, "cancelled": 1}
        assert (await batch.get("/report", verify="true"))["proof"]["agrees"]


async def test_somebody_who_is_erased_while_their_message_waits_is_counted(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 2, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await world.system.batches.job.drain()

        erased = await sender.client.post(f"/api/v1/recipients/{ids[0]}/erase", json={})
        await world.settle()
        await world.advance(seconds=2)

        assert erased.status_code == 200, erased.text
        assert await batch.totals() == {"people": 2, "sent": 1, "delivered": 1, "suppressed": 1}
        assert (await batch.get("/report", verify="true"))["proof"]["agrees"]


async def test_opens_are_counted_by_share_and_once_for_each(world: PipelineWorld) -> None:
    policy = NotificationPolicy(tracking=Tracking(opens=True))
    async with world.sender(policy) as sender:
        await crowd(world, sender.tenant_id, 4, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=2)
        [line, *_] = await batch.people()

        for _ in range(2):
            await _open(world, sender.tenant_id, line)

        report = await batch.get("/report")
        assert [(one["name"], one["opened"], one["clicked"]) for one in report["variants"]] == [
            ("batch", 1, 0)
        ]
        assert (await batch.totals())["opened"] == 1


async def _open(world: PipelineWorld, tenant_id: TenantId, line: dict[str, Any]) -> None:
    """As the pixel and a vendor's callback do it."""
    engagements = Engagements(outbox=world.system.kernel.outbox, clock=world.clock, stripe=3)
    seen = Seen(
        notification_id=line["notification_id"],
        what="opened",
        recipient_id=line["recipient_id"],
        channel="email",
        at=world.clock.now(),
        source="tracking",
    )
    async with world.db.tenant(tenant_id) as tx:
        subjects = await lock_subjects(tx, {seen.notification_id: seen.recipient_id})
        await engagements.note(tx, subjects, [seen])


async def always() -> None:
    """Whoever listens may."""


async def test_who_may_hear_of_a_batch_no_more_is_told_so(world: PipelineWorld) -> None:
    async def refused() -> None:
        raise UnauthenticatedError

    async with world.sender() as sender:
        batch = await write(sender)
        lines = progress_lines(lambda: world.db.tenant(sender.tenant_id), BatchId(batch.id), refused)

        assert [line async for line in lines] == [b"event: error\ndata: unauthenticated\n\n"]


async def test_progress_is_a_stream_that_ends_with_the_batch(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 3, tags=["vip"])
        batch = await write(sender)
        heard: list[bytes] = []

        async def listen() -> None:
            lines = progress_lines(
                lambda: world.db.tenant(sender.tenant_id), BatchId(batch.id), always, every=0.01
            )
            async for line in lines:
                heard.append(line)

        listening = asyncio.create_task(listen())
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=2)
        await asyncio.wait_for(listening, 30)
        answer = await sender.client.get(f"{HOME}/{batch.id}/progress")

        kinds = Counter(line.split(b"\n")[0] for line in heard)
        assert kinds[b"event: end"] == 1
        assert kinds[b"event: progress"] >= 1
        assert heard[-1].startswith(b'event: end\ndata: {"id":"')
        assert (answer.status_code, answer.headers["content-type"]) == (
            200,
            "text/event-stream; charset=utf-8",
        )
        assert answer.content == heard[-1]


async def test_pages_of_the_ledger_can_be_narrowed(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        batch = await _mixture(world, sender)
        await batch.do("start")
        await world.settle()
        await world.advance(seconds=2)

        delivered = await batch.people(state="delivered")
        page = await batch.get("/people", limit=5)

        assert len(delivered) == 9
        assert len(page["items"]) == 5
        assert page["next_cursor"] is not None
        assert len(await batch.people(unread="true")) == 0
        assert len(await batch.people()) == 14


async def test_what_the_ledger_was_not_told_is_found(world: PipelineWorld) -> None:
    """A sweep of its own: a message that came to its end by a way that knows no batches does not keep one open for ever."""
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 3, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await world.system.batches.job.drain()
        [line, *_] = await batch.people()
        async with world.unguarded("notification.notifications", "notification.dispatch_queue") as owner:
            await owner.execute(
                "UPDATE notification.notifications SET status = 'superseded' WHERE id = $1",
                line["notification_id"],
            )
            await owner.execute(
                "DELETE FROM notification.dispatch_queue WHERE notification_id = $1", line["notification_id"]
            )
        await world.settle()
        await world.advance(minutes=1)
        before = await batch.show()

        for _ in range(15):
            await world.advance(minutes=1)

        assert before["status"] == "running"
        assert (await batch.show())["status"] == "completed"
        assert await batch.totals() == {"people": 3, "sent": 2, "delivered": 2, "superseded": 1}
        assert (await batch.get("/report", verify="true"))["proof"]["agrees"]


async def test_the_zone_that_somebody_chose_counts(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        [one] = await crowd(world, sender.tenant_id, 1, tags=["vip"], timezone="UTC")
        await sender.choose(one, timezone="Asia/Kabul")
        batch = await write(sender, local_time="09:00")
        await batch.do("start")
        await world.settle()

        [line] = await batch.people()
        assert line["send_at"].endswith("T04:30:00Z")
