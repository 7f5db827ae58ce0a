"""How many connections are in use at once: as many as the server keeps us waiting for, and no more.

Each connection has one message under way. A server that answers within one turn of our own event loop is never waited for, and further
connections to it would only wait for the slots that all accounts share (`in_flight.py`). So with every wait, for the word on an envelope as for the one on its
content, the time until the answer is compared with the time until the loop came round: where the server is as quick as
the loop, half of the connections are left idle; where it takes longer, twice as many are used, up to the account's limit.
A wait that does not end opens all of them at once, and none is left idle while it lasts: who hangs holds up nobody else.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

#: Answers until it is decided anew.
PERIOD: Final = 32
#: An answer that took so many turns of the loop, or fewer, was there when the loop came round; the reader's own turn is among them.
_QUICK: Final = 3.0
#: One that took more was waited for.
_SLOW: Final = 8.0
#: Seconds after which an answer is late, however long the loop's turns are.
LATE_SECONDS: Final = 0.2
#: With two, one is read while the other is written.
LEAST: Final = 2


class ConnectionWindow:
    """Counts how long answers took, in turns of the event loop."""

    __slots__ = (
        "_answers",
        "_late",
        "_late_seconds",
        "_loop",
        "_monotonic",
        "_most",
        "_on_more",
        "_took",
        "_turns",
        "size",
    )

    def __init__(
        self,
        most: int,
        *,
        on_more: Callable[[], None] = lambda: None,
        # Not the loop's own clock, which stands still within a turn.
        monotonic: Callable[[], float] = time.monotonic,
        late_seconds: float = LATE_SECONDS,
    ) -> None:
        """`on_more` is called when more may be in use than before."""
        self._on_more = on_more
        self._monotonic = monotonic
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._late_seconds = late_seconds
        #: Waits that are late and not over.
        self._late = 0
        self._answers = 0
        self._took = 0.0
        self._turns = 0.0
        #: Connections that may be in use now.
        self.size = most

    def sent(self) -> Callable[[], None]:
        """Something was handed to the server; call what is returned once, when its answer is read or will not come."""
        wait = _Wait(self, self._loop, self._monotonic())
        wait.turn = self._loop.call_soon(wait.came_round)
        wait.bell = self._loop.call_later(self._late_seconds, wait.ring)
        return wait.over

    def came_round(self, began: float) -> None:
        """The loop has had a turn since then."""
        self._turns += self._monotonic() - began

    def answered(self, began: float) -> None:
        """What was handed over then was waited for, and no longer is."""
        self._took += self._monotonic() - began
        self._answers += 1
        if self._answers >= PERIOD:
            self._decide()

    def late(self, change: int) -> None:
        """So many waits more, or fewer, are late."""
        self._late += change
        if change > 0 and self.size < self._most:
            self.size = self._most
            self._on_more()

    def _decide(self) -> None:
        if self._took <= self._turns * _QUICK and not self._late:
            self.size = max(min(LEAST, self._most), self.size // 2)
        more = self._took > self._turns * _SLOW and self.size < self._most
        if more:
            self.size = min(self._most, self.size * 2)
        self._answers, self._took, self._turns = 0, 0.0, 0.0
        if more:
            self._on_more()


class _Wait:
    """From the moment that something was handed to the server until its answer."""

    __slots__ = ("_began", "_is_late", "_loop", "_window", "bell", "turn")

    def __init__(self, window: ConnectionWindow, loop: asyncio.AbstractEventLoop, began: float) -> None:
        self._window = window
        self._loop = loop
        self._began = began
        self._is_late = False
        #: Called in the loop's next turn; None when it was.
        self.turn: asyncio.Handle | None = None
        #: Called when the answer is late.
        self.bell: asyncio.Handle | None = None

    def came_round(self) -> None:
        self.turn = None
        self._window.came_round(self._began)

    def ring(self) -> None:
        # Where it was our own loop that stood still, an answer that is there is read first.
        self.bell = self._loop.call_soon(self._be_late)

    def _be_late(self) -> None:
        self._is_late = True
        self._window.late(1)

    def over(self) -> None:
        if self.bell is not None:
            self.bell.cancel()
        if self._is_late:
            self._window.late(-1)
        if self.turn is not None:
            # The answer was there before we asked for it.
            self.turn.cancel()
        else:
            self._window.answered(self._began)
