"""Reconnect of one SMPP bind: opened again whenever it ends, with backoff and jitter."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.logs import get_logger
from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.smpp.session import SmppSession

_log = get_logger("smpp")
#: Before the first try after a cut; each try after that waits twice as long.
_FIRST_DELAY: Final = timedelta(seconds=0.1)
#: No message is kept waiting so long for a link that does not hold.
_LONG: Final = timedelta(seconds=1)
#: A link that was bound for so many seconds begins anew with the shortest wait.
_STEADY: Final = 5.0


class SmppLink:
    """A session, the one after it, and the waits between them."""

    def __init__(
        self,
        open_one: Callable[[], Awaitable[SmppSession]],
        *,
        longest_wait: float,
        goodbye_seconds: float,
        changed: Callable[[], None],
    ) -> None:
        """`changed` is called when it opens, fails, ends, or has room."""
        self._open_one = open_one
        self._retry = RetryPolicy(
            max_attempts=None, first_delay=_FIRST_DELAY, longest_delay=timedelta(seconds=longest_wait)
        )
        self._goodbye_seconds = goodbye_seconds
        self._changed = changed
        self._keeping: asyncio.Task[None] | None = None
        #: The one that is bound; None between two.
        self.session: SmppSession | None = None
        #: Why there is none, since the last try failed.
        self.failure: ConnectError | None = None

    def start(self) -> None:
        """Open it, and keep it open; does nothing where that was said before."""
        if self._keeping is None:
            self._keeping = asyncio.get_running_loop().create_task(self._keep())

    async def stop(self) -> None:
        """Unbind, and open it no more."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        if self.session is not None:
            await self.session.unbind(seconds=self._goodbye_seconds)
            self.session = None

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        attempts = 0
        while True:
            attempts += 1
            began = loop.time()
            try:
                session = await self._open_one()
            except ConnectError as error:
                _log.warning("smpp.not_bound", code=error.code, reason=error.reason)
                self.failure = error
                self._changed()
            except Exception as error:  # noqa: BLE001  # our own mistake must not end the link for good
                _log.error("smpp.not_opened", error=type(error).__name__)
                self.failure = ConnectError("the session could not be opened", "internal")
                self._changed()
            else:
                session.on_room = self._changed
                self.session, self.failure = session, None
                _log.info("smpp.bound")
                self._changed()
                await session.ended
                self.session = None
                _log.warning("smpp.ended", reason=session.gone)
                if loop.time() - began >= _STEADY:
                    attempts = 1
                if self._retry.delay(attempts) >= _LONG:
                    self.failure = ConnectError(session.gone or "the link was cut", "connection")
                    self._changed()
            # Many processes that were cut off together do not come back together.
            delay = self._retry.delay(attempts, random.random())  # noqa: S311
            await asyncio.sleep(delay.total_seconds())
