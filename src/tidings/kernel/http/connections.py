"""How many connections are held at once, by the whole process and from one place.

Every connection takes a descriptor, and a process that has none left can't even read a file: so some are kept back. One
place gets a part of them only. A reverse proxy connects for all clients, and is counted as a whole process is.
"""

import ipaddress
import resource
from collections import Counter
from collections.abc import Sequence

from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.http.places import place
from tidings.kernel.logs import get_logger

#: Descriptors for everything else: the database, vendors, files, listeners.
HEADROOM = 500
_LEAST = 64
#: Seconds between two lines in the log.
_SAY_AGAIN = 60.0
_MORE = "raise TIDINGS_MAX_CONNECTIONS and the limit of descriptors (LimitNOFILE), or run more processes"
_MORE_FROM_ONE = (
    "where a reverse proxy connects for everybody, name it in TIDINGS_TRUSTED_PROXIES; "
    "else raise TIDINGS_MAX_CONNECTIONS_PER_ADDRESS"
)

_log = get_logger("http")


class Connections:
    """Counts those that are open."""

    def __init__(
        self,
        *,
        most: int,
        most_from_one: int,
        proxies: Sequence[str] = (),
        clock: Clock | None = None,
    ) -> None:
        """`proxies`: networks from which as many may come as the process holds."""
        self._most = most
        self._most_from_one = most_from_one
        self._proxies = [ipaddress.ip_network(one, strict=False) for one in proxies]
        self._clock = clock or SystemClock()
        self._by_place: Counter[str] = Counter()
        self._said_at: float | None = None
        #: How many are open.
        self.open = 0

    def join(self, address: str | None) -> bool:
        """One more; whether there is room for it."""
        where = place(address)
        if self.open >= self._most:
            self._say("process", self._most, _MORE)
            return False
        if self._by_place[where] >= self._most_from_one and not self._is_proxy(address):
            self._say("address", self._most_from_one, _MORE_FROM_ONE)
            return False
        self.open += 1
        self._by_place[where] += 1
        return True

    def leave(self, address: str | None) -> None:
        """One less of those that joined."""
        where = place(address)
        self.open -= 1
        self._by_place[where] -= 1
        if self._by_place[where] <= 0:
            del self._by_place[where]

    def _is_proxy(self, address: str | None) -> bool:
        try:
            found = ipaddress.ip_address(address or "")
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _say(self, limit: str, most: int, remedy: str) -> None:
        now = self._clock.monotonic()
        if self._said_at is None or now - self._said_at >= _SAY_AGAIN:
            self._said_at = now
            _log.warning("connections_refused", limit=limit, most=most, open=self.open, remedy=remedy)


def room_for(wanted: int) -> int:
    """How many connections this process can hold, `wanted` at most; asks the operating system for the descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + HEADROOM
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        except (OSError, ValueError):
            soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    room = max(_LEAST, soft - HEADROOM)
    _log.warning("few_descriptors", descriptors=soft, connections=room, wanted=wanted)
    return room
