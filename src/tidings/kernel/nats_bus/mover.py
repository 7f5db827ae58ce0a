"""Publishes an outbox's events on JetStream: many at once, in order, and none of them after a gap.

The first message of a set says which number has to be the last one on the stream when it arrives, and every other one
which number and which event have to be. If one of them is lost or refused, all behind it are refused too: what was stored is a beginning of
the set, in its order. Only what was confirmed is deleted from the outbox. What remains is published one by one, each after the confirmation of the last: an event that was stored without our
hearing of it is known by its id, and confirmed again.

The transaction stays open while NATS answers, for some milliseconds as a rule and never longer than five seconds: its
lock is what makes one relay work at a time. It holds no row.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, LiteralString, NamedTuple

import msgspec
import nats.errors

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.db import Row, WorkerTx
from tidings.kernel.errors import TidingsError
from tidings.kernel.events import CONTENT_TYPE, from_row, to_cloudevent
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.filters import subject_of
from tidings.kernel.postgres_bus.event_stream import Moved
from tidings.kernel.sql import Queries

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

    from tidings.kernel.nats_bus.stream import JetStream

#: The group that has applied the event already, where there is one.
APPLIED_BY: Final = "Tidings-Applied-By"
_ID: Final = "Nats-Msg-Id"
_EXPECTED_LAST: Final = "Nats-Expected-Last-Sequence"
_EXPECTED_LAST_ID: Final = "Nats-Expected-Last-Msg-Id"
#: JetStream's numbers for a message whose place is not the expected one.
_WRONG_LAST: Final = frozenset({10070, 10071})
#: Not JetStream's: there was nobody to answer.
_NOBODY: Final = -1
#: How long a set may take to be confirmed, in seconds.
_SECONDS: Final = 5.0


_NOTHING: Final = Moved(count=0, last_seq=0, lag_seconds=0.0, left_some=False)


class _Message(NamedTuple):
    subject: str
    payload: bytes
    headers: dict[str, str]


class _Ack(msgspec.Struct):
    """JetStream's answer to a publication."""

    seq: int = 0
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(_Ack).decode


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


class NatsMover:
    """The mover of one outbox."""

    def __init__(self, stream: "JetStream", schema: LiteralString) -> None:
        self._stream = stream
        self._queries = _queries(schema)
        #: The last set was not confirmed whole: the next one goes one by one.
        self._carefully = False

    async def prepare(self) -> None:
        """See that NATS is there, and the stream on it."""
        await self._stream.ensure()

    async def move(self, tx: WorkerTx, *, settled: int, limit: int) -> Moved:
        """Publish the lowest numbers above `settled`, and delete those that were confirmed."""
        rows = await tx.fetch(self._queries.waiting_events, settled=settled, limit=limit)
        if rows[0]["engine"] != "nats":
            # The next look at the stream says so.
            self._stream.forget()
            return _NOTHING
        if rows[0]["seq"] is None:
            return _NOTHING
        client = await self._stream.connection.client()
        messages = _messages(self._stream.name, rows, most_bytes=client.max_payload)
        if self._carefully:
            places, fault = await self._one_by_one(client, messages)
        else:
            places, fault = await self._at_once(client, messages, after=rows[0]["last_position"])
        self._carefully = fault is not None
        if not places:
            return self._nothing(fault)
        confirmed = [row["seq"] for row in rows[: len(places)]]
        lag = await tx.fetch_value(self._queries.confirm_events, seqs=confirmed, last_position=max(places))
        left = len(confirmed) < len(rows) or len(rows) >= limit
        return Moved(count=len(confirmed), last_seq=confirmed[-1], lag_seconds=lag or 0.0, left_some=left)

    def _nothing(self, fault: TidingsError | None) -> Moved:
        if isinstance(fault, JetStreamError) and fault.number in _WRONG_LAST:
            # Something is on the stream that we have not heard of: our own set, as a rule, whose confirmation was lost.
            return replace(_NOTHING, left_some=True)
        self._stream.forget()
        raise fault or BusUnavailableError("NATS: nothing was confirmed")

    async def _at_once(
        self, client: "Client", messages: Sequence[_Message], *, after: int
    ) -> tuple[list[int], TidingsError | None]:
        """Publish all, then wait; the places of those at the beginning that were confirmed."""
        acks: dict[int, _Ack] = {}
        over = asyncio.Event()
        inbox = client.new_inbox()

        async def heard(answer: "Msg") -> None:
            acks[int(answer.subject.rpartition(".")[2])] = _read(answer)
            if len(acks) == len(messages):
                over.set()

        subscription = await self._stream.connection.subscribe(f"{inbox}.*", heard)
        try:
            async with asyncio.timeout(_SECONDS):
                link = {_EXPECTED_LAST: str(after)}
                for number, (subject, payload, headers) in enumerate(messages):
                    await client.publish(subject, payload, reply=f"{inbox}.{number}", headers=headers | link)
                    # By both: a number would fit again as soon as somebody else's message has filled a gap, and an id as
                    # soon as a message of a relay that was killed has brought the event before, behind one that is refused.
                    link = {_EXPECTED_LAST: str(after + number + 1), _EXPECTED_LAST_ID: headers[_ID]}
                await self._stream.connection.until(over)
        except (TimeoutError, nats.errors.Error, OSError) as broken:
            fault: TidingsError | None = BusUnavailableError(
                f"NATS: publishing failed ({type(broken).__name__})"
            )
        else:
            fault = None
        await self._stream.connection.unsubscribe(subscription)
        places: list[int] = []
        for number in range(len(messages)):
            ack = acks.get(number)
            if ack is None or ack.error is not None:
                return places, fault or _fault(ack)
            places.append(ack.seq)
        return places, None

    async def _one_by_one(
        self, client: "Client", messages: Sequence[_Message]
    ) -> tuple[list[int], TidingsError | None]:
        """Publish each when the last one was confirmed."""
        places: list[int] = []
        try:
            async with asyncio.timeout(_SECONDS):
                for subject, payload, headers in messages:
                    answer = await client.request(subject, payload, timeout=_SECONDS, headers=headers)
                    ack = _read(answer)
                    if ack.error is not None:
                        return places, _fault(ack)
                    places.append(ack.seq)
        except (TimeoutError, nats.errors.Error, OSError) as broken:
            return places, BusUnavailableError(f"NATS: publishing failed ({type(broken).__name__})")
        return places, None


def _messages(prefix: str, rows: Sequence[Row], *, most_bytes: int) -> list[_Message]:
    """What is published for these rows, up to the first that is too large."""
    messages: list[_Message] = []
    for row in rows:
        event = from_row(row)
        headers = {_ID: event.id, "Content-Type": CONTENT_TYPE}
        if row["applied_by"] is not None:
            headers[APPLIED_BY] = row["applied_by"]
        payload = to_cloudevent(event)
        # The headers count too.
        if len(payload) + 1_000 > most_bytes:
            if messages:
                break
            raise JetStreamError(
                0,
                f"event {event.id} has {len(payload)} bytes, more than max_payload of the server; it and those behind it wait "
                "in the outbox until that is raised",
            )
        messages.append(_Message(subject_of(prefix, event.tenant_id, event.subject), payload, headers))
    return messages


def _read(answer: "Msg") -> _Ack:
    if answer.headers and answer.headers.get("Status") == "503":
        return _Ack(error={"err_code": _NOBODY})
    return _decode(answer.data)


def _fault(ack: _Ack | None) -> TidingsError:
    if ack is None or ack.error is None:
        return BusUnavailableError("NATS: a publication was not confirmed")
    if ack.error.get("err_code") == _NOBODY:
        # The stream is gone, which the next look at it says, or its cluster elects a leader.
        return BusUnavailableError("NATS: nobody takes events")
    return JetStreamError(ack.error.get("err_code", 0), str(ack.error.get("description")))
