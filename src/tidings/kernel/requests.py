"""The port of request and reply between processes: a question that some process of another service answers now, or none does.

Nothing is kept on the way: a question that no process hears is not answered later, and an answer that comes too late is
dropped. So the asking side tries again, and the answering side may hear the same question twice.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from tidings.kernel.errors import TidingsError

#: Answers a request; what it raises is told to the asking side by its code alone.
RequestHandler: TypeAlias = Callable[[bytes], Awaitable[bytes]]


class NoReplyError(TidingsError):
    """No process answered in time."""

    code = "no_reply"


class RequestFailedError(TidingsError):
    """The process that answers has failed."""

    code = "request_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the process that answers has failed: {reason}")
        #: The code or class of its error; never its words.
        self.reason = reason


class RequestTooLargeError(TidingsError):
    """A request is larger than one message may be."""

    code = "request_too_large"


class Requests(Protocol):
    """Asks, and answers for those subjects that it serves."""

    async def call(self, subject: str, payload: bytes, *, timeout: float) -> bytes:
        """What one of the processes answers that serve the subject; a `NoReplyError` after so many seconds, or at once where there is none."""
        ...

    def serve(self, subject: str, handler: RequestHandler) -> None:
        """Have requests answered by `handler` while `run` runs; of all processes that serve the subject each request reaches one."""
        ...

    async def run(self, stop: asyncio.Event) -> None:
        """Be connected until `stop`; then let what is being answered end."""
        ...

    async def check(self) -> None:
        """For `/readyz`: a `DegradedError` while there is no connection."""
        ...
