"""Loads claimed executions of whatever tenants: their state as it is stored now, with the receipts that came for their attempts."""

from collections.abc import Sequence

from tidings.kernel.db import Database, TenantsTx
from tidings.router.executions import store
from tidings.router.executions.model import ClaimedExecution, ExecutionClaim, ExecutionId
from tidings.router.state_machine.model import ClosedAttempt, OpenAttempt, ReceiptReceived


async def with_receipts(
    db: Database, claims: Sequence[ExecutionClaim], *, worker: str
) -> list[tuple[ClaimedExecution, tuple[ReceiptReceived, ...]]]:
    """Those that this worker still holds the claim of; an execution that another worker took over is left out."""
    async with db.tenants({claim.tenant_id for claim in claims}, by_index=True) as tx:
        executions = await store.load_claimed(tx, claims, worker=worker)
        receipts = await _receipts(tx, [execution for execution in executions if execution.receipts])
    return [(execution, tuple(receipts.get(execution.id, ()))) for execution in executions]


def _heard_of(execution: ClaimedExecution) -> list[ClosedAttempt | OpenAttempt]:
    """Its attempts; what is in the in-app inbox may be read before its answer is recorded."""
    under_way = [active.open_attempt for active in execution.state.active_steps]
    return [*execution.state.attempts, *(one for one in under_way if one is not None)]


async def _receipts(
    tx: TenantsTx, executions: Sequence[ClaimedExecution]
) -> dict[ExecutionId, list[ReceiptReceived]]:
    """All receipts, also those applied before: the state machine may apply a receipt twice, which changes nothing."""
    if not executions:
        return {}
    attempts = [(execution, attempt) for execution in executions for attempt in _heard_of(execution)]
    owners = {attempt.id: execution.id for execution, attempt in attempts}
    receipts: dict[ExecutionId, list[ReceiptReceived]] = {}
    wanted = [(execution.tenant_id, attempt.id, attempt.started_at) for execution, attempt in attempts]
    for row in await store.find_receipts(tx, wanted):
        receipt = ReceiptReceived(attempt_id=row["attempt_id"], status=row["status"], reason=row["reason"])
        receipts.setdefault(owners[receipt.attempt_id], []).append(receipt)
    return receipts
