"""What live streams say; no I/O.

A frame is the same over both transports. Its id is the number of the last change that it tells of: a stream that was told it goes
on behind it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from tidings.notify.inbox.model import Inbox

#: How a client is connected.
Transport: TypeAlias = Literal["sse", "ws"]
#: Changes that one stream is told one by one; who has missed more is told to reload.
MOST_CHANGES: Final = 100
#: Where a stream stands that wants only what comes: above every change.
ONLY_NEW: Final = 2**62


class Ending(StrEnum):
    """Why we end a stream; what the client does about it stands in docs/inbox.md."""

    TOKEN_EXPIRED = "token_expired"  # noqa: S105  # a code
    TOKEN_VOIDED = "token_voided"  # noqa: S105  # a code
    TENANT_CLOSED = "tenant_closed"
    RESTARTING = "restarting"
    TOO_SLOW = "too_slow"


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """One message to a client."""

    kind: str
    #: None: it moves the client nowhere.
    id: int | None
    #: JSON.
    data: str = field(repr=False)

    @property
    def sse(self) -> str:
        """As a server-sent event."""
        if self.kind == "heartbeat":
            return ": still here\n\n"
        place = "" if self.id is None else f"id: {self.id}\n"
        return f"{place}event: {self.kind}\ndata: {self.data}\n\n"


HEARTBEAT: Final = LiveFrame("heartbeat", None, '{"type":"heartbeat"}')


@dataclass(frozen=True, slots=True)
class LiveChange:
    """One item that has changed, as its JSON."""

    version: int
    #: Its place in the feed: it was given when it came, or came back from a snooze.
    place: int
    item_id: str
    #: None: it was removed.
    item: str | None = field(repr=False)

    def frame(self, position: int, inbox: Inbox) -> LiveFrame:
        """For a stream that was told all up to that position: an item that it has not seen at this place, or one that has changed."""
        counts = f'"unread":{inbox.unread},"unseen":{inbox.unseen}'
        if self.item is None:
            what = f'"item_id":"{self.item_id}","removed":true'
            return LiveFrame(
                "change", self.version, f'{{"type":"change","id":{self.version},{what},{counts}}}'
            )
        kind = "item" if self.place > position else "change"
        return LiveFrame(
            kind,
            self.version,
            f'{{"type":"{kind}","id":{self.version},"item_id":"{self.item_id}",{counts},"item":{self.item}}}',
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveNews:
    """An inbox as it is, with its last changes, the oldest first."""

    inbox: Inbox
    changes: tuple[LiveChange, ...] = ()
    #: Not all of the changes that were asked for are there: those before the first one are missing.
    cut: bool = False

    def frames(self, position: int) -> list[LiveFrame]:
        """What a stream at that position is to be told; a reset where it is too far back, or of another inbox."""
        latest = self.inbox.latest
        if position > latest or (self.cut and position < self.changes[0].version):
            return [self.counts("reset")]
        return [change.frame(position, self.inbox) for change in self.changes if change.version > position]

    def counts(self, kind: Literal["counts", "reset"] = "counts") -> LiveFrame:
        """The counts alone; with `reset` the client is to load its feed anew."""
        inbox = self.inbox
        return LiveFrame(
            kind,
            inbox.latest,
            f'{{"type":"{kind}","id":{inbox.latest},"unread":{inbox.unread},"unseen":{inbox.unseen}}}',
        )
