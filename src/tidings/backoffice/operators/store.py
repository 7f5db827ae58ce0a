"""The only Python here that runs SQL on operators."""

from collections.abc import Sequence
from datetime import datetime

from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators.model import OperatorRecord
from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)
#: Tenants whose operator one person is; more are not asked for at a sign-in.
MOST_OF_ONE_MAIL = 8


async def insert_operator(tx: TenantTx | PlatformTx, operator: OperatorRecord) -> None:
    """Keep a new operator."""
    await tx.execute(QUERIES.insert_operator, operator, properties=list(operator.properties))


async def find_operator(tx: TenantTx | PlatformTx, *, operator_id: OperatorId) -> OperatorRecord | None:
    """The operator with this id: the tenant's own, in a platform transaction the platform's own."""
    row = await tx.fetch_one(QUERIES.find_operator, id=operator_id)
    return _from_row(row) if row else None


async def lock_operator(tx: TenantTx | PlatformTx, *, operator_id: OperatorId) -> OperatorRecord | None:
    """The same, locked until the end of the transaction."""
    row = await tx.fetch_one(QUERIES.lock_operator, id=operator_id)
    return _from_row(row) if row else None


async def list_operators(
    tx: TenantTx | PlatformTx, *, after_id: str | None, limit: int
) -> list[OperatorRecord]:
    """The newest first, from a cursor on."""
    rows = await tx.fetch(QUERIES.list_operators, after_id=after_id, limit=limit)
    return [_from_row(row) for row in rows]


async def find_operators(
    tx: TenantTx | PlatformTx, operator_ids: Sequence[OperatorId]
) -> list[OperatorRecord]:
    """Those of the tenant, or of the platform, among these."""
    if not operator_ids:
        return []
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_operators, ids=list(operator_ids))]


async def find_by_email(tx: PlatformTx, email_hash: str) -> list[OperatorRecord]:
    """Everybody with this mail, of all tenants and the platform; for signing in alone."""
    rows = await tx.fetch(QUERIES.find_by_email, email_hash=email_hash, limit=MOST_OF_ONE_MAIL)
    return [_from_row(row) for row in rows]


async def find_of_tenant_by_email(tx: TenantTx | PlatformTx, email_hash: str) -> OperatorRecord | None:
    """The operator of this tenant, or of the platform, with this mail."""
    row = await tx.fetch_one(QUERIES.find_of_tenant_by_email, email_hash=email_hash)
    return _from_row(row) if row else None


async def find_any(
    tx: TenantTx | PlatformTx, operator_ids: Sequence[OperatorId]
) -> dict[OperatorId, OperatorRecord]:
    """The operators with these ids, of any tenant or the platform, for the access guard; in a tenant's transaction those of the tenant."""
    rows = await tx.fetch(QUERIES.find_any, ids=list(operator_ids))
    return {operator.id: operator for operator in map(_from_row, rows)}


async def save_operator(tx: TenantTx | PlatformTx, operator: OperatorRecord, *, now: datetime) -> None:
    """Write an operator as they are after a change."""
    await tx.execute(
        QUERIES.save_operator,
        operator,
        properties=list(operator.properties),
        recovery_hashes=list(operator.recovery_hashes),
        now=now,
    )


async def sweep_links(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Forget links whose time was over before that."""
    return await tx.execute(QUERIES.sweep_links, before=before, limit=limit)


_from_row = RowMapper(
    OperatorRecord,
    [
        QUERIES.find_operator,
        QUERIES.lock_operator,
        QUERIES.list_operators,
        QUERIES.find_operators,
        QUERIES.find_by_email,
        QUERIES.find_of_tenant_by_email,
        QUERIES.find_any,
    ],
)
