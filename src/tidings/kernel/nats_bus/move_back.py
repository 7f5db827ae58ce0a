"""Moves the stream from NATS back to Postgres, with all that some group has not read."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec
import nats.errors
from nats.aio.msg import Msg

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.db import Database, WorkerTx
from tidings.kernel.events import attributes_of, from_cloudevent
from tidings.kernel.mapping import columns
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.mover import APPLIED_BY
from tidings.kernel.nats_bus.stream import JetStream, relays_lock
from tidings.kernel.postgres_bus.place import StreamPlace, find_place
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_SET: Final = 500
_SECONDS: Final = 10.0


async def move_back(stream: JetStream, db: Database) -> int:
    """Copy what was not read, and have relays write to Postgres from now on; how many events were copied.

    It is one transaction: killed in the middle, nothing has moved. Relays wait for it; consumers go on.
    """
    async with db.worker() as tx:
        place = await _hold_relays(tx)
        if place.engine == "postgres":
            return 0
        state = await stream.state()
        if state is None:
            raise BusUnavailableError(
                f"NATS: there is no stream {stream.name}: give it up with --abandon, or name it with ?prefix=…"
            )
        start = max(await tx.fetch_value(_QUERIES.lowest_cursor) + 1, place.first_position, state.first, 1)
        copied = 0
        if start <= state.last:
            async for some in _messages(stream, start, state.last):
                copied += await _copy(tx, some)
        await tx.fetch_value(_QUERIES.move_to_postgres, last_position=state.last)
    return copied


async def abandon(db: Database) -> None:
    """Have relays write to Postgres from now on; what is on NATS and was not read is given up."""
    async with db.worker() as tx:
        await _hold_relays(tx)
        await tx.fetch_value(_QUERIES.move_to_postgres, last_position=0)


async def _hold_relays(tx: WorkerTx) -> StreamPlace:
    await relays_lock(tx)
    return await find_place(tx)


async def _copy(tx: WorkerTx, messages: Sequence[Msg]) -> int:
    found = []
    for message in messages:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            found.append((message, from_cloudevent(message.data)))
    events = [event for _, event in found]
    await tx.execute(
        _QUERIES.copy_events,
        **columns(events, "id tenant_id subject ordering_key"),
        positions=[message.metadata.sequence.stream for message, _ in found],
        payloads=[event.data for event in events],
        envelopes=[attributes_of(event) for event in events],
        applied_by=[(message.headers or {}).get(APPLIED_BY) for message, _ in found],
    )
    return len(found)


async def _messages(stream: JetStream, start: int, last: int) -> AsyncIterator[list[Msg]]:
    """All events from one place to another, in their order."""
    client = await stream.connection.client()
    made = await stream.ask(
        f"CONSUMER.CREATE.{stream.name}",
        stream_name=stream.name,
        config={
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": start,
            "ack_policy": "none",
            "filter_subject": f"{stream.name}.*.>",
            "inactive_threshold": 60 * 1_000_000_000,
        },
    )
    left = made["num_pending"]
    subscription = await client.jetstream().pull_subscribe_bind(made["name"], stream.name)
    try:
        while left > 0:
            some = await subscription.fetch(min(_SET, left), timeout=_SECONDS)
            yield [message for message in some if message.metadata.sequence.stream <= last]
            left = some[-1].metadata.num_pending
    except (TimeoutError, nats.errors.Error, OSError) as error:
        raise BusUnavailableError(
            f"NATS: reading failed ({type(error).__name__}); nothing was moved"
        ) from None
    finally:
        with contextlib.suppress(JetStreamError, BusUnavailableError):
            await stream.ask(f"CONSUMER.DELETE.{stream.name}.{made['name']}")
