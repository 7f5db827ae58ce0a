"""The only Python that writes accepted notifications."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.events import Event
from tidings.kernel.outbox import event_columns
from tidings.kernel.sql import Queries, sparse
from tidings.notify.accept.row import RANKS, NotificationRow
from tidings.notify.ids import SCHEDULED_WORK

QUERIES = Queries.beside(__file__)
_encode = msgspec.json.Encoder().encode


async def insert_notifications(
    tx: TenantTx, fresh: Sequence[NotificationRow], events: Sequence[Event], *, now: datetime, stripe: int
) -> None:
    """Write them, with their places in the queue or in the schedule and one event each, and count them."""
    await tx.execute(
        QUERIES.insert_notifications,
        tenant_id=tx.tenant_id,
        day=now.date(),
        stripe=stripe,
        ids=[n.id for n in fresh],
        created_ats=[n.created_at for n in fresh],
        recipient_ids=[n.recipient_id for n in fresh],
        statuses=[n.status.value for n in fresh],
        channels=[n.channel for n in fresh],
        categories=[n.category for n in fresh],
        use_cases=[n.use_case for n in fresh],
        priorities=[n.priority for n in fresh],
        ranks=[RANKS[n.priority] for n in fresh],
        retention_classes=[n.retention_class for n in fresh],
        locales=sparse([n.locale for n in fresh]),
        template_ids=[n.template_id for n in fresh],
        template_version_ids=[n.template_version_id for n in fresh],
        template_keys=[n.template_key for n in fresh],
        template_semvers=[n.template_semver for n in fresh],
        template_versions=sparse([_json(n.template_versions) for n in fresh]),
        variables_hashes=[n.variables_hash for n in fresh],
        variables=[n.variables for n in fresh],
        attachments=sparse([n.attachments for n in fresh]),
        scheduled_fors=sparse([n.scheduled_for for n in fresh]),
        expires_ats=[n.expires_at for n in fresh],
        are_tests=[n.is_test for n in fresh],
        source_event_ids=sparse([n.source_event_id for n in fresh]),
        source_event_types=sparse([n.source_event_type for n in fresh]),
        source_event_produced_ats=sparse([n.source_event_produced_at for n in fresh]),
        correlation_ids=sparse([n.correlation_id for n in fresh]),
        metadatas=sparse([n.metadata for n in fresh]),
        pinneds=sparse([_json(n.pin) for n in fresh]),
        traceparents=sparse([n.traceparent for n in fresh]),
        resent_froms=sparse([n.resent_from for n in fresh]),
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
    tx: TenantTx, fresh: Sequence[NotificationRow], *, now: datetime, expires_at: datetime
) -> set[NotificationId]:
    """Those that are the first for their event, template, recipient and channel, live or test."""
    rows = await tx.fetch(
        QUERIES.enter_ledger,
        tenant_id=tx.tenant_id,
        now=now,
        expires_at=expires_at,
        source_event_ids=[n.source_event_id for n in fresh],
        template_keys=[n.template_key for n in fresh],
        recipient_ids=[n.recipient_id for n in fresh],
        channels=[_ledger_channel(n) for n in fresh],
        notification_ids=[n.id for n in fresh],
    )
    return {NotificationId(row["notification_id"]) for row in rows}


async def find_in_ledger(tx: TenantTx, wanted: Sequence[NotificationRow]) -> dict[int, NotificationId]:
    """The notification that was there first, by place."""
    rows = await tx.fetch(
        QUERIES.find_in_ledger,
        tenant_id=tx.tenant_id,
        places=list(range(len(wanted))),
        source_event_ids=[n.source_event_id for n in wanted],
        template_keys=[n.template_key for n in wanted],
        recipient_ids=[n.recipient_id for n in wanted],
        channels=[_ledger_channel(n) for n in wanted],
    )
    return {row["place"]: NotificationId(row["notification_id"]) for row in rows}


def _ledger_channel(one: NotificationRow) -> str:
    """The channel in the ledger: a test is no repeat of what was sent, and keeps nothing from being sent."""
    return f"test:{one.channel}" if one.is_test else one.channel


async def sweep_ledger(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many entries that nothing can repeat any more."""
    return await tx.execute(QUERIES.sweep_ledger, now=now, limit=limit)
