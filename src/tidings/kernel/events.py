"""An event: something that happened, published on the bus, in the CloudEvents 1.0 form.

The payload is JSON text from the moment an event is made. The outbox, the stream and the dead letters carry
it as it is: no relay looks inside, and none pays for parsing it.

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
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import EVENT, EventId, TenantId

SPEC_VERSION = "1.0"
#: The media type of one event, and of a list of them, in structured mode.
CONTENT_TYPE = "application/cloudevents+json"
BATCH_CONTENT_TYPE = "application/cloudevents-batch+json"

_SUBJECT = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*\.v[1-9][0-9]*")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_SCHEMA_VERSION = re.compile(r"[1-9][0-9]*\.[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
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
    #: When it happened.
    time: datetime
    #: The trace it belongs to, in the W3C form.
    traceparent: str | None = None
    #: The version of the payload's schema; the minor number grows with every field added.
    schema_version: str = "1.0"

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
    schema_version: str = "1.0",
) -> Event:
    """An event that happens now; `data` is anything msgspec can write as JSON."""
    return checked(
        Event(
            id=EVENT.new(now := clock.now()),
            tenant_id=tenant_id,
            subject=subject,
            ordering_key=ordering_key,
            data=msgspec.json.encode(data).decode(),
            source=source,
            time=now,
            traceparent=traceparent,
            schema_version=schema_version,
        )
    )


def checked(event: Event) -> Event:
    """The same event; a `BadValueError` naming the field where one does not keep to its form."""
    if len(event.subject) > 200 or not _SUBJECT.fullmatch(event.subject):
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


_encode = msgspec.json.Encoder().encode
_decode_envelope = msgspec.json.Decoder(_Envelope).decode


def envelope_of(event: Event) -> str:
    """The CloudEvents attributes without the data, as JSON text: what the outbox keeps beside the payload."""
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


def from_stored(envelope: str, data: str) -> Event:
    """The event behind an envelope and a payload that we wrote ourselves."""
    read = _decode_envelope(envelope)
    return Event(
        id=EventId(read.id),
        tenant_id=TenantId(read.tenantid) if read.tenantid is not None else None,
        subject=read.type,
        ordering_key=read.partitionkey,
        data=data,
        source=read.source,
        time=read.time.astimezone(UTC),
        traceparent=read.traceparent,
        schema_version=read.schemaversion,
    )


def to_cloudevent(event: Event) -> bytes:
    """The event in structured mode: one JSON object."""
    # The payload is JSON already; it is set into the envelope as it is.
    return f'{envelope_of(event)[:-1]},"data":{event.data}}}'.encode()
