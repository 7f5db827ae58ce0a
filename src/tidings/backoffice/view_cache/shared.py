"""The cache that processes share: views in Redis or Valkey, sealed, each with the marks of what it was made of.

A mark is a word that a change of a service at a property replaces. A view whose marks are not the newest is passed over: so what
was begun before a change can't be found after it, whoever writes last.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from tidings.backoffice.metrics import BackofficeMetrics
from tidings.backoffice.view_cache.changes import UpstreamChange
from tidings.backoffice.view_cache.entry import PARTIAL_TTL, CachedView
from tidings.backoffice.view_cache.keys import ViewKey
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import TidingsError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger

_log = get_logger("view_cache")
#: Longer than any view is kept.
_MARK_SECONDS: Final = 3600
#: After a failure the cache is left alone for so long: a dead one must not be waited for in each request.
_PAUSE_SECONDS: Final = 3.0
_PURPOSE: Final = "view_cache"


class CacheServer(Protocol):
    """A Redis or Valkey."""

    async def command(self, *words: str | int | bytes) -> Any:
        """What a command answers; a `TidingsError` where the server does not."""
        ...

    async def close(self) -> None:
        """Drop all connections."""
        ...


class _Stored(msgspec.Struct, array_like=True, frozen=True):
    """What stands in a sealed value."""

    made_at: float
    is_whole: bool
    marks: tuple[str, ...]
    body: bytes


class SharedLook(NamedTuple):
    """What the shared cache knows."""

    view: CachedView | None
    #: The newest marks; None where the cache is away.
    marks: tuple[str, ...] | None


class SharedViews:
    """Views that one process has made and all may show. Nothing here raises: a cache that is away knows nothing."""

    def __init__(
        self, server: CacheServer, db: Database, keyring: Keyring, clock: Clock, metrics: BackofficeMetrics
    ) -> None:
        self._server = server
        self._db = db
        self._keyring = keyring
        self._clock = clock
        self._metrics = metrics
        self._key: DataKey | None = None
        self._away_until = 0.0

    @property
    def is_away(self) -> bool:
        """Whether it failed a moment ago."""
        return self._clock.monotonic() < self._away_until

    async def look(self, key: ViewKey) -> SharedLook:
        """The view, where it may still be shown and nothing has changed since it was begun."""
        names = _mark_names(key)
        found = await self._ask("MGET", key.text, *names)
        if found is None:
            return SharedLook(None, None)
        marks = tuple((mark or b"").decode("ascii", "replace") for mark in found[1:])
        view = await self._open(key, found[0], marks) if found[0] is not None else None
        return SharedLook(view, marks)

    async def put(self, key: ViewKey, view: CachedView, marks: Sequence[str]) -> None:
        """Keep it for the rest of its time; `marks`: as they were before it was begun."""
        left = (key.ttl if view.is_whole else PARTIAL_TTL) - (self._clock.now() - view.made_at)
        if left <= timedelta(0):
            return
        stored = _Stored(view.made_at.timestamp(), view.is_whole, tuple(marks), view.body)
        try:
            sealed = (await self._sealing()).seal(msgspec.msgpack.encode(stored), key.text)
        except TidingsError as error:
            _log.warning("view_not_sealed", error=type(error).__name__)
            return
        await self._ask("SET", key.text, sealed, "PX", max(1, int(left.total_seconds() * 1000)))

    async def mark(self, changes: Sequence[UpstreamChange], mark: str) -> None:
        """These have changed: views that were begun before are not found any more."""
        for change in changes:
            name = _mark_name(change.tenant_id, change.subject, change.upstream)
            await self._ask("SET", name, mark, "EX", _MARK_SECONDS)

    async def close(self) -> None:
        """Drop all connections."""
        await self._server.close()

    async def _open(self, key: ViewKey, sealed: bytes, marks: tuple[str, ...]) -> CachedView | None:
        try:
            plain = (await self._sealing()).unseal(sealed, key.text)
            stored = msgspec.msgpack.decode(plain, type=_Stored)
        except (TidingsError, msgspec.DecodeError):
            # Another program's, or of a newer key.
            self._key = None
            return None
        view = CachedView(
            made_at=datetime.fromtimestamp(stored.made_at, UTC), is_whole=stored.is_whole, body=stored.body
        )
        fits = stored.marks == marks and view.may_be_shown(self._clock.now(), key.ttl)
        return view if fits else None

    async def _sealing(self) -> DataKey:
        if self._key is None:
            async with self._db.platform() as tx:
                key = await self._keyring.platform_key(tx, _PURPOSE)
            self._key = key
        return self._key

    async def _ask(self, *words: str | int | bytes) -> Any:
        if self.is_away:
            return None
        try:
            answer = await self._server.command(*words)
        except TidingsError as error:
            if self._away_until == 0:
                _log.warning("view_cache_away", error=type(error).__name__)
            self._away_until = self._clock.monotonic() + _PAUSE_SECONDS
            self._metrics.view_cache_away.set(1)
            return None
        if self._away_until:
            self._away_until = 0.0
            self._metrics.view_cache_away.set(0)
            _log.info("view_cache_back")
        # None is an answer, too: of a key that is not there. It is never asked for alone.
        return answer


def _mark_names(key: ViewKey) -> list[str]:
    """Of the property and of all properties, for each service: a service may not say which property it means."""
    places = ("",) if key.property_id is None else ("", key.property_id)
    return [_mark_name(key.tenant_id, place, source) for source in key.sources for place in places]


def _mark_name(tenant_id: str, subject: str, source: str) -> str:
    return f"mark:{tenant_id}:{subject}:{source}"
