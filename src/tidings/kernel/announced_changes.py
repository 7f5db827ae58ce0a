"""Cache invalidation by NOTIFY: a change of a row is announced to every process, which forgets what it knew of it.

Tables whose rows are cached have the trigger `kernel.announce_change`, which names the table and the row's tenant, or its id,
when the change commits. While announcements do not come through, `live` is false, and caches keep values for a second.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tidings.kernel.clock import Clock
from tidings.kernel.set_cache import LookUp, SetCache
from tidings.kernel.ttl_cache import K, TtlCache, V

if TYPE_CHECKING:  # Commands that only read have caches too, and no bus.
    from tidings.kernel.postgres_bus.wakeups import Wakeups

CHANGES_CHANNEL: Final = "tidings_changes"
#: Forgets what is known of the row with this key: its tenant, or its id. None: all of it.
Forget: TypeAlias = Callable[[str | None], None]


class AnnouncedChanges:
    """Tells caches what to forget; one for each process."""

    def __init__(self, wakeups: "Wakeups") -> None:
        self._wakeups = wakeups
        self._forget: dict[str, list[Forget]] = {}
        self._on_any: list[Forget] = []
        wakeups.hear(CHANGES_CHANNEL, self._heard)

    @property
    def live(self) -> bool:
        """Whether every change is announced to this process."""
        return self._wakeups.proved

    def on(self, table: str, forget: Forget) -> None:
        """Call it when a row of the table was changed, and with None when any may have been, or the row is the platform's."""
        self._forget.setdefault(table, []).append(forget)

    def on_any(self, heard: Forget) -> None:
        """Call it after a row of whatever table was changed, when it is forgotten."""
        self._on_any.append(heard)

    def _heard(self, payload: str | None) -> None:
        if payload is None:
            for some in self._forget.values():
                for forget in some:
                    forget(None)
            for heard in self._on_any:
                heard(None)
            return
        table, _, key = payload.partition(" ")
        for forget in self._forget.get(table, ()):
            forget(key or None)
        for heard in self._on_any:
            heard(key or None)


def announced_cache(
    changes: AnnouncedChanges | None,
    *tables: str,
    clock: Clock,
    ttl: timedelta,
    size: int = 10_000,
) -> TtlCache[Any, Any]:
    """A cache of rows of these tables, by their tenants or ids; without `changes` it goes by its time to live alone."""
    cache: TtlCache[Any, Any] = TtlCache(clock=clock, ttl=ttl, size=size, announced=changes)
    _forget_announced(cache, changes, *tables)
    return cache


def announced_sets(
    look_up: LookUp[K, V],
    changes: AnnouncedChanges | None,
    *tables: str,
    clock: Clock,
    ttl: timedelta,
) -> SetCache[K, V]:
    """The same as `announced_cache`, with values that are looked up in sets."""
    cache = SetCache(look_up, clock=clock, ttl=ttl, announced=changes)
    _forget_announced(cache, changes, *tables)
    return cache


def _forget_announced(cache: TtlCache[Any, Any], changes: AnnouncedChanges | None, *tables: str) -> None:
    def forget(key: str | None) -> None:
        if key is None:
            cache.clear()
        else:
            cache.forget(key)

    if changes is not None:
        for table in tables:
            changes.on(table, forget)
