"""An event that another system sent, and what became of it when it came."""

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from tidings.kernel.db import CallerRole
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import SPEC_VERSION
from tidings.kernel.ids import EventId, TenantId, time_of
from tidings.kernel.refusals import RefusalError

#: Whose key of the tenant seals what events say.
SEALED_FOR: Final = "_tenant/events"
#: An ordering key that is longer is hashed.
_LONGEST_KEY: Final = 200
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSender:
    """Who sends events: a caller of the API."""

    #: None: the platform itself, which names no tenant.
    tenant_id: TenantId | None
    role: CallerRole
    is_test: bool
    scopes: frozenset[str]


class EventContent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an event says beyond its facts; sealed where it is kept, because it may be about people."""

    #: Any JSON, as it was sent; unset: there is none.
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    #: Attributes beyond those of the standard.
    extensions: dict[str, str | int | bool] = {}
    datacontenttype: str | None = None
    dataschema: str | None = None

    @property
    def traceparent(self) -> str | None:
        """The trace that it belongs to, as the extension of that name says."""
        said = self.extensions.get("traceparent")
        return said if isinstance(said, str) and _TRACEPARENT.fullmatch(said) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEvent:
    """An event as its sender wrote it, in order by itself."""

    id: str
    source: str
    type: str
    #: None: when it came.
    time: datetime | None
    subject: str | None
    content: EventContent = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedEvent:
    """An event that came, under an id of ours."""

    tenant_id: TenantId
    id: EventId
    source: str
    #: Its sender's id of it.
    source_event_id: str
    type: str
    subject: str | None
    happened_at: datetime
    is_test: bool
    content: EventContent = field(repr=False)

    @property
    def received_at(self) -> datetime:
        """When it came: the time inside its id."""
        return time_of(self.id)

    @property
    def is_timed(self) -> bool:
        """Whether its sender said when it happened; otherwise that is the moment it came, to the millisecond."""
        return not timedelta() <= self.happened_at - self.received_at < timedelta(milliseconds=1)

    @property
    def has_data(self) -> bool:
        """Whether it says anything beyond its attributes."""
        return self.content.data is not msgspec.UNSET

    @property
    def data(self) -> Any:
        """What it says; None where it says nothing."""
        return _decode(self.content.data) if isinstance(self.content.data, msgspec.Raw) else None

    @property
    def ordering_key(self) -> str:
        """Events about one subject keep their order; others have none among each other."""
        if self.subject is None:
            return self.id
        key = f"{self.source} {self.subject}"
        if len(key) <= _LONGEST_KEY:
            return key
        return "sha256:" + hashlib.sha256(key.encode()).hexdigest()

    def scope(self) -> dict[str, Any]:
        """The CloudEvent as a dict, as conditions and paths see it: `$.data.guest`, `$.time`, `$.subject`."""
        found: dict[str, Any] = {
            **self.content.extensions,
            "specversion": SPEC_VERSION,
            "id": self.source_event_id,
            "source": self.source,
            "type": self.type,
            "time": self.happened_at.isoformat().replace("+00:00", "Z"),
        }
        if self.subject is not None:
            found["subject"] = self.subject
        if self.content.dataschema is not None:
            found["dataschema"] = self.content.dataschema
        if self.has_data:
            found["datacontenttype"] = self.content.datacontenttype or "application/json"
            found["data"] = self.data
        return found


@dataclass(frozen=True, slots=True)
class AcceptedEvent:
    """It is durable, under this id; a repeat has the id of the first time."""

    id: EventId
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """It was not accepted, and nothing of it was kept."""

    error: RefusalError | BadValueError


#: What became of one event of a set.
EventOutcome = AcceptedEvent | RefusedEvent


def identity_hash(sender: EventSender, source: str, id_: str) -> bytes:
    """Which event this is: source and id say so, among the events of one sender."""
    who = "platform" if sender.tenant_id is None else "test" if sender.is_test else "live"
    digest = hashlib.sha256()
    for part in (who, source, id_):
        text = part.encode()
        digest.update(b"%d:" % len(text))
        digest.update(text)
    return digest.digest()
