"""Views by way of the cache: one who asks makes them, all others get the same.

In a process those who come while a view is made wait for it. Between processes a lease of five seconds (`sf:lock:{key}`) says
who makes it, where a shared cache can bring it to the others. A leader that fails gives the lease back, one that dies loses it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, Literal

from tidings.backoffice.metrics import BackofficeMetrics
from tidings.backoffice.view_cache.changes import UPSTREAM_CHANGES, UpstreamChange
from tidings.backoffice.view_cache.entry import CachedView
from tidings.backoffice.view_cache.keys import ViewKey
from tidings.backoffice.view_cache.memory import ViewMemory
from tidings.backoffice.view_cache.shared import SharedLook, SharedViews
from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.clock import Clock
from tidings.kernel.errors import TidingsError
from tidings.kernel.hot_state import Lease, Leases
from tidings.kernel.ids import IdKind
from tidings.kernel.logs import get_logger
from tidings.kernel.single_flight import SingleFlight

_log = get_logger("view_cache")
_LOCK: Final = timedelta(seconds=5)
#: Seconds between two looks of one who waits for another process: the first, and the longest.
_LOOK: Final = 0.02
_LONGEST_LOOK: Final = 0.15
_HOLDER: Final = IdKind("flight", str)

MakeView = Callable[[], Awaitable[CachedView]]
_How = Literal["hit", "stale", "joined", "shared", "made"]


class ViewCache:
    """The cache of this process, and the shared one where there is one."""

    def __init__(
        self,
        leases: Leases,
        clock: Clock,
        metrics: BackofficeMetrics,
        *,
        changes: AnnouncedChanges | None = None,
        shared: SharedViews | None = None,
        patience: timedelta = timedelta(seconds=2.5),
    ) -> None:
        """`patience`: how long another process may take to make a view; longer than upstream services are waited for."""
        self._memory = ViewMemory()
        self._leases = leases
        self._clock = clock
        self._metrics = metrics
        self._shared = shared
        self._patience = patience.total_seconds()
        self._flights = SingleFlight()
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        if changes is not None:
            changes.on(UPSTREAM_CHANGES, self._heard)

    async def get(self, key: ViewKey, make: MakeView) -> CachedView:
        """The view, never older than its time; `make` brings it, and is called as seldom as can be."""
        known = self._memory.get(key, self._clock.now())
        if known is not None:
            due = known.is_whole and known.is_due(self._clock.now(), key.ttl)
            self._count(key, "stale" if due else "hit")
            if due:
                self._refresh(key, make)
            return known
        how: _How = "joined"

        async def bring() -> CachedView:
            nonlocal how
            view, made = await self._bring(key, make, fresh=False)
            how = "made" if made else "shared"
            return view

        try:
            return await self._flights.do(self._flight(key), bring)
        finally:
            self._count(key, how)

    async def close(self) -> None:
        """Leave what is made beside requests."""
        tasks = list(self._refreshing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _heard(self, key: str | None) -> None:
        """A change was announced; None: any may have been."""
        change = None if key is None else UpstreamChange.read(key)
        if change is None:
            self._memory.clear()
        else:
            self._memory.forget(change)

    def _flight(self, key: ViewKey) -> str:
        """Who comes after a change does not wait for what was begun before it."""
        return f"{key.text}#{self._memory.generation}"

    def _count(self, key: ViewKey, how: _How) -> None:
        self._metrics.views.labels(key.view, how).inc()

    def _refresh(self, key: ViewKey, make: MakeView) -> None:
        if key.text in self._refreshing:
            return

        async def refresh() -> None:
            try:
                await self._flights.do(self._flight(key), bring)
            except TidingsError as error:
                # What is shown stays until its time is over; whoever comes then hears of it.
                _log.info("view_not_refreshed", view=key.view, code=error.code)

        async def bring() -> CachedView:
            view, _ = await self._bring(key, make, fresh=True)
            return view

        task = asyncio.create_task(refresh(), name="view")
        self._refreshing[key.text] = task
        task.add_done_callback(lambda _: self._refreshing.pop(key.text, None))

    async def _bring(self, key: ViewKey, make: MakeView, *, fresh: bool) -> tuple[CachedView, bool]:
        """The view, and whether it was made here; `fresh`: another than one that is due to be made anew."""
        generation = self._memory.generation
        look = await self._look(key, fresh=fresh)
        if look.view is not None:
            self._memory.put(key, look.view, generation=generation)
            return look.view, False
        if self._shared is None or look.marks is None:
            # Nobody could tell us what another process has made.
            return await self._make(key, make), True
        return await self._take_turns(key, make, self._shared, fresh=fresh)

    async def _take_turns(
        self, key: ViewKey, make: MakeView, shared: SharedViews, *, fresh: bool
    ) -> tuple[CachedView, bool]:
        """Make it where the lease is ours; otherwise look until another process has."""
        holder = _HOLDER.new(self._clock.now())
        loop = asyncio.get_running_loop()
        ends, pause = loop.time() + self._patience, _LOOK
        while True:
            lease, alone = await self._lead(key, holder)
            try:
                generation = self._memory.generation
                # Another process may have been ready just before the lease was ours.
                look = await self._look(key, fresh=fresh)
                if look.view is not None:
                    self._memory.put(key, look.view, generation=generation)
                    return look.view, False
                if lease is not None or alone or look.marks is None or loop.time() >= ends:
                    view = await self._make(key, make)
                    if look.marks is not None:
                        await shared.put(key, view, look.marks)
                    return view, True
            finally:
                if lease is not None:
                    await self._give_back(lease)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_LOOK)

    async def _lead(self, key: ViewKey, holder: str) -> tuple[Lease | None, bool]:
        """The lease, or whether there is nobody to ask for one."""
        try:
            return await self._leases.acquire(key.tenant_id, f"sf:lock:{key.text}", holder, _LOCK), False
        except TidingsError:
            return None, True

    async def _give_back(self, lease: Lease) -> None:
        try:
            await asyncio.shield(self._leases.release(lease))
        except TidingsError:
            # It runs out by itself.
            _log.info("view_lease_not_released")

    async def _look(self, key: ViewKey, *, fresh: bool) -> SharedLook:
        if self._shared is None:
            return SharedLook(None, None)
        look = await self._shared.look(key)
        if fresh and look.view is not None and look.view.is_due(self._clock.now(), key.ttl):
            return SharedLook(None, look.marks)
        return look

    async def _make(self, key: ViewKey, make: MakeView) -> CachedView:
        generation = self._memory.generation
        view = await make()
        self._memory.put(key, view, generation=generation)
        return view
