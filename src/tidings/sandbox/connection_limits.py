"""Ends connections to the sandbox that say nothing for a while, and lets only so many in at once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

#: Connections to one of its ports.
MOST: Final = 500
#: Seconds without a word.
SILENCE: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How many may come, and how long they may say nothing."""

    most: int = MOST
    silence: float = SILENCE

    def has_room(self, there: int) -> bool:
        """Whether one more may come to those who are there."""
        return there < self.most


class IdleTimer:
    """Counts how long one connection has said nothing."""

    def __init__(self, seconds: float, end: Callable[[], None], *, busy: Callable[[], bool]) -> None:
        """`end` is called when it was silent for too long, unless it is waiting for an answer of ours: `busy`."""
        self._seconds = seconds
        self._end = end
        self._busy = busy
        self._loop = asyncio.get_running_loop()
        self._heard_at = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._look)

    def heard(self) -> None:
        """It said something, or was answered."""
        self._heard_at = self._loop.time()

    def over(self) -> None:
        """It is gone."""
        self._timer.cancel()

    def _look(self) -> None:
        if self._busy():
            self.heard()
        left = self._heard_at + self._seconds - self._loop.time()
        if left <= 0:
            self._end()
        else:
            self._timer = self._loop.call_later(left, self._look)
