"""The ledger of consumed events: what makes "at least once" on the bus "once" in effect.

The row is written in the transaction that applies the event, before anything else in it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import LiteralString

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantsTx, TenantTx
from tidings.kernel.events import Event
from tidings.kernel.sql import Queries

#: The stream keeps an event 7 days and the dead letters 14 more; a replay on the last day is still known.
KEEP = timedelta(days=30)


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


class ConsumedEvents:
    """The ledger of one service."""

    def __init__(self, schema: LiteralString) -> None:
        self.schema = schema
        self._queries = _queries(schema)

    async def first_times(
        self,
        tx: TenantTx | TenantsTx | PlatformTx,
        events: Sequence[Event],
        *,
        consumer: str,
        now: datetime,
    ) -> list[Event]:
        """Those events that `consumer` has never applied, in the same order; they count as applied if `tx` commits."""
        rows = await tx.fetch(
            self._queries.claim_first_times,
            consumer=consumer,
            now=now,
            expires_at=now + KEEP,
            tenant_ids=[event.tenant_id for event in events],
            event_ids=[event.id for event in events],
        )
        first = {row["event_id"] for row in rows}
        # By id, so that an event that is twice in one set is applied once.
        return list({event.id: event for event in events if event.id in first}.values())

    async def sweep(self, db: Database, clock: Clock, *, limit: int = 5_000) -> int:
        """Remove up to so many that have expired; how many rows that were."""
        async with db.worker() as tx:
            return await tx.execute(self._queries.sweep_consumed_events, now=clock.now(), limit=limit)
