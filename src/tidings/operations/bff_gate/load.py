"""Sends requests at a rate, whether or not the ones before were answered: who waits in line is counted as waiting."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from tidings.operations.bff_gate.mix import CACHED, GateRequest, GateSeat, draw

if TYPE_CHECKING:
    import aiohttp

_PATIENCE: Final = 10.0
#: More are not sent while so many wait; the rate is missed then, and said so.
_MOST_WAITING: Final = 1_000


@dataclass(frozen=True, slots=True)
class GateSample:
    """One answer."""

    #: Seconds since the load began, when it was due.
    due: float
    #: From when it was due to its last byte.
    seconds: float
    #: How much later than due it was sent: the sender's own fault.
    late: float
    kind: str
    #: 0: there was no answer.
    status: int
    #: The number of the process that answered.
    process: int

    @property
    def is_of_cached_view(self) -> bool:
        """Whether it was a view out of the cache, or should have been."""
        return self.kind in CACHED


@dataclass(slots=True)
class GateLoad:
    """A load on one process, or on several in turn."""

    session: "aiohttp.ClientSession"
    seats: Sequence[GateSeat]
    rate: float
    #: Base addresses; one that is added gets its share from then on.
    processes: list[str]
    random: Random
    samples: list[GateSample] = field(default_factory=list)
    #: Requests that were not sent because too many waited.
    left_out: int = 0
    _began: float = 0.0
    _waiting: set["asyncio.Task[None]"] = field(default_factory=set)

    @property
    def now(self) -> float:
        """Seconds since it began."""
        return asyncio.get_running_loop().time() - self._began

    async def run(self, goes_on: Callable[[], bool]) -> None:
        """Send until told otherwise, then wait for the last answers."""
        loop = asyncio.get_running_loop()
        self._began = loop.time()
        sent = 0
        while goes_on():
            due = sent / self.rate
            wait = due - self.now
            if wait > 0:
                await asyncio.sleep(wait)
            sent += 1
            if len(self._waiting) >= _MOST_WAITING:
                self.left_out += 1
                continue
            process = sent % len(self.processes)
            task = asyncio.create_task(self._send(draw(self.random, self.seats), due, process))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)
        await asyncio.gather(*self._waiting, return_exceptions=True)

    async def _send(self, request: GateRequest, due: float, process: int) -> None:
        import aiohttp

        late = self.now - due
        status = 0
        headers = {"Cookie": request.seat.cookie}
        if request.method != "GET":
            headers |= {"X-CSRF-Token": request.seat.csrf_token, "Content-Type": "application/json"}
        try:
            async with self.session.request(
                request.method,
                self.processes[process] + request.path,
                data=request.body,
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=_PATIENCE),
            ) as answer:
                await answer.read()
                status = answer.status
        except (aiohttp.ClientError, TimeoutError):
            status = 0
        self.samples.append(GateSample(due, self.now - due, late, request.kind, status, process))
