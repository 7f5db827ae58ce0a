"""Which ids exist, so that a flood of made-up ones does not become a flood of questions to the database.

An id that was found once stays known: things that are called from outside by their id are never deleted, and the caller that
looks one up asks about its state anyway. Unknown ids are looked up together, one set at a time: each
gets its answer, a real one among them too, and a thousand of them in a second cost some dozens of statements.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.gather import Gatherer
from tidings.kernel.ttl_cache import TtlCache

#: Those of them that exist.
Find = Callable[[Sequence[str]], Awaitable[Collection[str]]]

_MOST_KNOWN = 50_000
_MOST_UNKNOWN = 10_000
#: Seconds for which an id that was not there is taken to be none.
_UNKNOWN_SECONDS = 1.0
_MOST_AT_ONCE = 500
_MOST_WAITING = 20_000
#: Seconds that a set waits for company while there is a crowd.
_LINGER = 0.02


class KnownIds:
    """Remembers ids that exist, and finds out about others in sets."""

    def __init__(self, find: Find, *, clock: Clock, most_known: int = _MOST_KNOWN) -> None:
        self._find = find
        self._known: TtlCache[str, bool] = TtlCache(clock=clock, ttl=timedelta.max, size=most_known)
        self._lately: TtlCache[str, bool] = TtlCache(
            clock=clock, ttl=timedelta(seconds=_UNKNOWN_SECONDS), size=_MOST_UNKNOWN
        )
        self._strangers: Gatherer[None, str, bool] = Gatherer(
            self._look, most_at_once=_MOST_AT_ONCE, most_waiting=_MOST_WAITING, linger=_LINGER
        )

    async def has(self, wanted: str) -> bool:
        """Whether there is such a one."""
        return self._known.get(wanted) or await self._lately.get_or_fetch(wanted, self._ask)

    async def _ask(self, wanted: str) -> bool:
        return await self._strangers.do(None, wanted)

    async def _look(self, _: None, wanted: Sequence[str]) -> Sequence[bool | Exception]:
        found = set(await self._find(wanted))
        for one in found:
            self._known.put(one, True)
        return [one in found for one in wanted]
