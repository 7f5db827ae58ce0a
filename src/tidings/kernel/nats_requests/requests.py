"""Asks and answers over the process' one connection to NATS, which comes back by itself."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.durable.job_watch import turn_is_over
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import DatabaseError, DegradedError, TidingsError
from tidings.kernel.keys.kms import Kms
from tidings.kernel.logs import get_logger, where
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_requests import wire
from tidings.kernel.nats_requests.sealing import PayloadSeal
from tidings.kernel.nats_requests.wire import MOST_REPLY_BYTES, PartsReceived, ReplyBody, RequestBody
from tidings.kernel.requests import (
    NoReplyError,
    RequestFailedError,
    RequestHandler,
    RequestTooLargeError,
)

#: The processes that serve a subject share it under this name.
_QUEUE: Final = "tidings"
#: The broker's word for a subject that no process serves.
_NO_RESPONDERS: Final = "503"
#: Seconds that requests get to be answered in after `stop`.
_GRACE: Final = 5.0
#: Seconds until the connection is asked for again, where there is none.
_PAUSE: Final = 0.1
#: Seconds of a turn in which nothing happens to the connection.
_TURN: Final = 30.0

_log = get_logger("requests")


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsRequestSettings:
    """How a process asks and answers."""

    #: Requests that are answered at the same time; the others wait for their turn.
    at_once: int = 4
    #: Requests that wait for their turn at most; more are left to other processes, and to the next try.
    most_waiting: int = 256


@dataclass(slots=True)
class _Call:
    """A request that waits for its reply."""

    reply: asyncio.Future[bytes]
    parts: PartsReceived = field(default_factory=PartsReceived)


class NatsRequests:
    """The kernel's `Requests` over core NATS."""

    def __init__(
        self,
        connection: NatsConnection,
        kms: Kms,
        *,
        installation: Callable[[], Awaitable[str]],
        monotonic: Callable[[], float],
        settings: NatsRequestSettings | None = None,
    ) -> None:
        """`connection` is the process' own, which the bus may use as well. `installation` names the database: processes of
        another one on the same broker neither hear nor answer, whatever keys they have."""
        self._connection = connection
        prefix = connection.address.prefix
        # Not among the subjects of the stream, which keeps what passes under them.
        self._prefix = f"{prefix}-requests"
        self._installation = installation
        #: Known while there is a connection.
        self._named = ""
        self._inbox = f"_INBOX_{prefix}.{secrets.token_hex(11)}"
        self._seal = PayloadSeal(kms)
        self._monotonic = monotonic
        self._settings = settings or NatsRequestSettings()
        self._handlers: dict[str, RequestHandler] = {}
        self._client: Client | None = None
        self._calls: dict[str, _Call] = {}
        self._turns = asyncio.Semaphore(self._settings.at_once)
        self._answering: set[asyncio.Task[None]] = set()
        self._runs = False
        #: Set while there is a connection, and those who ask us are heard.
        self.connected = asyncio.Event()

    def serve(self, subject: str, handler: RequestHandler) -> None:
        """Have requests answered by `handler`; to be said before `run`."""
        self._handlers[subject] = handler

    async def check(self) -> None:
        """For `/readyz`: what is asked for waits while the broker is away, and nothing is lost. A process that does not run it needs none."""
        if self._runs and not self.connected.is_set():
            raise DegradedError(
                "NATS can't be reached: requests between notify and router wait; see TIDINGS_BUS_URL"
            )

    async def call(
        self, subject: str, payload: bytes, *, timeout: float
    ) -> bytes:  # the other side hears of it
        """What one of the processes answers that serve the subject."""
        client = self._client
        if client is None or not client.is_connected:
            raise NoReplyError("NATS can't be reached")
        subject = self._subject(subject)
        token = secrets.token_hex(8)
        request = wire.encode(RequestBody(seconds=timeout, payload=payload))
        sealed = await self._seal.seal(request, purpose=f"request {subject}")
        if len(sealed) > client.max_payload:
            raise RequestTooLargeError
        call = _Call(asyncio.get_running_loop().create_future())
        self._calls[token] = call
        try:
            async with asyncio.timeout(timeout):
                await client.publish(subject, sealed, reply=f"{self._inbox}.{token}")
                whole = await call.reply
        except (TimeoutError, nats.errors.Error):
            raise NoReplyError from None
        finally:
            # What comes later finds no call, and is dropped.
            del self._calls[token]
        reply = wire.decode_reply(await self._seal.open(whole, purpose=f"reply {subject} {token}"))
        if reply.failed is not None:
            raise RequestFailedError(reply.failed)
        return reply.payload

    async def run(self, stop: asyncio.Event) -> None:
        """Be connected until `stop`; then let what is being answered end."""
        self._runs = True
        while not stop.is_set():
            try:
                await self._listen(await self._connection.client(), stop)
            except (OSError, TimeoutError, nats.errors.Error, BusUnavailableError, DatabaseError):
                # The connection says so itself, and is made again.
                await wait_for_stop(stop, _PAUSE)

    async def _listen(self, client: Client, stop: asyncio.Event) -> None:
        """Ask and answer over one connection, until it is lost or `stop`."""
        lost = self._connection.lost
        self._named = await self._installation()
        subscriptions = [await client.subscribe(f"{self._inbox}.*", cb=self._heard)]
        try:
            for subject in self._handlers:
                subscriptions.append(
                    await client.subscribe(self._subject(subject), queue=_QUEUE, cb=self._asked)
                )
            await client.flush(2)
            self._client = client
            self.connected.set()
            while not (stop.is_set() or lost.is_set()):
                await _first(stop, lost, seconds=_TURN)
            if not lost.is_set():
                # Take no more requests, and answer those that are in hand.
                for subscription in subscriptions[1:]:
                    await subscription.unsubscribe()
                if self._answering:
                    await asyncio.wait(set(self._answering), timeout=_GRACE)
        finally:
            self.connected.clear()
            self._client = None
            # Replies that are still to come go to a connection that is gone.
            self._give_up("the connection to NATS was lost")
            for task in self._answering:
                task.cancel()

    def _subject(self, subject: str) -> str:
        return f"{self._prefix}.{self._named}.{subject}"

    def _give_up(self, why: str) -> None:
        for call in self._calls.values():
            if not call.reply.done():
                call.reply.set_exception(NoReplyError(why))

    async def _heard(self, message: Msg) -> None:
        """A reply, or a part of one."""
        call = self._calls.get(message.subject.rpartition(".")[2])
        if call is None or call.reply.done():
            return
        if not message.data and message.headers and message.headers.get("Status") == _NO_RESPONDERS:
            call.reply.set_exception(NoReplyError("no process serves it"))
            return
        try:
            whole = call.parts.add(message.data)
        except ValueError:
            return
        if whole is not None:
            call.reply.set_result(whole)

    async def _asked(self, message: Msg) -> None:
        if not message.reply or len(self._answering) >= self._settings.most_waiting:
            return
        task = asyncio.create_task(self._answer(message, self._monotonic()))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, message: Msg, asked_at: float) -> None:
        try:
            sealed = await self._seal.open(message.data, purpose=f"request {message.subject}")
            request = wire.decode_request(sealed)
        except (TidingsError, ValueError) as error:
            # Not from a process with our keys; it gets no answer.
            _log.warning("request_unreadable", subject=message.subject, error=type(error).__name__)
            return
        async with self._turns:
            if self._monotonic() - asked_at >= request.seconds:
                return  # Nobody waits for it any more.
            reply = await self._handled(message.subject, request.payload)
        token = message.reply.rpartition(".")[2]
        sealed = await self._seal.seal(wire.encode(reply), purpose=f"reply {message.subject} {token}")
        client = self._client
        if client is None or not client.is_connected:
            return
        try:
            for part in wire.split(sealed, most=client.max_payload):
                await client.publish(message.reply, part)
        except nats.errors.Error as error:
            _log.info("reply_not_sent", subject=message.subject, error=type(error).__name__)

    async def _handled(self, subject: str, payload: bytes) -> ReplyBody:
        try:
            answer = await self._handlers[subject.removeprefix(self._subject(""))](payload)
        except Exception as error:  # noqa: BLE001  # whatever it is, the asking side must not wait for nothing
            code = error.code if isinstance(error, TidingsError) else type(error).__name__
            # Without its words: they may quote what was asked for.
            _log.error("request_failed", subject=subject, error=code, where=where(error))
            return ReplyBody(failed=code)
        if len(answer) > MOST_REPLY_BYTES:
            return ReplyBody(failed="reply_too_large")
        return ReplyBody(payload=answer)


async def _first(*events: asyncio.Event, seconds: float) -> None:
    turn_is_over(next_in=seconds)
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
