"""The only Python that writes accepted notifications."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.events import Event
from tidings.kernel.mapping import columns, sparse_columns
from tidings.kernel.outbox import event_columns
from tidings.kernel.sql import Queries, sparse
from tidings.notify.accept.row import RANKS, NotificationRow
from tidings.notify.ids import SCHEDULED_WORK

QUERIES = Queries.beside(__file__)
_encode = msgspec.json.Encoder().encode
_ALWAYS: Final = "tenant_id id created_at recipient_id channel use_case template_id template_version_id template_key template_semver expires_at"
_SELDOM: Final = (
    "locale scheduled_for source_event_id source_event_type source_event_produced_at correlation_id metadata "
    "traceparent digest_key resent_from batch_id"
)


async def insert_notifications(
    tx: TenantTx | TenantsTx,
    fresh: Sequence[NotificationRow],
    events: Sequence[Event],
    *,
    now: datetime,
    stripe: int,
) -> None:
    """Write them, with their places in the queue or in the schedule and one event each, and count them."""
    await tx.execute(
        QUERIES.insert_notifications,
        day=now.date(),
        stripe=stripe,
        **columns(
            fresh,
            _ALWAYS,
            statuses="status.value",
            categories="category",
            priorities="priority",
            retention_classes="retention_class",
            variables_hashes="variables_hash",
            variables="variables",
            are_tests="is_test",
        ),
        ranks=[RANKS[n.priority] for n in fresh],
        **sparse_columns(fresh, _SELDOM, attachments="attachments"),
        template_versions=sparse([_json(n.template_versions) for n in fresh]),
        pinneds=sparse([_json(n.pin) for n in fresh]),
        found_tenant_ids=[n.tenant_id for n in fresh for _ in n.found_by],
        found_ids=[n.id for n in fresh for _ in n.found_by],
        found_created_ats=[n.created_at for n in fresh for _ in n.found_by],
        found_keys=[key for n in fresh for key, _ in n.found_by],
        found_hashes=[value_hash for n in fresh for _, value_hash in n.found_by],
        schedule_ids=sparse(
            [SCHEDULED_WORK.new(now) if n.scheduled_for is not None else None for n in fresh]
        ),
        **event_columns(events),
    )


def _json(value: object) -> str | None:
    return _encode(value).decode() if value else None


async def enter_ledger(
    tx: TenantTx | TenantsTx, fresh: Sequence[NotificationRow], *, now: datetime, expires_at: datetime
) -> set[NotificationId]:
    """Those that are the first for their event, template, recipient, channel and time slot, live or test."""
    rows = await tx.fetch(
        QUERIES.enter_ledger,
        now=now,
        expires_at=expires_at,
        **_ledger_columns(fresh),
        notification_ids=[n.id for n in fresh],
    )
    return {NotificationId(row["notification_id"]) for row in rows}


async def find_in_ledger(
    tx: TenantTx | TenantsTx, wanted: Sequence[NotificationRow]
) -> dict[int, NotificationId]:
    """The notification that was there first, by place."""
    rows = await tx.fetch(
        QUERIES.find_in_ledger,
        places=list(range(len(wanted))),
        **_ledger_columns(wanted),
    )
    return {row["place"]: NotificationId(row["notification_id"]) for row in rows}


def _ledger_columns(rows: Sequence[NotificationRow]) -> dict[str, list[Any]]:
    """What an entry is known by."""
    return {
        **columns(rows, "tenant_id source_event_id template_key recipient_id"),
        "channels": [_ledger_channel(n) for n in rows],
    }


def _ledger_channel(row: NotificationRow) -> str:
    """The channel, with what else tells messages apart that one event makes of a template for somebody.

    A test is no repeat of what was sent, and keeps nothing from being sent; a reminder a week before is not the one a day
    before.
    """
    channel: str = row.channel
    if row.time_slot is not None:
        channel = f"{channel}@{row.time_slot.astimezone(UTC).isoformat()}"
    return f"test:{channel}" if row.is_test else channel


async def sweep_ledger(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many entries that nothing can repeat any more."""
    return await tx.execute(QUERIES.sweep_ledger, now=now, limit=limit)
