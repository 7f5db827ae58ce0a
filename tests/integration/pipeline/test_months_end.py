"""A month ends under way: sets that lie in two months, and the first of a month whose tables are still empty."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld
from tests.support.statements import Asked, counting

pytestmark = pytest.mark.xdist_group("pipeline-months")


async def test_what_lies_in_two_months_is_one_set_and_the_new_month_costs_no_more(
    world: PipelineWorld,
) -> None:
    """As many statements as before; rows found by index alone, though the new month has no statistics."""
    people = [f"{unused()}@example.test" for _ in range(24)]
    before, after = _month_end(world.clock.now())
    async with world.sender() as sender:
        await world.until(before)
        old = [await sender.send(to) for to in people[:8]]
        with counting(world.db) as in_the_old:
            await world.settle()
        late = [await sender.send(to) for to in people[8:12]]
        await world.clock.advance(after - world.clock.now())
        early = [await sender.send(to) for to in people[12:16]]
        with counting(world.db) as over_both:
            await world.settle()
        scans = await _read_from_end_to_end(world)
        new = [await sender.send(to) for to in people[16:]]
        with counting(world.db) as in_the_new:
            await world.settle()
        told = [(await sender.explain(sent["id"]))["notification"] for sent in (*old, *late, *early, *new)]

    assert {one["status"] for one in told} == {"delivered"}
    assert {one["created_at"][:7] for one in told} == {f"{before:%Y-%m}", f"{after:%Y-%m}"}
    assert all(len(world.received(to)) == 1 for to in people)
    # What is remembered for a second is asked for anew when the clock jumps; the large tables are not.
    assert _on_notifications(in_the_new) == _on_notifications(in_the_old) > 0
    assert _on_notifications(over_both) == _on_notifications(in_the_old)
    assert await _read_from_end_to_end(world) == scans


def _on_notifications(asked: Asked) -> int:
    return sum("notification.notifications " in text for text in asked.texts)


def _month_end(now: datetime) -> tuple[datetime, datetime]:
    """Five seconds before the next month, and a second after it has begun."""
    begins = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    return begins - timedelta(seconds=5), begins + timedelta(seconds=1)


async def _read_from_end_to_end(world: PipelineWorld) -> int:
    """How often a month of the large tables was read from end to end."""
    async with world.db.worker() as tx:
        await tx.connection.execute("SELECT pg_stat_force_next_flush()")
        return int(
            await tx.connection.fetchval(
                "SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname LIKE 'notifications\\_%\\_y%'"
            )
        )
