"""Pipelining: a transaction's BEGIN with its settings, and its COMMIT, travel in the same round trip as its statements.

The driver sends one operation, and waits for the answer. In Postgres' extended protocol an operation is a series of messages that
ends with Sync, and whatever stands before that Sync belongs to it: so BEGIN is put before the driver's own messages and COMMIT after
them. The server answers to each of them without rows, which the driver passes over, as it does when it parses a statement anew. Of
a series that fails the server skips the rest, so nothing is committed after an error, and nothing is done without its settings.
"""

import asyncio
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import asyncpg
import asyncpg.protocol

_SYNC: Final = b"S\x00\x00\x00\x04"
_BIND: Final = ord("B")
#: An unnamed portal of an unnamed statement without parameters, run to its end.
_RUN: Final = b"B\x00\x00\x00\x0c" + bytes(8) + b"E\x00\x00\x00\x09" + bytes(5)


@lru_cache(maxsize=64)
def rowless(statement: str) -> bytes:
    """The messages of a statement that gives no rows, such as BEGIN, SET LOCAL or COMMIT."""
    text = statement.encode()
    return b"P" + (len(text) + 8).to_bytes(4, "big") + b"\x00" + text + bytes(3) + _RUN


def series(statements: Iterable[str]) -> bytes:
    """The messages of several such statements."""
    return b"".join(map(rowless, statements))


class PipelineBrokenError(Exception):
    """The driver sent something else than a statement that is prepared."""


class Wire:
    """The transport that the driver writes to."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._write = transport.write
        self._before = self._after = b""

    def ride_along(self, before: bytes, after: bytes) -> None:
        """Put these messages around those that the driver sends next."""
        self._before, self._after = before, after

    def take_back(self) -> bool:
        """Whether they are still here, because the driver sent nothing; they are not any more."""
        waiting = bool(self._before or self._after)
        self._before = self._after = b""
        return waiting

    def write(self, data: Any) -> None:
        """What the driver calls."""
        if not (self._before or self._after):
            self._write(data)
            return
        before, after, self._before, self._after = self._before, self._after, b"", b""
        if data[0] != _BIND or data[-5:] != _SYNC:
            raise PipelineBrokenError
        self._write(b"".join((before, data[:-5], after, _SYNC)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Protocol(asyncpg.protocol.Protocol):  # type: ignore[misc]
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.wire = Wire(transport)
        super().connection_made(self.wire)


# The driver has no setting for it: it looks the class up here whenever it connects.
asyncpg.protocol.Protocol = _Protocol


class PipelinedConnection(asyncpg.Connection):  # type: ignore[misc]
    """A connection whose statements can be sent with messages around them."""

    def __init__(self, protocol: Any, *rest: Any) -> None:
        super().__init__(protocol, *rest)
        self.wire: Wire = protocol.wire
        self._used_at = time.monotonic()

    def rest(self) -> None:
        """It goes back to the pool."""
        self._used_at = time.monotonic()

    @property
    def seconds_idle(self) -> float:
        """How long it has been in the pool."""
        return time.monotonic() - self._used_at

    def has_prepared(self, statement: str) -> bool:
        """Whether the driver will send the statement alone; otherwise it asks the server to prepare it first."""
        return bool(self._stmt_cache.has((statement, asyncpg.Record, False)))
