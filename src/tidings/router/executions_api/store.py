"""The only Python here that runs SQL on executions, to read them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidings.contracts.messages import SenderRecord
from tidings.kernel.bounded_scan import Glance
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper
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
    return [_attempt(row) for row in rows]


async def find_receipts(
    tx: TenantTx, execution: Execution, attempt_ids: Sequence[str]
) -> dict[str, list[AttemptReceipt]]:
    """By attempt, the oldest first."""
    if not attempt_ids:
        return {}
    rows = await tx.fetch(QUERIES.find_receipts, attempt_ids=list(attempt_ids), since=execution.started_at)
    found: dict[str, list[AttemptReceipt]] = {}
    for row in rows:
        heard = _receipt(row)
        found.setdefault(heard.attempt_id, []).append(heard)
    return found


def _under_way(row: Row) -> Execution:
    state = state_of(row["state"])
    return _live(row, path=state.attempts, active_steps=state.active_steps)


_live = RowMapper(
    Execution,
    [QUERIES.find_under_way],
    columns={"frozen": "ladder_snapshot"},
    read={"frozen": frozen_of},
    omit="path active_steps ended_at outcome evidence final_channel",
)
_over = RowMapper(
    Execution,
    [QUERIES.find_over],
    columns={
        "frozen": "ladder_snapshot",
        "path": "fallback_path",
        "cost_spent_micros": "total_cost_micros",
        "ended_at": "terminated_at",
    },
    read={"frozen": frozen_of, "path": _read_path},
    omit="active_steps due_at expires_at cost_reserved_micros",
)
_attempt = RowMapper(
    Attempt,
    [QUERIES.find_attempts],
    columns={
        "step": "step_index",
        "vendor": "provider",
        "account_id": "adapter_config_id",
        "ended_at": "terminated_at",
        "error": "error_message",
        "answer_ref": "raw_payload_ref",
        "digest": "content_digest",
    },
    read={"sender": lambda text: None if text is None else _read_sender(text)},
)
_receipt = RowMapper(AttemptReceipt, [QUERIES.find_receipts], columns={"code": "provider_code"})
