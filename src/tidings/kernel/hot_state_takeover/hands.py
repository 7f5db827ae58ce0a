"""Agrees with all other processes on who counts, and changes it so that no two ever count at the same time.

The agreement is one row in Postgres: who counts, and a number. A process goes by a number only while its sign of life
with that number is in Postgres too. To change, somebody writes the other name and a new number. Everybody who sees it
stops, ends what is under way, brings what it has noted to Postgres, and signs the new number. Only when nobody alive
is left with an old one does anybody count again. A process that is silent is not waited for, and one that could not
renew its sign in time does not count before it has looked. So a change takes as long as the slowest living process
needs to look, and a dead one costs `silence` once.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from tidings.kernel.db import Database
from tidings.kernel.hot_state_takeover.hand import POSTGRES, Hand, redis_holder
from tidings.kernel.local_hot_state.single_flight import LocalSingleFlight
from tidings.kernel.logs import get_logger
from tidings.kernel.redis_hot_state.errors import RedisLostError
from tidings.kernel.redis_hot_state.server import ANOTHER_SERVER, RedisServer
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_log = get_logger("hot_state")


@dataclass(frozen=True, slots=True, kw_only=True)
class HandSettings:
    """How fast changes are noticed, and how patient we are with a Redis that comes back."""

    #: Seconds between two looks.
    beat: float = 0.5
    #: Seconds without a sign of life after which a process is not waited for.
    silence: float = 2.0
    #: Seconds that Redis has to answer without a fault before it counts again; doubled when it falls again soon.
    steady: float = 5.0
    #: Seconds of the longest such wait.
    longest_steady: float = 300.0
    #: Seconds after which a Redis that fell again has not fallen soon.
    holds_well: float = 600.0


class HandObserver(Protocol):
    """Who wants to know of changes."""

    def changed(self, hand: str, reason: str) -> None:
        """`redis` or `postgres` counts from now on."""
        ...


class Hands:
    """This process' part in the agreement."""

    def __init__(
        self,
        db: Database,
        server: RedisServer,
        *,
        bring_home: Callable[[], Awaitable[None]],
        forget: Callable[[], None],
        settings: HandSettings,
        observer: HandObserver | None,
    ) -> None:
        self._db = db
        self._server = server
        self._bring_home = bring_home
        self._forget = forget
        self._settings = settings
        self._observer = observer
        self._member = secrets.token_hex(8)
        self._silence = timedelta(seconds=settings.silence)
        self._flight = LocalSingleFlight()
        self._hand: Hand | None = None
        self._open = False
        self._valid_until = 0.0
        self._lost: Hand | None = None
        self._steady = settings.steady
        self._well_since: float | None = None
        self._said_unwell = False
        self._returned_at: float | None = None
        #: Why Postgres counts, in a word; None while Redis does.
        self.why_postgres: str | None = None

    @property
    def present(self) -> Hand | None:
        """The one that this process goes by, if it has looked."""
        return self._hand

    async def ready(self) -> Hand:
        """Who counts now; during a change, when it is done."""
        hand = self._hand
        if hand is not None and self._open and not hand.closed and time.monotonic() < self._valid_until:
            return hand
        return await self._flight.do("settle", self._settle)

    async def doubt(self, hand: Hand, error: RedisLostError) -> None:
        """Redis failed somebody. One that was only slow is asked once more; otherwise Postgres counts from now on."""
        if hand.closed:
            return
        if error.slow:
            try:
                run_id = await self._flight.do("proof", self._server.prove)
            except RedisLostError as again:
                error = again
            else:
                if run_id == hand.run_id:
                    return
                error = RedisLostError(ANOTHER_SERVER)
        if not hand.closed:
            hand.closed = True
            self._lost = hand
            self.why_postgres = error.reason
            self._server.give_up()

    async def renew(self) -> None:
        """Give a sign of life and look; to be done every `beat`."""
        await self._flight.do("settle", self._settle)

    async def prove_redis(self) -> None:
        """Ask Redis how it is: whoever counts there hears of its end, and whoever does not, of its return."""
        hand = await self.ready()
        try:
            run_id = await self._server.prove()
        except RedisLostError as error:
            await self._not_well(hand, error)
            return
        if hand.is_redis:
            if run_id != hand.run_id:
                await self.doubt(hand, RedisLostError(ANOTHER_SERVER))
            return
        await self._well(hand, run_id)

    async def filled(self, hand: Hand) -> None:
        """Tell everybody that Redis knows everything."""
        async with self._db.platform() as tx:
            await tx.execute(
                _QUERIES.filled, holder=redis_holder(hand.run_id, filling=False), fence=hand.fence
            )

    async def leave(self) -> None:
        """Go by nothing any more; what was noted is brought home first."""
        hand = self._hand
        if hand is None:
            return
        hand.closed = True
        try:
            await self._end(hand)
        finally:
            # Whoever asks once more begins anew.
            self._hand, self._open = None, False
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.leave_others, fence=0, member=self._member)
            await tx.execute(_QUERIES.say_well, member=self._member)

    async def _settle(self) -> Hand:
        while True:
            started = time.monotonic()
            if self._lost is not None:
                await self._propose(POSTGRES, self._lost.fence)
                self._lost = None
            hand = self._hand
            if hand is not None and not hand.closed:
                await self._take_part(hand)
            seen = await self._look()
            if seen is None:
                await self._begin()
            elif hand is None or seen["fence"] != hand.fence:
                await self._change_to(Hand(seen["holder"], seen["fence"]))
            elif self._open or not seen["awaited"]:
                self._open = True
                hand.filling = hand.filling and Hand(seen["holder"], seen["fence"]).filling
                self._valid_until = started + 0.75 * self._settings.silence
                if not hand.closed:
                    return hand
            else:
                await asyncio.sleep(0.02)

    async def _change_to(self, hand: Hand) -> None:
        before = self._hand
        if before is not None:
            before.closed = True
            if before.is_redis:
                self._server.give_up()
            await self._alive_while(before, self._end(before))
        if hand.is_redis:
            await self._server.expect(hand.run_id)
        self._open = False
        self._hand = hand
        await self._take_part(hand)
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.leave_others, fence=hand.fence, member=self._member)
        self._tell(before, hand)

    async def _end(self, hand: Hand) -> None:
        await hand.drained()
        await self._bring_home()
        # What this process remembers was right while this hand counted; others change it from now on.
        self._forget()

    async def _alive_while(self, hand: Hand, work: Awaitable[None]) -> None:
        # Those who have changed already must wait for us, however long it takes.
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=self._settings.beat))[0]:
                await self._take_part(hand)
        finally:
            if not task.done():
                task.cancel()
        await task

    def _tell(self, before: Hand | None, hand: Hand) -> None:
        now = time.monotonic()
        if hand.is_redis:
            self.why_postgres = None
            self._returned_at = now if before is not None else None
            reason = "answers" if before is not None else "start"
        else:
            self._well_since = None
            if before is not None and before.is_redis:
                soon = self._returned_at is not None and now - self._returned_at < self._settings.holds_well
                longest = self._settings.longest_steady
                self._steady = min(self._steady * 2, longest) if soon else self._settings.steady
            reason = self.why_postgres = self.why_postgres or "another process can't use Redis"
        log = _log.warning if not hand.is_redis else _log.info
        log("hot_state_changed_hands", hand=hand.name, number=hand.fence, reason=reason)
        if self._observer is not None:
            self._observer.changed(hand.name, reason)

    async def _well(self, hand: Hand, run_id: str) -> None:
        now = time.monotonic()
        if self._well_since is None:
            self._well_since = now
        if self._said_unwell:
            async with self._db.platform() as tx:
                await tx.execute(_QUERIES.say_well, member=self._member)
            self._said_unwell = False
        if now - self._well_since >= self._steady:
            await self._propose(redis_holder(run_id, filling=True), hand.fence)

    async def _not_well(self, hand: Hand, error: RedisLostError) -> None:
        self._well_since = None
        if hand.is_redis:
            await self.doubt(hand, error)
            return
        self.why_postgres = error.reason
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.say_unwell, member=self._member)
        self._said_unwell = True

    async def _begin(self) -> None:
        try:
            holder = redis_holder(await self._server.prove(), filling=True)
        except RedisLostError as error:
            holder, self.why_postgres = POSTGRES, error.reason
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.begin, holder=holder)

    # Signing and looking are transactions of their own, in this order: either we see the new number, or whoever wrote it
    # sees our sign.

    async def _take_part(self, hand: Hand) -> None:
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.take_part, fence=hand.fence, member=self._member)

    async def _look(self) -> Any:
        async with self._db.platform() as tx:
            return await tx.fetch_one(_QUERIES.look, silence=self._silence)

    async def _propose(self, holder: str, fence: int) -> None:
        async with self._db.platform() as tx:
            await tx.execute(_QUERIES.propose, holder=holder, fence=fence, silence=self._silence)
