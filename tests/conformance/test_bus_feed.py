"""What the feed of every bus promises to readers outside: all of a tenant's events, in order, none of another's."""

import asyncio

import pytest

from tests.conformance.test_bus import make, other_tenant, under_test
from tests.support.bus import DEADLINE, BusUnderTest, running
from tidings.kernel.bus import EVERYTHING, CursorError, FeedPage, SubjectFilter
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId

__all__ = ["make", "other_tenant", "under_test"]


async def _values(
    under: BusUnderTest,
    tenant_id: TenantId,
    after: str,
    *,
    limit: int = 7,
    wanted: SubjectFilter = EVERYTHING,
) -> tuple[list[int], str]:
    """All that is there behind the cursor, page by page, and the cursor behind it."""
    found: list[int] = []
    while True:
        page = await under.bus.feed.read(tenant_id, wanted, after=after, limit=limit)
        assert len(page.events) == len(page.cursors) <= limit
        found += [event.payload()["value"] for event in page.events]
        after = page.next_cursor
        if page.at_end:
            return found, after


async def test_a_reader_gets_all_of_its_tenants_events_in_order(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    start = await under_test.bus.feed.cursor("now")
    for value in range(0, 40, 2):
        await under_test.publish(tenant_id, [value, value + 1], key=f"k{value % 3}")
        await under_test.publish(other_tenant, [1000 + value])
        await under_test.publish(None, [2000 + value])
        await under_test.relay()

    mine, after = await _values(under_test, tenant_id, start)
    theirs, _ = await _values(under_test, other_tenant, start)
    again, _ = await _values(under_test, tenant_id, after)

    assert mine == list(range(40))
    assert theirs == [1000 + value for value in range(0, 40, 2)]
    assert again == []


async def test_the_beginning_is_the_oldest_event_that_is_kept(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    await under_test.publish(tenant_id, range(3))
    await under_test.relay()

    from_the_beginning, _ = await _values(
        under_test, tenant_id, await under_test.bus.feed.cursor("beginning")
    )
    from_now, after = await _values(under_test, tenant_id, await under_test.bus.feed.cursor("now"))
    await under_test.publish(tenant_id, [3])
    await under_test.relay()
    later, _ = await _values(under_test, tenant_id, after)

    assert (from_the_beginning, from_now, later) == ([0, 1, 2], [], [3])


async def test_the_cursor_behind_an_event_goes_on_with_the_next(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    start = await under_test.bus.feed.cursor("now")
    await under_test.publish(tenant_id, range(5))
    await under_test.relay()

    page = await under_test.bus.feed.read(tenant_id, EVERYTHING, after=start, limit=10)
    rests = [(await _values(under_test, tenant_id, cursor))[0] for cursor in page.cursors]

    assert rests == [[1, 2, 3, 4], [2, 3, 4], [3, 4], [4], []]


async def test_only_wanted_subjects_come(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    start = await under_test.bus.feed.cursor("now")
    for value, subject in enumerate(["a.b.v1", "a.c.v1", "b.b.v1", "a.b.c.v1"]):
        await under_test.publish(tenant_id, [value], subject=subject)
    await under_test.relay()

    found = {
        pattern: (await _values(under_test, tenant_id, start, wanted=SubjectFilter([pattern])))[0]
        for pattern in ("a.*.v1", "a.>", "*.b.v1", "b.b.v1", ">")
    }

    assert found == {
        "a.*.v1": [0, 1],
        "a.>": [0, 1, 3],
        "*.b.v1": [0, 2],
        "b.b.v1": [2],
        ">": [0, 1, 2, 3],
    }


async def test_nothing_is_left_out_while_writers_and_relays_work(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """Eight writers commit in any order; a reader that reads all the while sees each event once."""
    found: list[int] = []
    after = await under_test.bus.feed.cursor("now")

    async def write(first: int) -> None:
        for value in range(first, first + 25):
            await under_test.publish(tenant_id, [value], key=str(first))

    async with running(under_test.bus, under_test.bus.relay("notification")):
        writing = asyncio.gather(*(write(first * 25) for first in range(8)))
        async with asyncio.timeout(DEADLINE):
            while len(found) < 200:
                some, after = await _values(under_test, tenant_id, after, limit=9)
                found += some
                await asyncio.sleep(0.005)
        await writing

    assert sorted(found) == list(range(200))
    assert [value for value in found if value < 25] == list(range(25))


@pytest.mark.parametrize("cursor", ["", "x", "*", "AAAA", "cDEuMQ=="[:5], "é", "a" * 500])
async def test_a_cursor_that_is_none_is_refused(
    under_test: BusUnderTest, tenant_id: TenantId, cursor: str
) -> None:
    with pytest.raises(CursorError):
        await under_test.bus.feed.read(tenant_id, EVERYTHING, after=cursor, limit=1)


async def test_who_waits_is_woken_and_nobody_else(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Polls are so slow that only a wake-up can explain it."""
    feed = under_test.bus.feed

    async def next_page(tenant: TenantId, wanted: SubjectFilter, ready: asyncio.Event) -> FeedPage:
        after = await feed.cursor("now")
        with feed.listen(tenant, wanted) as called:
            while True:
                called.clear()
                page = await feed.read(tenant, wanted, after=after, limit=10)
                if page.events:
                    return page
                ready.set()
                await called.wait()

    async with running(under_test.bus, under_test.bus.relay("notification")), asyncio.timeout(DEADLINE):
        ready = [asyncio.Event() for _ in range(3)]
        mine = asyncio.create_task(next_page(tenant_id, EVERYTHING, ready[0]))
        other_subject = asyncio.create_task(next_page(tenant_id, SubjectFilter(["no.such.v1"]), ready[1]))
        others = asyncio.create_task(next_page(other_tenant, EVERYTHING, ready[2]))
        await asyncio.gather(*(one.wait() for one in ready))
        await under_test.publish(tenant_id, [7])
        page = await mine
        assert [event.payload()["value"] for event in page.events] == [7]
        assert not other_subject.done()
        assert not others.done()
        for task in (other_subject, others):
            task.cancel()
        await asyncio.gather(other_subject, others, return_exceptions=True)


def test_patterns_that_are_none_are_refused() -> None:
    for patterns in ([], ["a..b"], ["A.b"], [">.a"], ["a.>.b"], [""]):
        with pytest.raises(BadValueError):
            SubjectFilter(patterns)
