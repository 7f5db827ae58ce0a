"""Reads JetStream for one group: a durable pull consumer, of which this process is the only reader while it has the lease.

The place of the group is its cursor in Postgres, which commits with what was settled. The durable consumer follows it: it
is made anew at the cursor whenever another process begins to read, or an answer was lost, so that events come in their
order and none has to wait for a redelivery. JetStream counts what it delivers; a number that is missing shows a loss.
Acknowledgements come after the commit, and hold back how much JetStream sends.
"""

import asyncio
import contextlib
import re
import time
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import nats.errors

from tidings.kernel.bus import Subscription
from tidings.kernel.db import WorkerTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.events import from_cloudevent
from tidings.kernel.logs import get_logger
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.filters import filters_of
from tidings.kernel.nats_bus.mover import APPLIED_BY
from tidings.kernel.postgres_bus.event_stream import Arrival, Batch, Cursor
from tidings.kernel.postgres_bus.parked import behind_parked
from tidings.kernel.postgres_bus.stream import read_events

if TYPE_CHECKING:
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription as NatsSubscription

    from tidings.kernel.nats_bus.stream import JetStream

_log = get_logger("bus.consumer")
_SECOND: Final = 1_000_000_000
#: How long one question for events stays open at the server, in seconds; it is asked again as long as the lease is ours.
_ASK_SECONDS: Final = 30
#: How often the server says that a question is still open; after more than two of these in silence it is asked anew.
_HEARTBEAT_SECONDS: Final = 5
#: Never reached: what is not acknowledged is read again from the cursor, by whoever reads next.
_ACK_WAIT_SECONDS: Final = 3_600
#: How long a set that is not full waits for what the server says is on its way, in seconds; it is far less as a rule.
_GATHER_SECONDS: Final = 0.5
#: Sets that may be on their way, in the buffer and in the handlers' hands.
_SETS_UNACKNOWLEDGED: Final = 4


class _Received(NamedTuple):
    position: int
    published_at: datetime
    message: "Msg"


class NatsReader:
    """The reader of one group in this process."""

    stays = True

    def __init__(self, stream: "JetStream", subscription: Subscription, *, batch: int) -> None:
        self._stream = stream
        self._connection = stream.connection
        self._subscription = subscription
        self._batch = batch
        #: JetStream's name of the group: a dot has another meaning there.
        self.name = subscription.group.replace(".", "=")
        self._filters = filters_of(stream.name, subscription.subjects)
        self._wanted = re.compile(subscription.expression())
        self._exact = len(self._filters) == len(set(subscription.subjects))
        self._open: NatsSubscription | None = None
        self._inbox = ""
        self._generation = -1
        self._buffer: deque[_Received] = deque()
        self._wake = Wakeup()
        #: The last place that was read, and where it is acknowledged.
        self._read_up_to = -1
        self._ack_to: str | None = None
        #: JetStream's number of the next delivery.
        self._next_delivery = 1
        #: Events asked for and not there yet.
        self._asked = 0
        #: Events for this group that the server had not sent, when it last said so.
        self._left = 0
        #: Something was heard since the last look.
        self._came = asyncio.Event()
        self._heard_at = 0.0
        self._broken = False
        self._connection.on_change(self._on_change)

    async def prepare(self) -> None:
        """A process that can't reach NATS leaves the group to those that can."""
        await self._stream.ensure()

    async def newest(self) -> int:
        """The last place on the stream."""
        await self._stream.ensure()
        state = await self._stream.state()
        return state.last if state is not None else 0

    def is_at(self, cursor: Cursor) -> bool:
        """Whether the next event in the buffer, or the next to come, is the one after the cursor."""
        if not self._is_on_nats(cursor):
            return self._stream.first_position is not None
        silent = self._asked > 0 and time.monotonic() - self._heard_at > 2.5 * _HEARTBEAT_SECONDS
        return (
            self._open is not None
            and self._generation == self._connection.generation
            and self._connection.connected
            and not (self._broken or silent)
            and self._read_up_to == cursor.position
        )

    async def open(self, cursor: Cursor, wake: Wakeup) -> None:
        """Have the durable consumer begin after the cursor, and ask it for events."""
        await self.close()
        self._wake = wake
        await self._stream.ensure()
        if not self._is_on_nats(cursor):
            return
        client = await self._connection.client()
        generation = self._connection.generation
        self._left = await self._make_consumer(cursor.position + 1)
        self._buffer.clear()
        self._read_up_to, self._ack_to, self._next_delivery = cursor.position, None, 1
        self._asked, self._broken, self._generation = 0, False, generation
        self._inbox = client.new_inbox()
        self._open = await self._connection.subscribe(self._inbox, self._heard)
        await self._ask()

    async def gather(self) -> None:
        """Until the set is full, or all that the server has is here: a set is as large as it would be in Postgres."""
        if self._open is None or self._left == 0:
            return
        await self._ask()
        try:
            async with asyncio.timeout(_GATHER_SECONDS):
                while self._open is not None and self._comes() and len(self._buffer) < self._batch:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            # It was deleted there, or the server is slow: it is not waited for again until the next one comes.
            self._left = 0

    def _comes(self) -> bool:
        """Whether the server has more for us, and was asked for it."""
        return self._asked > 0 and self._left > 0 and not self._broken and self._connection.connected

    async def read(self, tx: WorkerTx, *, after: Cursor, limit: int) -> Batch:
        """What has come; of a group that is not done with Postgres, what is there."""
        if not self._is_on_nats(after):
            return await self._read_in_postgres(tx, after=after, limit=limit)
        taken = [self._buffer.popleft() for _ in range(min(limit, len(self._buffer)))]
        await self._ask()
        if not taken:
            return Batch(arrivals=(), end=after, looked_at=0)
        last = taken[-1]
        self._read_up_to, self._ack_to = last.position, last.message.reply
        arrivals = [arrival for one in taken if (arrival := self._arrival(one)) is not None]
        return Batch(
            arrivals=await behind_parked(tx, arrivals, group=self._subscription.group),
            end=Cursor(position=last.position, published_at=last.published_at),
            looked_at=len(taken),
        )

    async def done(self, end: Cursor) -> None:
        """Acknowledge all up to there; if that is lost, the next one says it too."""
        if self._ack_to is None or end.position > self._read_up_to or self._open is None:
            return
        if self._connection.generation == self._generation and self._connection.connected:
            with contextlib.suppress(nats.errors.Error, OSError):
                client = await self._connection.client()
                await client.publish(self._ack_to, b"+ACK")
        self._ack_to = None

    async def more(self) -> bool:
        """Whether there is something for this group, by what the server says; if so, when it has come."""
        while self._open is not None and not self._broken:
            if self._buffer:
                return True
            await self._ask()
            try:
                info = await self._stream.ask(f"CONSUMER.INFO.{self._stream.name}.{self.name}")
            except JetStreamError:
                return True
            delivered = info.get("delivered", {}).get("consumer_seq", 0)
            if info.get("num_pending", 0) == 0 and delivered < self._next_delivery and not self._buffer:
                return False
            await asyncio.sleep(0.005)
        return self._broken

    async def close(self) -> None:
        """Forget what has come; the durable consumer stays."""
        subscription, self._open = self._open, None
        self._buffer.clear()
        if subscription is not None:
            await self._connection.unsubscribe(subscription)

    def _is_on_nats(self, cursor: Cursor) -> bool:
        first = self._stream.first_position
        return first is not None and cursor.position >= first - 1

    async def _read_in_postgres(self, tx: WorkerTx, *, after: Cursor, limit: int) -> Batch:
        """What was published before the stream moved. At its end the cursor goes to the end of that, at once."""
        batch = await read_events(tx, self._subscription, after=after, limit=limit)
        if batch.looked_at or self._stream.first_position is None:
            return batch
        end = Cursor(position=self._stream.first_position - 1, published_at=after.published_at)
        return Batch(arrivals=(), end=end, looked_at=1)

    async def _make_consumer(self, start: int) -> int:
        """Begin there; how many events wait for this group."""
        where = f"{self._stream.name}.{self.name}"
        with contextlib.suppress(JetStreamError):
            await self._stream.ask(f"CONSUMER.DELETE.{where}")
        config: dict[str, Any] = {
            "durable_name": self.name,
            "name": self.name,
            "description": f"consumer group {self._subscription.group}; its place is in Postgres",
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": start,
            "ack_policy": "all",
            "ack_wait": _ACK_WAIT_SECONDS * _SECOND,
            "max_ack_pending": _SETS_UNACKNOWLEDGED * self._batch,
            "max_waiting": 16,
            "filter_subjects": self._filters,
        }
        made = await self._stream.ask(
            f"CONSUMER.CREATE.{where}", stream_name=self._stream.name, config=config, action="create"
        )
        return int(made.get("num_pending", 0))

    async def _ask(self) -> None:
        """Ask for a set, unless one is on its way or waits in the buffer."""
        if self._open is None or self._broken or self._asked > 0 or len(self._buffer) > self._batch:
            return
        if self._generation != self._connection.generation or not self._connection.connected:
            return
        self._asked, self._heard_at = self._batch, time.monotonic()
        question = {
            "batch": self._batch,
            "expires": _ASK_SECONDS * _SECOND,
            "idle_heartbeat": _HEARTBEAT_SECONDS * _SECOND,
        }
        client = await self._connection.client()
        try:
            await client.publish(
                f"$JS.API.CONSUMER.MSG.NEXT.{self._stream.name}.{self.name}",
                msgspec.json.encode(question),
                reply=self._inbox,
            )
        except (nats.errors.Error, OSError):
            self._broken = True

    async def _heard(self, message: "Msg") -> None:
        self._heard_at = time.monotonic()
        if not message.reply.startswith("$JS.ACK."):
            self._told((message.headers or {}).get("Status", ""))
            return
        words = message.reply.split(".")
        # $JS.ACK.<stream>.<consumer>.<times>.<place>.<delivery>.<time>.<left>, or with domain and account before the stream.
        _, place, delivery, published, left = words[4:9] if len(words) == 9 else words[6:11]
        self._left = int(left)
        self._came.set()
        if int(delivery) != self._next_delivery:
            self._break()
            return
        self._next_delivery += 1
        self._asked = max(self._asked - 1, 0)
        position = int(place)
        if position > (self._buffer[-1].position if self._buffer else self._read_up_to):
            when = datetime.fromtimestamp(int(published) / _SECOND, UTC)
            self._buffer.append(_Received(position, when, message))
            self._wake.set()

    def _told(self, status: str) -> None:
        if status == "100":
            return
        if status in {"404", "408"}:
            # The question has run out; it is asked again with the next look.
            self._asked = 0
            self._came.set()
            return
        # The consumer is gone, or was made anew by another process, or the server is about to end.
        self._break()

    def _break(self) -> None:
        self._broken = True
        self._came.set()
        self._wake.set()

    def _on_change(self) -> None:
        self._came.set()
        self._wake.set()

    def _arrival(self, received: _Received) -> Arrival | None:
        message = received.message
        if (message.headers or {}).get(APPLIED_BY) == self._subscription.group:
            return None
        if not self._exact and not self._wanted.match(message.subject.split(".", 2)[2]):
            return None
        try:
            return Arrival(position=received.position, event=from_cloudevent(message.data))
        except (msgspec.DecodeError, UnicodeDecodeError):
            _log.error("not_an_event", group=self._subscription.group, position=received.position)
            return None
