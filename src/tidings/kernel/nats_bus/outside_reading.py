"""Pulls messages of others from a durable consumer: in sets, in their order, acknowledged one by one.

JetStream sends a message again that is not acknowledged in time. A reader that takes over waits until all that its
predecessor was sent is due again: those come first then, and the order is kept.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import nats.errors

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.nats_bus.api import ask
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_bus.stream import moment
from tidings.kernel.outside_subjects import OutsideMessage

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription as NatsSubscription

_SECOND: Final = 1_000_000_000
#: How long one question stays open at the server, in seconds, and how often it says that it still is.
_ASK_SECONDS: Final = 30
_HEARTBEAT_SECONDS: Final = 5
#: How long a set that is not full waits for what the server says is on its way, in seconds.
_GATHER_SECONDS: Final = 0.25
#: Bytes of one set at most, unless a single message has more.
_SET_BYTES: Final = 8 * 1024 * 1024
#: A message that is due again is not sent at that very moment, in seconds.
_DUE_AGAIN: Final = 0.5


class NatsOutsideReading:
    """Reads one consumer over one connection."""

    def __init__(
        self, connection: NatsConnection, *, stream: str, own_stream: bool, consumer: str, batch: int
    ) -> None:
        self.stream = stream
        self.own_stream = own_stream
        self.waiting = 0
        self._connection = connection
        self._consumer = consumer
        self._batch = batch
        self._set_bytes = _SET_BYTES
        self._generation = -1
        self._inbox = ""
        self._open: NatsSubscription | None = None
        self._buffer: deque[OutsideMessage] = deque()
        self._came = asyncio.Event()
        #: Messages asked for and not there yet.
        self._asked = 0
        self._heard_at = 0.0
        self._ended: str | None = None

    async def begin(self) -> None:
        """From here on messages come."""
        await self._outwait()
        client = await self._connection.client()
        self._generation = self._connection.generation
        self._set_bytes = max(_SET_BYTES, 2 * client.max_payload)
        self._inbox = client.new_inbox()
        self._open = await self._connection.subscribe(self._inbox, self._heard)
        info = await ask(self._connection, f"CONSUMER.INFO.{self.stream}.{self._consumer}")
        self.waiting = int(info.get("num_pending", 0))

    async def take(self) -> list[OutsideMessage]:
        """The next set, when its first message is here."""
        while not self._buffer:
            self._came.clear()
            await self._ask()
            await self._hear(_HEARTBEAT_SECONDS)
        with contextlib.suppress(TimeoutError, BusUnavailableError):
            async with asyncio.timeout(_GATHER_SECONDS):
                while len(self._buffer) < self._batch and self.waiting and self._asked:
                    self._came.clear()
                    await self._hear(_GATHER_SECONDS)
        return [self._buffer.popleft() for _ in range(min(self._batch, len(self._buffer)))]

    async def settle(self, *, done: Sequence[OutsideMessage], refused: Sequence[OutsideMessage]) -> None:
        """Acknowledge; what is lost of that comes again, and is known as a repeat."""
        answers = [(one.reply, b"+ACK") for one in done] + [(one.reply, b"+TERM refused") for one in refused]
        with contextlib.suppress(nats.errors.Error, OSError, BusUnavailableError):
            client = await self._connection.client()
            for reply, answer in answers:
                await client.publish(reply, answer)
            await client.flush()

    async def close(self) -> None:
        """Hear no more; what has come and was not taken is for the next reader, at once."""
        subscription, self._open = self._open, None
        given_back, self._buffer = list(self._buffer), deque()
        if subscription is None:
            return
        await self._connection.unsubscribe(subscription)
        if self._generation == self._connection.generation and self._connection.connected:
            with contextlib.suppress(nats.errors.Error, OSError, BusUnavailableError):
                client = await self._connection.client()
                for one in given_back:
                    await client.publish(one.reply, b"-NAK")
                await client.flush()

    async def _outwait(self) -> None:
        """Until what another reader was sent is due again, by the server's clock; one that was restarted does not know since when."""
        began = time.monotonic()
        while True:
            info = await ask(self._connection, f"CONSUMER.INFO.{self.stream}.{self._consumer}")
            if not info.get("num_ack_pending"):
                return
            sent, now = info["delivered"].get("last_active"), info.get("ts")
            known = (moment(now) - moment(sent)).total_seconds() if sent and now else 0.0
            ack_wait = info["config"]["ack_wait"] / _SECOND
            left = ack_wait + _DUE_AGAIN - max(known, time.monotonic() - began)
            if left <= 0:
                return
            await asyncio.sleep(min(left, 1.0))

    async def _hear(self, seconds: float) -> None:
        """Until something came; a `BusUnavailableError` where nothing can come any more."""
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(seconds):
                await self._connection.until(self._came)
        silent = self._asked > 0 and time.monotonic() - self._heard_at > 2.5 * _HEARTBEAT_SECONDS
        if self._ended is not None or silent:
            raise BusUnavailableError(f"NATS: {self._ended or 'it has fallen silent'}")
        if self._generation != self._connection.generation or not self._connection.connected:
            raise BusUnavailableError(f"NATS: {self._connection.reason}")

    async def _ask(self) -> None:
        """Ask for a set, unless one is on its way."""
        if self._asked > 0:
            return
        client = await self._connection.client()
        self._asked, self._heard_at = self._batch, time.monotonic()
        question: dict[str, Any] = {
            "batch": self._batch,
            "max_bytes": self._set_bytes,
            "expires": _ASK_SECONDS * _SECOND,
            "idle_heartbeat": _HEARTBEAT_SECONDS * _SECOND,
        }
        try:
            await client.publish(
                f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{self._consumer}",
                msgspec.json.encode(question),
                reply=self._inbox,
            )
        except (nats.errors.Error, OSError):
            raise BusUnavailableError("NATS: the connection was lost") from None

    async def _heard(self, message: "Msg") -> None:
        self._heard_at = time.monotonic()
        headers = message.headers or {}
        if message.reply.startswith("$JS.ACK."):
            words = message.reply.split(".")
            # As `reader.py` has it: with domain and account before the stream there are more words.
            place, left = (words[5], words[8]) if len(words) == 9 else (words[7], words[10])
            self.waiting = int(left)
            self._asked = max(self._asked - 1, 0)
            self._buffer.append(
                OutsideMessage(
                    subject=message.subject,
                    headers=headers,
                    data=message.data,
                    position=int(place),
                    reply=message.reply,
                )
            )
        elif (status := headers.get("Status", "")) != "100":
            self._told(status, headers.get("Description", ""))
        self._came.set()

    def _told(self, status: str, said: str) -> None:
        if status in {"404", "408"} or said == "Batch Completed" or "MaxBytes" in said:
            # The question has run out, or the set is full, by its number or its bytes.
            self._asked = 0
            return
        self._ended = said.lower() or f"status {status}"
