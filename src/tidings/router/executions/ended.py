"""What the router can say of executions that are over: which ended lately, and how. The contract's `EndedExecutions`."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tidings.contracts.delivery import DeliveryOutcome, EndedPage
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import Row, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.executions import store
from tidings.router.executions.columns import told_attempt
from tidings.router.executions.snapshot import path_of

QUERIES = Queries.beside(__file__)


class StoredEnds:
    """Reads the proofs of announced outcomes, and the history."""

    async def page(self, tx: WorkerTx, *, after: datetime, settled_for: timedelta, limit: int) -> EndedPage:
        """The next ones after that moment, the oldest first; none that ended within the last `settled_for`."""
        rows = await tx.fetch(QUERIES.ended_page, after=after, settled_for=settled_for, limit=limit)
        found: dict[TenantId, list[NotificationId]] = {}
        for row in rows:
            found.setdefault(TenantId(row["tenant_id"]), []).append(NotificationId(row["notification_id"]))
        return EndedPage(by_tenant=found, until=max((row["ended_at"] for row in rows), default=None))

    async def outcomes(self, tx: TenantTx, ids: Sequence[NotificationId]) -> list[DeliveryOutcome]:
        """How the executions of some notifications ended, as it was announced."""
        return [_outcome(row) for row in await store.find_ended(tx, ids)]


def _outcome(row: Row) -> DeliveryOutcome:
    past = path_of(row["fallback_path"])
    delivered = row["outcome"] == "DELIVERED"
    return _ended(
        row,
        # The history keeps why each step ended; the last of them is why all of it did.
        reason=None if delivered else next((one.reason for one in reversed(past) if one.reason), None),
        attempts=tuple(map(told_attempt, past)),
    )


_ended = RowMapper(
    DeliveryOutcome,
    [store.QUERIES.find_ended],
    columns={"execution_id": "id", "result": "outcome", "ended_at": "terminated_at"},
    omit="reason attempts",
)
