"""The only Python that reads notifications back, takes them back, and releases them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.bounded_scan import Glance
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries, created_columns
from tidings.kernel.tracing import trace_id_of
from tidings.notify.accept.row import AnyChannel
from tidings.notify.dispatch.sent import sender_of
from tidings.notify.ids import BatchId
from tidings.notify.notifications.errors import UnknownNotificationError
from tidings.notify.notifications.model import MOMENTS, Notification

QUERIES = Queries.beside(__file__)

#: Items of a digest that an explanation names.
MOST_DIGEST_ITEMS: Final = 100
#: A notification may have been scheduled for a year before it joined its digest.
_LONGEST_GATHERED: Final = timedelta(days=400)
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
    batch_id: BatchId | None = None
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
                self.batch_id,
                self.found_by,
                self.tests_only,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A place in the queue, or an appointment."""

    #: `queue`, `digest`, or the kind of the appointment: `scheduled_send quiet_hours rate_limit tenant_suspended`.
    kind: str
    created_at: datetime
    #: None in the queue: as soon as its turn comes.
    run_after: datetime | None
    #: A worker has it in hand.
    claimed: bool
    #: It was kept, or is of no use any more.
    over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestFacts:
    """A digest window, as an explanation tells of it."""

    id: str
    state: str
    result: str | None
    flush_at: datetime
    flushed_at: datetime | None
    digest_notification_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedAttempt:
    """A line of notify's own log: what was said or done after a call; in rows of before the call too."""

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
    rows = await tx.fetch(
        QUERIES.find_notifications, ids=list(ids), **created_columns([time_of(one) for one in ids])
    )
    return {found.id: found for found in map(_notification, rows)}


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
        "status": wanted.status.value if wanted.status is not None else None,
        "channel": wanted.channel,
        "category": wanted.category,
        "template": wanted.template,
        "correlation_id": wanted.correlation_id,
        "batch_id": wanted.batch_id,
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
    elif wanted.batch_id is not None:
        row = await tx.fetch_one(QUERIES.look_back_at_batch, recipient_ids=people, **values)
    elif people is None:
        row = await tx.fetch_one(QUERIES.look_back, **values)
    elif len(people) == 1:
        row = await tx.fetch_one(QUERIES.look_back_at_recipient, recipient_id=people[0], **values)
    else:
        row = await tx.fetch_one(QUERIES.look_back_at_recipients, recipient_ids=people, **values)
    return Glance.of(row)


def _people(wanted: NotificationCriteria) -> list[RecipientId] | None:
    """The recipients whose notifications are wanted; None: all."""
    if wanted.recipient_ids is None:
        return None if wanted.recipient_id is None else [wanted.recipient_id]
    if wanted.recipient_id is None:
        return list(wanted.recipient_ids)
    return [one for one in wanted.recipient_ids if one == wanted.recipient_id]


async def find_waits(tx: TenantTx, one: Notification, *, now: datetime) -> list[Wait]:
    """Where it waits, and where it waited as far as that is still known."""
    window_id = one.digest_group_id if one.status is NotificationStatus.SCHEDULED else None
    rows = await tx.fetch(
        QUERIES.find_waits, id=one.id, created_at=one.created_at, window_id=window_id, now=now
    )
    return [_wait(row) for row in rows]


async def find_digest(tx: TenantTx, window_id: str) -> DigestFacts | None:
    """A window, while it is kept."""
    row = await tx.fetch_one(QUERIES.find_digest, id=window_id)
    return None if row is None else _digest(row)


async def list_digest_items(tx: TenantTx, window_id: str, *, until: datetime) -> list[str]:
    """What the digest of that window took the place of, the oldest first; one more than are shown at most."""
    rows = await tx.fetch(
        QUERIES.list_digest_items,
        window_id=window_id,
        since=until - _LONGEST_GATHERED,
        until=until,
        limit=MOST_DIGEST_ITEMS + 1,
    )
    return [row["id"] for row in rows]


async def load_own_attempts(tx: TenantTx, *, id: NotificationId) -> list[LoggedAttempt]:  # noqa: A002
    """The log of one notification, the oldest first."""
    rows = await tx.fetch(QUERIES.load_own_attempts, id=id, created_at=time_of(id))
    return [_logged_attempt(row) for row in rows]


async def cancel_notification(
    tx: TenantTx,
    *,
    id: NotificationId,  # noqa: A002
    now: datetime,
    stripe: int,
) -> NotificationStatus | None:
    """How it stood before; None where it was not waiting any more, and nothing was changed."""
    before = await tx.fetch_value(
        QUERIES.cancel_notification, id=id, created_at=time_of(id), now=now, day=now.date(), stripe=stripe
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
        QUERIES.release_notification, id=id, created_at=time_of(id), mark=mark, now=now
    )
    return found is not None


async def within_reach(tx: TenantTx, notification_id: NotificationId, *, tests_only: bool) -> None:
    """For a test key the live ones are not there: the same answer as for an id that does not exist."""
    if tests_only and not (await find_one(tx, notification_id)).is_test:
        raise UnknownNotificationError(f"there is no notification with the id {notification_id}")


async def find_one(tx: TenantTx, notification_id: NotificationId) -> Notification:
    """The notification; an `UnknownNotificationError` where there is none, or it is another tenant's."""
    found = await find_notifications(tx, ids=[notification_id])
    if notification_id not in found:
        raise UnknownNotificationError(f"there is no notification with the id {notification_id}")
    return found[notification_id]


_wait = RowMapper(Wait, [QUERIES.find_waits])
_digest = RowMapper(DigestFacts, [QUERIES.find_digest])
_logged_attempt = RowMapper(LoggedAttempt, [QUERIES.load_own_attempts], columns={"reason": "error_code"})
_notification = RowMapper(
    Notification,
    [QUERIES.find_notifications],
    columns={"evidence": "delivery_evidence", "trace": "decision_trace", "trace_id": "traceparent"},
    read={
        "metadata": lambda text: _read_object(text) if text else {},
        "render_snapshot": lambda text: _read_object(text) if text else None,
        "sender": sender_of,
        "trace_id": trace_id_of,
    },
    of_row={
        "moments": lambda row: {
            name: at for name in ("queued", *MOMENTS) if (at := row[f"{name}_at"]) is not None
        },
        "reason": lambda row: row["suppression_reason"] or row["failure_reason"],
    },
)


class StoredNotificationTemplates:
    """Tells the router which templates messages were made from."""

    async def keys_of(self, tx: TenantTx, notification_ids: Sequence[str]) -> Mapping[str, str]:
        """The template's key by the notification's id."""
        if not notification_ids:
            return {}
        rows = await tx.fetch(
            QUERIES.find_template_keys,
            ids=list(notification_ids),
            **created_columns([time_of(one) for one in notification_ids]),
        )
        return {row["id"]: row["template_key"] for row in rows}
