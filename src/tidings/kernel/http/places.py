"""Where requests come from, and how much of what comes to nothing is let through from one place.

A place is a caller's address; of IPv6 its network of 64 bits, which one machine has to itself. Places are counted for a
minute, and only so many of them are remembered: a client with more addresses than that is counted anew, and no memory
grows. The limit is for each process.
"""

import ipaddress
from collections import OrderedDict

from tidings.kernel.clock import Clock
from tidings.kernel.http.asgi import SeenScope

_WINDOW = 60.0
_MOST_PLACES = 10_000
UNKNOWN = "unknown"


def place_of(scope: SeenScope) -> str:
    """Where a request comes from: the caller that a trusted proxy names, or the client that connected."""
    client = scope.get("client")
    return place(client[0] if client else None)


def place(address: str | None) -> str:
    """The place of an address."""
    if not address:
        return UNKNOWN
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


class PlaceLimit:
    """Counts by place."""

    def __init__(self, most: int, *, clock: Clock, most_places: int = _MOST_PLACES) -> None:
        """`most` from one place in a minute."""
        self._most = most
        self._clock = clock
        self._most_places = most_places
        #: When the minute of a place began, and how many came in it.
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def count(self, where: str) -> float | None:
        """Count one; the seconds until more are let through where it is one too many, or None."""
        now = self._clock.monotonic()
        began, so_far = self._seen.get(where, (now, 0))
        if now - began >= _WINDOW:
            began, so_far = now, 0
        self._seen[where] = (began, so_far + 1)
        self._seen.move_to_end(where)
        while len(self._seen) > self._most_places:
            self._seen.popitem(last=False)
        return began + _WINDOW - now if so_far >= self._most else None
