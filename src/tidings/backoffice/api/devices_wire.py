"""Devices as JSON: what they say of themselves, and what answers show."""

from typing import Annotated

from msgspec import Meta, Struct

from tidings.backoffice.credentials.device_proofs import PublicKey
from tidings.backoffice.devices.model import (
    HEARTBEAT_EVERY,
    OFFLINE_AFTER,
    DeviceSays,
    DeviceStatus,
    HintReport,
    OfflineHint,
    SyncedDevice,
    Word,
)
from tidings.contracts.moments import Moment
from tidings.kernel.http.paging import PageQuery


class Handshake(DeviceSays, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a device says when its application starts."""

    #: Binds the session to this key: from then on each request of it brings a proof in the header Device-Proof.
    public_key: PublicKey | None = None


class DeviceView(Struct, frozen=True, kw_only=True):
    """A device of an operator."""

    id: str
    device_id: str
    property_id: str | None
    #: Who was on it last.
    operator_id: str | None
    #: What they are called, for who may read operators.
    operator_name: str | None = None
    status: DeviceStatus
    is_signed_in: bool
    last_heartbeat_at: Moment | None
    last_sync_handshake_at: Moment | None
    #: When its outage was noticed.
    offline_since: Moment | None
    cursor_version: int
    last_push_ack: str | None
    app_version: str | None
    app_platform: str | None
    installer_channel: str
    network_profile: str | None
    #: What it said last that it has queued while offline.
    pending_hints: list[OfflineHint]

    @classmethod
    def of(cls, device: SyncedDevice, operator_name: str | None = None) -> "DeviceView":
        """What is shown of it."""
        return cls(
            id=device.id,
            device_id=device.device_id,
            property_id=device.property_id,
            operator_id=device.operator_id,
            operator_name=operator_name,
            status=device.status,
            is_signed_in=device.is_signed_in,
            last_heartbeat_at=device.last_heartbeat_at,
            last_sync_handshake_at=device.last_sync_handshake_at,
            offline_since=device.offline_since,
            cursor_version=device.cursor_version,
            last_push_ack=device.last_push_ack,
            app_version=device.app_version,
            app_platform=device.app_platform,
            installer_channel=device.installer_channel,
            network_profile=device.network_profile,
            pending_hints=device.hints,
        )


class HandshakeView(Struct, frozen=True, kw_only=True):
    """Where a device stands, and how it is to go on."""

    device: DeviceView
    pull_cursor: str | None
    server_time: Moment
    #: Whether each request of this session needs a proof.
    needs_proof: bool
    heartbeat_seconds: int = int(HEARTBEAT_EVERY.total_seconds())
    offline_after_seconds: int = int(OFFLINE_AFTER.total_seconds())


class CursorView(Struct, frozen=True, kw_only=True):
    """How far a device has pulled."""

    pull_cursor: str | None
    cursor_version: int


class PutCursor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far it has come."""

    pull_cursor: Annotated[
        str,
        Meta(pattern=r"^[\x21-\x7e]{1,512}\Z", description="1 to 512 printable characters without spaces"),
    ]


class AcknowledgePush(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the device has dealt with."""

    #: The id of the last event of its stream.
    last_event_id: Annotated[int, Meta(ge=0, le=2**62)]


class ListDevices(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which devices to list."""

    status: DeviceStatus | None = None
    property_id: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class ReportHints(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a device has queued while it was offline; an empty list: nothing any more."""

    hints: Annotated[list[OfflineHint], Meta(max_length=100)]
    app_version: Word


class HintReportView(Struct, frozen=True, kw_only=True):
    """What a device said at one moment."""

    id: str
    operator_id: str
    reported_at: Moment
    hints: list[OfflineHint]
    app_version: str

    @classmethod
    def of(cls, report: HintReport) -> "HintReportView":
        """What is shown of it."""
        return cls(
            id=report.id,
            operator_id=report.operator_id,
            reported_at=report.reported_at,
            hints=report.hints,
            app_version=report.app_version,
        )
