"""What callbacks leave behind goes when its time is over."""

from datetime import timedelta

from tests.integration.router.callbacks.conftest import CallbackWorld, event, events
from tidings.kernel.ids import TenantId
from tidings.router.callbacks.sweep import RawBodySweeper, settle_stuck, sweep_dedup


async def test_what_was_told_is_known_for_ninety_days(world: CallbackWorld) -> None:
    account = await world.account(None)
    await world.post(account, events(*(event(f"m-{n}") for n in range(5))))

    await world.later(days=89)
    early = await sweep_dedup(world.db, world.clock, limit=100)
    await world.later(days=2)
    chunks = [await sweep_dedup(world.db, world.clock, limit=3) for _ in range(3)]

    assert (early, chunks) == (0, [3, 2, 0])


async def test_a_request_that_two_workers_ended_at_once_is_closed(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Each marked one of its two events and saw the other's open."""
    account = await world.account(None)
    attempt = await world.attempt(tenant_id, account)
    await world.post(account, events(event(attempt.message_id, "sent"), event(attempt.message_id)))
    await world.later(seconds=1)
    await world.post(account, events(event("waits")))
    await world.later(minutes=2)
    await world.job().drain()
    async with world.db.worker() as tx:
        await tx.connection.execute("UPDATE chan.webhook_inbound SET status = 'received'")

    settled = await settle_stuck(world.db, world.clock, limit=100)

    assert settled == 1
    assert [r["status"] for r in await world.requests()] == ["applied", "received"]


async def test_raw_bodies_go_after_their_time(world: CallbackWorld) -> None:
    """Not before, all of them in chunks, and those of a day that the sweeper was away for too."""
    account = await world.account(None)
    sweeper = RawBodySweeper(world.db, lambda: world.system.kernel.blobs, world.clock, kept=timedelta(days=2))
    for _ in range(3):
        await world.post(account, events(event("old")))
    await world.later(days=1)
    await world.post(account, events(event("younger")))

    early = await sweeper.sweep(100)
    await world.later(days=2)
    chunks = [await sweeper.sweep(2), await sweeper.sweep(2), await sweeper.sweep(2)]
    left = _bodies(world)
    await world.later(days=3)
    last = await sweeper.sweep(100)

    assert early == 0
    assert chunks == [2, 1, 0]
    assert (left, last, _bodies(world)) == (1, 1, 0)


async def test_raw_bodies_go_however_long_nobody_swept(world: CallbackWorld) -> None:
    """A sweeper that is new after more than a year: over the turn of a year and months without a callback."""
    account = await world.account(None)
    await world.post(account, events(event("first")))
    await world.later(days=430)
    await world.post(account, events(event("second")))
    await world.later(days=45)
    await world.post(account, events(event("young")))
    sweeper = RawBodySweeper(
        world.db, lambda: world.system.kernel.blobs, world.clock, kept=timedelta(days=30)
    )

    assert [await sweeper.sweep(1), await sweeper.sweep(1), await sweeper.sweep(1)] == [1, 1, 0]
    assert _bodies(world) == 1


async def test_open_ones_that_are_too_old_are_given_up(world: CallbackWorld) -> None:
    """Nobody was there to look for weeks: they are not passed over for ever, and no worker is kept awake by them."""
    account = await world.account(None)
    await world.post(account, events(event("late")))
    await world.job().turn()
    await world.later(seconds=1)
    await world.post(account, events(event("queued")))
    await world.later(days=36)

    turn = await world.job().turn()
    given_up = await settle_stuck(world.db, world.clock, limit=100)

    # As long as it may while nobody notifies it.
    assert turn.sleep == world.system.kernel.bus.wakeups.poll_seconds
    assert given_up == 2
    assert {row["status"] for row in await world.events()} == {"dlq"}
    assert {row["status"] for row in await world.requests()} == {"dlq"}


def _bodies(world: CallbackWorld) -> int:
    return sum(path.is_file() for path in (world.folder / "blobs").rglob("*"))
