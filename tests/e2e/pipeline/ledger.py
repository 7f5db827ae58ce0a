"""What the database says about a run, read with the role that may read everything."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

#: Rows that wait for something; all empty when everything is over.
_WAITING = ("notification.dispatch_queue", "chan.executions_live", "chan.outbox", "notification.outbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """One look at everything that is kept."""

    #: Status by notification.
    statuses: dict[str, str]
    #: Proofs of an outcome, and events that told of it, by notification.
    proofs: Counter[str]
    #: Executions that have ended, by notification.
    executions: Counter[str]
    outcome_events: Counter[str]
    delivered_events: Counter[str]
    #: Notifications with a call whose answer was never learned, and how long that took to be noticed at most.
    never_learned: set[str]
    noticed_after: timedelta
    #: Rows left by table.
    waiting: dict[str, int]
    dead_letters: int


def read_ledger(owner_url: str) -> Ledger:
    """Read it now."""
    return asyncio.run(_read(owner_url))


async def _read(owner_url: str) -> Ledger:
    connection = await asyncpg.connect(owner_url)
    try:
        await connection.execute("SET ROLE tidings_breakglass")
        rows = await connection.fetch("SELECT id, status FROM notification.notifications")
        proofs = await connection.fetch("SELECT notification_id FROM chan.delivery_outbox")
        events = await connection.fetch(
            "SELECT subject, payload::json ->> 'notification_id' AS about FROM kernel.bus_events "
            "WHERE subject IN ('notification.delivery.outcome.v1', 'notification.delivered.v1')"
        )
        ended = await connection.fetch("SELECT notification_id FROM chan.fallback_executions")
        unlearned = await connection.fetch(
            "SELECT e.notification_id, a.terminated_at - a.started_at AS took FROM chan.delivery_attempts AS a "
            "JOIN chan.fallback_executions AS e ON e.tenant_id = a.tenant_id AND e.id = a.execution_id "
            "WHERE a.status = 'timed_out' AND a.reason = 'answer_never_learned'"
        )
        waiting = {name: await connection.fetchval(f"SELECT count(*) FROM {name}") for name in _WAITING}
        waiting["notification.notification_scheduled"] = await connection.fetchval(
            "SELECT count(*) FROM notification.notification_scheduled WHERE processed_at IS NULL"
        )
        dead = await connection.fetchval("SELECT count(*) FROM kernel.dead_letters")
    finally:
        await connection.close()
    return Ledger(
        statuses={row["id"]: row["status"] for row in rows},
        proofs=Counter(row["notification_id"] for row in proofs),
        executions=Counter(row["notification_id"] for row in ended),
        outcome_events=Counter(row["about"] for row in events if "outcome" in row["subject"]),
        delivered_events=Counter(row["about"] for row in events if "delivered" in row["subject"]),
        never_learned={row["notification_id"] for row in unlearned},
        noticed_after=max((row["took"] for row in unlearned), default=timedelta()),
        waiting=waiting,
        dead_letters=dead,
    )
