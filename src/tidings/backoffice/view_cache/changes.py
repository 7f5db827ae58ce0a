"""Changes that upstream services tell of: read from their events, announced to every process, each once."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from tidings.backoffice.upstreams.names import UPSTREAMS
from tidings.backoffice.view_cache.keys import ViewKey
from tidings.contracts.received_events import EventReceived
from tidings.kernel.events import Event

#: What changes are announced under, beside the names of tables: `upstream {tenant}/{subject}/{service}`.
UPSTREAM_CHANGES: Final = "upstream"
_TYPE: Final = re.compile(rf"upstream\.({'|'.join(UPSTREAMS)})\.changed")
_SUBJECT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
#: More of one tenant at once are one change of everything: a note has room for few.
_MOST: Final = 50


class UpstreamChange(NamedTuple):
    """Something at a service is different."""

    tenant_id: str
    upstream: str
    #: The property, or the operator; empty where the service does not say.
    subject: str

    @classmethod
    def read(cls, key: str) -> "UpstreamChange | None":
        """One that was announced."""
        tenant_id, _, rest = key.partition("/")
        subject, _, upstream = rest.partition("/")
        return cls(tenant_id, upstream, subject) if upstream in UPSTREAMS else None

    @property
    def key(self) -> str:
        """How it is announced."""
        return f"{self.tenant_id}/{self.subject}/{self.upstream}"

    def concerns(self, key: ViewKey) -> bool:
        """Whether a view may say something else now."""
        return (
            key.tenant_id == self.tenant_id
            and self.upstream in key.sources
            and (key.property_id is None or self.subject in ("", key.property_id))
        )


def is_change(event: Event) -> bool:
    """Whether an event tells of one; what a test key sends changes nothing that is live."""
    received: EventReceived = event.payload_as(EventReceived)
    return _TYPE.fullmatch(received.type) is not None and not received.is_test


def changes_in(tenant_id: str, events: Sequence[Event]) -> list[UpstreamChange]:
    """What they tell of, each once; a subject that can be none of ours stands for all."""
    found: dict[UpstreamChange, None] = {}
    for event in events:
        received: EventReceived = event.payload_as(EventReceived)
        kind = _TYPE.fullmatch(received.type)
        if kind is not None:
            subject = received.subject or ""
            known = subject if _SUBJECT.fullmatch(subject) else ""
            found[UpstreamChange(tenant_id, kind[1], known)] = None
    if len(found) > _MOST:
        return [UpstreamChange(tenant_id, name, "") for name in dict.fromkeys(c.upstream for c in found)]
    return list(found)
