"""Notifications of several tenants are dispatched in one batch, and become what each would have become alone."""

import asyncio
import re
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.support.people import rows, unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, order, person
from tests.support.statements import Asked, counting
from tidings.contracts.tenants import NotificationPolicy, SendingLimits
from tidings.kernel.ids import TenantId

pytestmark = pytest.mark.xdist_group("pipeline-statements")

_ID = re.compile("[a-z]{3,6}_[0-9A-HJKMNP-TV-Z]{26}")
_POLICY = NotificationPolicy(limits=SendingLimits(per_recipient_per_hour=2))
#: What dispatching writes, without what is drawn by lot or taken from the clock.
_WRITTEN = {
    "notifications": "SELECT status, channel, category, locale, suppression_reason, failure_reason, decision_trace, "
    "preference_version, dispatched_at IS NOT NULL AS out, address_hash IS NOT NULL AS sent_to, sender IS NOT NULL AS sent_from, version "
    "FROM notification.notifications WHERE tenant_id = '{tenant}'",
    "queue": "SELECT priority FROM notification.dispatch_queue WHERE tenant_id = '{tenant}'",
    "schedule": "SELECT kind, priority FROM notification.notification_scheduled WHERE tenant_id = '{tenant}'",
    "tokens": "SELECT channel, category, purpose FROM notification.opt_out_tokens WHERE tenant_id = '{tenant}'",
    "counters": "SELECT name, channel, category, sum(n) AS n FROM notification.counters WHERE tenant_id = '{tenant}' "
    "GROUP BY name, channel, category",
    "limits": "SELECT split_part(key, ':', 3) AS of, amounts FROM kernel.hot_limits WHERE tenant_id = '{tenant}'",
    "executions": "SELECT strategy, outcome, evidence, final_channel FROM chan.fallback_executions WHERE tenant_id = '{tenant}'",
    "attempts": "SELECT step_index, channel, provider, status FROM chan.delivery_attempts WHERE tenant_id = '{tenant}'",
}


async def _arrange(sender: Sender) -> None:
    """Somebody of each kind, and an order for each."""
    client = sender.client
    made = [
        (await client.post("/api/v1/recipients", json=person(f"{unused()}@example.test"))).json()
        for _ in range(5)
    ]
    plain, ward, watched, guardian, quiet = (one["id"] for one in made)
    await sender.choose(ward, guardian_routing={"guardian_id": guardian, "mode": "instead"})
    await sender.choose(watched, guardian_routing={"guardian_id": guardian, "mode": "copy"})
    night = {"days": ["sun"], "start": "00:00", "end": "23:59", "timezone": "UTC"}
    await sender.choose(quiet, quiet_hours=[night])
    held = f"{unused()}@example.test"
    await client.post("/api/v1/suppressions", json={"channel": "email", "address": held})
    bodies: list[dict[str, Any]] = [order(recipient={"id": one}) for one in (plain, ward, watched, quiet)]
    bodies += [order(recipient={"id": plain}), order(recipient={"id": plain})]  # The third is over the limit.
    bodies.append(order(held))
    for body in bodies:
        answer = await client.post(HOME, json=body)
        assert answer.status_code == 202, answer.text


async def _written(world: PipelineWorld, tenant_id: TenantId) -> dict[str, list[str]]:
    found = {}
    for name, query in _WRITTEN.items():
        found[name] = sorted(
            _ID.sub("id", str(dict(row)))
            for row in await rows(world.db, tenant_id, query.format(tenant=tenant_id))
        )
    events = "SELECT subject FROM notification.outbox WHERE tenant_id = $1"
    async with world.unguarded("notification.outbox") as owner:
        found["events"] = sorted(row["subject"] for row in await owner.fetch(events, tenant_id))
    return found


async def test_a_mixed_batch_writes_what_each_tenants_batch_writes_alone(world: PipelineWorld) -> None:
    async with (
        world.sender(_POLICY) as alone,
        world.sender(_POLICY) as a,
        world.sender(_POLICY) as b,
        world.sender(_POLICY) as c,
    ):
        await _arrange(alone)
        await world.system.dispatch.job.drain()
        expected = await _written(world, alone.tenant_id)
        for sender in (a, b, c):
            await _arrange(sender)
        with counting(world.db) as asked:
            await world.system.dispatch.job.drain()
        for sender in (a, b, c):
            assert await _written(world, sender.tenant_id) == expected
    assert expected["executions"]
    assert expected["schedule"]
    assert asked.transactions <= 24


async def _cost(world: PipelineWorld, senders: list[Sender], each: int) -> Asked:
    for sender in senders:
        bulk = {"notifications": [order() for _ in range(each)]}
        await sender.client.post(f"{HOME}/bulk", json=bulk)
    with counting(world.db) as asked:
        assert await world.system.dispatch.job.drain() == len(senders) * each
    await world.settle()
    return asked


async def test_a_batch_of_ten_tenants_costs_what_one_tenants_does(
    world: PipelineWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fifty notifications: of one tenant, and five of each of ten."""
    async with AsyncExitStack() as stack:
        senders = [await stack.enter_async_context(world.sender(channels=["email"])) for _ in range(10)]
        for _ in range(2):  # At first templates, keys and connections are met for the first time.
            one = await _cost(world, senders[:1], 50)
            ten = await _cost(world, senders, 5)
    with capsys.disabled():
        print(f"\n  50 of one tenant: {one}\n  5 of each of ten: {ten}")  # noqa: T201  # for whoever wants to know
    assert ten.transactions <= one.transactions
    assert ten.round_trips <= one.round_trips
    # Claim 1, load 2 and the tenants, which are not remembered here, write 2, record 3, and a claim that finds no more.
    assert one.round_trips <= 10


async def test_a_tenant_whose_row_is_locked_keeps_no_other_waiting(world: PipelineWorld) -> None:
    """The others of the batch are sent; the one goes on when the lock is free."""
    async with world.sender() as held, world.sender() as free:
        waits = await held.send()
        goes = await free.send()
        async with world.db.tenant(held.tenant_id) as tx:
            await tx.connection.execute(
                "SELECT 1 FROM notification.notifications WHERE tenant_id = $1 FOR UPDATE", held.tenant_id
            )
            turn = asyncio.create_task(world.system.dispatch.job.drain())
            while await free.status(goes["id"]) == "queued":
                await asyncio.sleep(0.02)
            assert not turn.done()
            assert await held.status(waits["id"]) == "queued"
            # What waits is still in hand, and what comes next of that tenant takes no slot.
            async with world.db.worker() as worker:
                assert await world.system.dispatch.job.free_orphans(worker) == 0
            while held.tenant_id not in world.system.dispatch.job._dispatcher.waiting:
                await asyncio.sleep(0.02)
            await held.send()
            assert await world.system.dispatch.job.drain() == 0
        await turn
        assert await held.status(waits["id"]) == "delivered"


async def _later_steps(world: PipelineWorld, *senders: Sender) -> list[str]:
    """One of each, whose first step is skipped: the next one is asked for when it is due."""
    code: dict[str, Any] = {"template": "otp", "variables": {"code": "482915"}, "channel": "auto"}
    ids = [
        (await sender.send(**code, recipient=person(f"+4915123478{place:03}")))["id"]
        for place, sender in enumerate(senders, 601)
    ]
    await world.system.dispatch.job.drain()
    assert [await sender.status(id_) for sender, id_ in zip(senders, ids, strict=True)] == [
        "dispatched"
    ] * len(senders)
    return ids


async def test_a_tenant_with_a_broken_key_stops_no_later_step_of_another(world: PipelineWorld) -> None:
    channels = ("email", "sms")
    async with world.sender(channels=channels) as bad, world.sender(channels=channels) as good:
        broken, sent = await _later_steps(world, bad, good)
        tables = "kernel.tenant_keys", "kernel.data_keys"
        async with world.unguarded(*tables) as owner:
            for table in tables:
                await owner.execute(
                    f"UPDATE {table} SET wrapped_key = '\\x00' WHERE tenant_id = $1", bad.tenant_id
                )
        # Another process: this one remembers the key.
        async with world.another_worker() as other:
            await other.executions.due.drain()
        assert await good.status(sent) == "delivered"
        assert await bad.status(broken) == "dispatched"


async def test_a_locked_notification_stops_no_later_step_of_another_tenant(world: PipelineWorld) -> None:
    channels = ("email", "sms")
    async with world.sender(channels=channels) as held, world.sender(channels=channels) as free:
        waits, goes = await _later_steps(world, held, free)
        async with world.db.tenant(held.tenant_id) as tx:
            await tx.connection.execute(
                "SELECT 1 FROM notification.notifications WHERE tenant_id = $1 FOR UPDATE", held.tenant_id
            )
            await world.system.executions.due.drain()
            assert await free.status(goes) == "delivered"
            assert await held.status(waits) == "dispatched"
            (waited,) = [one for one in (await held.explain(waits))["timeline"] if one["kind"] == "waited"]
            assert "the notification was being changed at that moment" in waited["text"]
        await world.advance(seconds=6)
        await world.settle()
        assert await held.status(waits) == "delivered"
