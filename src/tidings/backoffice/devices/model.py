"""A device as it is known, and what it says of itself; no I/O."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tidings.backoffice.ids import DeviceId, DeviceSyncId, OfflineHintId, OperatorId
from tidings.kernel.ids import TenantId

DeviceStatus: TypeAlias = Literal["online", "offline", "signed_out"]

#: Silence after which a device is offline.
OFFLINE_AFTER: Final = timedelta(minutes=5)
#: How often a device is to say that it is there.
HEARTBEAT_EVERY: Final = timedelta(minutes=1)
#: How long what a device queued while offline is kept.
HINTS_KEPT: Final = timedelta(days=7)

_WORD: Final = r"^[A-Za-z0-9][A-Za-z0-9_.+ -]{0,39}\Z"
_ID: Final = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}\Z"
#: A version, a platform: words of a program.
Word = Annotated[str, Meta(pattern=_WORD, description="letters, digits, spaces and _ . + - , 40 at most")]
ResourceId = Annotated[str, Meta(pattern=_ID, description="an id: letters, digits and _ . : - , 64 at most")]
#: How the device is connected, as it sees it.
NetworkProfile = Literal["ethernet", "wifi", "cellular", "metered", "offline", "unknown"]


class DeviceSays(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a device says of itself; what is left out stays as it was."""

    app_version: Word | None = None
    app_platform: Word | None = None
    #: By which its application is brought up to date, such as `stable` or `beta`.
    installer_channel: Word | None = None
    network_profile: NetworkProfile | None = None
    #: Where it stands; its operator needs a right to it.
    property_id: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class OfflineHint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Some actions that a device has queued while it was offline: what they are, how many, and of which things."""

    kind: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_.]{0,63}\Z", description="a lower-case name")]
    count: Annotated[int, Meta(ge=1, le=100_000)]
    resource_ids: Annotated[list[ResourceId], Meta(max_length=50)] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedDevice:
    """A device as it is kept."""

    tenant_id: TenantId
    id: DeviceSyncId
    device_id: DeviceId
    property_id: str | None
    operator_id: OperatorId | None
    status: DeviceStatus
    last_heartbeat_at: datetime | None
    last_sync_handshake_at: datetime | None
    last_pull_cursor: str | None
    last_push_ack: str | None
    cursor_version: int
    app_version: str | None
    app_platform: str | None
    installer_channel: str
    network_profile: str | None
    pending_hints: str
    offline_since: datetime | None
    #: Whether somebody is signed in on it.
    is_signed_in: bool

    @property
    def hints(self) -> list[OfflineHint]:
        """What it said last that it has queued."""
        return msgspec.json.decode(self.pending_hints, type=list[OfflineHint])


@dataclass(frozen=True, slots=True, kw_only=True)
class HintReport:
    """What a device said at one moment that it had queued."""

    id: OfflineHintId
    device_id: DeviceId
    operator_id: OperatorId
    reported_at: datetime
    payload: str
    app_version: str

    @property
    def hints(self) -> list[OfflineHint]:
        """What it had queued."""
        return msgspec.json.decode(self.payload, type=list[OfflineHint])


def alert_key(device_id: str) -> str:
    """What is the same outage."""
    return f"device_offline:{device_id}"
