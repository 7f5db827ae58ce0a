"""How many messages of a process are in flight at once: handed to a server, and its answer not read yet.

After a kill nobody knows what became of those, and they are sent again. A server that answers within a millisecond needs few of them to be
kept busy, whatever the number of accounts and connections: a slot is given on as soon as the answer is read. So a process begins
with `LEAST` slots for all its accounts together. Where messages wait for a slot while servers keep us waiting, there are
twice as many, and again; where answers are quick, half of them go.

A message that has had its slot for `HOLD_SECONDS` gives it up, answered or not: who hangs holds up nobody else.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final

#: With two, one answer is on its way while the other is read.
LEAST: Final = 2
#: As good as no limit: connections are fewer.
MOST: Final = 1024
#: Seconds after which a slot is free again, though its message has no answer.
HOLD_SECONDS: Final = 0.02
#: An answer is there when our own loop has come round so often, or this many seconds later; otherwise it was waited for.
TURNS: Final = 3
QUICK_SECONDS: Final = 0.001
#: Answers that are looked at until it is decided anew; one in flight is looked at, not all.
PERIOD: Final = 16


class InFlightSlot:
    """One message's, from the moment it wants one."""

    __slots__ = ("_limit", "began", "round_at", "send", "turns")

    def __init__(self, limit: "InFlightLimit", send: Callable[[], bool]) -> None:
        self._limit = limit
        #: Hands the message over; None when it was, or when it is not wanted any more.
        self.send: Callable[[], bool] | None = send
        #: When it was handed over.
        self.began = 0.0
        #: How often the loop came round since then, and when it had done so often enough.
        self.turns = 0
        self.round_at: float | None = None

    def leave(self) -> None:
        """Its answer is read, or will not come, or it does not want to go any more; saying so twice is no harm."""
        self.send = None
        self._limit.left(self)


class InFlightLimit:
    """Slots for the messages of all accounts; what is urgent goes first."""

    __slots__ = (
        "_bell",
        "_held",
        "_hold_seconds",
        "_monotonic",
        "_probe",
        "_rest",
        "_seen",
        "_slow",
        "_urgent",
        "_waited",
        "size",
    )

    def __init__(
        self,
        *,
        # Not the loop's own clock, which stands still within a turn.
        monotonic: Callable[[], float] = time.monotonic,
        hold_seconds: float = HOLD_SECONDS,
    ) -> None:
        self._monotonic = monotonic
        self._hold_seconds = hold_seconds
        #: Those that count, the oldest first.
        self._held: dict[InFlightSlot, None] = {}
        self._urgent: deque[InFlightSlot] = deque()
        self._rest: deque[InFlightSlot] = deque()
        self._bell: asyncio.Handle | None = None
        #: The one that is looked at.
        self._probe: InFlightSlot | None = None
        self._seen = 0
        self._slow = 0
        #: Somebody had to wait for a slot since it was last decided.
        self._waited = False
        #: How many there are now.
        self.size = LEAST

    @property
    def in_flight(self) -> int:
        """How many messages have a slot."""
        return len(self._held)

    def enter(self, send: Callable[[], bool], *, urgent: bool = False) -> InFlightSlot:
        """Have `send` called when there is a slot, at once where one is free; it tells whether it has handed anything over."""
        slot = InFlightSlot(self, send)
        (self._urgent if urgent else self._rest).append(slot)
        self._admit()
        if slot.send is not None:
            self._waited = True
            if self._bell is None:
                self._set_bell()
        return slot

    def left(self, slot: InFlightSlot) -> None:
        """This one has no use for its slot any more."""
        if slot in self._held:
            del self._held[slot]
            if slot is self._probe:
                self._looked(slot)
            self._admit()

    def _admit(self) -> None:
        while len(self._held) < self.size and (self._urgent or self._rest):
            slot = (self._urgent or self._rest).popleft()
            send, slot.send = slot.send, None
            if send is None:
                continue
            # Before it is sent: what it calls may end here again.
            self._held[slot] = None
            slot.began = self._monotonic()
            if not send():
                self._held.pop(slot, None)
            elif self._probe is None:
                self._probe = slot
                asyncio.get_running_loop().call_soon(self._came_round, slot)

    def _came_round(self, slot: InFlightSlot) -> None:
        if slot is not self._probe:
            return
        slot.turns += 1
        if slot.turns < TURNS:
            asyncio.get_running_loop().call_soon(self._came_round, slot)
        else:
            slot.round_at = self._monotonic()

    def _looked(self, slot: InFlightSlot) -> None:
        self._probe = None
        self._seen += 1
        if slot.round_at is not None and self._monotonic() - slot.round_at > QUICK_SECONDS:
            self._slow += 1
        if self._seen < PERIOD:
            return
        if self._slow >= PERIOD // 2 and self._waited:
            self._grow()
        elif self._slow <= PERIOD // 4:
            self.size = max(LEAST, self.size // 2)
        self._seen, self._slow, self._waited = 0, 0, False

    def _grow(self) -> None:
        self.size = min(MOST, self.size * 2)

    def _set_bell(self) -> None:
        """Look after those that hang, as long as somebody waits for them."""
        oldest = next(iter(self._held), None)
        since = self._monotonic() if oldest is None else oldest.began
        seconds = max(0.0, since + self._hold_seconds - self._monotonic())
        loop = asyncio.get_running_loop()
        # Where it was our own loop that stood still, answers that are there are read first.
        self._bell = loop.call_later(seconds, loop.call_soon, loop.call_soon, self._ring)

    def _ring(self) -> None:
        self._bell = None
        now = self._monotonic()
        hanging = [slot for slot in self._held if now - slot.began >= self._hold_seconds]
        for slot in hanging:
            del self._held[slot]
            if slot is self._probe:
                self._looked(slot)
        if hanging:
            self._grow()
        self._admit()
        if self._urgent or self._rest:
            self._set_bell()
