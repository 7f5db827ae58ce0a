"""Notifications that stay `dispatched` although their ladder is over: the outcome was announced and did not arrive.

Nothing in notify could find them without reading whole months. The router knows what ended, so each of its ends is held
against notify's row once, half an hour later, by the row's key; one that still waits is settled from the router's history.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Final

import msgspec

from tidings.contracts.delivery import OUTCOME_SUBJECT, DeliveryOutcome, EndedExecutions
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import NotificationId
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.sweepers import move_mark, take_mark
from tidings.kernel.errors import DatabaseUnavailableError, TidingsError
from tidings.kernel.events import Event
from tidings.kernel.ids import EVENT, TenantId, time_of
from tidings.kernel.logs import get_logger, why
from tidings.kernel.sql import Queries
from tidings.notify.metrics import NotifyMetrics

QUERIES = Queries.beside(__file__)

_MARK: Final = "notify.outcomes"
_encode = msgspec.json.Encoder().encode
_log = get_logger("outcomes")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OutcomeSweeper:
    """Finds them and settles them."""

    # `settle` is what hears outcomes over the bus; `settled_for`: how long it has for it.
    db: Database
    ladders: EndedExecutions
    settle: TenantHandler
    _: KW_ONLY
    clock: Clock
    metrics: NotifyMetrics
    settled_for: timedelta = timedelta(minutes=30)

    async def sweep(self, most: int) -> int:
        """Look at all that ended since the last time, so many at a time; how many were settled."""
        settled = 0
        while True:
            looked_at, found = await self._sweep_page(most)
            settled += found
            if looked_at < most:
                return settled

    async def _sweep_page(self, most: int) -> tuple[int, int]:
        """How many were looked at, and how many of them were settled."""
        settled = 0
        async with self.db.worker() as tx:
            mark = await take_mark(tx, _MARK)
            if mark is None:
                return 0, 0
            page = await self.ladders.page(tx, after=mark, settled_for=self.settled_for, limit=most)
            if page.until is None:
                return 0, 0
            for tenant_id, ids in page.by_tenant.items():
                settled += await self._of_tenant(tenant_id, ids)
            await move_mark(tx, _MARK, page.until)
        return sum(map(len, page.by_tenant.values())), settled

    async def _of_tenant(self, tenant_id: TenantId, ids: Sequence[NotificationId]) -> int:
        try:
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                waiting = await _waiting(tx, ids)
                outcomes = await self.ladders.outcomes(tx, waiting) if waiting else []
                if outcomes:
                    await self.settle(tx, [self._event(tenant_id, one) for one in outcomes])
        except DatabaseUnavailableError:
            # No outcome is at fault: the mark stays where it is, and all of them are looked at again.
            raise
        except TidingsError as error:
            self.metrics.outcomes_missed.labels("failed").inc()
            _log.error("outcomes_not_settled", tenant_id=tenant_id, **why(error))
            return 0
        if outcomes:
            self.metrics.outcomes_missed.labels("settled").inc(len(outcomes))
            _log.error(
                "outcomes_missed",
                tenant_id=tenant_id,
                count=len(outcomes),
                notification_ids=[one.notification_id for one in outcomes[:10]],
            )
        return len(outcomes)

    def _event(self, tenant_id: TenantId, outcome: DeliveryOutcome) -> Event:
        """The outcome as the bus would have brought it."""
        return Event(
            id=EVENT.new(self.clock.now()),
            tenant_id=tenant_id,
            subject=OUTCOME_SUBJECT,
            ordering_key=outcome.notification_id,
            data=_encode(outcome).decode(),
            source=NOTIFY_SOURCE,
        )


async def _waiting(tx: TenantTx, ids: Sequence[NotificationId]) -> list[NotificationId]:
    created_ats = [time_of(one) for one in ids]
    rows = await tx.fetch(
        QUERIES.still_dispatched,
        ids=list(ids),
        created_ats=created_ats,
        oldest=min(created_ats),
        newest=max(created_ats),
    )
    return [NotificationId(row["id"]) for row in rows]
