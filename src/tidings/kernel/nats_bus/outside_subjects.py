"""Subjects of others on JetStream: which stream keeps them, and the durable consumer under which Tidings reads them.

The consumer stays when nobody reads, so that nothing is missed meanwhile; on a stream that forgets what all have read, its
being there is what keeps messages. It is made once, and goes with its subscription.
"""

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any, Final, NamedTuple

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.errors import BadValueError
from tidings.kernel.nats_bus.api import NO_CONSUMER, NO_STREAM, ask
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.filters import covers, cross
from tidings.kernel.nats_bus.outside_reading import NatsOutsideReading
from tidings.kernel.outside_subjects import OutsideInterest, OutsideSubjectError

#: How long a stream keeps messages that Tidings made for a subject, and how many bytes of them at most.
KEEP: Final = timedelta(days=7)
KEEP_BYTES: Final = 256 * 1024 * 1024
_SECOND: Final = 1_000_000_000
_NAME_TAKEN: Final = 10058
_CONSUMER_TAKEN: Final = frozenset({10105, 10148})
#: Under this key of a stream's metadata stands that Tidings made it for a subscription.
_MADE: Final = "tidings_made_for"
_WORD: Final = re.compile(r"[^\s.*>\x00-\x1f\x7f]+|\*")
_LONGEST: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideSettings:
    """How messages of others are read."""

    #: Messages of one set at most.
    batch: int = 500
    #: Messages that were sent and not acknowledged come again after this; whoever takes over from a reader that died waits for it.
    ack_wait: timedelta = timedelta(seconds=10)


class _Stream(NamedTuple):
    name: str
    own: bool
    config: Mapping[str, Any]
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NatsOutsideSubjects:
    """The kernel's `OutsideSubjects` over JetStream."""

    connection: NatsConnection
    settings: OutsideSettings = field(default_factory=OutsideSettings)

    def check(self, subject: str) -> None:
        """A `BadValueError` for what is no subject of NATS, or one of Tidings' or the broker's own."""
        words = subject.split(".")
        rest = words[-1] == ">"
        plain = words[:-1] if rest else words
        if len(subject) > _LONGEST or not all(_WORD.fullmatch(word) for word in plain):
            raise BadValueError(
                "subject",
                "must be words with dots between them, such as pms.*.reservation.>; * is one word, > at the end is the rest",
            )
        if words[0] in ("*", ">"):
            raise BadValueError(
                "subject", "must begin with a word: what begins with * or > has Tidings' own events in it"
            )
        prefix = self.connection.address.prefix
        if words[0] in (prefix, f"{prefix}-requests") or words[0].startswith(("$", "_INBOX")):
            raise BadValueError(
                "subject",
                f"is one of Tidings' own or of the broker's ({words[0][:60]}.…); name a subject that another system publishes on",
            )

    async def locate(self, subject: str) -> str | None:
        """The stream that keeps all of these messages; None where there is none yet."""
        found = await self._find(subject)
        return found.name if found is not None else None

    async def prepare(self, interest: OutsideInterest) -> None:
        """The stream and the consumer are there."""
        await self._prepare(interest)

    async def open(self, interest: OutsideInterest) -> NatsOutsideReading:
        """Read what the consumer has; what another process was sent and has not acknowledged comes first."""
        stream = await self._prepare(interest)
        reading = NatsOutsideReading(
            self.connection,
            stream=stream.name,
            own_stream=stream.own,
            consumer=self._consumer(interest),
            batch=self.settings.batch,
        )
        try:
            await reading.begin()
        except BaseException:
            await reading.close()
            raise
        return reading

    async def remove(self, interest: OutsideInterest) -> None:
        """Delete the consumer; and the stream that was made for such subjects, when nobody else reads it."""
        for name in {interest.stream, self._own_name(interest)} - {None}:
            with contextlib.suppress(JetStreamError):
                await self._ask(f"CONSUMER.DELETE.{name}.{self._consumer(interest)}")
            stream = await self._look(str(name))
            if stream is not None and stream.own and stream.state.get("consumer_count", 0) == 0:
                with contextlib.suppress(JetStreamError):
                    await self._ask(f"STREAM.DELETE.{name}")

    async def _prepare(self, interest: OutsideInterest) -> _Stream:
        stream = await self._find(interest.subject)
        if stream is None:
            stream = await self._make_stream(interest)
        where = f"{stream.name}.{self._consumer(interest)}"
        try:
            await self._ask(f"CONSUMER.INFO.{where}")
        except JetStreamError as error:
            if error.number != NO_CONSUMER:
                raise
            await self._make_consumer(stream, interest)
        return stream

    async def _find(self, subject: str) -> _Stream | None:
        answer = await self._ask("STREAM.NAMES", subject=subject)
        names: Sequence[str] = answer.get("streams") or ()
        for name in names:
            stream = await self._look(name)
            if stream is None:
                continue
            subjects = stream.config.get("subjects") or ()
            if any(covers(one, subject) for one in subjects):
                return stream
            shared = sorted(one for one in subjects if cross(one, subject))
            raise OutsideSubjectError(
                f"the stream {name} keeps only a part of {subject} ({', '.join(shared)[:200]}): subscribe to that, or let the "
                "stream keep all of it"
            )
        return None

    async def _look(self, name: str) -> _Stream | None:
        try:
            answer = await self._ask(f"STREAM.INFO.{name}")
        except JetStreamError as error:
            if error.number == NO_STREAM:
                return None
            raise
        config = answer["config"]
        own = _MADE in (config.get("metadata") or {})
        return _Stream(name, own, config, answer["state"])

    async def _make_stream(self, interest: OutsideInterest) -> _Stream:
        name, address = self._own_name(interest), self.connection.address
        config: dict[str, Any] = {
            "name": name,
            "description": f"made by Tidings for the event subscription {interest.name}",
            "subjects": [interest.subject],
            "retention": "limits",
            "discard": "old",
            "max_age": int(KEEP.total_seconds()) * _SECOND,
            "max_bytes": KEEP_BYTES,
            "storage": "file",
            "num_replicas": address.replicas or 1,
            "metadata": {_MADE: interest.id},
        }
        try:
            await self._ask(f"STREAM.CREATE.{name}", **config)
        except JetStreamError as error:
            if error.number != _NAME_TAKEN:
                raise
        stream = await self._look(name)
        if stream is None:
            raise BusUnavailableError("NATS: a stream that was just made is gone")
        return stream

    async def _make_consumer(self, stream: _Stream, interest: OutsideInterest) -> None:
        name = self._consumer(interest)
        config: dict[str, Any] = {
            "durable_name": name,
            "name": name,
            "description": f"Tidings, event subscription {interest.name}",
            "ack_policy": "explicit",
            "ack_wait": int(self.settings.ack_wait.total_seconds() * _SECOND),
            "max_deliver": -1,
            "max_ack_pending": 2 * self.settings.batch,
            "max_waiting": 16,
            "filter_subject": interest.subject,
            **_start(stream, interest),
        }
        try:
            await self._ask(
                f"CONSUMER.CREATE.{stream.name}.{name}.{interest.subject}",
                stream_name=stream.name,
                config=config,
                action="create",
            )
        except JetStreamError as error:
            if error.number not in _CONSUMER_TAKEN:  # Another process was quicker.
                raise

    def _consumer(self, interest: OutsideInterest) -> str:
        return f"{self.connection.address.prefix}-{interest.id}"

    def _own_name(self, interest: OutsideInterest) -> str:
        return f"{self.connection.address.prefix}-outside-{interest.id}"

    async def _ask(self, verb: str, **payload: Any) -> dict[str, Any]:
        return await ask(self.connection, verb, **payload)


def _start(stream: _Stream, interest: OutsideInterest) -> dict[str, Any]:
    """Where the consumer begins. Most of all it goes on: the broker may have forgotten it, or was set up anew."""
    if stream.config.get("retention") == "workqueue":
        # What was read is gone from there, and it allows nothing else.
        return {"deliver_policy": "all"}
    if interest.position and interest.stream == stream.name:
        if stream.state["last_seq"] < interest.position:
            return {"deliver_policy": "all"}
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": interest.position + 1}
    if interest.since is None:
        return {"deliver_policy": "all"}
    return {
        "deliver_policy": "by_start_time",
        "opt_start_time": interest.since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
    }
