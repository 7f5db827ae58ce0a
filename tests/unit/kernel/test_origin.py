"""Which request this runs for."""

import asyncio

from tidings.kernel.origin import Origin, coming_from, current_origin


async def test_what_a_request_left_behind_is_no_longer_its_doing() -> None:
    """A connection that it opened goes on hearing things; those are not from the caller."""
    seen: list[Origin | None] = []
    answered = asyncio.Event()

    async def left_behind() -> None:
        seen.append(current_origin())
        await answered.wait()
        seen.append(current_origin())

    origin = Origin("203.0.113.7", "curl/8", "a" * 32)
    with coming_from(origin):
        task = asyncio.create_task(left_behind())
        await asyncio.sleep(0)
    answered.set()
    await task

    assert seen == [origin, None]
    assert current_origin() is None
