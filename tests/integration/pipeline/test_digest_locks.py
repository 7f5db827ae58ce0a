"""Whoever locks windows does it in the order in which they are joined, whoever locks their items in that of their keys: nobody waits crosswise."""

import asyncio
import random
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.pipeline.test_digests import evening, ordered, somebody
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.ids import RecipientId
from tidings.kernel.durable.claims import Claim
from tidings.notify.digest_windows.join import Joining, WindowKey, join_windows
from tidings.notify.digest_windows.replan import replan_digests
from tidings.notify.digests import flush_store
from tidings.notify.erasure import store as erasure_store
from tidings.notify.ids import DigestWindowId

pytestmark = pytest.mark.xdist_group("pipeline-digests-at-once")

#: The other way round than the ids, which count up.
_KEYS = ("d", "c", "b", "a")
#: Ids count up with it.
_A_MOMENT = timedelta(seconds=1)
_WINDOW = "SELECT FROM notification.digest_windows WHERE tenant_id = $1 AND id = $2"
_ITEM = "SELECT FROM notification.notifications WHERE tenant_id = $1 AND id = $2"


async def windows_of(sender: Sender) -> list[str]:
    """Their ids, in the order of their keys."""
    rows = await sender.rows("SELECT id FROM notification.digest_windows ORDER BY digest_key")
    return [row["id"] for row in rows]


async def open_windows(world: PipelineWorld, sender: Sender) -> tuple[str, list[str]]:
    """A recipient with four windows, the last of which has the least key."""
    laila, _ = await somebody(sender)
    for key in _KEYS:
        await ordered(sender, laila, f"{key}-1", digest_key=key)
        await world.settle()
        await world.clock.advance(_A_MOMENT)
    found = await windows_of(sender)
    assert found == sorted(found, reverse=True)
    return laila, found


async def waits_for_a_lock(world: PipelineWorld, work: "asyncio.Task[Any]") -> None:
    """Until somebody in this database waits for a lock."""
    async with asyncio.timeout(30):
        while not work.done():
            async with world.database.owner() as owner:
                if await owner.fetchval(
                    "SELECT count(*) FROM pg_locks AS l LEFT JOIN pg_database AS d ON d.oid = l.database "
                    "WHERE NOT l.granted AND coalesce(d.datname, current_database()) = current_database()"
                ):
                    return
            await asyncio.sleep(0.02)
    raise AssertionError("it did not wait for anything")


async def held_one_after_the_other(
    world: PipelineWorld, sender: Sender, query: str, ids: Sequence[str], work: Awaitable[Any]
) -> Any:
    """Hold the first, let the work come to wait for it, and take the others: they are free."""
    async with world.db.tenant(sender.tenant_id) as tx:
        await tx.connection.execute(f"{query} FOR UPDATE", sender.tenant_id, ids[0])
        working = asyncio.ensure_future(work)
        await waits_for_a_lock(world, working)
        for id_ in ids[1:]:
            await tx.connection.execute(f"{query} FOR UPDATE NOWAIT", sender.tenant_id, id_)
    return await working


async def join(
    world: PipelineWorld, sender: Sender, wished: Sequence[tuple[str, str]], *, hours: int = 2
) -> None:
    """As a dispatcher does with a set: one for each person and key, in this order."""
    now = world.clock.now()
    at = now + timedelta(hours=hours)
    async with world.db.tenants({sender.tenant_id}) as tx:
        await join_windows(
            tx,
            [
                Joining(
                    key=WindowKey(sender.tenant_id, who, "academic", "email", key, False),
                    flush_at=at,
                    window_end=at,
                    slides=False,
                    flush_by=None,
                    created_at=now,
                )
                for who, key in wished
            ],
            now=now,
        )


async def test_replanning_takes_windows_in_the_order_of_joining(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, found = await open_windows(world, sender)

        async def replan(ids: list[RecipientId] | None) -> None:
            async with world.db.tenant(sender.tenant_id) as tx:
                await replan_digests(tx, ids, now=world.clock.now())

        await held_one_after_the_other(world, sender, _WINDOW, found, replan(None))
        await held_one_after_the_other(world, sender, _WINDOW, found, replan([RecipientId(laila)]))


async def test_joining_takes_windows_in_that_order_too(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, found = await open_windows(world, sender)
        wished = [(laila, key) for key in ("c", "a", "d", "b")]
        await held_one_after_the_other(world, sender, _WINDOW, found, join(world, sender, wished))


async def test_erasing_takes_windows_in_that_order_too(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila, found = await open_windows(world, sender)

        async def erase() -> None:
            async with world.db.tenant(sender.tenant_id) as tx:
                await erasure_store.forget_digests(tx, RecipientId(laila), now=world.clock.now())

        await held_one_after_the_other(world, sender, _WINDOW, found, erase())


async def test_a_flusher_takes_windows_in_that_order_too(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        _, found = await open_windows(world, sender)
        await sender.rows(
            "UPDATE notification.digest_windows SET state = 'flushing', claimed_by = 'me' WHERE tenant_id = $1",
            sender.tenant_id,
        )

        async def lock() -> None:
            claims = [Claim(sender.tenant_id, DigestWindowId(id_)) for id_ in found[::-1]]
            async with world.db.tenants({sender.tenant_id}) as tx:
                loaded = await flush_store.load_windows(tx, claims, worker="me")
                assert len(await flush_store.lock_windows(tx, loaded, worker="me")) == len(found)

        await held_one_after_the_other(world, sender, _WINDOW, found, lock())


async def test_a_flusher_takes_items_in_the_order_of_their_keys(world: PipelineWorld) -> None:
    """Of all windows that it has in hand: a batch that is cancelled takes the same ones in that order."""
    async with world.sender() as sender:
        laila, to = await somebody(sender)
        ids = []
        for n in range(8):
            ids.append(await ordered(sender, laila, f"A-{n}", digest_key=_KEYS[n % 2]))
            await world.settle()
            await world.clock.advance(_A_MOMENT)
        assert ids == sorted(ids)
        await world.clock.advance(evening(world) - world.clock.now())

        # The second is of the window that is flushed after the first one's.
        flushing = world.system.digests.flushing.drain()
        await held_one_after_the_other(world, sender, _ITEM, ids[1:], flushing)

        await world.settle()
        assert [await sender.status(id_) for id_ in ids] == ["superseded"] * 8
        assert len(world.received(to)) == 2


async def test_writers_and_replanning_at_once_make_no_deadlock(world: PipelineWorld) -> None:
    """Sets of windows in whatever order, while they are planned anew again and again."""
    async with world.sender() as sender:
        people = [(await somebody(sender))[0] for _ in range(4)]
        wished = [(who, f"k{n}") for who in people for n in range(6)]

        async def write(seed: int) -> None:
            chance = random.Random(seed)
            for turn in range(15):
                await join(world, sender, chance.sample(wished, len(wished)), hours=1 + (seed + turn) % 5)

        async def replan() -> None:
            for _ in range(25):
                async with world.db.tenant(sender.tenant_id) as tx:
                    await replan_digests(tx, None, now=world.clock.now())

        # One that has to give way raises.
        await asyncio.gather(*(write(seed) for seed in range(4)), replan(), replan())

        counts = await sender.rows("SELECT sum(item_count) AS n FROM notification.digest_windows")
        assert counts == [{"n": 4 * 15 * len(wished)}]


async def test_more_windows_than_a_page_has_are_planned_anew(world: PipelineWorld) -> None:
    """Of two people, so that a page ends within the windows of one and goes on with them."""
    async with world.sender() as sender:
        people = [(await somebody(sender))[0] for _ in range(2)]
        await join(world, sender, [(who, f"k{n:04}") for who in people for n in range(700)], hours=1)

        async with world.db.tenant(sender.tenant_id) as tx:
            moved = await replan_digests(tx, None, now=world.clock.now())

        times = await sender.rows("SELECT DISTINCT flush_at FROM notification.digest_windows")
        assert (moved, times) == (1_400, [{"flush_at": evening(world)}])
