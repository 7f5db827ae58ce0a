"""A job that takes turns when its bell rings, and waits when there is nothing, or nobody who could answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from tidings.kernel.errors import TidingsError
from tidings.kernel.jobs import Pauses
from tidings.kernel.postgres_bus.wakeups import Wake


class AttendedBell(Protocol):
    """What a bell is to whoever attends to it."""

    wake: Wake
    #: A job of this process hears it; otherwise others have to be notified.
    attended: bool


async def attend(
    bell: AttendedBell,
    stop: asyncio.Event,
    *,
    turn: Callable[[], Awaitable[float]],
    failed: Callable[[TidingsError, float], None],
    pauses: Pauses,
) -> None:
    """Take turns until `stop`. `turn` says how many seconds may be slept, `failed` hears what went wrong and when it is
    tried again."""
    bell.attended = True
    try:
        while not stop.is_set():
            bell.wake.clear()
            try:
                seconds = await turn()
                pauses.after_success()
            except TidingsError as error:
                seconds = pauses.after_failure()
                failed(error, seconds)
            if seconds > 0:
                await bell.wake.wait(stop, seconds)
    finally:
        bell.attended = False
