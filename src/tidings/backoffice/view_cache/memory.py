"""The cache of one process: bounded, and without what was announced as changed."""

from collections import OrderedDict
from datetime import datetime
from typing import Final

from tidings.backoffice.view_cache.changes import UpstreamChange
from tidings.backoffice.view_cache.entry import CachedView
from tidings.backoffice.view_cache.keys import ViewKey

_MOST_BYTES: Final = 64 * 1024 * 1024
_MOST_VIEWS: Final = 20_000


class ViewMemory:
    """The least recently used view makes room."""

    def __init__(self, *, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._views: OrderedDict[str, tuple[ViewKey, CachedView]] = OrderedDict()
        #: Counts what was announced: a view that was begun before is not kept after.
        self.generation = 0

    def get(self, key: ViewKey, now: datetime) -> CachedView | None:
        """The view, where it may still be shown."""
        known = self._views.get(key.text)
        if known is None:
            return None
        if not known[1].may_be_shown(now, key.ttl):
            self._drop(key.text)
            return None
        self._views.move_to_end(key.text)
        return known[1]

    def put(self, key: ViewKey, view: CachedView, *, generation: int) -> None:
        """Keep it; `generation`: as it was before the view was begun."""
        if generation != self.generation:
            return
        self._drop(key.text)
        self._views[key.text] = key, view
        self._bytes += len(view.body)
        while self._bytes > self._most_bytes or len(self._views) > _MOST_VIEWS:
            self._drop(next(iter(self._views)))

    def forget(self, change: UpstreamChange) -> None:
        """A service has told of a change: all views of the property that ask it go, and those of all properties."""
        self.generation += 1
        gone = [text for text, (key, _) in self._views.items() if change.concerns(key)]
        for text in gone:
            self._drop(text)

    def clear(self) -> None:
        """Forget all."""
        self.generation += 1
        self._views.clear()
        self._bytes = 0

    def _drop(self, text: str) -> None:
        known = self._views.pop(text, None)
        if known is not None:
            self._bytes -= len(known[1].body)
