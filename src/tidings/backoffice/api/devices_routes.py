"""Operations on devices: they say that they are there, keep their place, and are listed."""

from collections.abc import Awaitable, Callable
from typing import Final

from tidings.backoffice.api.devices_wire import (
    AcknowledgePush,
    CursorView,
    DeviceView,
    Handshake,
    HandshakeView,
    HintReportView,
    ListDevices,
    PutCursor,
    ReportHints,
)
from tidings.backoffice.devices.desk import DeviceDesk
from tidings.backoffice.devices.errors import PlatformDeviceError
from tidings.backoffice.devices.model import DeviceSays, SyncedDevice
from tidings.backoffice.ids import DeviceId, OperatorId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.once import Once
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource

devices = Resource("devices", at="/devices", tag="devices", owner=Owner.OPERATOR)

_NOTHING: Final = DeviceSays()
_OWN: Final = ["operators_only", "other_device", "platform_device"]
_KNOWN: Final = ["device_not_found", *_OWN]
_SEEN: Final = ["device_not_found", "operators_only", "platform_device"]


@devices.get(scope=ANY_CALLER, problems=["operators_only", "platform_device"])
async def list_devices(
    query: ListDevices, tx: OwnerTx, caller: Caller, paging: Paging, desk: DeviceDesk
) -> Page[DeviceView]:
    """List devices of the properties that you may see, and your own, the newest first."""
    tenant_tx = _of_tenant(tx)
    found = await desk.list(
        tenant_tx,
        caller,
        status=query.status,
        property_id=query.property_id,
        after_id=paging.after_id,
        limit=paging.fetch,
    )
    names = await desk.names(tenant_tx, caller, found)
    return paging.page(found, lambda one: _view(one, names))


@devices.get("/{device_id}", scope=ANY_CALLER, problems=_SEEN)
async def show_device(tx: OwnerTx, caller: Caller, device_id: DeviceId, desk: DeviceDesk) -> DeviceView:
    """Show a device."""
    tenant_tx = _of_tenant(tx)
    device = await desk.show(tenant_tx, caller, device_id)
    return _view(device, await desk.names(tenant_tx, caller, [device]))


# What a device says of itself, it says while the tenant is frozen too: it is no write of the tenant's.
@devices.post(
    "/{device_id}/handshake",
    scope=ANY_CALLER,
    writes=False,
    problems=["property_not_found", "device_key_registered", *_OWN],
)
async def shake_hands(
    body: Handshake, caller: Caller, device_id: DeviceId, desk: DeviceDesk, clock: Clock
) -> HandshakeView:
    """Say what this device is, when its application starts; the answer says where it stood.

    With `public_key`, a P-256 key as a JWK, the session is bound to the device that holds the private one: from then on every
    request of the session, to any path, brings a proof of its own in the header `Device-Proof`, and one without ends the
    session. The first key stays as long as the session.
    """
    if body.public_key is not None:
        await desk.bind(caller, device_id, body.public_key)
    device = await desk.hear(caller, device_id, body, shakes_hands=True)
    return HandshakeView(
        device=DeviceView.of(device),
        pull_cursor=device.last_pull_cursor,
        server_time=clock.now(),
        needs_proof=await desk.is_bound(caller),
    )


@devices.post(
    "/{device_id}/heartbeat", scope=ANY_CALLER, writes=False, problems=["property_not_found", *_OWN]
)
async def beat(
    caller: Caller, device_id: DeviceId, desk: DeviceDesk, body: DeviceSays = _NOTHING
) -> DeviceView:
    """Say that this device is there, once a minute; after five minutes without it is offline, and an alert is raised."""
    return DeviceView.of(await desk.hear(caller, device_id, body))


@devices.get("/{device_id}/cursor", verb="show-cursor", scope=ANY_CALLER, problems=_KNOWN)
async def show_cursor(caller: Caller, device_id: DeviceId, desk: DeviceDesk) -> Answer[CursorView]:
    """Show how far this device has pulled."""
    return _cursor(await desk.own(caller, device_id))


@devices.put(
    "/{device_id}/cursor",
    verb="move-cursor",
    scope=ANY_CALLER,
    writes=False,
    if_match="required",
    problems=_KNOWN,
)
async def put_cursor(
    body: PutCursor, caller: Caller, device_id: DeviceId, if_match: IfMatch, desk: DeviceDesk
) -> Answer[CursorView]:
    """Move how far this device has pulled, from the version that it knows: one that is older is refused."""
    return _cursor(await desk.move_cursor(caller, device_id, body.pull_cursor, if_match))


@devices.post("/{device_id}/push-ack", scope=ANY_CALLER, writes=False, problems=_KNOWN)
async def acknowledge_push(
    body: AcknowledgePush, caller: Caller, device_id: DeviceId, desk: DeviceDesk
) -> DeviceView:
    """Say which event of its stream this device has dealt with; it never goes back."""
    return DeviceView.of(await desk.acknowledge(caller, device_id, body.last_event_id))


@devices.post(
    "/{device_id}/offline-hints", scope=ANY_CALLER, writes=False, answer=DeviceView, problems=_KNOWN
)
async def report_hints(
    body: ReportHints, caller: Caller, device_id: DeviceId, desk: DeviceDesk, once: Once
) -> Reply:
    """Say what this device has queued while it was offline: kinds, counts and ids. An empty list says that it is through."""

    async def shown_once(tx: TenantTx, report: Callable[[], Awaitable[SyncedDevice]]) -> Reply:
        async def shown() -> DeviceView:
            return DeviceView.of(await report())

        return await once(tx, shown)

    return await desk.report_hints(
        caller, device_id, body.hints, app_version=body.app_version, once=shown_once
    )


@devices.get("/{device_id}/offline-hints", verb="list-hints", scope=ANY_CALLER, problems=_SEEN)
async def list_hints(
    tx: OwnerTx, caller: Caller, device_id: DeviceId, paging: Paging, desk: DeviceDesk
) -> Page[HintReportView]:
    """List what a device has said of its queue within the last seven days, the newest first."""
    found = await desk.list_hints(
        _of_tenant(tx), caller, device_id, after_id=paging.after_id, limit=paging.fetch
    )
    return paging.page(found, HintReportView.of)


def _of_tenant(tx: OwnerTx) -> TenantTx:
    if not isinstance(tx, TenantTx):
        raise PlatformDeviceError
    return tx


def _view(device: SyncedDevice, names: dict[OperatorId, str]) -> DeviceView:
    return DeviceView.of(device, names.get(device.operator_id) if device.operator_id else None)


def _cursor(device: SyncedDevice) -> Answer[CursorView]:
    shown = CursorView(pull_cursor=device.last_pull_cursor, cursor_version=device.cursor_version)
    return Answer(shown, version=device.cursor_version)
