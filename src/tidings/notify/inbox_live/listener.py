"""One open stream: where it stands, what it is to be told next, and why it ends. It holds so many frames at most."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox_live.model import HEARTBEAT, MOST_CHANGES, Ending, LiveFrame, LiveNews, Transport

#: Frames that wait for a slow client; one more, and it is told to reload instead.
_MOST_WAITING: Final = 2 * MOST_CHANGES
#: After these nothing of the inbox is theirs to hear, also what was on its way.
_SHUT_OUT: Final = frozenset({Ending.TOKEN_VOIDED, Ending.TENANT_CLOSED})


class InboxListener:
    """Whoever listens to an inbox; the hub fills it, and its transport empties it."""

    __slots__ = (
        "_waiting",
        "_wake",
        "ended",
        "id",
        "key",
        "opened_at",
        "position",
        "since",
        "told_at",
        "transport",
        "untaken_since",
        "until",
    )

    def __init__(
        self,
        key: InboxKey,
        *,
        id_: str,
        transport: Transport,
        since: datetime | None,
        until: datetime | None,
        after: int | None,
        opened_at: datetime,
        wake: Callable[[], None],
    ) -> None:
        """`after`: the last change that it was told; None: it wants only what comes. `wake` is called when there is something to take."""
        self.key = key
        self.id = id_
        self.transport = transport
        self.since = since
        self.until = until
        self.opened_at = opened_at
        #: Up to which change it was told; None: that is asked first.
        self.position: int | None = after
        #: When it was told something for the last time, by a monotonic clock; None: never.
        self.told_at: float | None = None
        #: Since when what it is told is not taken.
        self.untaken_since: float | None = None
        self.ended: Ending | None = None
        self._wake = wake
        self._waiting: list[LiveFrame] = []

    @property
    def waiting(self) -> int:
        """How many frames it has not taken."""
        return len(self._waiting)

    def tell(self, news: LiveNews, now: float) -> bool:
        """Take over what is new to it; whether it has to reload, because it is too far behind."""
        position, fresh = self.position, self.told_at is None
        if position is None:
            frames = [news.counts()]
        else:
            frames = news.frames(position)
            if fresh and not any(frame.kind == "reset" for frame in frames):
                frames.append(news.counts())
        self.position = news.inbox.latest
        overflows = len(self._waiting) + len(frames) > _MOST_WAITING
        if overflows:
            self._waiting.clear()
            frames = [news.counts("reset")]
        if frames:
            self._put(frames, now)
        return any(frame.kind == "reset" for frame in frames)

    def beat(self, now: float) -> None:
        """A sign of life, where it waits for nothing else."""
        if not self._waiting:
            self._put([HEARTBEAT], now)

    def end(self, why: Ending) -> None:
        """The last that it is told, behind all that waits; who may hear no more is not told that either."""
        if self.ended is None:
            self.ended = why
            if why in _SHUT_OUT:
                self._waiting.clear()
            self._wake()

    def take(self) -> list[LiveFrame]:
        """All that waits."""
        taken, self._waiting = self._waiting, []
        self.untaken_since = None
        return taken

    def _put(self, frames: list[LiveFrame], now: float) -> None:
        if self.untaken_since is None:
            self.untaken_since = now
        self._waiting += frames
        self.told_at = now
        self._wake()
