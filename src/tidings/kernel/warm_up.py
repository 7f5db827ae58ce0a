"""Warms the caches of a process: at its start for the tenants that were active lately, and for a tenant whose settings were changed.

Tenants with a trickle each would find them cold one by one. In sets they take some statements for a hundred tenants, beside all
other work; where that fails, the first use looks up what is missing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.logs import get_logger, why

#: Has a cache look up what it lacks of these tenants.
WarmUp: TypeAlias = Callable[[Sequence[TenantId]], Awaitable[None]]
#: So many tenants at most that were active lately, the latest first.
ActiveTenants: TypeAlias = Callable[[int], Awaitable[Sequence[TenantId]]]

#: Tenants that are warmed at the start, and that wait to be warmed at most.
_MOST: Final = 2_000
_AT_ONCE: Final = 100
#: Seconds between two sets: other work comes first, and changes that belong together come together.
_PAUSE: Final = 0.3
#: Seconds of the longest sleep.
_LONGEST: Final = 3600.0

_log = get_logger("warm_up")


class CacheWarmer:
    """A job of each process."""

    def __init__(
        self,
        changes: AnnouncedChanges,
        active: ActiveTenants,
        caches: Sequence[WarmUp],
        *,
        most: int = _MOST,
        pause: float = _PAUSE,
    ) -> None:
        self._changes = changes
        self._active = active
        self._caches = caches
        self._most = most
        self._pause = pause
        #: In the order of their coming; more than `most` are left to their first use.
        self._waiting: dict[TenantId, None] = {}
        #: All that was remembered is forgotten, or nothing was remembered yet.
        self._cold = True
        self._wakeup = Wakeup()
        changes.on_any(self._changed)

    async def run(self, stop: asyncio.Event) -> None:
        """Warm what is cold until `stop`."""
        while not await wait_for_stop(stop, self._pause):
            self._wakeup.clear()
            try:
                # Where changes are not announced, caches keep nothing for longer than a moment.
                while self._changes.live and await self.warm():
                    if await wait_for_stop(stop, self._pause):
                        return
            except TidingsError as error:
                # What is not warm is looked up at its first use.
                _log.warning("caches_not_warmed", **why(error))
            await self._wakeup.wait(stop, _LONGEST)

    async def warm(self) -> int:
        """Warm the next set of tenants; how many those were."""
        if self._cold:
            self._cold = False
            self._waiting = {**dict.fromkeys(await self._active(self._most)), **self._waiting}
        some = list(self._waiting)[:_AT_ONCE]
        for tenant_id in some:
            del self._waiting[tenant_id]
        for warm_up in self._caches if some else ():
            await warm_up(some)
        return len(some)

    def _changed(self, key: str | None) -> None:
        if key is None:
            self._cold = True
        elif len(self._waiting) < self._most:
            # Other rows have ids of their own; nobody is served by those alone.
            with suppress(BadValueError):
                self._waiting[TENANT.parse(key)] = None
        self._wakeup.set()
