"""How quickly a batch goes through vendors and accounts; nobody else waits for that."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.integration.batches.arranging import HOME, Written, crowd, wish, write
from tests.support.pipeline import PipelineWorld, Sender
from tests.support.port_bytes import EncodedPreparer, RemoteRouter
from tidings.contracts.tenants import NotificationPolicy, SendingLimits


async def sent_at(sender: Sender, batch: Written) -> Counter[datetime]:
    """When its messages were handed to the vendor."""
    rows = await sender.rows(
        "SELECT dispatched_at FROM notification.notifications WHERE tenant_id = $1 AND batch_id = $2",
        sender.tenant_id,
        batch.id,
    )
    return Counter(row["dispatched_at"].replace(microsecond=0) for row in rows)


async def account_of(sender: Sender) -> str:
    """The id of the account that mails go through."""
    answer = await sender.client.get("/api/v1/router/adapters")
    return next(str(one["id"]) for one in answer.json()["items"] if one["vendor"] == "smtp")


async def refused(sender: Sender, **other: Any) -> dict[str, str]:
    """What is wrong with a batch, by field."""
    answer = await sender.client.post(HOME, json=wish(**other))
    assert answer.status_code == 400, answer.text
    return {one["field"]: one["remedy"] for one in answer.json()["errors"]}


async def test_no_more_than_its_pace_goes_through_an_account_and_others_do_not_wait(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 30, tags=["vip"])
        account = await account_of(sender)
        batch = await write(sender, pacing={"accounts": {account: {"per_minute": 6}}})
        await batch.do("start")
        await world.advance(seconds=3)
        waiting = [line for line in await batch.people() if line["state"] == "accepted"]
        other = await sender.send()
        await world.settle()

        assert 0 < len(waiting) <= 10
        assert await sender.status(other["id"]) == "delivered"
        explained = await sender.explain(waiting[0]["notification_id"])
        assert await sender.status(waiting[0]["notification_id"]) == "scheduled"
        assert [line["verdict"] for line in explained["decision"] if line["reason"] == "batch_pace"] == [
            "defer"
        ]
        assert "as its pacing lets" in explained["summary"]
        for _ in range(40):
            await world.advance(seconds=10)
        sent = await sent_at(sender, batch)
        assert sum(sent.values()) == 30
        for at in sent:
            assert sum(n for one, n in sent.items() if at <= one < at + timedelta(minutes=1)) <= 6
        assert await batch.totals() == {"people": 30, "sent": 30, "delivered": 30}
        assert (await batch.show())["status"] == "completed"


async def test_a_warm_up_lets_more_through_each_day_and_all_of_them_after_its_last(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 40, tags=["vip"])
        rates = {"smtp": {"warm_up": [3, 5]}}
        # Its days begin at half past four in the afternoon, as UTC has it.
        batch = await write(sender, pacing={"vendors": rates, "timezone": "Pacific/Apia"})
        began = world.clock.now()
        await batch.do("start")
        days = []
        midnight = began.replace(hour=11, minute=0, second=0, microsecond=0)
        for number in (0, 1, 2):
            for _ in range(10):
                await world.advance(seconds=5)
            days.append((await batch.totals())["sent"])
            later = midnight + timedelta(days=number + (midnight <= began))
            await world.until(max(later, world.clock.now()))

        assert days == [3, 8, 40]
        assert await batch.totals() == {"people": 40, "sent": 40, "delivered": 40}


async def test_who_waits_for_the_pace_takes_of_other_limits_once(world: PipelineWorld) -> None:
    """Somebody who may get one message a day gets it, however often their turn was put off."""
    policy = NotificationPolicy(limits=SendingLimits(per_recipient_per_day=1, per_day=12))
    async with world.sender(policy) as sender:
        await crowd(world, sender.tenant_id, 12, tags=["vip"])
        batch = await write(sender, pacing={"vendors": {"smtp": {"per_minute": 2}}})
        await batch.do("start")

        for _ in range(45):
            await world.advance(seconds=10)

        assert await batch.totals() == {"people": 12, "sent": 12, "delivered": 12}


async def test_what_waits_for_the_pace_is_cancelled_with_the_batch(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 30, tags=["vip"])
        batch = await write(sender, pacing={"vendors": {"smtp": {"per_hour": 2}}})
        await batch.do("start")
        await world.settle()

        await batch.do("cancel")
        for _ in range(10):
            await world.advance(hours=1)

        assert await batch.totals() == {"people": 30, "sent": 1, "delivered": 1, "cancelled": 29}
        assert (await batch.show())["completed_at"] is not None


async def test_the_pace_holds_where_the_router_asks_from_afar(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too many for it has been handed over already, and waits with the router."""
    system, job = world.system, world.system.dispatch.job
    monkeypatch.setattr(
        job, "_dispatcher", replace(job._dispatcher, router=RemoteRouter(system.executions.router))
    )
    advancer = system.executions.due._work_on_set.__self__  # type: ignore[union-attr]
    preparer = EncodedPreparer(system.composition.gate)
    monkeypatch.setattr(system.executions.due, "_work_on_set", replace(advancer, preparer=preparer).advance)
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 15, tags=["vip"])
        batch = await write(sender, pacing={"vendors": {"smtp": {"per_minute": 6}}})
        await batch.do("start")
        await world.settle()
        lines = await batch.people()
        held = [await sender.explain(line["notification_id"]) for line in lines if line["state"] == "sent"]
        for _ in range(25):
            await world.advance(seconds=10)

        assert "batch_pace" in str(held)
        rows = await sender.rows(
            "SELECT started_at FROM chan.delivery_attempts WHERE tenant_id = $1", sender.tenant_id
        )
        calls = [row["started_at"] for row in rows]
        assert len(calls) == 15
        for at in calls:
            assert sum(at <= one < at + timedelta(minutes=1) for one in calls) <= 6
        assert await batch.totals() == {"people": 15, "sent": 15, "delivered": 15}


async def test_a_pace_names_what_there_is(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await crowd(world, sender.tenant_id, 1, tags=["vip"])
        account = await account_of(sender)
        rate = {"per_hour": 10}

        unknown = await refused(
            sender, pacing={"vendors": {"smpt": rate}, "accounts": {"adcfg_01J00000000000000000000000": rate}}
        )
        empty = await refused(sender, pacing={"vendors": {"smtp": {}}})
        hours = await refused(
            sender,
            pacing={"vendors": {"smtp": {"per_day": 5}}, "timezone": "Mars/Olympus"},
            local_time="09:00",
        )

        assert unknown == {
            "pacing.vendors.smpt": "must be one of the channel email; there are smtp",
            "pacing.accounts.adcfg_01J00000000000000000000000": f"must be one of the channel email; there are {account} (smtp)",
        }
        assert empty == {"pacing.vendors.smtp": "must say per_minute, per_hour, per_day or warm_up"}
        assert set(hours) == {"pacing.timezone", "local_time"}
