"""The only Python here that runs SQL on executions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from tidings.contracts.delivery import OUTCOME_SUBJECT
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import Row, TenantsTx, TenantTx, WorkerTx
from tidings.kernel.ids import EVENT, TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.router.executions.model import ClaimedExecution, ExecutionClaim, ExecutionId
from tidings.router.executions.snapshot import frozen_of, state_of
from tidings.router.state_machine.cost_budget import CostBudget
from tidings.router.state_machine.model import CIRCUIT_OPEN, ExecutionState
from tidings.router.state_machine.waits import woken

QUERIES = Queries.beside(__file__)


async def begin_executions(
    tx: TenantTx | TenantsTx, values: Mapping[str, Any], *, worker: str | None, now: datetime
) -> set[ExecutionId]:
    """Write new executions; those that were really new. Without a worker none is claimed."""
    rows = await tx.fetch(QUERIES.begin_executions, worker=worker, now=now, **values)
    return {row["id"] for row in rows}


async def load_claimed(
    tx: TenantsTx, claims: Sequence[ExecutionClaim], *, worker: str
) -> list[ClaimedExecution]:
    """What was claimed."""
    rows = await tx.fetch(QUERIES.load_claimed, worker=worker, **columns(claims, "tenant_id id"))
    return [_live(row) for row in rows]


async def open_attempt_ids(tx: TenantTx, ids: Sequence[ExecutionId]) -> set[str]:
    """The attempts of these executions that are open."""
    rows = await tx.fetch(QUERIES.find_states, ids=sorted(set(ids)))
    active_steps = [active for row in rows for active in state_of(row["state"]).active_steps]
    return {active.open_attempt.id for active in active_steps if active.open_attempt is not None}


async def find_receipts(
    tx: TenantTx | TenantsTx, attempts: Sequence[tuple[TenantId, str, datetime]]
) -> list[Row]:
    """What vendors have said about attempts since, given as tenant, id and start; in the order in which it came."""
    return await tx.fetch(
        QUERIES.find_receipts,
        tenant_ids=[one[0] for one in attempts],
        attempt_ids=[one[1] for one in attempts],
        started_ats=[one[2] for one in attempts],
    )


async def record_transitions(
    tx: TenantsTx, values: Mapping[str, Any], *, worker: str, now: datetime
) -> dict[ExecutionId, bool]:
    """Write what happened to a set of executions; those that were still ours and as we had read them.

    Each with whether this is the first outcome of its notification.
    """
    rows = await tx.fetch(
        QUERIES.record_transitions, worker=worker, now=now, subject=OUTCOME_SUBJECT, **values
    )
    return {row["id"]: row["is_first_outcome"] for row in rows}


async def note_clock_events(
    tx: TenantsTx, events: Sequence[tuple[ExecutionClaim, str]], *, status: str, reason: str, now: datetime
) -> None:
    """What our own clock says about attempts, given as execution and attempt."""
    ids = [EVENT.new(now) for _ in events]
    await tx.execute(
        QUERIES.note_clock_events,
        ids=ids,
        recorded_ats=[time_of(one) for one in ids],
        attempt_ids=[attempt_id for _, attempt_id in events],
        tenant_ids=[execution.tenant_id for execution, _ in events],
        execution_ids=[execution.id for execution, _ in events],
        statuses=[status] * len(events),
        reasons=[reason] * len(events),
    )


async def wake_waiting(tx: WorkerTx, *, now: datetime, spread: timedelta) -> int:
    """Have all executions that wait for a circuit looked at again within `spread`; how many there were."""
    return await tx.execute(QUERIES.wake_waiting, now=now, spread=spread, waits_for=CIRCUIT_OPEN)


async def release_claims(
    tx: WorkerTx, claims: Sequence[ExecutionClaim], *, worker: str, due_at: datetime
) -> int:
    """Give them back, to be looked at again at that moment."""
    return await tx.execute(
        QUERIES.release_claims, worker=worker, due_at=due_at, **columns(claims, "tenant_id id")
    )


async def find_live(tx: TenantTx, ids: Sequence[NotificationId]) -> list[Row]:
    """Ladders under way."""
    return await tx.fetch(QUERIES.find_live, notification_ids=list(ids))


async def find_ended(tx: TenantTx, ids: Sequence[NotificationId]) -> list[Row]:
    """Ladders that are over."""
    return await tx.fetch(
        QUERIES.find_ended, notification_ids=list(ids), created_ats=[time_of(one) for one in ids]
    )


async def find_attempts(tx: TenantTx, executions: Sequence[tuple[str, datetime, datetime]]) -> list[Row]:
    """All attempts of executions, given as id, start and end; the oldest first."""
    return await tx.fetch(
        QUERIES.find_attempts,
        execution_ids=[one[0] for one in executions],
        started_ats=[one[1] for one in executions],
        ended_ats=[one[2] for one in executions],
    )


async def sweep_delivery_outbox(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove expired proofs."""
    return await tx.execute(QUERIES.sweep_delivery_outbox, now=now, limit=limit)


async def sweep_delivery_inbox(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove expired notes of requests."""
    return await tx.execute(QUERIES.sweep_delivery_inbox, now=now, limit=limit)


def _state(row: Row) -> ExecutionState:
    stored = state_of(row["state"])
    return ExecutionState(
        steps=frozen_of(row["ladder_snapshot"]).steps,
        use_case=row["use_case"],
        expires_at=row["expires_at"],
        strategy=row["strategy"],
        active_steps=woken(stored.active_steps, row["due_at"]),
        next=stored.next,
        attempts=stored.attempts,
        again=stored.again,
        cost_budget=CostBudget(
            cap=row["cost_cap_micros"], reserved=row["cost_reserved_micros"], spent=row["cost_spent_micros"]
        ),
    )


_live = RowMapper(
    ClaimedExecution,
    [QUERIES.load_claimed],
    columns={"currency": "cost_currency"},
    of_row={"state": _state},
)
