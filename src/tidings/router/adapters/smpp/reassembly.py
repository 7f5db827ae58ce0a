"""Puts long messages of people together from the parts in which they come."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from tidings.router.adapters.smpp.text_encoding import PartHeader

#: Messages that wait for parts at once; beyond that the oldest is told as it is.
MOST_WAITING: Final = 1000
#: And bytes of their parts, each with something for what it came in.
MOST_BYTES: Final = 4 * 1024 * 1024
_FOR_EACH: Final = 500

_Kept = TypeVar("_Kept")


@dataclass(slots=True, kw_only=True)
class Assembly(Generic[_Kept]):
    """A message of which some parts are there."""

    key: tuple[str, str, int, int]
    total: int
    #: Of the first that came; all have the same.
    data_coding: int
    parts: dict[int, bytes] = field(default_factory=dict, repr=False)
    #: What the parts came with, so that they can be answered.
    kept: list[_Kept] = field(default_factory=list, repr=False)
    timer: asyncio.TimerHandle | None = None
    #: What it takes of the room for all.
    size: int = 0

    @property
    def complete(self) -> bool:
        """All are there."""
        return len(self.parts) == self.total

    @property
    def runs(self) -> list[bytes]:
        """The parts in order, joined where none is missing between them: a character may be cut in two."""
        found: list[bytes] = []
        before = -1
        for number in sorted(self.parts):
            if number == before + 1:
                found[-1] += self.parts[number]
            else:
                found.append(self.parts[number])
            before = number
        return found


class Assemblies(Generic[_Kept]):
    """All that wait."""

    def __init__(self, *, seconds: float, give_up: Callable[[Assembly[_Kept]], None]) -> None:
        """`give_up` gets those with parts that have not come after so many seconds."""
        self._seconds = seconds
        self._give_up = give_up
        self._waiting: OrderedDict[tuple[str, str, int, int], Assembly[_Kept]] = OrderedDict()
        #: Those that were told, with the parts that they had.
        self._told: OrderedDict[tuple[str, str, int, int], dict[int, bytes]] = OrderedDict()
        self._bytes = 0

    def knows(self, source: str, to: str, piece: PartHeader, content: bytes) -> bool:
        """Whether this part is of a message that was told, and comes once more."""
        told = self._told.get((source, to, piece.reference, piece.total), {})
        return told.get(piece.number) == content

    def remember(self, one: Assembly[_Kept]) -> None:
        """It is told; its parts may still come again for a while."""
        self._told[one.key] = one.parts
        self._told.move_to_end(one.key)
        asyncio.get_running_loop().call_later(self._seconds, self._forget, one)
        if len(self._told) > MOST_WAITING:
            self._told.popitem(last=False)

    def add(
        self, source: str, to: str, piece: PartHeader, *, content: bytes, data_coding: int, kept: _Kept
    ) -> Assembly[_Kept]:
        """One more part; the message it belongs to, which is taken out where it is complete now."""
        key = (source, to, piece.reference, piece.total)
        found = self._waiting.get(key)
        if found is None:
            found = self._waiting[key] = Assembly(key=key, total=piece.total, data_coding=data_coding)
            found.timer = asyncio.get_running_loop().call_later(self._seconds, self._ring, found)
            if len(self._waiting) > MOST_WAITING:
                self._ring(next(iter(self._waiting.values())))
        # A part that is told again is the same part.
        found.parts[piece.number] = content
        found.kept.append(kept)
        size = len(content) + _FOR_EACH
        found.size += size
        self._bytes += size
        if found.complete:
            self._take_out(found)
        while self._bytes > MOST_BYTES and self._waiting:
            self._ring(next(iter(self._waiting.values())))
        return found

    def take_all(self) -> list[Assembly[_Kept]]:
        """Those that wait, which then wait no longer."""
        found = list(self._waiting.values())
        for one in found:
            self._take_out(one)
        return found

    def _ring(self, one: Assembly[_Kept]) -> None:
        if self._waiting.get(one.key) is one:
            self._take_out(one)
            self._give_up(one)

    def _forget(self, one: Assembly[_Kept]) -> None:
        if self._told.get(one.key) is one.parts:
            del self._told[one.key]

    def _take_out(self, one: Assembly[_Kept]) -> None:
        if self._waiting.pop(one.key, None) is not None:
            self._bytes -= one.size
        if one.timer is not None:
            one.timer.cancel()
