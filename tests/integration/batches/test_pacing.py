"""When people of a batch are written to, and who goes first."""

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.integration.batches.arranging import Written, crowd, write
from tests.integration.batches.test_controlling import claimed_turn, small_chunks
from tests.integration.pipeline.arranging import quiet_now
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.tenants import NotificationPolicy, Tracking
from tidings.kernel.durable.presence import WorkerId


async def moments(sender: Sender, batch: Written) -> Counter[datetime]:
    """When its messages were made."""
    rows = await sender.rows(
        "SELECT created_at FROM notification.notifications WHERE tenant_id = $1 AND batch_id = $2",
        sender.tenant_id,
        batch.id,
    )
    return Counter(row["created_at"].replace(microsecond=0) for row in rows)


async def test_in_a_minute_go_as_many_as_its_pace_allows(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 50, tags=["vip"])
        batch = await write(sender, pacing={"per_minute": 24})
        began = world.clock.now()
        await batch.do("start")

        for _ in range(40):
            await world.advance(seconds=5)

        made = await moments(sender, batch)
        assert sum(made.values()) == 50
        for minute in range(3):
            start = began + timedelta(minutes=minute)
            inside = sum(n for at, n in made.items() if start <= at < start + timedelta(minutes=1))
            assert inside <= 24
        assert len(made) == 25


async def test_everybody_gets_it_at_their_own_hour(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        east = await crowd(world, sender.tenant_id, 2, tags=["vip"], timezone="Asia/Kabul")
        west = await crowd(world, sender.tenant_id, 2, tags=["vip"], timezone="America/New_York")
        batch = await write(sender, local_time="09:00")
        await batch.do("start")
        await world.settle()
        planned = await batch.people()

        day = world.clock.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        expected = {
            **dict.fromkeys(east, day + timedelta(days=1, hours=4, minutes=30)),
            **dict.fromkeys(west, day + timedelta(days=int(world.clock.now().hour >= 14), hours=14)),
        }
        assert {line["recipient_id"]: datetime.fromisoformat(line["send_at"]) for line in planned} == expected
        assert (await batch.totals())["remaining"] == 4

        await world.until(max(expected.values()))
        await world.advance(seconds=20)

        rows = await sender.rows(
            "SELECT recipient_id, created_at FROM notification.notifications WHERE tenant_id = $1",
            sender.tenant_id,
        )
        for row in rows:
            assert timedelta() <= row["created_at"] - expected[row["recipient_id"]] < timedelta(hours=20)
        assert await batch.totals() == {"people": 4, "sent": 4, "delivered": 4}


async def test_an_hour_that_fell_into_a_pause_is_kept_the_next_day(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 3, tags=["vip"], timezone="UTC")
        now = world.clock.now()
        hour = (now + timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
        batch = await write(sender, local_time=f"{hour:%H:%M}")
        await batch.do("start")
        await world.settle()
        await batch.do("pause")
        await world.advance(hours=6)

        await batch.do("resume")
        await world.settle()
        rested = await batch.people()
        await world.until(hour + timedelta(days=1))
        await world.advance(seconds=20)

        assert {line["state"] for line in rested} == {"planned"}
        assert {line["send_at"] for line in rested} == {
            (hour + timedelta(days=1)).isoformat().replace("+00:00", "Z")
        }
        assert await batch.totals() == {"people": 3, "sent": 3, "delivered": 3}


async def test_a_window_holds_the_batch_until_it_opens(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 3, tags=["vip"])
        opens = (world.clock.now() + timedelta(hours=3)).replace(minute=0, second=0, microsecond=0)
        window = {"start": f"{opens:%H:%M}", "end": f"{opens + timedelta(hours=1):%H:%M}", "timezone": "UTC"}
        batch = await write(sender, window=window)
        await batch.do("start")

        await world.advance(minutes=20)
        before = await batch.totals()
        await world.until(opens)
        await world.advance(seconds=10)

        assert before == {"people": 3, "remaining": 3}
        assert await batch.totals() == {"people": 3, "sent": 3, "delivered": 3}


async def test_a_mail_domain_has_its_own_pace(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        slow = await crowd(world, sender.tenant_id, 5, tags=["vip"], domain="slow.test")
        await crowd(world, sender.tenant_id, 20, tags=["vip"])
        batch = await write(sender, pacing={"domains": {"slow.test": 1}})
        await batch.do("start")
        await world.settle()

        at_once = await batch.totals()
        for _ in range(6):
            await world.advance(minutes=1)

        assert at_once == {"people": 25, "sent": 21, "delivered": 21, "remaining": 4}
        rows = await sender.rows(
            "SELECT created_at FROM notification.notifications WHERE tenant_id = $1 AND recipient_id = ANY ($2) ORDER BY 1",
            sender.tenant_id,
            slow,
        )
        gaps = [later["created_at"] - earlier["created_at"] for earlier, later in itertools.pairwise(rows)]
        assert len(rows) == 5
        assert min(gaps) >= timedelta(minutes=1)
        assert (await batch.show())["status"] == "completed"
        [stored] = await sender.rows(
            "SELECT slots::text FROM notification.dispatch_batches WHERE id = $1", batch.id
        )
        assert "@" not in (stored["slots"] or "")


async def test_a_mail_domain_keeps_its_pace_after_a_pause(world: PipelineWorld) -> None:
    """Whose time fell into the pause is not written to at once with all the others."""
    async with world.sender() as sender:
        ids = await crowd(world, sender.tenant_id, 14, tags=["vip"], domain="slow.test")
        batch = await write(sender, pacing={"domains": {"slow.test": 6}})
        await batch.do("start")
        await world.settle()
        await batch.do("pause")
        await world.advance(minutes=10)
        resumed = world.clock.now()
        await batch.do("resume")

        await world.settle()
        for _ in range(16):
            await world.advance(seconds=10)

        made = await moments(sender, batch)
        after = {at: n for at, n in made.items() if at >= resumed}
        assert sum(made.values()) == len(ids)
        assert sum(after.values()) == 13
        for at in after:
            assert sum(n for other, n in after.items() if at <= other < at + timedelta(minutes=1)) <= 6
        assert (await batch.show())["status"] == "completed"


async def test_the_runner_is_never_far_ahead_of_the_dispatcher(world: PipelineWorld) -> None:
    small_chunks(world.system, most_ahead=30)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 100, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")

        for _ in range(10):
            await claimed_turn(world.system)
            await world.clock.advance(timedelta(seconds=1))

        [waiting] = await sender.rows(
            "SELECT count(*) AS n FROM notification.dispatch_queue WHERE tenant_id = $1", sender.tenant_id
        )
        assert waiting["n"] == 30
        for _ in range(20):
            await world.advance(seconds=1)
        assert await batch.totals() == {"people": 100, "sent": 100, "delivered": 100}
    small_chunks(world.system)


async def test_what_waits_for_the_end_of_quiet_hours_is_under_way_too(world: PipelineWorld) -> None:
    """Messages that left the queue to wait elsewhere make no room for more, and a pause holds all the others."""
    small_chunks(world.system, most_ahead=30, most_deferred=30)
    async with world.sender(quiet_now(world.clock.now())) as sender:
        await crowd(world, sender.tenant_id, 100, tags=["vip"], timezone="UTC")
        batch = await write(sender)
        await batch.do("start")

        for _ in range(10):
            await world.advance(seconds=5)
        await batch.do("pause")

        assert Counter(line["state"] for line in await batch.people()) == {"accepted": 30}
        [queued] = await sender.rows(
            "SELECT count(*) AS n FROM notification.dispatch_queue WHERE tenant_id = $1", sender.tenant_id
        )
        assert queued["n"] == 0
        await world.advance(hours=2)
        await world.advance(minutes=30)
        assert await batch.totals() == {"people": 100, "sent": 30, "delivered": 30, "remaining": 70}
        await sender.policy(NotificationPolicy())
        await batch.do("resume")
        for _ in range(20):
            await world.advance(seconds=5)
        assert await batch.totals() == {"people": 100, "sent": 100, "delivered": 100}
        assert (await batch.show())["status"] == "completed"
    small_chunks(world.system)


async def test_a_code_overtakes_a_batch(world: PipelineWorld) -> None:
    """What somebody waits for is claimed before all of a batch that waits."""
    small_chunks(world.system, chunk=500, most_ahead=2000)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 600, tags=["vip"])
        batch = await write(sender)
        await batch.do("start")
        await claimed_turn(world.system)
        await claimed_turn(world.system)
        codes = [await sender.send(priority="high") for _ in range(3)]
        normal = await sender.send()

        claimer = world.system.dispatch.job._claimer
        worker = WorkerId(world.system.kernel.worker_id())
        first = await claimer.claim(worker, most=100)
        second = await claimer.claim(worker, most=100)
        third = await claimer.claim(worker, most=100)

        assert {*first.by_tenant[sender.tenant_id]} == {code["id"] for code in codes}
        assert [*second.by_tenant[sender.tenant_id]] == [normal["id"]]
        assert len(third) == 100
        async with world.db.worker() as tx:
            await tx.connection.execute("UPDATE notification.dispatch_queue SET claimed_by = NULL")
        await batch.do("cancel")
        await world.settle()


class TestShares:
    async def test_each_share_gets_its_own_words_and_its_own_line(self, world: PipelineWorld) -> None:
        policy = NotificationPolicy(tracking=Tracking(opens=True, clicks=True))
        async with world.sender(policy) as sender:
            await crowd(world, sender.tenant_id, 60, tags=["vip"])
            variants = [
                {"name": "short", "percent": 30, "variables": {"order_number": "SHORT"}},
                {"name": "long", "percent": 30, "variables": {"order_number": "LONG"}},
            ]
            batch = await write(sender, variants=variants)
            await batch.do("start")
            await world.settle()
            await world.advance(seconds=1)

            report = await batch.get("/report", verify="true")
            lines = await batch.people()
            shares = Counter(line["variant"] for line in lines)
            results: dict[str, Any] = {one["name"]: one for one in report["variants"]}
            assert report["proof"]["agrees"]
            assert {name: one["people"] for name, one in results.items()} == {
                "short": shares["short"], "long": shares["long"], "batch": shares[None],
            }  # fmt: skip
            assert sum(one["delivered"] for one in results.values()) == 60
            assert results["batch"]["percent"] == 40
            short = next(line for line in lines if line["variant"] == "short")
            body = await sender.client.get(f"/api/v1/notifications/{short['notification_id']}/body")
            assert "SHORT" in body.text, body.text
