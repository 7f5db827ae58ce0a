"""The only Python that moves notifications out of the queue."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import structs

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId
from tidings.contracts.messages import SentRecord
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.durable.presence import WorkerId
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, optional, sparse_columns, tuple_columns
from tidings.kernel.outbox import event_columns
from tidings.kernel.sql import Queries, created_columns, sparse
from tidings.notify.accept.row import NotificationRow, Pin
from tidings.notify.dispatch.sent import sender_text
from tidings.notify.facts.store import Person, PersonRow, person_of
from tidings.notify.ids import SCHEDULED_WORK, DigestWindowId

QUERIES = Queries.beside(__file__)
_read_pin = msgspec.json.Decoder(Pin).decode

#: A notification, and whose.
OwnedId: TypeAlias = tuple[TenantId, NotificationId]
#: Rows that had to be waited for are locked by the first statement and seen by the second; see `move`.
_AT_ONCE_AND_AGAIN = range(2)


class LoadedBatch(NamedTuple):
    """Notifications that exist, and those of their recipients who do."""

    notifications: dict[OwnedId, NotificationRow]
    #: With their addresses on the channels that their notifications may take.
    people: dict[Person, PersonRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a notification goes from the queue."""

    pending: NotificationRow
    status: NotificationStatus
    trace: str
    #: Why, where it ends or waits.
    reason: str | None = None
    #: When it is looked at again, where it waits.
    until: datetime | None = None
    locale: str | None = None
    snapshot: str | None = None
    #: What is kept of the message that is ready to go out.
    record: SentRecord | None = field(default=None, repr=False)
    #: JSON: by channel, where its exact words are.
    body_ref: str | None = None
    preferences_version: int | None = None
    #: The digest that it waits in, which has its own time: it needs no appointment.
    window_id: DigestWindowId | None = None


async def load_pending(tx: TenantTx, ids: Sequence[NotificationId]) -> dict[NotificationId, NotificationRow]:
    """Those that exist."""
    found = await load_pending_of(tx, [(tx.tenant_id, id_) for id_ in ids])
    return {pending.id: pending for pending in found.values()}


async def load_pending_of(
    tx: TenantTx | TenantsTx, wanted: Sequence[OwnedId]
) -> dict[OwnedId, NotificationRow]:
    """The same for notifications of several tenants."""
    return (await load_with_people(tx, wanted)).notifications


async def load_with_people(tx: TenantTx | TenantsTx, wanted: Sequence[OwnedId]) -> LoadedBatch:
    """The same with their recipients, in one statement."""
    if not wanted:
        return LoadedBatch({}, {})
    rows = await tx.fetch(
        QUERIES.load_pending,
        **tuple_columns(wanted, "tenant_ids ids"),
        **created_columns([time_of(id_) for _, id_ in wanted]),
    )
    notifications: dict[OwnedId, NotificationRow] = {}
    people: dict[Person, PersonRow] = {}
    for row in rows:
        pending = _pending(row)
        notifications[pending.tenant_id, pending.id] = pending
        if row["primary_locale"] is None:
            continue  # There is no such recipient.
        whose = (pending.tenant_id, pending.recipient_id)
        known, person = people.get(whose), person_of(row)
        people[whose] = person if known is None else _with_addresses_of(known, person)
    return LoadedBatch(notifications, people)


async def move(
    tx: TenantTx | TenantsTx,
    moves: Sequence[Move],
    events: Sequence[Event],
    *,
    worker: WorkerId | None,
    now: datetime,
    stripe: int,
) -> set[OwnedId]:
    """Those that moved, with the event of each; the others were cancelled meanwhile, or are another worker's. Without a worker: those free."""
    waits = [m.until is not None for m in moves]
    appointed = [m.until is not None and m.window_id is None for m in moves]
    given = {
        "worker": worker,
        "now": now,
        "day": now.date(),
        "stripe": stripe,
        **_common(moves),
        **columns(moves, statuses="status.value"),
        **sparse_columns(moves, "reason until window_id", preference_versions="preferences_version"),
        "schedule_ids": sparse([SCHEDULED_WORK.new(now) if later else None for later in appointed]),
        "kinds": sparse([m.reason if later else None for m, later in zip(moves, appointed, strict=True)]),
        "counted": ["deferred" if wait else m.status.value for m, wait in zip(moves, waits, strict=True)],
        **event_columns(events),
    }
    moved: set[OwnedId] = set()
    for _ in _AT_ONCE_AND_AGAIN:
        moved.update((row["tenant_id"], row["id"]) for row in await tx.fetch(QUERIES.move, **given))
        if len(moved) == len(moves):
            return moved
    left = [owned for m in moves if (owned := (m.pending.tenant_id, m.pending.id)) not in moved]
    await tx.execute(QUERIES.leave_queue, **tuple_columns(left, "tenant_ids ids"), worker=worker)
    return moved


async def mark_copies(tx: TenantTx | TenantsTx, copies: Sequence[NotificationRow], *, trace: str) -> None:
    """Let it be known that these are guardians' copies."""
    await tx.execute(
        QUERIES.mark_copies,
        trace=trace,
        **created_columns([copy.created_at for copy in copies]),
        **columns(copies, "tenant_id id", retention_classes="retention_class"),
    )


async def note_steps(tx: TenantTx | TenantsTx, moves: Sequence[Move], *, now: datetime) -> None:
    """Keep what the gates of a later step said."""
    given = {"now": now, **_common(moves)}
    for _ in _AT_ONCE_AND_AGAIN:
        if await tx.execute(QUERIES.note_step, **given) == len(moves):
            return


def _common(moves: Sequence[Move]) -> dict[str, Any]:
    """Which rows they are; what the gates said; where the messages go that are ready, and who they come from."""
    records = [m.record for m in moves]
    return {
        **created_columns([m.pending.created_at for m in moves]),
        **columns(
            moves,
            "trace",
            tenant_ids="pending.tenant_id",
            ids="pending.id",
            retention_classes="pending.retention_class",
        ),
        **sparse_columns(moves, "locale snapshot body_ref"),
        "address_hashes": sparse([one.address_hash if one else None for one in records]),
        "addresses": sparse([one.address_ciphertext if one else None for one in records]),
        "senders": sparse([sender_text(one) if one else None for one in records]),
    }


def _with_addresses_of(known: PersonRow, same: PersonRow) -> PersonRow:
    """A recipient of two notifications, which may take different channels."""
    if known.addresses == same.addresses:
        return known
    both = {*known.addresses, *same.addresses}
    return structs.replace(known, addresses=tuple(sorted(both, key=lambda one: (not one.is_primary, one.id))))


_pending = RowMapper(
    NotificationRow,
    [QUERIES.load_pending],
    columns={
        "variables": "variables_ciphertext",
        "attachments": "attachments_ciphertext",
        "trace": "decision_trace",
        "pin": "pinned",
    },
    read={"template_versions": optional(msgspec.json.decode), "pin": optional(_read_pin)},
    omit="scheduled_for resent_from found_by source_event_type source_event_produced_at time_slot",
)
