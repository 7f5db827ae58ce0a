"""Tells the service `assistant` what people decided: after the commit, again and again, until it knows."""

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from tidings.backoffice.ai_inbox.model import Delivery
from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.ids import DecisionId
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.assistant import SuggestionDecision
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Row, TenantTx
from tidings.kernel.durable.claims import TableClaims
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)
DELIVERIES: Final[TableClaims[DecisionId]] = TableClaims(
    claim=QUERIES.claim, next_due=QUERIES.next_due, free_orphans=QUERIES.free_orphans
)
#: Half a day in all: a service that is away for a night still learns of it.
RETRY: Final = RetryPolicy(
    max_attempts=20, first_delay=timedelta(seconds=5), longest_delay=timedelta(hours=1)
)
_DELTA: Final = "ai_decision_log.delta"
_PATH: Final = "/v1/properties/{}/suggestions/{}/decision"
ALERT: Final = "ai_decisions_undelivered"


class DeliveryTimer(DueTimer):
    """Wakes the job when a decision was made in this process."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What came of telling it."""

    row: Row
    delivery: Delivery
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DecisionDeliverer:
    """A decision that was told twice is one decision: each goes with its own key."""

    db: Database
    upstreams: Upstreams
    words: SealedWords
    alerts: Alerts
    audit: AuditLog
    clock: Clock

    async def deliver(self, tenant_id: TenantId, worker: str, ids: Sequence[DecisionId]) -> None:
        """Tell these, and note what came of it."""
        async with self.db.tenant(tenant_id) as tx:
            rows = await tx.fetch(
                QUERIES.load, ids=list(ids), decided_ats=[time_of(one) for one in ids], worker=worker
            )
            deltas = await self.words.open(tx, _DELTA, {row["id"]: row["delta_ciphertext"] for row in rows})
        told = await asyncio.gather(*(self._tell(tenant_id, row, deltas.get(row["id"])) for row in rows))
        async with self.db.tenant(tenant_id) as tx:
            await self._note(tx, worker, told)

    async def requeue(self, tx: TenantTx, *, actor: str) -> int:
        """Tell those again that were given up; how many."""
        letters: DeadLetters[DecisionId] = DeadLetters(
            QUERIES.requeue,
            entity_type="ai_decision_delivery",
            status="dead",
            audit=self.audit,
            clock=self.clock,
        )
        again = await letters.requeue(tx, actor=actor)
        if again:
            await self.alerts.resolve(tx, [ALERT], resolved_by=actor)
        return len(again)

    async def _tell(self, tenant_id: TenantId, row: Row, delta: str | None) -> _Told:
        said = SuggestionDecision(
            outcome=row["outcome"],
            decided_by=row["decided_by"],
            decided_at=row["decided_at"],
            delta=None if delta is None else json.loads(delta),
        )
        try:
            answer = await self.upstreams.call(
                "assistant",
                "POST",
                at(_PATH, row["property_id"], row["suggestion_id"]),
                tenant_id=tenant_id,
                body=said,
                idempotency_key=row["id"],
            )
        except UpstreamAwayError as away:
            is_last = RETRY.gives_up(row["attempts"] + 1)
            return _Told(row, "dead" if is_last else "waiting", away.reason)
        if 200 <= answer.status < 300:
            return _Told(row, "delivered")
        # It was decided otherwise there, or has expired: asking again changes nothing.
        return _Told(row, "refused", answer.error_code or str(answer.status))

    async def _note(self, tx: TenantTx, worker: str, told: Sequence[_Told]) -> None:
        now = self.clock.now()
        known = [one.row["id"] for one in told if one.delivery in ("delivered", "refused")]
        again = [one for one in told if one.delivery in ("waiting", "dead")]
        if known:
            await tx.execute(QUERIES.delivered, ids=known, worker=worker)
        if again:
            waits: list[Any] = [
                None
                if one.delivery == "dead"
                else now + RETRY.delay(one.row["attempts"] + 1, random.random())  # noqa: S311
                for one in again
            ]
            await tx.execute(
                QUERIES.not_delivered,
                ids=[one.row["id"] for one in again],
                statuses=[one.delivery for one in again],
                next_ats=waits,
                errors=[one.error for one in again],
                worker=worker,
            )
        await tx.execute(
            QUERIES.note_deliveries,
            ids=[one.row["entry_id"] for one in told],
            deliveries=[one.delivery for one in told],
        )
        dead = sum(one.delivery == "dead" for one in told)
        if dead:
            alert = NewAlert(
                dedup_key=ALERT,
                category=ALERT,
                severity="warning",
                property_id=None,
                source="ai_inbox",
                facts={"decisions": dead},
            )
            await self.alerts.raise_(tx, [alert])
