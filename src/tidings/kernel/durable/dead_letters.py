"""Dead letters: rows that a job has given up. An operator puts them back into the queue, and the order is in the audit."""

from typing import Any, Final, Generic, TypeVar

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.sql import Query

K = TypeVar("K", bound=str)

#: Dead letters that are requeued in one transaction.
MOST_AT_ONCE: Final = 1000


class DeadLetters(Generic[K]):
    """The dead letters of one table."""

    def __init__(
        self, requeue: Query, *, entity_type: str, status: str, audit: AuditLog, clock: Clock
    ) -> None:
        """`requeue` takes `now`, `limit` and what the caller chooses by, and gives the `id` of each row that is due again;
        its other columns, and the `status` that it had, stand in the audit."""
        self._requeue = requeue
        self._entity_type = entity_type
        self._status = status
        self._audit = audit
        self._clock = clock

    async def requeue(self, tx: PlatformTx | TenantTx, *, actor: str, **chosen: Any) -> list[K]:
        """Have dead letters worked on at once, and then retried as if they had just come, at most `MOST_AT_ONCE`; which."""
        rows = await tx.fetch(self._requeue, now=self._clock.now(), limit=MOST_AT_ONCE, **chosen)
        await self._audit.append(
            tx,
            [
                Entry(
                    entity_type=self._entity_type,
                    entity_id=row["id"],
                    action="requeued",
                    actor=actor,
                    before={"status": self._status, **{k: v for k, v in row.items() if k != "id"}},
                )
                for row in rows
            ],
        )
        return [row["id"] for row in rows]
