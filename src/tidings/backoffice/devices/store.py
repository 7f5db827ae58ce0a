"""The only Python here that runs SQL on devices."""

from collections.abc import Collection
from datetime import datetime

from tidings.backoffice.devices.model import DeviceSays, DeviceStatus, HintReport, SyncedDevice
from tidings.backoffice.ids import DEVICE_SYNC, OFFLINE_HINT, DeviceId, OperatorId
from tidings.backoffice.properties.access import ALL_PROPERTIES
from tidings.kernel.db import Row, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def lock_device(tx: TenantTx, device_id: DeviceId, *, now: datetime) -> SyncedDevice | None:
    """The device, locked until the end of the transaction."""
    return _found(await tx.fetch_one(QUERIES.lock_device, device_id=device_id, now=now))


async def find_device(tx: TenantTx, device_id: DeviceId, *, now: datetime) -> SyncedDevice | None:
    """The device as it is."""
    return _found(await tx.fetch_one(QUERIES.find_device, device_id=device_id, now=now))


async def put_device(
    tx: TenantTx,
    device_id: DeviceId,
    says: DeviceSays,
    *,
    operator_id: OperatorId,
    shakes_hands: bool,
    now: datetime,
) -> SyncedDevice:
    """Note that it is there, and what it says."""
    row = await tx.fetch_one(
        QUERIES.put_device,
        says,
        id=DEVICE_SYNC.new(now),
        device_id=device_id,
        operator_id=operator_id,
        shakes_hands=shakes_hands,
        now=now,
    )
    if row is None:
        raise RuntimeError("an upsert gave nothing back")
    return _from_row(row)


async def move_cursor(
    tx: TenantTx, device_id: DeviceId, *, cursor: str, version: int, now: datetime
) -> SyncedDevice | None:
    """Move its cursor from this version on; None where that is not the present one."""
    return _found(
        await tx.fetch_one(QUERIES.move_cursor, device_id=device_id, cursor=cursor, version=version, now=now)
    )


async def acknowledge_push(
    tx: TenantTx, device_id: DeviceId, *, ack: int, now: datetime
) -> SyncedDevice | None:
    """It has dealt with all up to there."""
    return _found(await tx.fetch_one(QUERIES.acknowledge_push, device_id=device_id, ack=ack, now=now))


async def list_devices(
    tx: TenantTx,
    *,
    properties: Collection[str],
    own_device: str,
    status: DeviceStatus | None,
    property_id: str | None,
    after_id: str | None,
    limit: int,
    now: datetime,
) -> list[SyncedDevice]:
    """Devices that somebody with these rights may see, from a cursor on."""
    rows = await tx.fetch(
        QUERIES.list_devices,
        sees_all=ALL_PROPERTIES in properties,
        properties=sorted(properties),
        own_device=own_device,
        status=status,
        property_id=property_id,
        after_id=after_id,
        limit=limit,
        now=now,
    )
    return [_from_row(row) for row in rows]


async def put_hints(
    tx: TenantTx,
    device_id: DeviceId,
    *,
    operator_id: OperatorId,
    payload: str,
    app_version: str,
    now: datetime,
) -> SyncedDevice | None:
    """Keep what it has queued, and show it as open; None where the device has never said anything."""
    device = _found(
        await tx.fetch_one(QUERIES.put_pending_hints, device_id=device_id, pending_hints=payload, now=now)
    )
    if device is not None:
        await tx.execute(
            QUERIES.insert_hints,
            id=OFFLINE_HINT.new(now),
            device_id=device_id,
            operator_id=operator_id,
            payload=payload,
            app_version=app_version,
            now=now,
        )
    return device


async def list_hints(
    tx: TenantTx, device_id: DeviceId, *, after_id: str | None, limit: int
) -> list[HintReport]:
    """What it said, the newest first, from a cursor on."""
    rows = await tx.fetch(QUERIES.list_hints, device_id=device_id, after_id=after_id, limit=limit)
    return [_report_from_row(row) for row in rows]


async def find_tenants_of_silent(tx: WorkerTx, *, before: datetime) -> list[TenantId]:
    """Tenants whose devices have been silent since then."""
    return [
        TenantId(row["tenant_id"]) for row in await tx.fetch(QUERIES.find_tenants_of_silent, before=before)
    ]


async def note_silent(
    tx: TenantTx, *, before: datetime, now: datetime
) -> list[tuple[DeviceStatus, SyncedDevice]]:
    """Note that devices have been silent since then; those whose status changed, with the one of before."""
    rows = await tx.fetch(QUERIES.note_silent, before=before, now=now)
    return [(row["was"], _from_row(row)) for row in rows]


async def sweep_hints(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove what was reported before that."""
    return await tx.execute(QUERIES.sweep_hints, before=before, limit=limit)


def _found(row: Row | None) -> SyncedDevice | None:
    return None if row is None else _from_row(row)


_from_row = RowMapper(
    SyncedDevice,
    [
        QUERIES.lock_device,
        QUERIES.find_device,
        QUERIES.put_device,
        QUERIES.move_cursor,
        QUERIES.acknowledge_push,
        QUERIES.list_devices,
        QUERIES.put_pending_hints,
        QUERIES.note_silent,
    ],
)
_report_from_row = RowMapper(HintReport, [QUERIES.list_hints])
