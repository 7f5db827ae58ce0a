"""What the router can tell of the ladders of some notifications, for those who explain."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.delivery import AttemptRecord, ExecutionRecord, Route
from tidings.kernel.clock import Clock
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import NotificationId
from tidings.router.executions import store
from tidings.router.executions.snapshot import steps_of

#: The status of a call that has not been answered yet.
UNDER_WAY: Final = "under_way"
#: The clocks of two processes differ a little.
_LEEWAY = timedelta(minutes=5)


class StoredHistory:
    """The contract's `ExecutionHistory`: three statements for any number of notifications."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def of_notifications(
        self, tx: TenantTx, ids: Sequence[NotificationId]
    ) -> dict[NotificationId, list[ExecutionRecord]]:
        """By notification; those never handed over are left out."""
        live = await store.find_live(tx, ids)
        ended = await store.find_ended(tx, ids)
        now = self._clock.now() + _LEEWAY
        ladders = [(row["id"], row["started_at"], now) for row in live]
        ladders += [(row["id"], row["started_at"], row["terminated_at"] + _LEEWAY) for row in ended]
        attempts: dict[str, list[AttemptRecord]] = {}
        for row in await store.find_attempts(tx, ladders) if ladders else ():
            attempts.setdefault(row["execution_id"], []).append(_attempt(row))
        for row in live:
            if row["attempt_id"] is not None:
                attempts.setdefault(row["id"], []).append(_under_way(row))
        found: dict[NotificationId, list[ExecutionRecord]] = {}
        for row in (*ended, *live):
            record = _execution(row, tuple(attempts.get(row["id"], ())))
            found.setdefault(row["notification_id"], []).append(record)
        return found


def _execution(row: Row, attempts: tuple[AttemptRecord, ...]) -> ExecutionRecord:
    over = "outcome" in row.keys()  # noqa: SIM118  # a driver's row says `in` of its values
    ended_at: datetime | None = row["terminated_at"] if over else None
    return ExecutionRecord(
        id=row["id"],
        notification_id=row["notification_id"],
        recipient_id=row["recipient_id"],
        strategy=row["strategy"],
        routes=tuple(Route(channel=s.channel, vendor=s.vendor) for s in steps_of(row["ladder_snapshot"])),
        policy_id=row["policy_id"],
        policy_version=row["policy_version"],
        started_at=row["started_at"],
        ended_at=ended_at,
        result=row["outcome"] if over else None,
        evidence=row["evidence"] if over else None,
        final_channel=row["final_channel"] if over else None,
        due_at=None if over else row["due_at"],
        attempts=attempts,
    )


def _attempt(row: Row) -> AttemptRecord:
    return AttemptRecord(
        id=row["id"],
        step=row["step_index"],
        channel=row["channel"],
        vendor=row["provider"],
        status=row["status"],
        reason=row["reason"],
        provider_message_id=row["provider_message_id"],
        started_at=row["started_at"],
        ended_at=row["terminated_at"],
    )


def _under_way(row: Row) -> AttemptRecord:
    step = steps_of(row["ladder_snapshot"])[row["step_index"] - 1]
    return AttemptRecord(
        id=row["attempt_id"],
        step=row["step_index"],
        channel=step.channel,
        vendor=step.vendor,
        status=UNDER_WAY,
        reason=None,
        provider_message_id=None,
        started_at=row["attempt_started_at"],
        ended_at=None,
    )
