"""Sets of messages over one HTTP/2 connection, which is made anew when it is gone: one clock for each message."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeAlias

import msgspec

from tidings.contracts.messages import OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.logs import get_logger
from tidings.router.adapters.apns.connect import ApnsServer, open_link
from tidings.router.adapters.apns.http2 import Http2Link, LostError, NotBegunError, NotTakenError
from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.http_client.answers import with_answer
from tidings.router.adapters.pending_outcomes import LATE, UNANSWERED

_log = get_logger("apns")
#: Seconds of silence after which a connection is asked whether it is still one: routers forget those that rest.
_SILENCE: Final = 60.0
_SECONDS_TO_PING: Final = 3.0
#: Connections that end before a message's turn comes; then it is not the connection.
_MOST_LINKS: Final = 3
_CLOSED: Final = TryLater(reason="the adapter is closed", code="closed")
_NOT_TAKEN: Final = TryLater(
    reason="the vendor closes the connection, and has not looked at it", code="connection"
)
_NO_LINK: Final = TryLater(reason="the vendor closes every connection at once", code="connection")


@dataclass(frozen=True, slots=True, kw_only=True)
class Http2Request:
    """One request, its pseudo-headers among the headers."""

    headers: Sequence[tuple[str, str]] = field(repr=False)
    body: bytes = field(repr=False)


#: A message as the vendor wants it; a `BadValueError` where it can't be said to this vendor.
Ask: TypeAlias = Callable[[OutboundMessage], Http2Request]
#: What the vendor's answer means; it may raise, and then the outcome is not known.
Read: TypeAlias = Callable[[HttpAnswer, OutboundMessage], Outcome]


class ApnsSender:
    """One connection to one vendor, and those that are about to end."""

    def __init__(
        self,
        server: ApnsServer,
        *,
        streams: int,
        connect_seconds: float,
        timeout_seconds: float,
        batch_seconds: float,
    ) -> None:
        """`streams`: most requests at once. `batch_seconds`: what has not begun after this is given back."""
        self._server = server
        self._streams = streams
        self._connect_seconds = connect_seconds
        self._timeout_seconds = timeout_seconds
        self._batch_seconds = batch_seconds
        self._slots = asyncio.Semaphore(streams)
        self._link: Http2Link | None = None
        self._links: set[Http2Link] = set()
        self._dialling: asyncio.Task[Http2Link | TryLater] | None = None
        #: An answer did not come: look whether the connection still is one.
        self._doubtful = False
        self._closed = False

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        links = _MOST_LINKS * self._connect_seconds
        return timedelta(seconds=self._batch_seconds + links + self._timeout_seconds + 1)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        learned: list[Outcome],
        *,
        ask: Ask,
        read: Read,
        within: float | None = None,
    ) -> None:
        """One request for each, side by side; `learned` is kept up to date."""
        learned[:] = [LATE] * len(messages)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._batch_seconds
        line = iter(enumerate(messages))

        async def work() -> None:
            for place, message in line:
                async with self._slots:
                    if self._closed:
                        learned[place] = _CLOSED
                    elif loop.time() <= deadline:
                        turn = _Turn(message, place, learned, deadline)
                        learned[place] = await self._send_one(turn, ask, read, within)

        await asyncio.gather(*(work() for _ in range(min(len(messages), self._streams))))

    async def call(self, request: Http2Request) -> HttpAnswer | TryLater:
        """Ask something that sends nothing: the answer, or why there is none."""
        async with self._slots:
            if self._closed:
                return _CLOSED
            loop = asyncio.get_running_loop()
            link = await self._room(loop.time() + self._timeout_seconds, self._timeout_seconds)
            if isinstance(link, TryLater):
                return link
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    return await link.ask(request.headers, request.body)
            except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, it is told
                outcome = self._failed(error)
                return (
                    outcome
                    if isinstance(outcome, TryLater)
                    else TryLater(reason=outcome.reason, code="connection")
                )

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        links = list(self._links)
        for link in links:
            link.close()
        dialling = [] if self._dialling is None else [self._dialling]
        for task in dialling:
            task.cancel()
        await asyncio.gather(*(link.reading for link in links), *dialling, return_exceptions=True)

    async def _send_one(self, turn: "_Turn", ask: Ask, read: Read, within: float | None) -> Outcome:
        message = turn.message
        try:
            request = ask(message)
        except BadValueError as error:
            return Refused(reason=str(error), code="bad_message")
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return Refused(reason="metadata must be JSON", code="bad_message")
        except Exception as error:  # noqa: BLE001  # our own mistake costs this message, not its whole set
            _log.error("apns.unbuildable", message_id=message.message_id, error=type(error).__name__)
            return TryLater(reason="the message could not be built", code="internal")
        seconds = self._timeout_seconds if within is None else min(within, self._timeout_seconds)
        link = await self._room(turn.deadline, seconds)
        if isinstance(link, TryLater):
            return link
        turn.learned[turn.place] = UNANSWERED
        answer: HttpAnswer | None = None
        outcome: Outcome
        try:
            async with asyncio.timeout(seconds):
                answer = await link.ask(request.headers, request.body)
            outcome = read(answer, message)
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, one message pays for it
            _log.info("apns.unanswered", message_id=message.message_id, error=type(error).__name__)
            outcome = self._failed(error)
        return outcome if answer is None else with_answer(outcome, answer)

    def _failed(self, error: Exception) -> TryLater | Unlearned:
        """What is certain after a request that has begun."""
        match error:
            case NotTakenError() | NotBegunError():
                return _NOT_TAKEN
            case LostError():
                return Unlearned(reason="the vendor ended the request without an answer")
            case TimeoutError():
                self._doubtful = True
                return Unlearned(reason="the vendor did not answer in time")
        return Unlearned(reason="the answer was never learned")

    async def _room(self, deadline: float, seconds: float) -> Http2Link | TryLater:
        """A connection on which a request can begin now; the caller must not wait for anything before it does."""
        for _ in range(_MOST_LINKS):
            link = await self._reached(min(self._connect_seconds, seconds))
            if isinstance(link, TryLater):
                return link
            try:
                async with asyncio.timeout_at(deadline):
                    await link.room()
            except NotBegunError:
                continue
            except TimeoutError:
                return LATE
            return link
        return _NO_LINK

    async def _reached(self, seconds: float) -> Http2Link | TryLater:
        """The connection; one for all who wait."""
        link = self._link
        if link is not None and link.usable:
            if not self._doubtful and link.silent_for < _SILENCE:
                return link
            if await link.answers(min(_SECONDS_TO_PING, seconds)):
                self._doubtful = False
                return link
            link.close()
        if self._closed:
            return _CLOSED
        if self._dialling is None:
            self._dialling = asyncio.create_task(self._dial(), name="apns link")
            self._dialling.add_done_callback(self._dialled)
        done, _ = await asyncio.wait([dialling := self._dialling], timeout=seconds)
        if not done:
            return TryLater(reason="the vendor can't be reached", code="connection")
        return _CLOSED if dialling.cancelled() else dialling.result()

    async def _dial(self) -> Http2Link | TryLater:
        try:
            return await open_link(self._server, seconds=self._connect_seconds)
        except ConnectError as error:
            return TryLater(reason=error.reason, code=error.code)
        except asyncio.CancelledError:
            return _CLOSED
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, there is no connection
            _log.info("apns.not_connected", error=type(error).__name__)
            return TryLater(reason="the vendor can't be reached", code="connection")

    def _dialled(self, task: asyncio.Task[Http2Link | TryLater]) -> None:
        self._dialling = None
        link = _CLOSED if task.cancelled() else task.result()
        if isinstance(link, TryLater):
            return
        if self._closed:
            link.close()
            return
        self._link, self._doubtful = link, False
        self._links.add(link)
        link.reading.add_done_callback(lambda _: self._links.discard(link))


@dataclass(slots=True)
class _Turn:
    """One message of a set."""

    message: OutboundMessage
    place: int
    learned: list[Outcome]
    deadline: float
