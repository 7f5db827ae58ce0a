"""One open stream: where it stands, and what wakes it."""

import asyncio
from enum import StrEnum
from typing import Final

from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TenantId

#: What wakes every stream.
EVERYBODY: Final = None


class StreamEnding(StrEnum):
    """Why we end a stream, where no refusal says so; docs/operators-stream.md says what a client does about it."""

    REPLACED = "replaced"
    RESTARTING = "restarting"


class StreamListener:
    """Whoever listens on a device."""

    __slots__ = ("called", "device_id", "ended", "keys", "position", "tenant_id")

    def __init__(self, caller: Caller, *, position: int | None) -> None:
        self.tenant_id: TenantId | None = caller.tenant_id
        self.device_id = caller.device_id or ""
        #: Up to which announcement it was told, or told to reload; None: that is asked first.
        self.position = position
        #: A change of these concerns it: its tenant, its session, its operator.
        self.keys = frozenset(filter(None, (caller.tenant_id, caller.home, caller.session_id, caller.id)))
        self.called = asyncio.Event()
        self.ended: StreamEnding | None = None

    def end(self, why: StreamEnding) -> None:
        """The last that it is told."""
        if self.ended is None:
            self.ended = why
        self.called.set()
