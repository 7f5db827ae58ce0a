"""Wake-ups of a job inside one process, the timer of what is due next, and the loop that sleeps on them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from tidings.kernel.durable.job_watch import turn_is_over
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.errors import TidingsError

_NEVER = datetime.max.replace(tzinfo=UTC)


class Wakeup:
    """Wakes the job that waits for it; set more than once, it wakes once."""

    def __init__(self) -> None:
        self._set = asyncio.Event()
        #: A job of this process waits for it; otherwise other processes have to be notified.
        self.attended = False

    def set(self) -> None:
        """Wake the job, now or when it next waits."""
        self._set.set()

    def clear(self) -> None:
        """Forget earlier calls; done before looking, so that none that comes after the look is lost."""
        self._set.clear()

    @property
    def called(self) -> bool:
        """Whether there was a call since the last `clear`."""
        return self._set.is_set()

    async def wait(self, stop: asyncio.Event, seconds: float) -> None:
        """Until woken, until `stop`, or that long."""
        turn_is_over(next_in=seconds)
        waiters = [asyncio.ensure_future(self._set.wait()), asyncio.ensure_future(stop.wait())]
        try:
            await asyncio.wait(waiters, timeout=max(seconds, 0), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()


class DueTimer:
    """When a job has to look next, known without asking the database: the code that leaves work waiting says when."""

    def __init__(self, wakeup: Wakeup | None = None) -> None:
        """`wakeup` may be one that others can set too, over the database's notifications."""
        self.wakeup = wakeup or Wakeup()
        self._next = _NEVER

    def expect(self, at: datetime) -> None:
        """Something is due then."""
        if at < self._next:
            self._next = at
            self.wakeup.set()

    def look_now(self) -> None:
        """Something may be due that this process has not heard of."""
        self.wakeup.set()

    def begin_look(self) -> None:
        """From here on every `expect` counts, because the look may miss it."""
        self.wakeup.clear()
        self._next = _NEVER

    def seconds_left(self, next_due: datetime | None, *, now: datetime, longest: float) -> float:
        """How long the job may sleep after a look at the table that named `next_due`."""
        if next_due is not None and next_due < self._next:
            self._next = next_due
        if self._next is _NEVER:
            return longest
        return max(0.0, min((self._next - now).total_seconds(), longest))


async def run_on_wakeup(
    wakeup: Wakeup,
    stop: asyncio.Event,
    *,
    turn: Callable[[], Awaitable[float]],
    failed: Callable[[TidingsError, float], None],
    backoff: Backoff,
) -> None:
    """Take turns until `stop`: `turn` returns how many seconds the job may sleep unless it is woken.

    After a turn that failed the job backs off, and `failed` gets the error and the seconds until the next try.
    """
    wakeup.attended = True
    try:
        while not stop.is_set():
            wakeup.clear()
            try:
                seconds = await turn()
                backoff.after_success()
            except TidingsError as error:
                seconds = backoff.after_failure()
                failed(error, seconds)
            if seconds > 0:
                await wakeup.wait(stop, seconds)
    finally:
        wakeup.attended = False
