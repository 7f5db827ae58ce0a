"""An announcement and who hears it; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NewType, TypeAlias, get_args

import msgspec

from tidings.backoffice.properties.access import holds_property
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import IdKind, TenantId

AnnouncementId = NewType("AnnouncementId", str)
ANNOUNCEMENT = IdKind("ann", AnnouncementId)

#: What an announcement is about; each is an event type of the stream.
Channel: TypeAlias = Literal["alerts", "ai_inbox", "dashboard", "devices", "preferences", "workbench"]
CHANNELS: Final[frozenset[str]] = frozenset(get_args(Channel))
#: Bytes of facts: ids and counts, and no content.
MOST_FACTS: Final = 2_000

Facts: TypeAlias = Mapping[str, str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAnnouncement:
    """What is to be told, and to whom: who has a right to the property, the operator, the device; all that is named has to fit."""

    channel: Channel
    property_id: str | None = None
    operator_id: str | None = None
    device_id: str | None = None
    facts: Facts

    def encoded(self) -> str:
        """The facts as JSON."""
        text = msgspec.json.encode(self.facts).decode()
        if len(text) > MOST_FACTS:
            raise ValueError(f"an announcement holds ids and counts, {MOST_FACTS} bytes at most")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """One that was told."""

    #: None: the platform's.
    tenant_id: TenantId | None
    id: AnnouncementId
    #: Its place among those of the tenant: the first is 1, and none is missing.
    number: int
    channel: str
    property_id: str | None
    operator_id: str | None
    device_id: str | None
    #: JSON.
    facts: str
    told_at: datetime

    def is_for(self, caller: Caller) -> bool:
        """Whether somebody on a device hears it, by the rights that they have now."""
        return (
            (self.device_id is None or self.device_id == caller.device_id)
            and (self.operator_id is None or self.operator_id == caller.id)
            and (self.property_id is None or holds_property(caller.properties, self.property_id))
        )
