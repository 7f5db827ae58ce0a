"""What the router can tell of the executions of some notifications, for those who explain."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Final

import msgspec

from tidings.contracts.delivery import DeliveryRoute
from tidings.contracts.execution_history import (
    AttemptRecord,
    ExecutionRecord,
    ReceiptRecord,
    StepRecord,
    WaitRecord,
)
from tidings.contracts.ids import NotificationId
from tidings.contracts.ladder import LadderSnapshot
from tidings.contracts.messages import SenderRecord, SentRecord
from tidings.kernel.clock import Clock
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.mapping import RowMapper, by_name
from tidings.router.adapters.registry import kind_of
from tidings.router.executions import store
from tidings.router.executions.snapshot import frozen_of, path_of, state_of
from tidings.router.state_machine.model import ActiveStep, ClosedAttempt

#: The status of a call that has not been answered yet.
UNDER_WAY: Final = "under_way"
#: The clocks of two processes differ a little.
_LEEWAY = timedelta(minutes=5)
#: What a step waits for that was accepted.
RECEIPT: Final = "receipt"
_NEVER = datetime.max.replace(tzinfo=UTC)


class StoredHistory:
    """The contract's `ExecutionHistory`: four statements for any number of notifications."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def of_notifications(
        self, tx: TenantTx, ids: Sequence[NotificationId]
    ) -> dict[NotificationId, list[ExecutionRecord]]:
        """By notification; those never handed over are left out."""
        live = await store.find_live(tx, ids)
        ended = await store.find_ended(tx, ids)
        now = self._clock.now() + _LEEWAY
        executions = [(row["id"], row["started_at"], now) for row in live]
        executions += [(row["id"], row["started_at"], row["terminated_at"] + _LEEWAY) for row in ended]
        rows = await store.find_attempts(tx, executions) if executions else []
        calls = [
            (tx.tenant_id, row["id"], row["started_at"])
            for row in rows
            if row["provider_message_id"] is not None
        ]
        receipts: dict[str, list[ReceiptRecord]] = {}
        for row in await store.find_receipts(tx, calls) if calls else ():
            receipts.setdefault(row["attempt_id"], []).append(_receipt(row))
        paths = {row["id"]: path_of(row["fallback_path"]) for row in ended}
        paths |= {row["id"]: state_of(row["state"]).attempts for row in live}
        why = {past.id: past.why for path in paths.values() for past in path}
        attempts: dict[str, list[AttemptRecord]] = {}
        for row in rows:
            heard = tuple(receipts.get(row["id"], ()))
            made = _attempt(row, receipts=heard, why=why.get(row["id"]), record=record_of(row))
            attempts.setdefault(row["execution_id"], []).append(made)
        for row in live:
            attempts.setdefault(row["id"], []).extend(_under_way(row))
        found: dict[NotificationId, list[ExecutionRecord]] = {}
        for row in (*ended, *live):
            record = _execution(row, paths[row["id"]], tuple(attempts.get(row["id"], ())))
            found.setdefault(row["notification_id"], []).append(record)
        return found


def _execution(
    row: Row, path: tuple[ClosedAttempt, ...], attempts: tuple[AttemptRecord, ...]
) -> ExecutionRecord:
    over = "outcome" in row.keys()  # noqa: SIM118  # a driver's row says `in` of its values
    frozen = frozen_of(row["ladder_snapshot"])
    legs = () if over else state_of(row["state"]).active_steps
    return (_ended if over else _live)(
        row,
        routes=tuple(
            DeliveryRoute(channel=s.channel, vendor=next(iter(s.vendors), "")) for s in frozen.steps
        ),
        attempts=attempts,
        steps=tuple(_steps(frozen)),
        waits_for=_waits_for(legs),
        waits=tuple(sorted(_waits(frozen, path, legs), key=lambda wait: (wait.since, wait.step))),
        order=frozen.order,
        cost_cap_micros=frozen.cap,
    )


_OF_THE_LADDER: Final = "routes attempts steps waits_for waits order cost_cap_micros"
_live = RowMapper(
    ExecutionRecord,
    [store.QUERIES.find_live],
    omit=f"{_OF_THE_LADDER} ended_at result evidence final_channel",
)
_ended = RowMapper(
    ExecutionRecord,
    [store.QUERIES.find_ended],
    columns={"ended_at": "terminated_at", "result": "outcome", "cost_spent_micros": "total_cost_micros"},
    omit=f"{_OF_THE_LADDER} due_at cost_reserved_micros",
)


def _waits_for(legs: tuple[ActiveStep, ...]) -> str | None:
    """What the step that goes on first waits for."""
    first = min(legs, key=lambda leg: leg.due_at or leg.deadline_at or _NEVER, default=None)
    if first is None or first.open_attempt is not None:
        return None
    return RECEIPT if first.awaiting is not None else first.waits


def _waits(
    frozen: LadderSnapshot, path: tuple[ClosedAttempt, ...], legs: tuple[ActiveStep, ...]
) -> Iterator[WaitRecord]:
    """All that its steps waited for: before the calls that were answered, before those under way, and now."""
    found = [(past.step, past.waited) for past in path]
    found += [
        (leg.step, (*(leg.open_attempt.waited if leg.open_attempt else ()), *leg.waited)) for leg in legs
    ]
    for step, waited in found:
        for one in waited:
            yield by_name(WaitRecord, one, step=step, channel=frozen.steps[step - 1].channel)


def _steps(frozen: LadderSnapshot) -> Iterator[StepRecord]:
    for step, why in zip_longest(frozen.steps, frozen.why):
        yield by_name(
            StepRecord,
            step,
            receipts=any(map(_tells_later, step.vendors)),
            deadline_seconds=step.deadline,
            retry_budget=step.retries,
            probability=why.p if why is not None else None,
            usual_cost_micros=why.cost_micros if why is not None else None,
            index=why.index if why is not None else None,
            drawn=why is not None and why.drawn,
        )


def _tells_later(vendor: str) -> bool:
    """Whether a vendor can say afterwards what became of a message."""
    kind = kind_of(vendor)
    return kind is None or kind.capabilities.receipts or "receipts" in kind.by_settings


def record_of(row: Row) -> SentRecord | None:
    """What was kept of the message, as an attempt's row has it; None for a step that was skipped."""
    return None if row["sender"] is None else _sent(row)


_sent = RowMapper(
    SentRecord,
    [store.QUERIES.find_attempts],
    columns={"digest": "content_digest"},
    read={"sender": msgspec.json.Decoder(SenderRecord).decode},
)
_attempt = RowMapper(
    AttemptRecord,
    [store.QUERIES.find_attempts],
    columns={
        "step": "step_index",
        "vendor": "provider",
        "ended_at": "terminated_at",
        "account_id": "adapter_config_id",
        "error": "error_message",
        "answer_ref": "raw_payload_ref",
    },
    omit="why receipts record",
)
_receipt = RowMapper(ReceiptRecord, [store.QUERIES.find_receipts], columns={"code": "provider_code"})


def _under_way(row: Row) -> list[AttemptRecord]:
    """Calls that are not answered yet."""
    steps = frozen_of(row["ladder_snapshot"]).steps
    return [
        AttemptRecord(
            id=leg.open_attempt.id,
            step=leg.step,
            channel=steps[leg.step - 1].channel,
            vendor=leg.open_attempt.vendor,
            status=UNDER_WAY,
            reason=None,
            provider_message_id=None,
            started_at=leg.open_attempt.started_at,
            ended_at=None,
            why=leg.open_attempt.why,
            account_id=leg.open_attempt.account,
            record=leg.open_attempt.record,
        )
        for leg in state_of(row["state"]).active_steps
        if leg.open_attempt is not None
    ]
