"""A fault of one tenant in a batch of several: the others are sent as if it were not there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from tests.integration.pipeline.files import file_of
from tests.support.pipeline import PipelineWorld
from tidings.contracts.ids import NOTIFICATION
from tidings.contracts.tenants import NotificationPolicy, SendingLimits
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.hot_state import Take, Taken, TenantTakes
from tidings.kernel.limit_windows import FixedWindow
from tidings.kernel.local_hot_state.limits import PostgresLimits
from tidings.sandbox.faults import FaultSpec

_ONE_A_DAY = NotificationPolicy(limits=SendingLimits(per_day=1, per_channel_per_second={"email": 1}))


@asynccontextmanager
async def _refused(world: PipelineWorld, notification_id: str) -> AsyncIterator[None]:
    """Postgres refuses to have it leave the queue."""
    table = "notification.notifications"
    async with world.database.owner() as owner:
        check = f"CHECK (id <> '{notification_id}' OR status = 'queued')"
        await owner.execute(f"ALTER TABLE {table} ADD CONSTRAINT poison {check} NOT VALID")
    try:
        yield
    finally:
        async with world.database.owner() as owner:
            await owner.execute(f"ALTER TABLE {table} DROP CONSTRAINT poison")


async def test_a_row_that_cant_be_written_uses_up_nobodys_limits(world: PipelineWorld) -> None:
    """The batch is repeated in parts, and no part takes again from limits what it has taken."""
    async with world.sender() as bad, world.sender(_ONE_A_DAY) as good:
        poison, other, mine = await bad.send(), await bad.send(), await good.send()
        async with _refused(world, poison["id"]):
            # Five times it fails alone; then it would be given up, which Postgres refuses too.
            turn = asyncio.create_task(world.system.dispatch.job.drain())
            async with asyncio.timeout(30):
                while await good.status(mine["id"]) == "queued" or await bad.status(other["id"]) == "queued":
                    await asyncio.sleep(0.02)
            assert await good.status(mine["id"]) in {"dispatched", "delivered"}
        await turn
        await world.settle()
        assert await good.status(mine["id"]) == await bad.status(other["id"]) == "delivered"


async def test_a_part_is_sent_outside_the_slot_of_its_batch(world: PipelineWorld) -> None:
    """A vendor that hangs keeps no slot of the dispatcher, also where the batch had to be repeated in parts."""
    job = world.system.dispatch.job
    async with world.sender() as bad, world.sender() as good:
        poison, mine = await bad.send(), await good.send()
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="hang", count=1))
        async with _refused(world, poison["id"]):
            turn = asyncio.create_task(job.drain())
            async with asyncio.timeout(10):
                while await good.status(mine["id"]) == "queued" or job._pace.busy:
                    await asyncio.sleep(0.02)
            assert not turn.done()
            assert await good.status(mine["id"]) == "dispatched"
        for session in [*world.sandbox._smtp.sessions]:
            session.drop()
        await turn


async def test_what_cant_be_decrypted_fails_alone_and_the_batch_is_not_repeated(world: PipelineWorld) -> None:
    """Variables, an address, files: one each that nobody's key opens, and a file that is gone."""
    async with world.sender() as bad, world.sender() as good:
        files = [file_of(b"x")]
        variables, address = await bad.send(), await bad.send()
        manifest, gone = await bad.send(attachments=files), await bad.send(attachments=files)
        others = [await bad.send(attachments=files), await good.send(), await good.send(attachments=files)]
        async with world.unguarded("notification.notifications", "notification.recipient_addresses") as owner:
            for column, one in (("variables_ciphertext", variables), ("attachments_ciphertext", manifest)):
                await owner.execute(
                    f"UPDATE notification.notifications SET {column} = '\\x00' WHERE id = $1", one["id"]
                )
            await owner.execute(
                "UPDATE notification.recipient_addresses SET address_ciphertext = '\\x00' WHERE recipient_id = "
                "(SELECT recipient_id FROM notification.notifications WHERE id = $1)",
                address["id"],
            )
        for path in (world.folder / "blobs").rglob(f"*{gone['id']}*/**/*"):
            if path.is_file():
                path.unlink()
        failures = world.system.kernel.metrics.job_failures.labels("dispatch")
        before = failures._value.get()
        await world.settle()
        assert failures._value.get() == before
        senders = (bad, good, good)
        assert [await sender.status(one["id"]) for sender, one in zip(senders, others, strict=True)] == [
            "delivered"
        ] * 3
        states = [await bad.status(one["id"]) for one in (variables, address, manifest, gone)]
        assert not {"delivered", "queued"} & set(states), states
        for one, reason in ((variables, "variables_unreadable"), (manifest, "files_unreadable"), (gone, "files_unreadable")):  # fmt: skip
            assert reason in str(await bad.explain(one["id"]))


async def test_a_file_that_cant_be_read_just_now_delays_its_own_notification_alone(
    world: PipelineWorld,
) -> None:
    async with world.sender() as bad, world.sender() as good:
        waits, goes = await bad.send(attachments=[file_of(b"x")]), await good.send()
        (path,) = [p for p in (world.folder / "blobs").rglob(f"*{waits['id']}*/**/*") if p.is_file()]
        away = path.rename(path.with_suffix(".away"))
        path.symlink_to(path)  # Something is there, and can't be read.
        await world.settle()
        assert await good.status(goes["id"]) == "delivered"
        assert await bad.status(waits["id"]) == "dispatched"
        assert "files_away" in str(await bad.explain(waits["id"]))
        path.unlink()
        away.rename(path)
        await world.advance(seconds=11)
        assert await bad.status(waits["id"]) == "delivered"


async def test_a_busy_database_is_no_notifications_fault(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often: it is neither given up nor counted as failed."""
    take_of, left = PostgresLimits.take_of, iter(range(6))

    async def busy(self: PostgresLimits, wishes: Sequence[TenantTakes]) -> list[Taken]:
        if next(left, None) is not None:
            raise DatabaseBusyError("the database is busy; try again")
        return await take_of(self, wishes)

    monkeypatch.setattr(PostgresLimits, "take_of", busy)
    async with world.sender(_ONE_A_DAY) as sender:
        sent = await sender.send()
        await world.settle()
        assert await sender.status(sent["id"]) == "delivered"
    assert next(left, None) is None


async def test_a_locked_limit_refuses_its_own_tenant_alone(world: PipelineWorld) -> None:
    limits = PostgresLimits(world.db, world.clock)
    async with world.sender() as held, world.sender() as free:
        take = [Take(key="x", limit=FixedWindow(5, timedelta(days=1)))]
        wishes = [(sender.tenant_id, take) for sender in (held, free)]
        assert [taken.granted for taken in await limits.take_of(wishes)] == [True, True]
        async with world.db.tenant(held.tenant_id) as tx:
            await tx.connection.execute("SELECT 1 FROM kernel.hot_limits FOR UPDATE")
            refused, granted = await limits.take_of(wishes)
            (alone,) = await limits.take_of(wishes[:1])
        assert granted.granted
        assert refused == alone == Taken(granted=False, retry_at=world.clock.now() + timedelta(seconds=1))
        assert [taken.granted for taken in await limits.take_of(wishes)] == [True, True]


async def test_giving_up_what_is_gone_does_nothing(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await world.system.dispatch.job._dispatcher.give_up(
            [(sender.tenant_id, NOTIFICATION.new(world.clock.now()))]
        )
