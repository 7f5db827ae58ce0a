"""The only Python here that runs SQL on batches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.durable.claims import TableClaims
from tidings.kernel.events import usual_attributes
from tidings.kernel.expressions import Expression
from tidings.kernel.ids import EVENT, TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, optional, tuple_columns
from tidings.kernel.sql import Queries, Query, created_columns
from tidings.notify.batches.account_pace import PacedBatch
from tidings.notify.batches.errors import UnknownBatchError
from tidings.notify.batches.filter import filtered, read_filter
from tidings.notify.batches.model import (
    BatchAudience,
    BatchCounts,
    BatchStatus,
    BatchTotals,
    BatchVariant,
    LedgerLine,
    Pacing,
    Person,
    PersonState,
    SendingWindow,
    StoredBatch,
)
from tidings.notify.ids import BatchId

QUERIES = Queries.beside(__file__)

BATCH_CLAIMS: Final = TableClaims[BatchId](
    claim=QUERIES.claim, next_due=QUERIES.next_due, free_orphans=QUERIES.free_orphans
)
#: The ledger outlives every question about a campaign.
_LEDGER_KEEPS: Final = timedelta(days=400)
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLine:
    """A line of the ledger."""

    recipient_id: RecipientId
    variant: int
    state: PersonState
    notification_id: NotificationId | None
    error_code: str | None
    unread_answers: int
    send_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPerson:
    """Somebody whose time has come."""

    recipient_id: RecipientId
    variant: int
    timezone: str
    send_at: datetime
    variables_ciphertext: bytes | None = field(default=None, repr=False)


async def insert_batch(tx: TenantTx, batch: StoredBatch) -> None:
    """Write a draft."""
    await tx.execute(QUERIES.insert_batch, batch, **_json_columns(batch))


async def update_draft(tx: TenantTx, batch: StoredBatch, *, now: datetime) -> bool:
    """Whether it was one still."""
    return bool(await tx.execute(QUERIES.update_draft, batch, now=now, **_json_columns(batch)))


def _json_columns(batch: StoredBatch) -> dict[str, str | None]:
    return {
        "recipient_query": _json(batch.audience),
        "send_window": None if batch.window is None else _json(batch.window),
        "rate_limit": None if batch.pacing is None else _json(batch.pacing),
        "variants": _json(batch.variants) if batch.variants else None,
    }


def _json(value: object) -> str:
    return _encode(value).decode()


async def find_batch(tx: TenantTx, batch_id: BatchId) -> StoredBatch:
    """The batch; an `UnknownBatchError` where there is none, or it is another tenant's."""
    return _found(batch_id, await tx.fetch_one(QUERIES.find_batch, id=batch_id))


async def lock_batch(tx: TenantTx, batch_id: BatchId) -> StoredBatch:
    """The same, until the end of the transaction."""
    return _found(batch_id, await tx.fetch_one(QUERIES.lock_batch, id=batch_id))


async def lock_claimed(tx: TenantTx, batch_id: BatchId, *, worker: str) -> StoredBatch | None:
    """The same where this worker has claimed it."""
    row = await tx.fetch_one(QUERIES.lock_claimed, id=batch_id, worker=worker)
    return None if row is None else _batch(row)


def _found(batch_id: BatchId, row: Mapping[str, Any] | None) -> StoredBatch:
    if row is None:
        raise UnknownBatchError(f"there is no batch with the id {batch_id}")
    return _batch(row)


async def list_batches(
    tx: TenantTx, *, after_id: str | None, status: BatchStatus | None, limit: int
) -> list[StoredBatch]:
    """A page, the newest first."""
    rows = await tx.fetch(
        QUERIES.list_batches, after_id=after_id, status=status.value if status else None, limit=limit
    )
    return [_batch(row) for row in rows]


async def find_paced(
    tx: TenantsTx, batches: Sequence[tuple[TenantId, BatchId]]
) -> dict[tuple[TenantId, BatchId], PacedBatch]:
    """Those of them that have paces for vendors or accounts."""
    rows = await tx.fetch(QUERIES.find_paced, **tuple_columns(batches, "tenant_ids ids"))
    found = {(row["tenant_id"], row["id"]): _paced(row) for row in rows}
    return {owned: batch for owned, batch in found.items() if batch.pacing.by_account}


async def set_status(
    tx: TenantTx,
    batch: StoredBatch,
    status: BatchStatus,
    *,
    now: datetime,
    due_at: datetime | None,
    problem: str | None = None,
    started_by: str | None = None,
    started_at: datetime | None = None,
    resumed_at: datetime | None = None,
    expected: int | None = None,
) -> StoredBatch:
    """The batch in its new state; it is locked."""
    await tx.execute(
        QUERIES.set_status,
        id=batch.id,
        status=status.value,
        now=now,
        due_at=due_at,
        problem=problem,
        started_by=started_by,
        started_at=started_at,
        resumed_at=resumed_at,
        expected=expected,
    )
    return await find_batch(tx, batch.id)


async def set_approval(tx: TenantTx, batch_id: BatchId, *, approved_by: str, now: datetime) -> None:
    """Somebody has approved it."""
    await tx.execute(QUERIES.set_approval, id=batch_id, approved_by=approved_by, now=now)


async def set_listed(
    tx: TenantTx, batch_id: BatchId, *, variables: Sequence[str], changed_by: str, now: datetime
) -> None:
    """It is for those of a list, which somebody adds to; with the names of the variables that it brings."""
    await tx.execute(
        QUERIES.set_listed, id=batch_id, variables=list(variables), changed_by=changed_by, now=now
    )


async def advance(tx: TenantTx, batch: StoredBatch) -> None:
    """Keep how far the runner is, and when it looks again."""
    slots = _json(batch.slots) if batch.slots else None
    await tx.execute(
        QUERIES.advance,
        id=batch.id,
        walked_to=batch.walked_to,
        walked_at=batch.walked_at,
        due_at=batch.due_at,
        slots=slots,
    )


async def close(tx: TenantTx, batch: StoredBatch, totals: BatchTotals, *, now: datetime) -> None:
    """Nothing is under way any more."""
    await tx.execute(QUERIES.close, id=batch.id, totals=_json(totals), now=now)


async def give_back(tx: TenantTx, batch_id: BatchId, *, worker: str) -> None:
    """Another worker may take it."""
    await tx.execute(QUERIES.give_back, id=batch_id, worker=worker)


async def put_off(tx: TenantTx, batch_id: BatchId, *, worker: str, due_at: datetime) -> int:
    """How often it has failed in a row."""
    return await tx.fetch_value(QUERIES.put_off, id=batch_id, worker=worker, due_at=due_at) or 0


async def next_people(tx: TenantTx, batch: StoredBatch, *, as_of: datetime, limit: int) -> list[Person]:
    """The next ones after the cursor."""
    among = _among(batch, QUERIES.next_people, QUERIES.next_listed)
    rows = await tx.fetch(among.query, **among.given, after=batch.walked_to, as_of=as_of, limit=limit)
    return [_person(row) for row in rows]


async def count_people(tx: TenantTx, batch: StoredBatch, *, as_of: datetime) -> int:
    """How many it is for."""
    among = _among(batch, QUERIES.count_people, QUERIES.count_listed)
    found: int = await tx.fetch_value(among.query, **among.given, after="", as_of=as_of)
    return found


async def channels_of_people(tx: TenantTx, batch: StoredBatch, *, as_of: datetime) -> dict[str, int]:
    """How many of them have an address, by channel."""
    among = _among(batch, QUERIES.channels_of_people, QUERIES.channels_of_listed)
    rows = await tx.fetch(among.query, **among.given, after="", as_of=as_of)
    return {row["channel"]: row["n"] for row in rows}


class _Among(NamedTuple):
    """A query over those whom a batch is for, and what the condition brings along."""

    query: Query
    given: dict[str, Any]


def _among(batch: StoredBatch, of_all: Query, of_list: Query) -> _Among:
    listed = batch.audience.listed
    query, given = filtered(of_list if listed else of_all, _expression(batch.audience))
    return _Among(query, {**given, "batch_id": batch.id} if listed else given)


def _expression(audience: BatchAudience) -> Expression | None:
    return None if audience.filter is None else read_filter(audience.filter)


async def add_to_list(tx: TenantTx, batch_id: BatchId, people: Mapping[RecipientId, bytes | None]) -> None:
    """Put them on it, each with the sealed variables of their own."""
    await tx.execute(
        QUERIES.add_to_list,
        batch_id=batch_id,
        recipient_ids=list(people),
        variables_ciphertexts=list(people.values()),
    )


async def count_without_variables(tx: TenantTx, batch_id: BatchId) -> int:
    """On its list: of how many nothing of their own is said."""
    found: int = await tx.fetch_value(QUERIES.count_without_variables, batch_id=batch_id)
    return found


async def clear_list(tx: TenantTx, batch_id: BatchId) -> None:
    """Nobody is on it any more."""
    await tx.execute(QUERIES.clear_list, batch_id=batch_id)


async def copy_list(tx: TenantTx, *, from_id: BatchId, to_id: BatchId) -> None:
    """Another batch is for the same people."""
    await tx.execute(QUERIES.copy_list, from_id=from_id, to_id=to_id)


async def waiting_in_queue(tx: TenantTx, *, rank: int, most: int) -> int:
    """How many of the tenant's messages of this priority wait, up to so many."""
    found: int = await tx.fetch_value(QUERIES.waiting_in_queue, rank=rank, most=most)
    return found


async def write_people(tx: TenantTx, batch_id: BatchId, lines: Sequence[LedgerLine], *, stripe: int) -> None:
    """Write them into the ledger, for the first time, and count them."""
    if lines:
        await tx.execute(
            QUERIES.write_people,
            batch_id=batch_id,
            stripe=stripe,
            **columns(
                lines,
                "recipient_id variant notification_id error_code send_at",
                states="state.value",
            ),
        )


async def due_people(tx: TenantTx, batch_id: BatchId, *, now: datetime, limit: int) -> list[PlannedPerson]:
    """Those planned whose time has come."""
    rows = await tx.fetch(QUERIES.due_people, batch_id=batch_id, now=now, limit=limit)
    return [_planned(row) for row in rows]


async def next_send_at(tx: TenantTx, batch_id: BatchId) -> datetime | None:
    """When the next of those planned is due."""
    found: datetime | None = await tx.fetch_value(QUERIES.next_send_at, batch_id=batch_id)
    return found


async def settle_planned(
    tx: TenantTx, batch_id: BatchId, lines: Sequence[LedgerLine], *, stripe: int
) -> None:
    """What became of people who were planned."""
    if lines:
        await tx.execute(
            QUERIES.settle_planned,
            batch_id=batch_id,
            stripe=stripe,
            **columns(lines, "recipient_id notification_id error_code send_at", states="state.value"),
        )


async def sum_counts(tx: TenantTx, batch_ids: Sequence[BatchId]) -> dict[BatchId, dict[int, BatchCounts]]:
    """By batch and share."""
    rows = await tx.fetch(QUERIES.sum_counts, batch_ids=list(batch_ids))
    found: dict[BatchId, dict[int, dict[str, int]]] = {batch_id: {} for batch_id in batch_ids}
    for row in rows:
        found[row["batch_id"]].setdefault(row["variant"], {})[row["name"]] = row["n"]
    return {
        batch_id: {variant: BatchCounts(n) for variant, n in shares.items()}
        for batch_id, shares in found.items()
    }


def all_together(shares: Mapping[int, BatchCounts]) -> BatchCounts:
    """The counts of all shares."""
    total: dict[str, int] = {}
    for counts in shares.values():
        for name, n in counts.n.items():
            total[name] = total.get(name, 0) + n
    return BatchCounts(total)


async def list_people(
    tx: TenantTx,
    batch_id: BatchId,
    *,
    after: str,
    state: PersonState | None,
    variant: int | None,
    unread: bool,
    most: int,
) -> list[tuple[PersonLine, bool]]:
    """The next lines of the ledger, and whether each fits."""
    rows = await tx.fetch(
        QUERIES.list_people,
        batch_id=batch_id,
        after=after,
        state=state.value if state else None,
        variant=variant,
        unread=unread,
        most=most,
    )
    return [(_line(row), row["fits"]) for row in rows]


async def list_unread(
    tx: TenantTx, batch_id: BatchId, *, limit: int
) -> list[tuple[RecipientId, NotificationId, int]]:
    """Those whose vendor's answer was never read, and how often."""
    rows = await tx.fetch(QUERIES.list_unread, batch_id=batch_id, limit=limit)
    return [(row["recipient_id"], row["notification_id"], row["unread_answers"]) for row in rows]


async def count_ledger(tx: TenantTx, batch_id: BatchId) -> dict[str, int]:
    """All lines of the ledger by state, read one by one."""
    rows = await tx.fetch(QUERIES.count_ledger, batch_id=batch_id)
    found: dict[str, int] = {}
    for row in rows:
        found[row["state"]] = found.get(row["state"], 0) + row["n"]
    return found


async def walk_ledger(
    tx: TenantTx, batch: StoredBatch, *, limit: int
) -> list[tuple[RecipientId, PersonState, NotificationId | None]]:
    """The next lines after the cursor."""
    rows = await tx.fetch(QUERIES.walk_ledger, batch_id=batch.id, after=batch.walked_to, limit=limit)
    return [(row["recipient_id"], PersonState(row["state"]), row["notification_id"]) for row in rows]


async def settle_missed(
    tx: TenantTx,
    batch_id: BatchId,
    under_way: Sequence[tuple[RecipientId, NotificationId]],
    *,
    stripe: int,
) -> int:
    """How many of these lines were under way although their messages are over; they are not any more."""
    if not under_way:
        return 0
    found: int = await tx.fetch_value(
        QUERIES.settle_missed,
        batch_id=batch_id,
        stripe=stripe,
        **tuple_columns(under_way, "recipient_ids ids"),
        **created_columns([time_of(one) for _, one in under_way]),
    )
    return found


async def cancel_waiting(
    tx: TenantTx, ids: Sequence[NotificationId], *, now: datetime, stripe: int
) -> list[NotificationId]:
    """Those that were waiting and are cancelled now, each with its event."""
    if not ids:
        return []
    rows = await tx.fetch(
        QUERIES.cancel_waiting,
        ids=list(ids),
        now=now,
        day=now.date(),
        stripe=stripe,
        event_ids=[EVENT.new(now) for _ in ids],
        envelope=usual_attributes(NOTIFY_SOURCE, None),
        **created_columns([time_of(one) for one in ids]),
    )
    return [NotificationId(row["id"]) for row in rows]


async def sweep_ledgers(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many lines of batches that ended long ago."""
    before = now - _LEDGER_KEEPS
    return await tx.execute(QUERIES.sweep_people, before=before, limit=limit) + await tx.execute(
        QUERIES.sweep_lists, before=before, limit=limit
    )


def _read(kind: Any) -> Callable[[str], Any]:
    return msgspec.json.Decoder(kind).decode


_BATCH_QUERIES: Final = [QUERIES.find_batch, QUERIES.lock_batch, QUERIES.lock_claimed, QUERIES.list_batches]
_batch = RowMapper(
    StoredBatch,
    _BATCH_QUERIES,
    columns={"audience": "recipient_query", "window": "send_window", "pacing": "rate_limit"},
    read={
        "audience": _read(BatchAudience),
        "window": optional(_read(SendingWindow)),
        "pacing": optional(_read(Pacing)),
        "variants": lambda text: _read(tuple[BatchVariant, ...])(text) if text else (),
        "slots": lambda text: _read(dict[str, datetime])(text) if text else {},
    },
)
_paced = RowMapper(
    PacedBatch,
    [QUERIES.find_paced],
    read={"pacing": _read(Pacing), "window": optional(_read(SendingWindow))},
)
_person = RowMapper(Person, [QUERIES.next_people, QUERIES.next_listed], columns={"recipient_id": "id"})
_planned = RowMapper(PlannedPerson, [QUERIES.due_people], columns={"recipient_id": "id"})
_line = RowMapper(PersonLine, [QUERIES.list_people])
