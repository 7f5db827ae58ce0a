"""Digests under load: many writers and flushers at the same moment, flushers that are killed, sets of several tenants."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.integration.pipeline.test_digests import evening, gathered, ordered, somebody, windows
from tests.support.people import rows
from tests.support.pipeline import HOME, PipelineWorld, Sender
from tidings.bootstrap import System
from tidings.contracts.ids import NotificationId
from tidings.kernel.ids import TenantId
from tidings.notify.dispatch.dispatch_batch import Dispatcher

pytestmark = pytest.mark.xdist_group("pipeline-digests-at-once")

_WRITERS = 200
#: Whatever happens, after so many tries of a flusher it is over.
_MOST_LOOKS = 400
_UPDATES = re.compile(r"(\d+) updates for you")


async def claimed(world: PipelineWorld, ids: Sequence[str], system: System) -> None:
    """These are that worker's, as if it had claimed them."""
    async with world.unguarded("notification.dispatch_queue") as owner:
        await owner.execute(
            "UPDATE notification.dispatch_queue SET claimed_by = $1 WHERE notification_id = ANY($2::text[])",
            system.kernel.presence.id,
            list(ids),
        )


async def join_one(system: System, tenant_id: TenantId, id_: str) -> None:
    """A writer: one notification, in a transaction of its own."""
    _ = system.dispatch
    dispatcher = system.notify.parts.get(Dispatcher)
    send = await dispatcher.dispatch_batch([(tenant_id, NotificationId(id_))], system.kernel.presence.id)
    if send is not None:
        # Where the window was locked, it is written only now.
        await send(None)


async def due_now(system: System, tenant_id: TenantId) -> None:
    """What is open is to be flushed now."""
    async with system.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE notification.digest_windows SET flush_at = $1 WHERE tenant_id = $2 AND state = 'open'",
            system.clock.now(),
            tenant_id,
        )


async def test_200_writers_and_three_flushers_put_every_item_into_exactly_one_digest(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender, AsyncExitStack() as stack:
        laila, to = await somebody(sender)
        # Each with connections of its own: a flusher does not wait behind the writers for one.
        systems = [await stack.enter_async_context(world.another_worker()) for _ in range(5)]
        writing, flushing = systems[:2], systems[2:]
        ids = [await ordered(sender, laila, f"N{n:03d}") for n in range(_WRITERS)]
        for place, system in enumerate(writing):
            await claimed(world, ids[place :: len(writing)], system)
        # So many transactions at the same moment; the others come one by one after them.
        slots = asyncio.Semaphore(10)

        async def write(system: System, id_: str) -> None:
            async with slots:
                await join_one(system, sender.tenant_id, id_)

        writers = [asyncio.create_task(write(writing[n % len(writing)], id_)) for n, id_ in enumerate(ids)]
        flushes = 0

        async def flush(system: System) -> None:
            nonlocal flushes
            for _ in range(_MOST_LOOKS):
                await due_now(system, sender.tenant_id)
                flushes += await system.digests.flushing.drain()
                if all(writer.done() for writer in writers):
                    return
                await asyncio.sleep(0)

        await asyncio.gather(*writers, *map(flush, flushing))
        await due_now(world.system, sender.tenant_id)
        await world.settle()

        found = await sender.rows(
            "SELECT id, status, digest_group_id FROM notification.notifications WHERE id = ANY($1::text[])",
            ids,
        )
        took = {
            row["id"]: row
            for row in await sender.rows(
                "SELECT id, result, digest_notification_id FROM notification.digest_windows"
            )
        }
        assert len(found) == _WRITERS
        assert all(row["digest_group_id"] in took for row in found)
        results = {row["status"] for row in found}
        assert results <= {"superseded", "delivered"}
        for row in found:
            single = took[row["digest_group_id"]]["result"] == "single"
            assert row["status"] == ("delivered" if single else "superseded"), (row, took)
        mails = world.received(to)
        counts = [int(match[1]) if (match := _UPDATES.match(mail.subject or "")) else 1 for mail in mails]
        assert sum(counts) == _WRITERS
        assert len(mails) == len([w for w in took.values() if w["result"] != "empty"])
        # More than one window was flushed while others were still writing.
        assert flushes > 1
        told = [number for mail in mails for number in set(re.findall(r"N\d{3}", mail.text or ""))]
        assert len(told) == len(set(told))


@pytest.mark.parametrize("steps", [*range(1, 40, 3), 60, 90, 140, 200, 300])
async def test_a_flusher_that_is_killed_anywhere_leaves_exactly_one_digest(
    world: PipelineWorld, steps: int
) -> None:
    """Between claiming, rendering and writing: after so many turns of its loop."""
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1", "A-2")
        await world.clock.advance(evening(world) - world.clock.now())
        async with world.another_worker() as other:
            flushing = asyncio.create_task(other.digests.flushing.drain())
            for _ in range(steps):
                await asyncio.sleep(0.0005 if steps > 40 else 0)
            flushing.cancel()
            await asyncio.gather(flushing, return_exceptions=True)
            for task in list(other.digests.flushing._tasks):
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            async with world.db.worker() as tx:
                await tx.connection.execute(
                    "DELETE FROM kernel.workers WHERE id = $1", other.kernel.presence.id
                )
        async with world.db.worker() as tx:
            await world.system.digests.free_orphans(tx)

        await world.settle()

        [mail] = world.received(to)
        assert "3 updates" in (mail.subject or "")
        assert [await sender.status(id_) for id_ in ids] == ["superseded"] * 3
        assert [window["result"] for window in await windows(sender, state="flushed")] == ["digest"]


async def test_a_window_that_is_being_flushed_takes_no_more(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        await gathered(world, sender, laila, "A-0", "A-1")
        async with world.unguarded("notification.digest_windows") as owner:
            await owner.execute(
                "UPDATE notification.digest_windows SET state = 'flushing', claimed_by = 'somebody' WHERE recipient_id = $1",
                laila,
            )

        [late] = await gathered(world, sender, laila, "A-2")

        [opened] = await windows(sender)
        shown = (await sender.client.get(f"/api/v1/digests/{opened['id']}")).json()
        assert [item["id"] for item in shown["items"]] == [late]
        async with world.db.worker() as tx:
            await world.system.digests.free_orphans(tx)
        await world.settle()
        # What the dead flusher had is flushed at its time; the other waits for its own.
        await world.until(evening(world))
        assert sorted("updates" in (mail.subject or "") for mail in world.received(to)) == [False, True]


async def _story(world: PipelineWorld, senders: Sequence[Sender]) -> None:
    """The same for each: three people, of whom one has one item, one two, and one has theirs cancelled."""
    people = [[(await somebody(sender))[0] for _ in range(3)] for sender in senders]
    cancelled = []
    for turn in range(2):
        for sender, (one, two, none) in zip(senders, people, strict=True):
            if turn == 0:
                await ordered(sender, one, "A-1")
            await ordered(sender, two, f"B-{turn}", digest_key="b")
            cancelled.append((sender, await ordered(sender, none, f"C-{turn}")))
    await world.settle()
    for sender, id_ in cancelled:
        assert (await sender.client.post(f"{HOME}/{id_}/cancel")).status_code == 200


_WRITTEN = {
    "notifications": "SELECT status, channel, category, template_key, is_test, superseded_at IS NOT NULL AS superseded, "
    "digest_group_id IS NOT NULL AS gathered FROM notification.notifications WHERE tenant_id = '{tenant}'",
    "windows": "SELECT category, channel, digest_key, state, result, item_count, digest_notification_id IS NOT NULL AS made "
    "FROM notification.digest_windows WHERE tenant_id = '{tenant}'",
    "counters": "SELECT name, channel, category, sum(n) AS n FROM notification.counters WHERE tenant_id = '{tenant}' "
    "GROUP BY name, channel, category",
}


async def _written(world: PipelineWorld, sender: Sender) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, query in _WRITTEN.items():
        read = await rows(world.db, sender.tenant_id, query.format(tenant=sender.tenant_id))
        found[name] = sorted(str(dict(row)) for row in read)
    return found


async def test_a_mixed_set_flushes_as_each_tenants_own_would(world: PipelineWorld) -> None:
    async with world.sender() as alone, world.sender() as a, world.sender() as b, world.sender() as c:
        await _story(world, [alone])
        await world.until(evening(world))
        await _story(world, [a, b, c])
        await world.until(evening(world))

        expected = await _written(world, alone)
        assert any("superseded" in row for row in expected["notifications"])
        for sender in (a, b, c):
            assert await _written(world, sender) == expected


async def test_one_tenant_sees_nothing_of_anothers_digests(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as other:
        laila, _ = await somebody(sender)
        await gathered(world, sender, laila, "A-0", "A-1")
        [window] = await windows(sender)

        assert await windows(other) == []
        for answer in (
            await other.client.get(f"/api/v1/digests/{window['id']}"),
            await other.client.post(f"/api/v1/digests/{window['id']}/flush"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "digest_not_found")


async def test_a_window_that_can_not_be_flushed_lets_its_items_go_in_the_end(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = await gathered(world, sender, laila, "A-0", "A-1")
        async with world.unguarded("notification.digest_windows") as owner:
            await owner.execute(
                "UPDATE notification.digest_windows SET attempts = 3 WHERE recipient_id = $1", laila
            )

        await world.until(evening(world))

        assert len(world.received(to)) == 2
        assert [await sender.status(id_) for id_ in ids] == ["delivered"] * 2


async def test_a_guardian_gets_one_copy_of_what_a_child_gets_in_a_digest(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        child, to = await somebody(sender)
        guardian, guardian_to = await somebody(sender, schedule={})
        routing = {"guardian_id": guardian, "mode": "copy"}
        await sender.choose(child, guardian_routing=routing)
        await gathered(world, sender, child, "A-0")

        await world.until(evening(world))

        assert [len(world.received(to)), len(world.received(guardian_to))] == [1, 1]


async def test_a_guardian_who_hears_instead_gets_one_digest_for_all_children(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        guardian, guardian_to = await somebody(sender)
        children = [await somebody(sender, schedule={}) for _ in range(2)]
        for child, _ in children:
            await sender.choose(child, guardian_routing={"guardian_id": guardian, "mode": "instead"})
            await gathered(world, sender, child, f"A-{child[-3:]}")

        await world.until(evening(world))

        [mail] = world.received(guardian_to)
        assert all(f"A-{child[-3:]}" in (mail.text or "") for child, _ in children)


async def test_what_was_gathered_for_a_guardian_of_before_is_decided_anew(world: PipelineWorld) -> None:
    """Children grow up, and guardians change: what waits is told to nobody whom it no longer concerns."""
    async with world.sender() as sender:
        guardian, guardian_to = await somebody(sender)
        (child, to), (other, _) = [await somebody(sender, schedule={}) for _ in range(2)]
        for who in (child, other):
            await sender.choose(who, guardian_routing={"guardian_id": guardian, "mode": "instead"})
        await gathered(world, sender, other, "B-1", "B-2")
        ids = await gathered(world, sender, child, "A-1", "A-2")

        await sender.choose(child, guardian_routing=None)
        await world.until(evening(world))

        assert [await sender.status(id_) for id_ in ids] == ["delivered"] * 2
        assert len(world.received(to)) == 2
        [mail] = world.received(guardian_to)
        assert "2 updates" in (mail.subject or "")
        assert "A-1" not in (mail.text or "")


async def test_a_guardians_digest_goes_to_the_guardian_whoever_hears_for_them(world: PipelineWorld) -> None:
    """The guardian rule is applied once, to a digest as to each of its messages."""
    async with world.sender() as sender:
        eldest, eldest_to = await somebody(sender, schedule={})
        guardian, guardian_to = await somebody(sender)
        child, _ = await somebody(sender, schedule={})
        await sender.choose(child, guardian_routing={"guardian_id": guardian, "mode": "instead"})
        await sender.choose(guardian, guardian_routing={"guardian_id": eldest, "mode": "instead"})
        await gathered(world, sender, child, "A-1", "A-2")

        await world.until(evening(world))

        assert [len(world.received(at)) for at in (guardian_to, eldest_to)] == [1, 0]
