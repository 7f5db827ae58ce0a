"""The only Python here that runs SQL on lock actions."""

from dataclasses import dataclass
from datetime import datetime

from tidings.backoffice.ids import LockAuditId
from tidings.backoffice.lock_actions.model import AuditedAction, LockOutcome, PendingAction
from tidings.backoffice.upstreams.contract.locks import LockAction
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which rows are wanted; None: all."""

    #: Those that the reader has a right to; None: all of the tenant.
    properties: list[str] | None
    reservation_id: str | None = None
    property_id: str | None = None
    operator_id: str | None = None
    action: LockAction | None = None
    outcome: LockOutcome | None = None


async def insert_pending(tx: TenantTx, pending: PendingAction) -> None:
    """It is about to be asked for."""
    await tx.execute(QUERIES.insert_pending, pending)


async def take_pending(tx: TenantTx, action_id: LockAuditId) -> PendingAction | None:
    """Remove it, to write how it ended; None where another process has."""
    row = await tx.fetch_one(QUERIES.take_pending, id=action_id)
    return _pending(row) if row else None


async def find_pending(tx: TenantTx, action_id: LockAuditId) -> PendingAction | None:
    """What it was about; None where its end is known by now."""
    row = await tx.fetch_one(QUERIES.find_pending, id=action_id)
    return _pending(row) if row else None


async def postpone_pending(
    tx: TenantTx, action_id: LockAuditId, *, due_at: datetime, unknown_id: LockAuditId | None
) -> bool:
    """Ask again then; False where its end is known by now."""
    return bool(
        await tx.execute(QUERIES.postpone_pending, id=action_id, due_at=due_at, unknown_id=unknown_id)
    )


async def due_actions(tx: WorkerTx, *, now: datetime, limit: int) -> list[tuple[TenantId, LockAuditId]]:
    """Those that are to be asked about, the oldest first."""
    rows = await tx.fetch(QUERIES.due_actions, now=now, limit=limit)
    return [(TenantId(row["tenant_id"]), LockAuditId(row["id"])) for row in rows]


async def insert_audited(tx: TenantTx, audited: AuditedAction) -> None:
    """Write it into the audit."""
    await tx.execute(QUERIES.insert_audited, audited)


async def list_audited(
    tx: TenantTx, wanted: AuditFilter, *, after_id: str | None, limit: int
) -> list[AuditedAction]:
    """The newest first, from a cursor on."""
    after_at = time_of(after_id) if after_id is not None else None
    rows = await tx.fetch(QUERIES.list_audited, wanted, after_id=after_id, after_at=after_at, limit=limit)
    return [_audited(row) for row in rows]


_pending = RowMapper(PendingAction, [QUERIES.take_pending, QUERIES.find_pending])
_audited = RowMapper(AuditedAction, [QUERIES.list_audited])
