"""The only Python that reads notifications back, takes them back, and releases them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.bounded_scan import Glance
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.sql import Queries
from tidings.kernel.tracing import trace_id_of
from tidings.notify.accept.row import AnyChannel
from tidings.notify.dispatch.sent import sender_of
from tidings.notify.ids import TemplateVersionId
from tidings.notify.notifications.errors import UnknownNotificationError
from tidings.notify.notifications.model import Notification

QUERIES = Queries.beside(__file__)

#: Columns that say when something came to pass, by what it was.
_MOMENTS = (
    "queued",
    "dispatched",
    "delivered",
    "failed",
    "bounced",
    "suppressed",
    "superseded",
    "cancelled",
    "expired",
    "opened",
    "clicked",
    "read",
)
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationCriteria:
    """Which notifications are wanted; None: whichever."""

    status: NotificationStatus | None = None
    #: As asked for, or as it was delivered.
    channel: AnyChannel | None = None
    category: str | None = None
    recipient_id: RecipientId | None = None
    #: Any of these, beside or instead of the one.
    recipient_ids: tuple[RecipientId, ...] | None = None
    template: str | None = None
    correlation_id: str | None = None
    #: Key and hash of searchable metadata.
    found_by: tuple[str, str] | None = None
    #: For a test key.
    tests_only: bool = False

    @property
    def narrows(self) -> bool:
        """Whether rows of the same recipients are left out."""
        return any(
            (
                self.status,
                self.channel,
                self.category,
                self.template,
                self.correlation_id,
                self.found_by,
                self.tests_only,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A place in the queue, or an appointment."""

    #: `queue`, or the kind of the appointment: `scheduled_send quiet_hours rate_limit tenant_suspended`.
    kind: str
    created_at: datetime
    #: None in the queue: as soon as its turn comes.
    run_after: datetime | None
    #: A worker has it in hand.
    claimed: bool
    #: It was kept, or is of no use any more.
    over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAttempt:
    """A line of notify's own log: what a vendor said, at once or later."""

    id: str
    attempt_number: int
    channel: str
    vendor: str
    outcome: str
    #: The attempt in the router that it tells of.
    router_attempt_id: str | None
    vendor_message_id: str | None
    reason: str | None
    started_at: datetime
    finished_at: datetime | None


async def find_notifications(
    tx: TenantTx, *, ids: Sequence[NotificationId]
) -> dict[NotificationId, Notification]:
    """Those that exist."""
    if not ids:
        return {}
    created_ats = [time_of(notification_id) for notification_id in ids]
    rows = await tx.fetch(
        QUERIES.find_notifications,
        tenant_id=tx.tenant_id,
        ids=list(ids),
        created_ats=created_ats,
        oldest=min(created_ats),
        newest=max(created_ats),
    )
    return {found.id: found for found in map(from_row, rows)}


async def look_back(
    tx: TenantTx,
    wanted: NotificationCriteria,
    *,
    since: datetime,
    before_at: datetime,
    before_id: str,
    most: int,
) -> Glance[NotificationId]:
    """Look at up to `most` rows older than a place, by the narrowest index that the filter has."""
    values: dict[str, Any] = {
        "tenant_id": tx.tenant_id,
        "status": wanted.status.value if wanted.status is not None else None,
        "channel": wanted.channel,
        "category": wanted.category,
        "template": wanted.template,
        "correlation_id": wanted.correlation_id,
        "since": since,
        "before_at": before_at,
        "before_id": before_id,
        "most": most,
        "tests_only": wanted.tests_only,
    }
    people = _people(wanted)
    if wanted.found_by is not None:
        key, value_hash = wanted.found_by
        row = await tx.fetch_one(
            QUERIES.look_back_at_metadata, recipient_ids=people, key=key, value_hash=value_hash, **values
        )
    elif wanted.correlation_id is not None:
        row = await tx.fetch_one(QUERIES.look_back_at_correlation, recipient_ids=people, **values)
    elif people is None:
        row = await tx.fetch_one(QUERIES.look_back, **values)
    elif len(people) == 1:
        row = await tx.fetch_one(QUERIES.look_back_at_recipient, recipient_id=people[0], **values)
    else:
        row = await tx.fetch_one(QUERIES.look_back_at_recipients, recipient_ids=people, **values)
    return Glance.of(row)


def _people(wanted: NotificationCriteria) -> list[RecipientId] | None:
    """Whose notifications are wanted; None: anybody's."""
    if wanted.recipient_ids is None:
        return None if wanted.recipient_id is None else [wanted.recipient_id]
    if wanted.recipient_id is None:
        return list(wanted.recipient_ids)
    return [one for one in wanted.recipient_ids if one == wanted.recipient_id]


async def find_waits(tx: TenantTx, *, id: NotificationId, now: datetime) -> list[Wait]:  # noqa: A002
    """Where it waits, and where it waited as far as that is still known."""
    rows = await tx.fetch(QUERIES.find_waits, tenant_id=tx.tenant_id, id=id, now=now)
    return [
        Wait(
            kind=row["kind"],
            created_at=row["created_at"],
            run_after=row["run_after"],
            claimed=row["claimed"],
            over=row["over"],
        )
        for row in rows
    ]


async def load_own_attempts(tx: TenantTx, *, id: NotificationId) -> list[LoggedAttempt]:  # noqa: A002
    """The log of one notification, the oldest first."""
    rows = await tx.fetch(QUERIES.load_own_attempts, tenant_id=tx.tenant_id, id=id, created_at=time_of(id))
    return [
        LoggedAttempt(
            id=row["id"],
            attempt_number=row["attempt_number"],
            channel=row["channel"],
            vendor=row["vendor"],
            outcome=row["outcome"],
            router_attempt_id=row["router_attempt_id"],
            vendor_message_id=row["vendor_message_id"],
            reason=row["error_code"],
            started_at=row["started_at"],
            finished_at=row["finished_at"],
        )
        for row in rows
    ]


def from_row(row: Row) -> Notification:
    """A notification as the database gives it."""
    return Notification(
        id=NotificationId(row["id"]),
        recipient_id=RecipientId(row["recipient_id"]),
        status=NotificationStatus(row["status"]),
        channel=row["channel"],
        final_channel=row["final_channel"],
        category=row["category"],
        use_case=row["use_case"],
        priority=row["priority"],
        locale=row["locale"],
        template_key=row["template_key"],
        template_semver=row["template_semver"],
        template_version_id=TemplateVersionId(row["template_version_id"]),
        preference_version=row["preference_version"],
        scheduled_for=row["scheduled_for"],
        expires_at=row["expires_at"],
        moments={name: at for name in _MOMENTS if (at := row[f"{name}_at"]) is not None},
        reason=row["suppression_reason"] or row["failure_reason"],
        evidence=row["delivery_evidence"],
        trace=row["decision_trace"],
        render_snapshot=_read_object(row["render_snapshot"]) if row["render_snapshot"] else None,
        correlation_id=row["correlation_id"],
        source_event_id=row["source_event_id"],
        source_event_type=row["source_event_type"],
        source_event_produced_at=row["source_event_produced_at"],
        is_test=row["is_test"],
        metadata=_read_object(row["metadata"]) if row["metadata"] else {},
        resent_from=row["resent_from"],
        updated_at=row["updated_at"],
        address_ciphertext=row["address_ciphertext"],
        sender=sender_of(row["sender"]),
        body_ref=row["body_ref"],
        trace_id=trace_id_of(row["traceparent"]),
    )


async def cancel_notification(
    tx: TenantTx,
    *,
    id: NotificationId,  # noqa: A002
    now: datetime,
    stripe: int,
) -> NotificationStatus | None:
    """How it stood before; None where it was not waiting any more, and nothing was changed."""
    before = await tx.fetch_value(
        QUERIES.cancel_notification,
        tenant_id=tx.tenant_id,
        id=id,
        created_at=time_of(id),
        now=now,
        day=now.date(),
        stripe=stripe,
    )
    return None if before is None else NotificationStatus(before)


async def release_notification(
    tx: TenantTx,
    *,
    id: NotificationId,  # noqa: A002
    mark: str,
    now: datetime,
) -> bool:
    """Whether it was waiting; it is due from now on, and its trace ends with the mark."""
    found = await tx.fetch_value(
        QUERIES.release_notification,
        tenant_id=tx.tenant_id,
        id=id,
        created_at=time_of(id),
        mark=mark,
        now=now,
    )
    return found is not None


async def within_reach(tx: TenantTx, notification_id: NotificationId, *, tests_only: bool) -> None:
    """For a test key the live ones are not there: the same answer as for an id that nobody has."""
    if tests_only and not (await find_one(tx, notification_id)).is_test:
        raise UnknownNotificationError(f"there is no notification with the id {notification_id}")


async def find_one(tx: TenantTx, notification_id: NotificationId) -> Notification:
    """The notification; an `UnknownNotificationError` where there is none, or it is somebody else's."""
    found = await find_notifications(tx, ids=[notification_id])
    if notification_id not in found:
        raise UnknownNotificationError(f"there is no notification with the id {notification_id}")
    return found[notification_id]
