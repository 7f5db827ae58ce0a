"""The only Python here that runs SQL on suggestions and decisions."""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidings.backoffice.ai_inbox.model import (
    AiEntry,
    DecisionOutcome,
    Delivery,
    LoggedDecision,
    Source,
)
from tidings.backoffice.ids import AiEntryId, DecisionId
from tidings.backoffice.properties.access import PropertyReach
from tidings.kernel.db import Row, TenantTx, WorkerTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def find_places(tx: TenantTx, property_ids: Collection[str]) -> dict[str, datetime | None]:
    """When the service was asked about these; None: it was never, or has to be asked again."""
    rows = await tx.fetch(QUERIES.find_places, property_ids=list(property_ids))
    return {**dict.fromkeys(property_ids), **{row["property_id"]: row["pulled_at"] for row in rows}}


async def list_places(tx: TenantTx) -> dict[str, datetime | None]:
    """The same of all properties that somebody has asked for."""
    return {row["property_id"]: row["pulled_at"] for row in await tx.fetch(QUERIES.list_places)}


async def put_place(tx: TenantTx, property_id: str, *, now: datetime) -> None:
    """The service was asked."""
    await tx.execute(QUERIES.put_place, property_id=property_id, now=now)


async def forget_places(tx: TenantTx, property_ids: Sequence[str]) -> int:
    """Ask the service again."""
    return await tx.execute(QUERIES.forget_places, property_ids=list(property_ids))


async def insert_entries(
    tx: TenantTx, entries: Sequence[AiEntry], *, source: Source, property_id: str | None
) -> int:
    """Keep those of one place that are not known; how many are new."""
    rows = await tx.fetch(
        QUERIES.insert_entries,
        source=source,
        property_id=property_id,
        ids=[one.id for one in entries],
        suggestion_ids=[one.suggestion_id for one in entries],
        categories=[one.category for one in entries],
        severities=[one.severity for one in entries],
        contents=[one.content_ciphertext for one in entries],
        suggested_ats=[one.suggested_at for one in entries],
        expires_ats=[one.expires_at for one in entries],
    )
    return len(rows)


async def find_known(
    tx: TenantTx, suggestion_ids: Sequence[str], *, source: Source, property_id: str | None
) -> frozenset[str]:
    """Which of these are known."""
    rows = await tx.fetch(
        QUERIES.find_known, suggestion_ids=list(suggestion_ids), source=source, property_id=property_id
    )
    return frozenset(row["suggestion_id"] for row in rows)


async def close_missing(
    tx: TenantTx, open_ids: Sequence[str], *, source: Source, property_id: str | None, now: datetime
) -> int:
    """Close those of a place that are not open where they came from."""
    return await tx.execute(
        QUERIES.close_missing, open_ids=list(open_ids), source=source, property_id=property_id, now=now
    )


async def list_entries(
    tx: TenantTx,
    *,
    reach: PropertyReach,
    property_id: str | None,
    category: str | None,
    shows: str,
    after_id: str | None,
    limit: int,
    now: datetime,
) -> list[AiEntry]:
    """Those that somebody may see, from a cursor on."""
    rows = await tx.fetch(
        QUERIES.list_entries,
        sees_all=reach.is_every,
        properties=list(reach.properties),
        property_id=property_id,
        category=category,
        shows=shows,
        after_id=after_id,
        limit=limit,
        now=now,
    )
    return [_from_row(row) for row in rows]


async def find_entry(tx: TenantTx, entry_id: AiEntryId) -> AiEntry | None:
    """One of them."""
    return _found(await tx.fetch_one(QUERIES.find_entry, id=entry_id))


async def lock_entry(tx: TenantTx, entry_id: AiEntryId) -> AiEntry | None:
    """One of them, locked until the end of the transaction."""
    return _found(await tx.fetch_one(QUERIES.lock_entry, id=entry_id))


async def decide_entry(
    tx: TenantTx,
    entry_id: AiEntryId,
    *,
    outcome: DecisionOutcome,
    decided_by: str,
    delivery: Delivery | None,
    now: datetime,
) -> AiEntry:
    """Note on a locked one what somebody decided."""
    row = await tx.fetch_one(
        QUERIES.decide_entry, id=entry_id, outcome=outcome, decided_by=decided_by, delivery=delivery, now=now
    )
    if row is None:
        raise RuntimeError("an entry that is locked is there")
    return _from_row(row)


async def log_decision(tx: TenantTx, decision: LoggedDecision) -> bool:
    """Write it into the ledger; False where this operator has decided about this suggestion before."""
    if not await tx.execute(QUERIES.insert_decision_key, decision):
        return False
    await tx.execute(QUERIES.insert_decision, decision, decided_at=time_of(decision.id))
    return True


async def insert_delivery(
    tx: TenantTx, decision_id: DecisionId, entry_id: AiEntryId, *, now: datetime
) -> None:
    """Have the service told of it."""
    await tx.execute(QUERIES.insert_delivery, id=decision_id, entry_id=entry_id, now=now)


async def expire_entries(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Close those whose time is over."""
    return await tx.execute(QUERIES.expire_entries, now=now, limit=limit)


async def sweep_entries(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove those that were closed before that."""
    return await tx.execute(QUERIES.sweep_entries, before=before, limit=limit)


def _found(row: Row | None) -> AiEntry | None:
    return None if row is None else _from_row(row)


_from_row = RowMapper(
    AiEntry, [QUERIES.list_entries, QUERIES.find_entry, QUERIES.lock_entry, QUERIES.decide_entry]
)
