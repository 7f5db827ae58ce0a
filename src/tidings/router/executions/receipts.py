"""The use case "vendors have said what became of messages": kept, and the worker that has the execution in hand decides again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries
from tidings.kernel.tracing import is_on
from tidings.router.executions.learning import observation
from tidings.router.executions.receipt_events import announce
from tidings.router.profiles.store import learn
from tidings.router.receipts import ARRIVED, Applied, Receipt
from tidings.router.spend.correct_spend import correct
from tidings.router.state_machine.model import ReachObservation

QUERIES = Queries.beside(__file__)

_REFUSED: Final = frozenset({"rejected_by_recipient", "bounced"})


async def apply(tx: TenantTx, receipts: Sequence[Receipt], *, now: datetime) -> Applied:
    """Keep them, each once, and wake the executions that wait for them.

    Only the worker that has an execution in hand changes it: here its version grows, so that what was decided without this
    receipt is decided again. For an execution that is over it is kept, shown and learned from, and changes nothing else.
    """
    rows = await tx.fetch(
        QUERIES.apply_receipts,
        now=now,
        **columns(
            receipts,
            "id attempt_id attempt_started_at execution_id status occurred_at provider_code reason cost_micros "
            "cost_currency",
        ),
        recorded_ats=[time_of(one.id) for one in receipts],
        live_ids=sorted({one.execution_id for one in receipts}),
        traced=is_on(),
    )
    fresh = {row["id"]: row["live"] for row in rows if row["id"] is not None}
    news = [one for one in receipts if one.id in fresh]
    await announce(tx, news, over={id_ for id_, live in fresh.items() if not live}, now=now)
    over = [one for one in receipts if fresh.get(one.id) is False and one.status in ARRIVED | _REFUSED]
    if over:
        await _learn(tx, over, now=now)
    # Last, as those who record do it: a transaction that adds to the same day at the same time waits for our commit.
    await correct(tx, news)
    traceparents = tuple(row["traceparent"] for row in rows if row["id"] is None)
    return Applied(fresh=frozenset(fresh), woken=any(fresh.values()), traceparents=traceparents)


async def _learn(tx: TenantTx, receipts: Sequence[Receipt], *, now: datetime) -> None:
    """What the receipts of executions that are over teach about people."""
    await tx.fetch(QUERIES.lock_attempts, attempt_ids=sorted({one.attempt_id for one in receipts}))
    rows = await tx.fetch(
        QUERIES.find_reached,
        **columns(receipts, "id attempt_id attempt_started_at execution_id"),
        execution_started_ats=[time_of(one.execution_id) for one in receipts],
        arrived=list(ARRIVED),
        refused=list(_REFUSED),
    )
    people: dict[str, tuple[RecipientId, Channel]] = {
        row["attempt_id"]: (RecipientId(row["recipient_id"]), row["channel"]) for row in rows
    }
    known = {row["attempt_id"]: (row["arrived_before"], row["refused_before"]) for row in rows}
    found = []
    for attempt_id, (recipient_id, channel) in people.items():
        statuses = {one.status for one in receipts if one.attempt_id == attempt_id}
        arrived_before, refused_before = known[attempt_id]
        arrived = arrived_before or bool(statuses & ARRIVED)
        # Of an attempt each is learned once, so that it does not matter which was heard first: what was read had arrived already,
        # and what came back after it had arrived counts for both. What arrived once is no sign of a recipient who can't be reached.
        if statuses & _REFUSED and not refused_before:
            told = ReachObservation(channel=channel, delivered=False, never=not arrived)
            found.append(observation(recipient_id, told, at=now))
        if arrived and not arrived_before:
            told = ReachObservation(channel=channel, delivered=True)
            found.append(observation(recipient_id, told, at=now))
    if found:
        await learn(tx, found, now=now)
