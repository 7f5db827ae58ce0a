"""Group commit: what many callers want at the same moment is done as one set, and each gets its own answer.

While a set is being worked on, those who come wait and form the next one: a single caller does not wait; in a crowd, the sets
grow by themselves. An item that makes its set fail is found by halving, and fails alone. What may wait is bounded:
beyond that callers are told so at once, before memory grows.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Generic, TypeVar

from tidings.kernel.durable.halving import SetDone, halve
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.refusals import TooBusyError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
R = TypeVar("R")

#: Does one set; one result each, in the same order. An exception in a result is that caller's alone.
Work = Callable[[K, Sequence[T]], Awaitable[Sequence[R | Exception]]]


class _Lane(Generic[T, R]):
    __slots__ = ("company", "running", "waiting", "wanted")

    def __init__(self) -> None:
        self.waiting: deque[tuple[T, asyncio.Future[R]]] = deque()
        self.running = 0
        #: While the next set waits for company: for how many, and what is set when they are there.
        self.wanted = 0
        self.company: asyncio.Event | None = None

    async def gather(self, wanted: int, seconds: float) -> None:
        """Return when so many wait, or the time is over."""
        if self.company is not None:  # Another set of this lane waits for them.
            return await asyncio.sleep(seconds)
        self.wanted, self.company = wanted, asyncio.Event()
        loop = asyncio.get_running_loop()
        timer = loop.call_later(seconds, self.company.set)
        try:
            await self.company.wait()
        finally:
            timer.cancel()
            self.company = None


@dataclass(slots=True, eq=False, repr=False)
class Gatherer(Generic[K, T, R]):
    """Gathers by key, such as a tenant; sets of different keys don't wait for each other.

    `linger`: seconds that the next set waits at most, after one that had company, for as many to come together again; a
    single caller does not wait.
    """

    work: Work[K, T, R]
    _: KW_ONLY
    most_at_once: int = 200
    sets_at_once: int = 1
    most_waiting: int = 2000
    linger: float = 0.004
    _lanes: dict[K, _Lane[T, R]] = field(default_factory=dict, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    #: How many wait or are being worked on.
    inside: int = field(default=0, init=False)

    def works_on(self, key: K) -> bool:
        """Whether items of this key wait or are being worked on."""
        return key in self._lanes

    async def do(self, key: K, item: T) -> R:
        """The answer to `item`; a `TooBusyError` where too many wait already."""
        if self.inside >= self.most_waiting:
            raise TooBusyError
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane()
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        lane.waiting.append((item, answer))
        self.inside += 1
        if lane.company is not None and len(lane.waiting) >= lane.wanted:
            lane.company.set()
        if lane.running < self.sets_at_once:
            lane.running += 1
            task = asyncio.create_task(self._run(key, lane))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        # A caller who hangs up does not undo what is being done: only the answer is dropped.
        return await asyncio.shield(answer)

    async def close(self) -> None:
        """Cut off what is under way although its callers are gone; call it when nothing more comes."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A task that was cancelled before it began has told nobody.
        for lane in self._lanes.values():
            while lane.waiting:
                _fail(lane.waiting.popleft()[1], asyncio.CancelledError())
        self._lanes.clear()
        self.inside = 0

    async def _run(self, key: K, lane: _Lane[T, R]) -> None:
        try:
            # A caller that arrives in the same turn of the loop joins the set.
            await asyncio.sleep(0)
            while lane.waiting:
                taken = [lane.waiting.popleft() for _ in range(min(len(lane.waiting), self.most_at_once))]
                try:
                    await self._answer(key, taken)
                finally:
                    self.inside -= len(taken)
                if len(taken) > 1 and len(lane.waiting) < len(taken):
                    await lane.gather(len(taken), self.linger)
        except BaseException as error:
            if lane.running == 1:
                # No other set of this lane is under way that would take them on.
                self.inside -= len(lane.waiting)
                while lane.waiting:
                    _fail(lane.waiting.popleft()[1], error)
            raise
        finally:
            lane.running -= 1
            if not lane.running and not lane.waiting:
                self._lanes.pop(key, None)

    async def _answer(self, key: K, taken: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        async def work(some: Sequence[tuple[T, asyncio.Future[R]]]) -> Sequence[R | Exception]:
            return await self.work(key, [item for item, _ in some])

        try:
            async for part in halve(taken, work):
                results = part.result if isinstance(part, SetDone) else [part.error] * len(part.items)
                for (_, answer), result in zip(part.items, results, strict=True):
                    if isinstance(result, Exception):
                        _fail(answer, result)
                    elif not answer.done():
                        answer.set_result(result)
        except BaseException as error:  # the callers that wait have to hear of it, whatever it was
            for _, answer in taken:
                _fail(answer, error)
            raise


def _fail(answer: "asyncio.Future[R]", error: BaseException) -> None:
    if answer.done():
        return
    stopping = isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit)
    answer.set_exception(DatabaseUnavailableError("the process is stopping") if stopping else error)
    # A caller who has gone does not look at it, and that is no event for the logs.
    answer.exception()
