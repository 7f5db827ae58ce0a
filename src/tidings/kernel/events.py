"""An event: something that happened, published on the bus, in the CloudEvents 1.0 form.

The payload is JSON text from the moment an event is made. The outbox, the stream and the dead letters carry
it as it is: no relay looks inside, and none pays for parsing it.

A row of the outbox and of the stream has columns for id, tenant, type and key. Its `envelope` holds the attributes
that these do not say: the source, the trace, a time other than the id's, a schema version other than 1.0.
Events that are set aside, and dead letters, keep the whole envelope; so do rows of before.

| here            | CloudEvents attribute          |
|-----------------|--------------------------------|
| `id`            | `id`                           |
| `subject`       | `type`: `tenant.created.v1`    |
| `source`        | `source`: `/tidings/notify`    |
| `time`          | `time`                         |
| `data`          | `data`                         |
| `tenant_id`     | `tenantid`, left out for none  |
| `ordering_key`  | `partitionkey`                 |
| `traceparent`   | `traceparent`                  |
| `schema_version`| `schemaversion`: `1.0`         |
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import EVENT, EventId, TenantId, time_of

SPEC_VERSION = "1.0"
#: The version of a payload's schema that needs no mention.
_FIRST_SCHEMA: Final = "1.0"
#: The media type of one event, and of a list of them, in structured mode.
CONTENT_TYPE = "application/cloudevents+json"
BATCH_CONTENT_TYPE = "application/cloudevents-batch+json"

_SUBJECT = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*\.v[1-9][0-9]*")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_SCHEMA_VERSION = re.compile(r"[1-9][0-9]*\.[0-9]+")


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened; ids and facts, never an address, a body or a secret."""

    #: Which event this is; a consumer remembers it and does nothing the second time.
    id: EventId
    #: Whose event it is; None for the platform's own.
    tenant_id: TenantId | None
    #: What happened, in which version: `tenant.created.v1`.
    subject: str
    #: Events of one tenant with one key arrive in the order in which they were committed.
    ordering_key: str
    #: The payload, as JSON text.
    data: str
    #: Which part of which installation says so: `/tidings/notify`.
    source: str
    #: When it happened, where that is not the moment inside its id.
    happened_at: datetime | None = None
    #: The trace it belongs to, in the W3C form.
    traceparent: str | None = None
    #: The version of the payload's schema; the minor number grows with every field added.
    schema_version: str = _FIRST_SCHEMA

    @property
    def time(self) -> datetime:
        """When it happened."""
        return time_of(self.id) if self.happened_at is None else self.happened_at

    @property
    def lane(self) -> str:
        """Where order holds: the key within its tenant, so that one tenant never holds up another."""
        return f"{self.tenant_id or ''}/{self.ordering_key}"

    def payload(self) -> Any:
        """The payload, parsed."""
        return msgspec.json.decode(self.data)

    def payload_as(self, type_: type[Any]) -> Any:
        """The payload as a contract's type."""
        return msgspec.json.decode(self.data, type=type_)


def new_event(
    subject: str,
    data: Any,
    *,
    tenant_id: TenantId | None,
    ordering_key: str,
    source: str,
    clock: Clock,
    traceparent: str | None = None,
    schema_version: str = _FIRST_SCHEMA,
) -> Event:
    """An event that happens now, to the millisecond; `data` is anything msgspec can write as JSON."""
    return checked(
        Event(
            id=EVENT.new(clock.now()),
            tenant_id=tenant_id,
            subject=subject,
            ordering_key=ordering_key,
            data=_encode(data).decode(),
            source=source,
            traceparent=traceparent,
            schema_version=schema_version,
        )
    )


def checked(event: Event) -> Event:
    """The same event; a `BadValueError` naming the field where one does not keep to its form."""
    if not _is_subject(event.subject):
        raise BadValueError(
            "type", "must be dotted lower-case words ending in a version, like tenant.created.v1"
        )
    if not 1 <= len(event.ordering_key) <= 200 or not event.ordering_key.isprintable():
        raise BadValueError("partitionkey", "must have 1 to 200 printable characters")
    if not 1 <= len(event.source) <= 200 or not event.source.isprintable():
        raise BadValueError("source", "must have 1 to 200 printable characters")
    if event.traceparent is not None and not _TRACEPARENT.fullmatch(event.traceparent):
        raise BadValueError("traceparent", "must have the W3C form 00-<32 hex>-<16 hex>-<2 hex>")
    if not _SCHEMA_VERSION.fullmatch(event.schema_version):
        raise BadValueError("schemaversion", "must have the form 1.0")
    return event


@lru_cache(maxsize=1_000)
def _is_subject(text: str) -> bool:
    """There are a few dozen, in millions of events."""
    return len(text) <= 200 and _SUBJECT.fullmatch(text) is not None


class _Envelope(msgspec.Struct, omit_defaults=True, frozen=True):
    """All attributes but the data, under their CloudEvents names and in their usual order."""

    specversion: str
    id: str
    source: str
    type: str
    time: datetime
    partitionkey: str
    schemaversion: str
    datacontenttype: str
    tenantid: str | None = None
    traceparent: str | None = None


class _Attributes(msgspec.Struct, omit_defaults=True, frozen=True):
    """Those that a row's columns do not say; a whole envelope has them too."""

    source: str
    time: datetime | None = None
    schemaversion: str = _FIRST_SCHEMA
    traceparent: str | None = None


_encode = msgspec.json.Encoder().encode
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_attributes = msgspec.json.Decoder(_Attributes).decode


def envelope_of(event: Event) -> str:
    """The CloudEvents attributes without the data, as JSON text."""
    return _encode(
        _Envelope(
            specversion=SPEC_VERSION,
            id=event.id,
            source=event.source,
            type=event.subject,
            time=event.time,
            partitionkey=event.ordering_key,
            schemaversion=event.schema_version,
            datacontenttype="application/json",
            tenantid=event.tenant_id,
            traceparent=event.traceparent,
        )
    ).decode()


def attributes_of(event: Event) -> str:
    """The attributes that the columns of the event's row do not say, as JSON text: the `envelope` of outbox and stream."""
    return _encode(
        _Attributes(
            source=event.source,
            time=event.happened_at,
            schemaversion=event.schema_version,
            traceparent=event.traceparent,
        )
    ).decode()


def usual_attributes(source: str, traceparent: str | None) -> str:
    """The same for an event of the first schema that happens at the moment inside its id."""
    return _encode(_Attributes(source=source, traceparent=traceparent)).decode()


def from_row(row: Mapping[str, Any]) -> Event:
    """The event behind a row of the outbox or the stream."""
    read: _Attributes = _decode_attributes(row["envelope"])
    id_: EventId = row["id"]
    return Event(
        id=id_,
        tenant_id=row["tenant_id"],
        subject=row["subject"],
        ordering_key=row["ordering_key"],
        data=row["payload"],
        source=read.source,
        happened_at=_unless_in(id_, read.time),
        traceparent=read.traceparent,
        schema_version=read.schemaversion,
    )


def from_stored(envelope: str, data: str) -> Event:
    """The event behind a whole envelope and a payload that we wrote ourselves."""
    read = _decode_envelope(envelope)
    return Event(
        id=EventId(read.id),
        tenant_id=TenantId(read.tenantid) if read.tenantid is not None else None,
        subject=read.type,
        ordering_key=read.partitionkey,
        data=data,
        source=read.source,
        happened_at=_unless_in(read.id, read.time),
        traceparent=read.traceparent,
        schema_version=read.schemaversion,
    )


class _Structured(_Envelope, frozen=True, kw_only=True):
    """An event in structured mode; its data as it stands there."""

    data: msgspec.Raw


_decode_structured = msgspec.json.Decoder(_Structured).decode


def from_cloudevent(text: bytes) -> Event:
    """The event behind one JSON object that we wrote ourselves, with `to_cloudevent`."""
    read = _decode_structured(text)
    return Event(
        id=EventId(read.id),
        tenant_id=TenantId(read.tenantid) if read.tenantid is not None else None,
        subject=read.type,
        ordering_key=read.partitionkey,
        data=bytes(read.data).decode(),
        source=read.source,
        happened_at=_unless_in(read.id, read.time),
        traceparent=read.traceparent,
        schema_version=read.schemaversion,
    )


def _unless_in(id_: str, time: datetime | None) -> datetime | None:
    return None if time is None or time == time_of(id_) else time.astimezone(UTC)


def to_cloudevent(event: Event) -> bytes:
    """The event in structured mode: one JSON object."""
    # The payload is JSON already; it is set into the envelope as it is.
    return f'{envelope_of(event)[:-1]},"data":{event.data}}}'.encode()
