"""A pool of child processes with fair turns: tenants one after the other, however much each has waiting."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tidings.notify.render.errors import RenderInterruptedError
from tidings.notify.render.model import RenderLimits
from tidings.notify.render.process import Child

#: Seconds after which an idle child ends. It has 90 MB, and starting another takes a third of a second.
_IDLE: Final = 3.0


class RenderLane:
    """Belongs to one event loop; starts its children when they are first needed."""

    def __init__(
        self,
        program: str,
        limits: RenderLimits,
        *,
        children: int = 1,
        of_a_tenant: int | None = None,
        ends_idle: bool = False,
    ) -> None:
        """`of_a_tenant`: how many children one tenant may have at once; `ends_idle`: give their memory back."""
        self._program = program
        self._limits = limits
        self._most = children
        self._of_a_tenant = of_a_tenant or children
        self._ends_idle = ends_idle
        self._free: list[Child] = []
        self._busy: set[Child] = set()
        self._out = 0
        self._with: Counter[str] = Counter()
        #: Those who wait, by tenant; the tenant that is next stands first.
        self._ring: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._closed = False
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return [child.pid for child in (*self._free, *self._busy)]

    @property
    def at_work(self) -> int:
        """How many of its children are in use."""
        return len(self._busy)

    def waiting(self, tenant: str) -> int:
        """How many calls of a tenant wait or are at work."""
        return len(self._ring.get(tenant, ())) + self._with[tenant]

    @asynccontextmanager
    async def child(self, tenant: str) -> AsyncIterator[Child]:
        """A child for one call, when it is the tenant's turn."""
        await self._turn(tenant)
        child: Child | None = None
        try:
            child = self._found() or await Child.start(self._program, self._limits)
            self._busy.add(child)
            yield child
        finally:
            if child is not None:
                self._busy.discard(child)
                if child.alive and not self._closed:
                    self._free.append(child)
                else:
                    self._end_soon(child)
            self._give_back(tenant)

    def _found(self) -> Child | None:
        while self._free:
            child = self._free.pop()
            if child.alive:
                return child
            self._end_soon(child)
        return None

    async def open(self) -> None:
        """Start a child now, so that the first call does not wait for it."""
        async with self.child(""):
            pass

    async def close(self) -> None:
        """End the children, also those at work: no template is at fault, and what they had can be rendered again."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        for waiting in self._ring.values():
            for one in waiting:
                if not one.done():
                    one.set_exception(RenderInterruptedError("rendering is closing"))
        self._ring.clear()
        for child in self._busy:
            child.kill()
        for child in self._free:
            self._end_soon(child)
        self._free.clear()
        while self._ending:
            await asyncio.wait(set(self._ending))
        # Who uses it again, as a test does, starts anew.
        self._closed = False

    async def _turn(self, tenant: str) -> None:
        if self._out < self._most and self._with[tenant] < self._of_a_tenant and tenant not in self._ring:
            self._take(tenant)
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ring.setdefault(tenant, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._withdraw(tenant, place)
            elif place.exception() is None:
                # It was our turn just now: the next one's.
                self._give_back(tenant)
            raise

    def _withdraw(self, tenant: str, place: asyncio.Future[None]) -> None:
        waiting = self._ring.get(tenant)
        if waiting is not None and place in waiting:
            waiting.remove(place)
            if not waiting:
                del self._ring[tenant]

    def _give_back(self, tenant: str) -> None:
        self._out -= 1
        self._with[tenant] -= 1
        if not self._with[tenant]:
            del self._with[tenant]
        self._next()

    def _take(self, tenant: str) -> None:
        self._out += 1
        self._with[tenant] += 1
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _next(self) -> None:
        for tenant in list(self._ring):
            if self._out >= self._most:
                return
            if self._with[tenant] >= self._of_a_tenant:
                continue
            waiting = self._ring.pop(tenant)
            # Who was cancelled just now has not heard of it yet, and takes no turn.
            while waiting and waiting[0].done():
                waiting.popleft()
            if not waiting:
                continue
            place = waiting.popleft()
            if waiting:
                # To the end of the ring.
                self._ring[tenant] = waiting
            self._take(tenant)
            place.set_result(None)
        if not self._out and self._ends_idle and not self._closed and self._idle is None:
            self._idle = asyncio.get_running_loop().call_later(_IDLE, self._end_idle)

    def _end_idle(self) -> None:
        self._idle = None
        for child in self._free:
            self._end_soon(child)
        self._free.clear()

    def _end_soon(self, child: Child) -> None:
        child.kill()
        task = asyncio.get_running_loop().create_task(child.end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
