"""The only Python here that runs SQL on executions, to read them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidings.contracts.messages import SenderRecord
from tidings.kernel.bounded_scan import Glance
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Queries
from tidings.router.executions.model import EXECUTION, ExecutionId
from tidings.router.executions.snapshot import frozen_of, state_of
from tidings.router.executions_api.model import Attempt, AttemptReceipt, Execution, ExecutionFilter
from tidings.router.state_machine.model import ClosedAttempt

QUERIES = Queries.beside(__file__)

_read_path = msgspec.json.Decoder(tuple[ClosedAttempt, ...]).decode
_read_sender = msgspec.json.Decoder(SenderRecord).decode


async def look_back(
    tx: TenantTx, wanted: ExecutionFilter, *, since: datetime, before_at: datetime, before_id: str, most: int
) -> Glance[ExecutionId]:
    """Look at up to `most` that are older than a place."""
    row = await tx.fetch_one(
        QUERIES.look_back,
        wanted,
        since=since,
        since_id=first_id(since),
        before_at=before_at,
        before_id=before_id,
        most=most,
    )
    return Glance.of(row)


def first_id(at: datetime) -> ExecutionId:
    """No execution that began in this millisecond has a smaller id."""
    return ExecutionId(f"{EXECUTION.new(at)[:-16]}{'0' * 16}")


async def find_executions(tx: TenantTx, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
    """Those that exist. One that ends between the two looks is found in the second."""
    if not ids:
        return {}
    under_way = await tx.fetch(QUERIES.find_under_way, ids=list(ids))
    started_ats = [time_of(one) for one in ids]
    over = await tx.fetch(
        QUERIES.find_over,
        ids=list(ids),
        started_ats=started_ats,
        oldest=min(started_ats),
        newest=max(started_ats),
    )
    found = [*(_under_way(row) for row in under_way), *(_over(row) for row in over)]
    return {execution.id: execution for execution in found}


async def find_attempts(tx: TenantTx, execution: Execution) -> list[Attempt]:
    """Its calls and skipped steps, the oldest first."""
    rows = await tx.fetch(QUERIES.find_attempts, execution_id=execution.id, since=execution.started_at)
    return [
        Attempt(
            id=row["id"],
            step=row["step_index"],
            channel=row["channel"],
            vendor=row["provider"],
            account_id=row["adapter_config_id"],
            status=row["status"],
            reason=row["reason"],
            meaning=row["meaning"],
            provider_message_id=row["provider_message_id"],
            started_at=row["started_at"],
            ended_at=row["terminated_at"],
            cost_micros=row["cost_micros"],
            cost_currency=row["cost_currency"],
            http_status=row["http_status"],
            retry_after_ms=row["retry_after_ms"],
            error=row["error_message"],
            answer_ref=row["raw_payload_ref"],
            sender=_read_sender(row["sender"]) if row["sender"] is not None else None,
            digest=row["content_digest"],
        )
        for row in rows
    ]


async def find_receipts(
    tx: TenantTx, execution: Execution, attempt_ids: Sequence[str]
) -> dict[str, list[AttemptReceipt]]:
    """By attempt, the oldest first."""
    if not attempt_ids:
        return {}
    rows = await tx.fetch(QUERIES.find_receipts, attempt_ids=list(attempt_ids), since=execution.started_at)
    found: dict[str, list[AttemptReceipt]] = {}
    for row in rows:
        heard = AttemptReceipt(
            id=row["id"],
            attempt_id=row["attempt_id"],
            status=row["status"],
            recorded_at=row["recorded_at"],
            occurred_at=row["occurred_at"],
            late=row["late"],
            code=row["provider_code"],
            reason=row["reason"],
            cost_micros=row["cost_micros"],
            cost_currency=row["cost_currency"],
        )
        found.setdefault(heard.attempt_id, []).append(heard)
    return found


def _under_way(row: Row) -> Execution:
    state = state_of(row["state"])
    return Execution(
        id=row["id"],
        notification_id=row["notification_id"],
        recipient_id=row["recipient_id"],
        use_case=row["use_case"],
        strategy=row["strategy"],
        policy_id=row["policy_id"],
        policy_version=row["policy_version"],
        frozen=frozen_of(row["ladder_snapshot"]),
        path=state.attempts,
        started_at=row["started_at"],
        cost_spent_micros=row["cost_spent_micros"],
        cost_currency=row["cost_currency"],
        trace_id=row["trace_id"],
        active_steps=state.active_steps,
        next_step=state.next,
        due_at=row["due_at"],
        expires_at=row["expires_at"],
        cost_reserved_micros=row["cost_reserved_micros"],
    )


def _over(row: Row) -> Execution:
    return Execution(
        id=row["id"],
        notification_id=row["notification_id"],
        recipient_id=row["recipient_id"],
        use_case=row["use_case"],
        strategy=row["strategy"],
        policy_id=row["policy_id"],
        policy_version=row["policy_version"],
        frozen=frozen_of(row["ladder_snapshot"]),
        path=_read_path(row["fallback_path"]),
        started_at=row["started_at"],
        cost_spent_micros=row["total_cost_micros"],
        cost_currency=row["cost_currency"],
        trace_id=row["trace_id"],
        ended_at=row["terminated_at"],
        outcome=row["outcome"],
        evidence=row["evidence"],
        final_channel=row["final_channel"],
    )
