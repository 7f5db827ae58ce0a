"""One LISTEN connection per process, and the jobs that wait for its notifications.

Wake-ups save time and nothing else: every job also looks by itself every few seconds, so a
notification that never comes costs a delay. Where notifications don't come through at all (a pooler in
transaction mode), every job looks more often instead.
"""

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import asyncpg

from tidings.kernel.db import Database, translated
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import DatabaseBusyError, DatabaseError
from tidings.kernel.logs import get_logger, why
from tidings.kernel.sql import Queries

OUTBOX_CHANNEL = "tidings_outbox"
BUS_CHANNEL = "tidings_bus"
_CHECK_CHANNEL = "tidings_wakeups"

_QUERIES = Queries.beside(__file__)
_log = get_logger("bus.wakeups")


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeupSettings:
    """How often to look, and how to know that the connection is alive."""

    #: Seconds between two looks while notifications arrive: only a lost one waits that long.
    slow_poll: float = 5.0
    #: Seconds between two looks while they don't.
    fast_poll: float = 0.25
    #: Seconds between two proofs that a notification still comes through.
    check_every: float = 5.0
    #: Seconds that such a proof may take.
    check_timeout: float = 5.0
    #: Seconds of the longest pause between two tries to connect.
    longest_outage_pause: float = 5.0


class Rest(StrEnum):
    """What came of the wish to rest."""

    RESTING = "resting"
    ANOTHER_RESTS = "another rests"
    WRITERS_AT_WORK = "writers at work"
    UNKNOWN = "unknown"


class Wakeups:
    """Hears notifications and sets the wake-ups that were asked for."""

    def __init__(self, url: str, db: Database, settings: WakeupSettings | None = None) -> None:
        self._url = url
        self._db = db
        self._settings = settings or WakeupSettings()
        self._wakes: dict[tuple[str, str], list[Wakeup]] = {}
        self._readers: dict[str, list[tuple[re.Pattern[str], str, Wakeup]]] = {}
        self._hearers: dict[str, list[Callable[[str | None], None]]] = {}
        self._connection: asyncpg.Connection | None = None
        #: The outboxes and queues whose inserts notify us, as long as this connection lives.
        self._rested: set[str] = set()
        #: How many readers outside wait for events, and whether relays know that some do.
        self._awaiting = 0
        self._awaited = False
        self._busy = asyncio.Lock()
        self._asked = asyncio.Event()
        self._pinged = asyncio.Event()
        self._token = ""
        self._backoff = Backoff(longest=self._settings.longest_outage_pause)
        #: Set while notifications are known to come through.
        self.listening = asyncio.Event()
        self._proved_at = float("-inf")

    def on(self, channel: str, payload: str, wake: Wakeup | None = None) -> Wakeup:
        """What is set for that payload on that channel, and whenever something may have been missed; one may hear more."""
        wake = wake or Wakeup()
        self._wakes.setdefault((channel, payload), []).append(wake)
        self._asked.set()
        return wake

    def on_subjects(self, channel: str, expression: str, group: str) -> Wakeup:
        """What is set when one of the subjects named on that channel fits, or none is named; otherwise as `on`.

        A subject that is named as `subject!group` is one whose events that group has applied already.
        """
        wake = Wakeup()
        self._readers.setdefault(channel, []).append((re.compile(expression), group, wake))
        self._asked.set()
        return wake

    def hear(self, channel: str, heard: Callable[[str | None], None]) -> None:
        """Call it with every payload on that channel, and with None whenever some may have been missed."""
        self._hearers.setdefault(channel, []).append(heard)
        # Only when that channel is listened to as well is all of it heard.
        self.listening.clear()
        self._asked.set()

    @contextmanager
    def awaiting_events(self) -> Iterator[None]:
        """A reader outside waits: relays of all processes hear of it and hurry, until some seconds after the last one left."""
        self._awaiting += 1
        if not self._awaited:
            self._asked.set()
        try:
            yield
        finally:
            self._awaiting -= 1

    @property
    def proved(self) -> bool:
        """Whether a notification came through lately; false soon after the connection hangs without an error."""
        settings = self._settings
        lately = settings.check_every + settings.check_timeout
        return self.listening.is_set() and time.monotonic() - self._proved_at < lately

    @property
    def poll_seconds(self) -> float:
        """How long to sleep at most."""
        return self._settings.slow_poll if self.listening.is_set() else self._settings.fast_poll

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the connection until `stop`."""
        while not stop.is_set():
            try:
                await self._listen(stop)
            except Exception as error:  # noqa: BLE001  # without it every job waits for the next look
                pause = self._backoff.after_failure()
                _log.warning("wakeups_lost", retry_seconds=pause, **why(error))
                await wait_for_stop(stop, pause)

    async def rest(self, outbox: str) -> Rest:
        """Ask to be notified of inserts into that outbox; only while RESTING are notifications sure to come."""
        answer = await self._ask("rest", outbox)
        if answer == Rest.RESTING:
            self._rested.add(outbox)
        return Rest(answer) if answer is not None else Rest.UNKNOWN

    def rests(self, outbox: str) -> bool:
        """Whether inserts into it notify us; not any more when the connection that asked for it is gone."""
        return outbox in self._rested

    async def rise(self, outbox: str) -> bool:
        """Notifications are not needed for now. Whether a reader outside waits for events."""
        self._rested.discard(outbox)
        # A session's own lock does not keep it from getting another one.
        told = await self._ask("rise", outbox)
        return self._awaited or bool(told)

    async def _ask(self, question: str, outbox: str) -> Any:
        connection = self._connection
        if connection is None:
            return None
        try:
            async with self._busy:
                with translated():
                    return await connection.fetchval(getattr(_QUERIES, question).text, outbox, timeout=5)
        except DatabaseError:
            # It is gone, or hangs with an answer that we shall never know: end it, and its locks with it.
            self._rested.clear()
            connection.terminate()
            return None

    async def _listen(self, stop: asyncio.Event) -> None:
        lost = asyncio.Event()
        with translated():
            connection = await asyncpg.connect(
                self._url, timeout=10, server_settings={"application_name": "tidings wakeups"}
            )
        try:
            connection.add_termination_listener(lambda _: lost.set())
            heard: set[str] = set()
            while not (stop.is_set() or lost.is_set()):
                self._asked.clear()
                async with self._busy:
                    await self._add_channels(connection, heard)
                self._connection = connection
                await self._prove()
                async with self._busy:
                    await self._tell_relays(connection)
                await _first(stop, lost, self._asked, seconds=self._settings.check_every)
        finally:
            self.listening.clear()
            self._connection = None
            self._rested.clear()
            self._awaited = False
            self._wake_all()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(connection.close(), 1)
        if lost.is_set() and not stop.is_set():
            raise DatabaseError("the wake-up connection was closed")

    async def _add_channels(self, connection: asyncpg.Connection, heard: set[str]) -> None:
        wanted = {_CHECK_CHANNEL, *(channel for channel, _ in self._wakes), *self._readers, *self._hearers}
        for channel in wanted - heard:
            with translated():
                await connection.add_listener(channel, self._heard)
            heard.add(channel)

    async def _tell_relays(self, connection: asyncpg.Connection) -> None:
        """Whether readers of this process wait; looked at every few seconds, so that one who comes and goes costs nothing."""
        # Behind a pooler the lock would be left with a session that is nobody's; there nothing is heard either.
        if (wanted := self._awaiting > 0) is self._awaited or not self.listening.is_set():
            return
        question = _QUERIES.await_events if wanted else _QUERIES.leave_events
        with translated():
            await connection.fetchval(question.text, timeout=5)
        self._awaited = wanted

    async def _prove(self) -> None:
        """Send one through the pool and wait for it; a TimeoutError where it does not come."""
        self._token = secrets.token_hex(8)
        self._pinged.clear()
        try:
            async with self._db.worker() as tx:
                await tx.fetch_value(_QUERIES.ping, token=self._token)
        except DatabaseBusyError:
            if self.listening.is_set():
                return  # Nothing speaks against the connection; a busy pool needs no more lookers.
            raise
        asked_at = time.monotonic()
        await asyncio.wait_for(self._pinged.wait(), self._settings.check_timeout)
        self._proved_at = asked_at
        self._backoff.after_success()
        if not self.listening.is_set():
            self.listening.set()
            self._wake_all()  # Something may have happened before we listened.

    def _heard(self, _: Any, __: int, channel: str, payload: str) -> None:
        if channel == _CHECK_CHANNEL:
            if payload == self._token:
                self._pinged.set()
            return
        for wake in self._wakes.get((channel, payload), ()):
            wake.set()
        named = [name.partition("!") for name in payload.split()]
        for fits, group, wake in self._readers.get(channel, ()):
            if not named or any(by != group and fits.match(subject) for subject, _, by in named):
                wake.set()
        for hear in self._hearers.get(channel, ()):
            hear(payload)

    def _wake_all(self) -> None:
        for hearers in self._hearers.values():
            for hear in hearers:
                hear(None)
        for readers in self._readers.values():
            for _, _, wake in readers:
                wake.set()
        for wakes in self._wakes.values():
            for wake in wakes:
                wake.set()


async def _first(*events: asyncio.Event, seconds: float) -> None:
    waiters = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiters, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in waiters:
            waiter.cancel()
