"""The stream on JetStream: made and kept as it has to be, and the parts of the bus that use it."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, LiteralString

from tidings.kernel.bus import BusMovedError, BusUnavailableError, Subscription
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.logs import get_logger
from tidings.kernel.nats_bus.api import NO_STREAM, ask
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.filters import filters_of
from tidings.kernel.nats_bus.mover import NatsMover
from tidings.kernel.nats_bus.reader import NatsReader
from tidings.kernel.postgres_bus.place import StreamPlace, find_place
from tidings.kernel.postgres_bus.stream import PostgresStream
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_log = get_logger("bus.nats")

#: How long the stream keeps an event.
KEEP: Final = timedelta(days=7)
#: How long it knows an event that is published again. The ledger of each service knows it for 30 days.
DUPLICATES: Final = timedelta(minutes=10)
#: Under this key of the stream's metadata stands whose it is.
_OURS: Final = "tidings_stream_id"
_NO_MESSAGE: Final = 10037
_NAME_TAKEN: Final = 10058
#: More numbers than this are not filled with nothing.
_MOST_FILLED: Final = 1_000_000
_FILLED_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class StreamState:
    """What the server says about the stream."""

    messages: int
    first: int
    last: int
    config: dict[str, Any]


class JetStream:
    """The parts of the stream on JetStream."""

    def __init__(self, connection: NatsConnection, db: Database, *, clock: Clock, batch: int = 1_000) -> None:
        self.connection = connection
        self.name = connection.address.prefix
        #: Where the stream's places begin; those before it are in Postgres. None until the stream was seen.
        self.first_position: int | None = None
        self._db = db
        self._clock = clock
        self._batch = batch
        self._in_postgres = PostgresStream()
        #: How often the stream was looked at: what was made on it before may be gone.
        self.looks = 0
        self._ensured = -1
        self._ensuring = asyncio.Lock()

    def mover(self, schema: LiteralString) -> NatsMover:
        """For the relay of one outbox."""
        return NatsMover(self, schema)

    def reader(self, subscription: Subscription) -> NatsReader:
        """For the consumer of one group."""
        return NatsReader(self, subscription, batch=self._batch)

    async def ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        """What JetStream's API answers; a `JetStreamError` where it refuses."""
        try:
            return await ask(self.connection, verb, **payload)
        except JetStreamError as error:
            if error.number == NO_STREAM:
                self.forget()
            raise

    def forget(self) -> None:
        """The stream may not be what it was: look at it again before it is used."""
        self._ensured = -1

    async def ensure(self) -> None:
        """Once for each connection: the stream is ours, there, as it has to be, and its numbers go on.

        The first process that comes with NATS moves the stream here; what groups have not read in Postgres they read there. One
        that had it and finds it moved back does not undo that: a `BusMovedError`.
        """
        await self.connection.client()
        async with self._ensuring:
            generation = self.connection.generation
            if self._ensured == generation:
                return
            place = await self._take_place()
            state = await self.state()
            if state is None:
                await self._create(place)
            else:
                await self._keep(state, place)
            self.first_position = place.first_position
            self.looks += 1
            self._ensured = generation

    async def state(self) -> StreamState | None:
        """What the stream is like; None where there is none."""
        try:
            answer = await self.ask(f"STREAM.INFO.{self.name}")
        except JetStreamError as error:
            if error.number == NO_STREAM:
                return None
            raise
        state = answer["state"]
        return StreamState(state["messages"], state["first_seq"], state["last_seq"], answer["config"])

    async def oldest_unread(
        self, db: Database, subscriptions: Sequence[Subscription]
    ) -> dict[str, float | None]:
        """The age of the next event that each group wants; of one that is still in Postgres, what that says."""
        await self.ensure()
        async with db.worker() as tx:
            rows = await tx.fetch(_QUERIES.group_cursors, groups=[one.group for one in subscriptions])
        cursors: dict[str, int] = {row["group_name"]: row["position"] for row in rows}
        before = [one for one in subscriptions if cursors.get(one.group, 0) < (self.first_position or 1) - 1]
        found: dict[str, float | None] = (
            {**await self._in_postgres.oldest_unread(db, before)} if before else {}
        )
        for subscription in subscriptions:
            if found.get(subscription.group) is None:
                found[subscription.group] = await self._age(
                    subscription, cursors.get(subscription.group, 0) + 1
                )
        return found

    async def _age(self, subscription: Subscription, start: int) -> float | None:
        ages = []
        for pattern in filters_of(self.name, subscription.subjects):
            try:
                answer = await self.ask(f"STREAM.MSG.GET.{self.name}", seq=start, next_by_subj=pattern)
            except JetStreamError as error:
                if error.number == _NO_MESSAGE:
                    continue
                raise
            ages.append((self._clock.now() - moment(answer["message"]["time"])).total_seconds())
        return max(ages) if ages else None

    async def _take_place(self) -> StreamPlace:
        async with self._db.worker() as tx:
            place = await find_place(tx)
        if place.engine == "nats":
            return place
        if self.first_position is not None:
            raise BusMovedError(
                "the stream was moved back to Postgres: take TIDINGS_BUS_URL away from this process and restart it; events "
                "wait in the outbox"
            )
        async with self._db.worker() as tx:
            await relays_lock(tx)
            moved = await tx.fetch_value(_QUERIES.move_to_nats)
        if moved is not None:
            _log.info("bus_moved", to="nats", stream=self.name, first_position=moved)
        return await self._take_place()

    def _wanted(self) -> dict[str, Any]:
        address = self.connection.address
        wanted: dict[str, Any] = {
            "subjects": [f"{self.name}.>"],
            "retention": "limits",
            # Full means that events wait in the outbox; none is thrown away to make room.
            "discard": "new",
            "max_age": _nanoseconds(KEEP),
            "duplicate_window": _nanoseconds(DUPLICATES),
            # For readers outside: a page is one question.
            "allow_direct": True,
        }
        if address.replicas is not None:
            wanted["num_replicas"] = address.replicas
        return wanted

    async def _create(self, place: StreamPlace) -> None:
        try:
            await self.ask(
                f"STREAM.CREATE.{self.name}",
                name=self.name,
                storage=self.connection.address.storage,
                first_seq=place.last_position + 1,
                metadata={_OURS: place.stream_id},
                **self._wanted(),
            )
        except JetStreamError as error:
            if error.number != _NAME_TAKEN:
                raise
            return  # Another process was quicker.
        if place.last_position >= place.first_position:
            await self._tell_of_loss(
                place.last_position, "the stream was deleted from NATS, and was made anew"
            )

    async def _keep(self, state: StreamState, place: StreamPlace) -> None:
        metadata = state.config.get("metadata") or {}
        if metadata.get(_OURS, place.stream_id) != place.stream_id:
            raise NotConfiguredError(
                f"the stream {self.name} on NATS belongs to another database: choose another name with ?prefix=… in "
                "TIDINGS_BUS_URL"
            )
        wanted = {**self._wanted(), "metadata": {**metadata, _OURS: place.stream_id}}
        if any(state.config.get(name) != value for name, value in wanted.items()):
            await self.ask(f"STREAM.UPDATE.{self.name}", **{**state.config, **wanted})
        if place.last_position < place.first_position and state.last < place.last_position:
            # It is from before the stream was in Postgres for a while. All that was on it was copied there.
            await self.ask(f"STREAM.PURGE.{self.name}", seq=place.first_position)
        elif state.last < place.last_position:
            await self._catch_up(state, place.last_position)

    async def _catch_up(self, state: StreamState, last: int) -> None:
        """Its numbers end before what it had confirmed: readers are past them. They must not be given out again."""
        await self._tell_of_loss(last, f"the stream ends at {state.last}, and had confirmed more")
        if state.messages == 0:
            await self.ask(f"STREAM.PURGE.{self.name}", seq=last + 1)
            return
        if last - state.last > _MOST_FILLED:
            raise BusUnavailableError(
                f"NATS: the stream {self.name} ends at {state.last} and had confirmed {last}: it was replaced by another one. "
                f"Rename or delete it, and it is made anew; events wait in the outbox"
            )
        client = await self.connection.client()
        for start in range(state.last + 1, last + 1, _FILLED_AT_ONCE):
            # Nobody reads this subject: it has no place for a tenant.
            for _ in range(start, min(start + _FILLED_AT_ONCE, last + 1)):
                await client.publish(f"{self.name}.gap", b"")
            # An answer to this comes after all of them were stored.
            await self.ask(f"STREAM.INFO.{self.name}")

    async def _tell_of_loss(self, last: int, words: str) -> None:
        async with self._db.worker() as tx:
            rows = await tx.fetch(_QUERIES.groups_behind, last_position=last)
        _log.error(
            "bus_stream_lost",
            stream=self.name,
            reason=f"{words}; events that were on it and not read are lost, and those in the outbox are not",
            last_position=last,
            groups_behind=" ".join(row["group_name"] for row in rows),
        )


async def relays_lock(tx: WorkerTx) -> None:
    """Hold all relays until `tx` ends."""
    await tx.fetch_value(_QUERIES.relays_lock)


def _nanoseconds(time: timedelta) -> int:
    return int(time.total_seconds()) * 1_000_000_000


def moment(text: str) -> datetime:
    """A time as JetStream writes it, with up to nine digits after the second."""
    return datetime.fromisoformat(re.sub(r"(\.\d{6})\d*", r"\1", text).replace("Z", "+00:00")).astimezone(UTC)
