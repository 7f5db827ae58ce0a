"""How many connections are in use at once: as many as the server keeps us waiting for, and no more.

Each connection has one message in the air: handed to the server, and its answer not read yet. After a kill nobody knows what became of
those, and they are sent again. A server that answers within one turn of our own event loop is never waited for, and further
connections to it only have more in the air. So with every content the time until the answer is compared with the time
until the loop came round: where the server is as quick as the loop, half of the connections are left idle; where it
takes longer, twice as many are used, up to the account's limit.
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
#: With two, one is read while the other is written.
LEAST: Final = 2


class ConnectionWindow:
    """Counts how long answers took, in turns of the event loop."""

    __slots__ = ("_answers", "_loop", "_monotonic", "_most", "_on_more", "_took", "_turns", "size")

    def __init__(
        self,
        most: int,
        *,
        on_more: Callable[[], None] = lambda: None,
        # Not the loop's own clock, which stands still within a turn.
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_more` is called when more may be in use than before."""
        self._on_more = on_more
        self._monotonic = monotonic
        self._loop = asyncio.get_running_loop()
        self._most = most
        self._answers = 0
        self._took = 0.0
        self._turns = 0.0
        #: Connections that may be in use now.
        self.size = most

    def sent(self) -> Callable[[], None]:
        """A message was handed to the server; call what is returned when its answer is read."""
        began = self._monotonic()
        self._loop.call_soon(self._came_round, began)

        def answered() -> None:
            self._took += self._monotonic() - began
            self._answers += 1
            if self._answers >= PERIOD:
                self._decide()

        return answered

    def _came_round(self, began: float) -> None:
        self._turns += self._monotonic() - began

    def _decide(self) -> None:
        if self._took <= self._turns * _QUICK:
            self.size = max(min(LEAST, self._most), self.size // 2)
        more = self._took > self._turns * _SLOW and self.size < self._most
        if more:
            self.size = min(self._most, self.size * 2)
        self._answers, self._took, self._turns = 0, 0.0, 0.0
        if more:
            self._on_more()
