"""A cache whose missing values are looked up in sets: what several callers miss at the same moment is one question.

With many tenants each asks seldom, and its values are missing more often than not. Those who come while a look-up is under way
form the next one; a single caller does not wait.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeAlias

from tidings.kernel.clock import Clock
from tidings.kernel.gather import Gatherer
from tidings.kernel.ttl_cache import Announcements, K, TtlCache, V

#: Callers whose questions are one look-up at most, and look-ups that run side by side.
_MOST_CALLERS: Final = 100
_AT_ONCE: Final = 2
_MOST_WAITING: Final = 20_000

#: Finds the value of every key that it is given.
LookUp: TypeAlias = Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]


class SetCache(TtlCache[K, V]):
    """A `TtlCache` that knows where its values come from."""

    def __init__(
        self,
        look_up: LookUp[K, V],
        *,
        clock: Clock,
        ttl: timedelta,
        size: int = 10_000,
        announced: Announcements | None = None,
    ) -> None:
        super().__init__(clock=clock, ttl=ttl, size=size, announced=announced)
        self._look_up = look_up
        #: The sets that are being looked up, without what was to be forgotten meanwhile: that is not kept.
        self._looking: list[set[K]] = []
        self._gatherer: Gatherer[None, Sequence[K], Mapping[K, V]] = Gatherer(
            self._look_up_all,
            most_at_once=_MOST_CALLERS,
            sets_at_once=_AT_ONCE,
            most_waiting=_MOST_WAITING,
            linger=0,
        )

    async def of(self, key: K) -> V:
        """The value that is kept, or what a look-up finds."""
        entry = self._fresh(key)
        return entry[1] if entry is not None else (await self._gatherer.do(None, (key,)))[key]

    async def of_all(self, keys: Iterable[K]) -> dict[K, V]:
        """The value of each; those that are missing are looked up together."""
        found: dict[K, V] = {}
        missing: list[K] = []
        for key in keys:
            entry = self._fresh(key)
            if entry is None:
                missing.append(key)
            else:
                found[key] = entry[1]
        return {**found, **await self._gatherer.do(None, missing)} if missing else found

    def forget(self, key: K) -> None:
        """Ask anew next time; a value that is being looked up now is not kept either."""
        super().forget(key)
        for some in self._looking:
            some.discard(key)

    def forget_where(self, wanted: Callable[[K], bool]) -> None:
        """The same for all keys that are wanted."""
        known = set(self._entries).union(*self._looking)
        for key in filter(wanted, known):
            self.forget(key)

    def clear(self) -> None:
        """Forget every key."""
        super().clear()
        for some in self._looking:
            some.clear()

    async def _look_up_all(
        self, _: None, asked: Sequence[Sequence[K]]
    ) -> Sequence[Mapping[K, V] | Exception]:
        found: dict[K, V] = {}
        missing: list[K] = []
        for key in dict.fromkeys(key for keys in asked for key in keys):
            # The set before may have brought it.
            entry = self._fresh(key)
            if entry is None:
                missing.append(key)
            else:
                found[key] = entry[1]
        if missing:
            found |= await self._looked_up(missing)
        return [{key: found[key] for key in keys} for keys in asked]

    async def _looked_up(self, missing: Sequence[K]) -> Mapping[K, V]:
        # The time counts from before the question: the answer can't be younger than that.
        asked_at, to_keep = self._clock.monotonic(), set(missing)
        self._looking.append(to_keep)
        try:
            found = await self._look_up(missing)
            for key in to_keep:
                self._keep(key, found[key], asked_at)
            return found
        finally:
            # By identity: another set may ask for the same.
            self._looking = [some for some in self._looking if some is not to_keep]
