"""The only Python here that runs SQL on sessions and devices."""

from collections.abc import Sequence
from datetime import datetime

from tidings.backoffice.ids import DeviceId, OperatorId, SessionId
from tidings.backoffice.sessions.model import Device, DeviceKey, OperatorSession
from tidings.contracts.backoffice import EndedReason
from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def insert_device(tx: TenantTx | PlatformTx, device: Device, *, now: datetime) -> None:
    """Keep a new device."""
    await tx.execute(QUERIES.insert_device, device, now=now)


async def touch_device(tx: TenantTx | PlatformTx, device_id: DeviceId, *, now: datetime) -> None:
    """Note that somebody signs in from it."""
    await tx.execute(QUERIES.touch_device, id=device_id, now=now)


async def find_devices(tx: PlatformTx, device_ids: Sequence[DeviceId]) -> dict[DeviceId, Device]:
    """The devices with these ids, of any tenant or the platform; for the access guard alone."""
    rows = await tx.fetch(QUERIES.find_devices, ids=list(device_ids))
    return {device.id: device for device in map(_device_from_row, rows)}


async def find_users_of_device(
    tx: PlatformTx, device_id: DeviceId, operator_ids: Sequence[OperatorId]
) -> frozenset[OperatorId]:
    """Which of these operators, of any tenant or the platform, had a session on the device; for signing in alone."""
    rows = await tx.fetch(QUERIES.find_users_of_device, device_id=device_id, operator_ids=list(operator_ids))
    return frozenset(OperatorId(row["operator_id"]) for row in rows)


async def find_device_keys(tx: PlatformTx, session_ids: Sequence[SessionId]) -> dict[SessionId, DeviceKey]:
    """The keys that these sessions are bound to; most are bound to none. For the access guard alone."""
    rows = await tx.fetch(QUERIES.find_device_keys, ids=list(session_ids))
    return {key.session_id: key for key in map(_key_from_row, rows)}


async def insert_device_key(
    tx: TenantTx | PlatformTx, key: DeviceKey, *, now: datetime, expires_at: datetime
) -> str:
    """Bind a session to a key; the key that it is bound to from now on."""
    return str(await tx.fetch_value(QUERIES.insert_device_key, key, now=now, expires_at=expires_at))


async def insert_device_proof(
    tx: TenantTx | PlatformTx, session_id: SessionId, jti: str, *, expires_at: datetime
) -> bool:
    """Use a proof up; False where it was."""
    used = await tx.execute(
        QUERIES.insert_device_proof, session_id=session_id, jti=jti, expires_at=expires_at
    )
    return used == 1


async def sweep_device_proofs(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove those that nobody could use any more."""
    return await tx.execute(QUERIES.sweep_device_proofs, before=before, limit=limit)


async def sweep_device_keys(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove those of sessions whose time was over before that."""
    return await tx.execute(QUERIES.sweep_device_keys, before=before, limit=limit)


async def insert_session(tx: TenantTx | PlatformTx, session: OperatorSession) -> None:
    """Keep a new session."""
    await tx.execute(QUERIES.insert_session, session)


async def find_any_sessions(tx: PlatformTx, session_ids: Sequence[SessionId]) -> list[OperatorSession]:
    """The sessions with these ids, of any tenant or the platform; for the access guard alone."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_any_sessions, ids=list(session_ids))]


async def list_sessions(
    tx: TenantTx | PlatformTx,
    *,
    operator_id: OperatorId | None,
    after_id: str | None,
    limit: int,
    now: datetime,
) -> list[OperatorSession]:
    """Those that are open, the newest first, from a cursor on; of one operator, or of all here."""
    rows = await tx.fetch(
        QUERIES.list_sessions, operator_id=operator_id, after_id=after_id, limit=limit, now=now
    )
    return [_from_row(row) for row in rows]


async def end_sessions(
    tx: TenantTx | PlatformTx,
    *,
    now: datetime,
    reason: EndedReason,
    session_id: SessionId | None = None,
    operator_id: OperatorId | None = None,
    device_id: DeviceId | None = None,
    except_id: SessionId | None = None,
) -> list[OperatorSession]:
    """End those that fit all that is named, of this tenant or of the platform; the ones that this call ended. With a device, those that were over by their time are closed too."""
    rows = await tx.fetch(
        QUERIES.end_sessions,
        now=now,
        reason=reason,
        session_id=session_id,
        operator_id=operator_id,
        device_id=device_id,
        except_id=except_id,
    )
    return [_from_row(row) for row in rows]


async def find_tenants_with_sessions(tx: PlatformTx, *, now: datetime) -> list[TenantId]:
    """The tenants somebody of whom is signed in."""
    return [TenantId(row["tenant_id"]) for row in await tx.fetch(QUERIES.find_tenants_with_sessions, now=now)]


async def sweep_sessions(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove sessions whose time was over before that."""
    return await tx.execute(QUERIES.sweep_sessions, before=before, limit=limit)


async def sweep_devices(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove devices that nobody has used since."""
    return await tx.execute(QUERIES.sweep_devices, before=before, limit=limit)


_from_row = RowMapper(
    OperatorSession, [QUERIES.find_any_sessions, QUERIES.list_sessions, QUERIES.end_sessions]
)
_device_from_row = RowMapper(Device, [QUERIES.find_devices])
_key_from_row = RowMapper(DeviceKey, [QUERIES.find_device_keys])
