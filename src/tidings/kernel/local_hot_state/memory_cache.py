"""The cache of one process: bounded in bytes, the least used goes first."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import timedelta

from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId

#: What an entry costs beside its key and value.
_OVERHEAD = 200

_Key = tuple[TenantId | None, str]


class MemoryCache:
    """Remembers bytes for a while."""

    def __init__(self, clock: Clock, *, most_bytes: int) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: OrderedDict[_Key, tuple[float, bytes]] = OrderedDict()

    async def get(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, bytes]:
        """Those that are known."""
        now = self._clock.monotonic()
        found: dict[str, bytes] = {}
        for key in keys:
            entry = self._known.get((tenant_id, key))
            if entry is None:
                continue
            if now >= entry[0]:
                self._forget((tenant_id, key))
                continue
            self._known.move_to_end((tenant_id, key))
            found[key] = entry[1]
        return found

    async def set(self, tenant_id: TenantId | None, values: Mapping[str, bytes], ttl: timedelta) -> None:
        """Remember them for at most that long."""
        until = self._clock.monotonic() + ttl.total_seconds()
        for key, value in values.items():
            self._forget((tenant_id, key))
            self._known[(tenant_id, key)] = (until, value)
            self._bytes += _cost(key, value)
        while self._bytes > self._most_bytes:
            self._forget(next(iter(self._known)))

    async def delete(self, tenant_id: TenantId | None, keys: Iterable[str]) -> None:
        """Forget them."""
        for key in keys:
            self._forget((tenant_id, key))

    def sweep(self) -> int:
        """Forget what has run out; how many that were."""
        now = self._clock.monotonic()
        old = [key for key, (until, _) in self._known.items() if now >= until]
        for key in old:
            self._forget(key)
        return len(old)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()
        self._bytes = 0

    def _forget(self, key: _Key) -> None:
        entry = self._known.pop(key, None)
        if entry is not None:
            self._bytes -= _cost(key[1], entry[1])


def _cost(key: str, value: bytes) -> int:
    return len(key) + len(value) + _OVERHEAD
