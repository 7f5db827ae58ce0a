"""Starts the embedded Postgres again when it ends by itself.

A server that is killed, that runs out of memory or whose disk is full takes all connections with it. The
rest of Tidings waits that out; the supervisor brings the server back, on the same port, for as long as it takes.
"""

import asyncio
import contextlib
import math
import os
import time
from collections.abc import Iterator

from tidings.kernel.durable.job_watch import turn_is_over
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.logs import get_logger
from tidings.operations.embedded.server import EmbeddedPostgres

#: Seconds after which a server counts as running well, and its next end as a new misfortune.
_RUNS_WELL = 60.0
#: Seconds between two looks, where the kernel can't tell us of a child's end, and until it is ready.
_LOOK = 0.5
_LOOK_READY = 0.02

_log = get_logger("postgres")


class PostgresSupervisor:
    """A job, run by the process that has started the server and in the same thread."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres
        self._backoff = Backoff(first=0.1, longest=5.0)

    async def run(self, stop: asyncio.Event) -> None:
        """Watch until told to stop; from then on it may end."""
        while True:
            up_since = time.monotonic()
            await self._ended(stop)
            if stop.is_set():
                return
            if time.monotonic() - up_since > _RUNS_WELL:
                self._backoff.after_success()
            pause = self._backoff.after_failure()
            _log.error("postgres_ended", exit_code=self._postgres.exit_code, retry_seconds=pause)
            if await wait_for_stop(stop, pause):
                return
            await self._start_again(stop)

    async def _start_again(self, stop: asyncio.Event) -> None:
        started_at = time.monotonic()
        try:
            self._postgres.start_again()
        except OSError as error:
            _log.error("postgres_not_started", reason=error.strerror)
            return
        while self._postgres.exit_code is None:
            if self._postgres.is_ready:
                seconds = round(time.monotonic() - started_at, 3)
                _log.warning("postgres_started_again", pid=self._postgres.pid, took_seconds=seconds)
                return
            if await wait_for_stop(stop, _LOOK_READY):
                return
        _log.error("postgres_not_started", reason=self._postgres.last_words())

    async def _ended(self, stop: asyncio.Event) -> None:
        """Wait until the server has ended, or for `stop`."""
        while self._postgres.exit_code is None and not stop.is_set():
            with _watched(self._postgres.pid) as ended:
                if ended is None:
                    await wait_for_stop(stop, _LOOK)
                else:
                    turn_is_over(next_in=math.inf)
                    await _first(stop, ended)


@contextlib.contextmanager
def _watched(pid: int | None) -> Iterator[asyncio.Event | None]:
    """Set at the end of that process; None where the kernel does not tell, and one has to look."""
    try:
        descriptor = os.pidfd_open(pid or 0)
    except (OSError, AttributeError):
        yield None
        return
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(descriptor, ended.set)
    try:
        yield ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _first(*events: asyncio.Event) -> None:
    waiters = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in waiters:
            waiter.cancel()
