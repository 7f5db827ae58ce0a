"""Moves one outbox's committed events to the stream, in order, as soon as they are there; the engine's mover does the moving."""

import asyncio
from dataclasses import dataclass, replace
from functools import cache
from typing import LiteralString

from tidings.kernel.bus import BusObserver, BusUnavailableError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.logs import get_logger, why
from tidings.kernel.postgres_bus.event_stream import Mover
from tidings.kernel.postgres_bus.mover import PostgresMover
from tidings.kernel.postgres_bus.settled import SettledMark
from tidings.kernel.postgres_bus.wakeups import OUTBOX_CHANNEL, Rest, Wakeups
from tidings.kernel.sql import Queries

_log = get_logger("bus.relay")


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelaySettings:
    """How a relay paces itself; all in seconds."""

    #: Events moved by one statement at most.
    batch: int = 2_000
    #: The pause after a set that was not full: long enough to gather one. No message waits for it: what follows from an
    #: outcome is done where it is recorded, and the events only tell of it. `prompt` is for services that run apart.
    gather: float = 0.2
    #: The shortest pause while a writer has inserted and not yet committed.
    brief: float = 0.002
    #: The pause after being woken from a rest, so that the work behind the events goes first on a small machine: a message
    #: that is alone is on its way by then, and all that it has to tell is moved together.
    courtesy: float = 0.05
    #: The longest pause while a writer has inserted and not yet committed.
    longest_watch: float = 0.05
    #: The pause while a reader outside waits; then there is no courtesy either. It doubles from move to move, up to the
    #: second one: under load a set is gathered all the same.
    awaited: float = 0.01
    awaited_under_load: float = 0.1
    #: The pause of a relay that finds another one at work.
    stand_by: float = 0.25
    #: How often to raise the floor below which nothing is looked for.
    survey_every: float = 1.0
    #: How often to look below the floor all the same. Nothing is ever there, unless the server was replaced by
    #: a replica that had not heard of the last numbers, or an operator gave the sequence a cache.
    look_down_every: float = 60.0
    #: The longest pause while the database does not answer.
    longest_outage_pause: float = 5.0

    def prompt(self) -> "RelaySettings":
        """The same, where messages wait for the events: a set is gathered while the one before is moved, and hardly longer."""
        return replace(self, gather=0.01, courtesy=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
    #: Another relay was at work; we did nothing.
    busy: bool
    count: int = 0
    full: bool = False
    #: A reader outside waits for what is moved.
    awaited: bool = False


class Relay:
    """The relay of one outbox."""

    def __init__(
        self,
        db: Database,
        schema: LiteralString,
        *,
        wakeups: Wakeups,
        clock: Clock,
        observer: BusObserver | None = None,
        settings: RelaySettings | None = None,
        mover: Mover | None = None,
    ) -> None:
        self._db = db
        self._mover = mover or PostgresMover(schema)
        self._schema = schema
        self._wakeups = wakeups
        self._clock = clock
        self._observer = observer or BusObserver()
        self._settings = settings or RelaySettings()
        self._queries = _queries(schema)
        self._wake = wakeups.on(OUTBOX_CHANNEL, schema)
        self._surveyed_at = float("-inf")
        self._looked_down_at = float("-inf")
        self._backoff = Backoff(longest=self._settings.longest_outage_pause)
        #: Below this number the outbox is certainly empty.
        self.settled = SettledMark()

    async def run(self, stop: asyncio.Event) -> None:
        """Move events until `stop`; an outage of the database is waited out."""
        while not stop.is_set():
            try:
                await self._turn(stop)
            except BusUnavailableError:
                # Events wait in the outbox. The engine tells of its outage itself, once, and wakes us when it is back.
                self._wake.clear()
                await self._wake.wait(stop, self._backoff.after_failure())
            except Exception as error:  # noqa: BLE001  # a relay that dies stops the whole installation
                pause = self._backoff.after_failure()
                self._observer.failed(f"relay_{self._schema}")
                _log.warning("relay_failed", outbox=self._schema, retry_seconds=pause, **why(error))
                # The server that answers next may be a replica that has not heard of our last numbers.
                self.settled = SettledMark()
                # The wake-up connection may be back before the pause is over.
                self._wake.clear()
                await self._wake.wait(stop, pause)

    async def drain(self) -> int:
        """Move all that is there now; how many events that were."""
        moved = 0
        while True:
            done = await self._move()
            moved += done.count
            if done.busy:
                await self._clock.sleep(self._settings.gather)
            elif not done.full:
                return moved

    async def _turn(self, stop: asyncio.Event) -> None:
        """Move until nothing is left, then rest until something comes."""
        settings = self._settings
        watch, moves = settings.brief, 0
        while not stop.is_set():
            self._wake.clear()
            done = await self._move()
            if done.full:
                continue
            if done.busy:
                await wait_for_stop(stop, settings.stand_by)
            elif done.count:
                watch = settings.brief
                moves += 1
                await wait_for_stop(stop, self.pause_after(moves, awaited=done.awaited))
            elif (rest := await self._wakeups.rest(self._schema)) is Rest.WRITERS_AT_WORK:
                # They saw us awake and won't call: look again, less and less often.
                await wait_for_stop(stop, watch)
                watch = min(watch * 2, settings.longest_watch)
            elif rest is Rest.RESTING:
                await self._rest(stop)
                watch, moves = settings.brief, 0
            else:
                await self._wake.wait(stop, self._wakeups.poll_seconds)

    def pause_after(self, moves: int, *, awaited: bool) -> float:
        """How long a set is gathered after so many that were moved without a rest; `awaited`: a reader outside waits."""
        settings = self._settings
        if not awaited:
            return settings.gather
        hurried = settings.awaited * (1 << min(moves - 1, 10))
        return min(settings.gather, settings.awaited_under_load, hurried)

    async def _rest(self, stop: asyncio.Event) -> None:
        try:
            while not (stop.is_set() or self._wake.called):
                # What was committed just before we rested has woken no relay.
                look = await self._move()
                if look.busy or look.count:
                    return
                await self._wake.wait(stop, self._wakeups.poll_seconds)
        finally:
            awaited = await self._wakeups.rise(self._schema)
        if not awaited:
            # Callers wait for what was written, and not for the events that tell of it.
            await wait_for_stop(stop, self._settings.courtesy)

    async def _move(self) -> _Pass:
        limit = self._settings.batch
        await self._mover.prepare()
        async with self._db.worker(pipelined=True) as tx:
            turn = await tx.fetch_one(self._queries.take_turn)
            if turn is None or not turn["turn"]:
                return _Pass(busy=True)
            confirming = None
            if self._clock.monotonic() - self._surveyed_at >= self._settings.survey_every:
                writers = await tx.fetch(self._queries.writers)
                confirming = self.settled.surveyed(frozenset(row["writer"] for row in writers))
                self._surveyed_at = self._clock.monotonic()
            floor = self.settled.floor
            if self._clock.monotonic() - self._looked_down_at >= self._settings.look_down_every:
                floor, self._looked_down_at = 0, self._clock.monotonic()
            moved = await self._mover.move(tx, settled=floor, limit=limit)
        self._backoff.after_success()
        self.settled.moved(moved.last_seq, full=moved.left_some, confirming=confirming)
        if moved.count:
            self._observer.relayed(self._schema, moved.count, moved.lag_seconds)
        return _Pass(busy=False, count=moved.count, full=moved.left_some, awaited=turn["awaited"])
