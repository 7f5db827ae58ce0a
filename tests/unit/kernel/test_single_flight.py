"""Single flight: many callers, one run."""

import asyncio

from tidings.kernel.single_flight import SingleFlight


async def test_many_who_ask_at_once_share_one_flight() -> None:
    """It is made once, and again for the next who asks."""
    flight = SingleFlight()
    made = 0
    go = asyncio.Event()

    async def make() -> int:
        nonlocal made
        made += 1
        await go.wait()
        return made

    asked = [asyncio.create_task(flight.do("x", make)) for _ in range(5)]
    await asyncio.sleep(0)
    go.set()

    assert await asyncio.gather(*asked) == [1] * 5
    assert await flight.do("x", make) == 2


async def test_all_on_a_flight_share_its_error() -> None:
    """And the next one tries again."""

    flight = SingleFlight()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise LookupError("gone")

    async def succeed() -> int:
        return 1

    asked = [flight.do("x", fail) for _ in range(3)]
    results = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(result) for result in results] == [LookupError] * 3
    assert await flight.do("x", succeed) == 1


async def test_who_gives_up_does_not_take_it_from_the_others() -> None:
    """Only when the last one has gone is the work stopped."""
    flight = SingleFlight()
    go, begun, stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def make() -> int:
        begun.set()
        try:
            await go.wait()
        except asyncio.CancelledError:
            stopped.set()
            raise
        return 1

    first, second = (asyncio.create_task(flight.do("x", make)) for _ in range(2))
    await begun.wait()
    first.cancel()
    await asyncio.wait([first])
    assert not stopped.is_set()
    second.cancel()
    await asyncio.wait([second])

    await asyncio.wait_for(stopped.wait(), 5)
