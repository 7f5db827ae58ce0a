"""Whether drafts that a model wrote wait for somebody to approve them."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.conditions import Condition, Look
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Row
from tidings.notify.conditions import store

_WAITS: Final = timedelta(hours=24)
#: After a month nobody will.
_REMEMBERED: Final = timedelta(days=30)
#: Tenants that one statement asks for.
_SET: Final = 500


class DraftConditions:
    """By sets of tenants, because templates are out of the worker's reach; seldom, because nothing is urgent here."""

    name = "drafts"
    every = timedelta(minutes=10)

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def look(self) -> Look:
        """Two statements for every five hundred tenants."""
        now, after = self._clock.now(), ""
        found: list[Condition] = []
        while True:
            async with self._db.worker() as tx:
                tenants = await store.tenants_at_work(tx, after=after, limit=_SET)
            if not tenants:
                return Look(conditions=found)
            async with self._db.tenants(tenants, by_index=True) as rows:
                waiting = await store.unapproved_drafts(rows, before=now - _WAITS, since=now - _REMEMBERED)
            found += _unapproved(waiting, now)
            after = tenants[-1]


def _unapproved(rows: Sequence[Row], now: datetime) -> Iterator[Condition]:
    for row in rows:
        yield Condition(
            category="approval_waiting",
            about=row["id"],
            severity="info",
            tenant_id=row["tenant_id"],
            facts={
                "version_id": row["id"],
                "template_id": row["template_id"],
                "hours": int((now - row["updated_at"]).total_seconds() // 3600),
            },
        )
