"""Who may write next: the window of each session, the SMSC's pace, and one line for all who wait.

What has begun goes before what is urgent, and that before the rest.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.smpp.reconnect import SmppLink
from tidings.router.adapters.smpp.session import SmppSession

BEGUN: Final = 0
URGENT: Final = 1
USUAL: Final = 2

#: Seconds for which an SMSC is left alone when it says for the first time that it is too much, and at most.
_FIRST_HOLD: Final = 0.25
_LONGEST_HOLD: Final = 8.0
#: Seconds by which one who is behind the pace may catch up.
_CATCH_UP: Final = 0.05


class TooLateError(Exception):
    """Its turn did not come in time."""


class SmscUnreachableError(Exception):
    """No SMSC could be reached in the time that it has."""


class ClosedError(Exception):
    """There are no more turns."""


class Pace:
    """How many a second, and rests when it was too much."""

    def __init__(self, per_second: float | None) -> None:
        self._between = 1 / per_second if per_second else 0.0
        self._next_at = 0.0
        self._hold = 0.0
        self._held_until = 0.0

    @property
    def ready_at(self) -> float:
        """Not before this moment of the loop's clock."""
        return max(self._next_at, self._held_until)

    def spend(self, now: float) -> None:
        """One goes out."""
        if self._between:
            self._next_at = max(self._next_at, now - _CATCH_UP) + self._between

    def too_much(self, now: float) -> None:
        """The SMSC wants less: leave it alone, for twice as long as the last time."""
        if now < self._held_until:
            # The answer to something that was under way already when it said so.
            return
        self._hold = min(max(2 * self._hold, _FIRST_HOLD), _LONGEST_HOLD)
        self._held_until = now + self._hold

    def taken(self) -> None:
        """The SMSC has taken one."""
        self._hold = self._hold / 2 if self._hold > _FIRST_HOLD else 0.0


class SendWindow:
    """Gives out places in the windows of all sessions."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._links: Sequence[SmppLink] = ()
        self._lines: tuple[deque[asyncio.Future[SmppSession]], ...] = (deque(), deque(), deque())
        self._bell: asyncio.TimerHandle | None = None
        self._closed = False

    def over(self, links: Sequence[SmppLink]) -> None:
        """The links that messages go over."""
        self._links = links

    async def take(self, rank: int, *, deadline: float, within: float | None) -> SmppSession:
        """A session with a place that is kept for the caller, who uses or releases it.

        `within`: the seconds after which one gives up while there is no session at all.
        """
        if self._closed and rank != BEGUN:
            raise ClosedError
        loop = asyncio.get_running_loop()
        for link in self._links:
            link.start()
        turn: asyncio.Future[SmppSession] = loop.create_future()
        self._lines[rank].append(turn)
        self.serve()
        timer: asyncio.TimerHandle | None = None
        if within is not None and not self._any_open():
            timer = loop.call_later(within, self._time_out, turn)
        last = loop.call_at(deadline, _fail, turn, TooLateError())
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().release()
                self.serve()
            raise
        finally:
            last.cancel()
            if timer is not None:
                timer.cancel()

    def serve(self) -> None:
        """Give out what there is; called whenever something has changed."""
        if not any(self._lines):
            return
        now = asyncio.get_running_loop().time()
        while (line := self._longest_waiting()) is not None:
            session = self._best()
            if session is None:
                if (failure := self._failure()) is not None:
                    self._fail_all(failure)
                return
            if now < self._pace.ready_at:
                self._ring_at(self._pace.ready_at)
                return
            self._pace.spend(now)
            session.reserve()
            line.popleft().set_result(session)

    def close(self) -> None:
        """Only what has begun gets a turn."""
        self._closed = True
        for line in self._lines[URGENT:]:
            _fail_line(line, ClosedError())

    def _longest_waiting(self) -> deque[asyncio.Future[SmppSession]] | None:
        for line in self._lines:
            while line and line[0].done():
                line.popleft()
            if line:
                return line
        return None

    def _best(self) -> SmppSession | None:
        sessions = [link.session for link in self._links if link.session is not None]
        best = max(sessions, key=lambda session: session.room, default=None)
        return best if best is not None and best.room > 0 else None

    def _any_open(self) -> bool:
        return any(link.session is not None for link in self._links)

    def _failure(self) -> ConnectError | None:
        """Why there is no session; None while one is open, or may be soon."""
        if self._any_open():
            return None
        failures = [link.failure for link in self._links]
        return failures[0] if failures and all(failure is not None for failure in failures) else None

    def _time_out(self, turn: asyncio.Future[SmppSession]) -> None:
        if not self._any_open():
            _fail(turn, SmscUnreachableError())

    def _fail_all(self, error: Exception) -> None:
        for line in self._lines:
            _fail_line(line, error)

    def _ring_at(self, moment: float) -> None:
        if self._bell is not None:
            self._bell.cancel()
        self._bell = asyncio.get_running_loop().call_at(moment, self.serve)


def _fail_line(line: deque[asyncio.Future[SmppSession]], error: Exception) -> None:
    while line:
        _fail(line.popleft(), error)


def _fail(turn: asyncio.Future[SmppSession], error: Exception) -> None:
    if not turn.done():
        turn.set_exception(error)
