"""The only Python that reads and writes triggers, their versions, and tenants' choices about the platform's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import PlatformTx, Row, TenantsTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import TriggerId
from tidings.notify.received_events.errors import SetTooLargeError
from tidings.notify.schedule.firings import FiringResult
from tidings.notify.schedule.store import TriggerSubject
from tidings.notify.triggers.evaluate import Why
from tidings.notify.triggers.model import EVENT_TIME, Trigger
from tidings.notify.triggers.resolvers import MOST_RECIPIENTS

QUERIES = Queries.beside(__file__)
Side = TenantTx | PlatformTx

#: Lines of the ledger that are read at once.
_MOST_LINES: Final = 20_000

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def _recipients(row: Row) -> tuple[str, ...]:
    read = _decode(row["recipient_resolver"])
    return tuple(read) if isinstance(read, list) else (read,)


_trigger = RowMapper(
    Trigger,
    [
        QUERIES.load_platform_triggers,
        QUERIES.load_tenant_triggers,
        QUERIES.find_triggers,
        QUERIES.list_triggers,
    ],
    columns={
        "event_type": "consumed_event_type",
        "template": "template_key",
        "anchor": "schedule_anchor",
        "offset": "anchor_offset",
        "subject": "subject_path",
    },
    read={
        "variables": _decode,
        "anchor": lambda path: path or EVENT_TIME,
        "subject": lambda path: path or "$.subject",
        "cancelled_by": tuple,
        "replanned_by": tuple,
    },
    of_row={
        "recipients": _recipients,
        "recipients_listed": lambda row: row["recipient_resolver"].startswith("["),
    },
)


class TriggerVersion(Struct, frozen=True, kw_only=True):
    """A trigger as it was."""

    version: int
    #: JSON.
    definition: str
    changed_at: datetime
    changed_by: str


_version = RowMapper(TriggerVersion, [QUERIES.list_versions])


async def load_platform_triggers(tx: Side, *, deleted_since: datetime | None = None) -> list[Trigger]:
    """The platform's, whether they are enabled or not; those too that were deleted since then."""
    rows = await tx.fetch(QUERIES.load_platform_triggers, deleted_since=deleted_since)
    return [_trigger(row) for row in rows]


async def load_tenant_triggers(
    tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId], *, deleted_since: datetime
) -> dict[TenantId, list[Trigger]]:
    """Those of these tenants, whether they are enabled or not; those too that were deleted since then."""
    found: dict[TenantId, list[Trigger]] = {tenant_id: [] for tenant_id in tenant_ids}
    rows = await tx.fetch(
        QUERIES.load_tenant_triggers, tenant_ids=list(tenant_ids), deleted_since=deleted_since
    )
    for row in rows:
        found[row["tenant_id"]].append(_trigger(row))
    return found


async def load_choices(
    tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId]
) -> dict[TenantId, dict[TriggerId, bool]]:
    """Which of the platform's these tenants have switched on or off."""
    found: dict[TenantId, dict[TriggerId, bool]] = {tenant_id: {} for tenant_id in tenant_ids}
    for row in await tx.fetch(QUERIES.load_choices, tenant_ids=list(tenant_ids)):
        found[row["tenant_id"]][row["trigger_id"]] = row["enabled"]
    return found


async def list_triggers(
    tx: Side, *, event_type: str | None, after_id: str | None, limit: int
) -> list[Trigger]:
    """Those that this side can see: its own, and for a tenant the platform's too."""
    rows = await tx.fetch(
        QUERIES.list_triggers,
        tenant_id=tx.tenant_id,
        event_type=event_type,
        after_id=after_id,
        limit=limit,
    )
    return [_trigger(row) for row in rows]


async def find_trigger(tx: Side, trigger_id: TriggerId, *, hold: bool = False) -> Trigger | None:
    """One of this side's own, or of the platform's; `hold` locks one of its own."""
    if hold:
        await tx.fetch(QUERIES.hold_trigger, tenant_id=tx.tenant_id, id=trigger_id)
    rows = await tx.fetch(QUERIES.find_triggers, tenant_id=tx.tenant_id, ids=[trigger_id])
    return _trigger(rows[0]) if rows else None


async def put_trigger(tx: Side, wanted: Trigger, *, definition: str, actor: str) -> None:
    """Write a trigger as it is from now on, and its version beside the earlier ones."""
    listed = wanted.recipients_listed or len(wanted.recipients) != 1
    await tx.execute(
        QUERIES.put_trigger,
        wanted,
        tenant_id=tx.tenant_id,
        scope="platform" if tx.tenant_id is None else "tenant",
        recipient_resolver=_encode(list(wanted.recipients) if listed else wanted.recipients[0]).decode(),
        variables=_encode(wanted.variables).decode(),
        offset_seconds=wanted.offset_read.about_seconds,
        cancelled_by=list(wanted.cancelled_by),
        replanned_by=list(wanted.replanned_by),
        definition=definition,
        actor=actor,
    )


async def delete_trigger(tx: Side, trigger_id: TriggerId, *, now: datetime) -> None:
    """It fires no more."""
    await tx.execute(QUERIES.delete_trigger, tenant_id=tx.tenant_id, id=trigger_id, now=now)


async def put_choices(
    tx: TenantTx, trigger_ids: Sequence[TriggerId], *, enabled: bool, now: datetime
) -> None:
    """Switch some of the platform's on or off."""
    await tx.execute(QUERIES.put_choices, trigger_ids=list(trigger_ids), enabled=enabled, now=now)


async def list_versions(tx: Side, trigger_id: TriggerId) -> list[TriggerVersion]:
    """Every version of a trigger, the newest first."""
    return [_version(row) for row in await tx.fetch(QUERIES.list_versions, trigger_id=trigger_id)]


async def published_channels(tx: Side, template: str) -> set[str]:
    """The channels that a template is published for."""
    if isinstance(tx, TenantTx):
        rows = await tx.fetch(QUERIES.published_channels, key=template)
    else:
        rows = await tx.fetch(QUERIES.published_channels_of_platform, key=template)
    return {row["channel"] for row in rows}


class SubjectState(Struct, frozen=True, kw_only=True):
    """The last event that a trigger has heard about a subject."""

    event_id: str
    event_time: datetime
    cancelled: bool


async def hold_subjects(
    tx: TenantTx | TenantsTx,
    subjects: Sequence[TriggerSubject],
    *,
    if_known: Sequence[TriggerSubject] = (),
    expires_at: datetime,
) -> dict[TriggerSubject, SubjectState]:
    """The states of these subjects, locked in one order; a subject that is new has heard nothing.

    Of `if_known` those alone that were heard of before.
    """
    if subjects:
        given = columns(subjects, "tenant_id trigger_id event_source event_subject")
        await tx.execute(QUERIES.enter_subjects, **given, expires_at=expires_at)
    wanted = [*subjects, *if_known]
    if not wanted:
        return {}
    rows = await tx.fetch(
        QUERIES.hold_subjects, **columns(wanted, "tenant_id trigger_id event_source event_subject")
    )
    return {
        _subject(row): SubjectState(**{n: row[n] for n in SubjectState.__struct_fields__}) for row in rows
    }


async def find_subject(tx: TenantTx, subject: TriggerSubject) -> SubjectState | None:
    """What a trigger has heard last about a subject; None where it never heard of it."""
    row = await tx.fetch_one(QUERIES.find_subject, subject)
    return None if row is None else SubjectState(**{n: row[n] for n in SubjectState.__struct_fields__})


def _subject(row: Row) -> TriggerSubject:
    return TriggerSubject(**{name: row[name] for name in TriggerSubject.__struct_fields__})


async def put_subjects(
    tx: TenantTx | TenantsTx, states: Sequence[tuple[TriggerSubject, SubjectState]], *, expires_at: datetime
) -> None:
    """Say which event each has heard last."""
    if states:
        await tx.execute(
            QUERIES.put_subjects,
            **columns([subject for subject, _ in states], "tenant_id trigger_id event_source event_subject"),
            **columns([state for _, state in states], "event_id event_time", cancelleds="cancelled"),
            expires_at=expires_at,
        )


class SubjectLine(Struct, frozen=True, kw_only=True):
    """A line of the ledger about a subject: what came of an event for somebody, or that it ended things."""

    subject: TriggerSubject
    event_id: str
    result: FiringResult
    reason: str | None
    recipient_id: RecipientId | None
    notification_id: NotificationId | None

    @property
    def is_sent(self) -> bool:
        """Whether the person has a message, of this trigger or of one that said the same."""
        return self.notification_id is not None and (
            self.result is FiringResult.SENT or self.reason == Why.DUPLICATE
        )


class SentWords(Struct, frozen=True, kw_only=True):
    """What was said in a message; sealed under the key of its recipient."""

    tenant_id: TenantId
    notification_id: NotificationId
    recipient_id: RecipientId
    variables: bytes

    def __repr__(self) -> str:
        return f"SentWords({self.notification_id}, ***)"


_words = RowMapper(
    SentWords,
    [QUERIES.words_of_sent],
    columns={"notification_id": "id", "variables": "variables_ciphertext"},
)


async def lines_about(tx: TenantTx | TenantsTx, subjects: Sequence[TriggerSubject]) -> list[SubjectLine]:
    """What came of events about these subjects; a `SetTooLargeError` where of several of them that is too much."""
    if not subjects:
        return []
    rows = await tx.fetch(
        QUERIES.lines_about,
        **columns(subjects, "tenant_id trigger_id event_source event_subject"),
        most=_MOST_LINES,
    )
    if len(rows) == _MOST_LINES and len(subjects) > 1:
        raise SetTooLargeError
    return [
        SubjectLine(
            subject=_subject(row),
            event_id=row["event_id"],
            result=FiringResult(row["result"]),
            reason=row["reason"],
            recipient_id=row["recipient_id"],
            notification_id=row["notification_id"],
        )
        for row in rows
    ]


async def words_of_sent(
    tx: TenantTx | TenantsTx, sent: Sequence[tuple[TenantId, NotificationId]], *, most_bytes: int | None
) -> list[SentWords]:
    """What was said in these messages, as far as they and their recipients are still known.

    A `SetTooLargeError` where that is more than `most_bytes`.
    """
    if not sent:
        return []
    rows = await tx.fetch(
        QUERIES.words_of_sent,
        tenant_ids=[tenant_id for tenant_id, _ in sent],
        ids=[id_ for _, id_ in sent],
        created_ats=[time_of(id_) for _, id_ in sent],
        most_bytes=most_bytes,
    )
    if any(row["variables_ciphertext"] is None for row in rows):
        raise SetTooLargeError
    return [_words(row) for row in rows]


async def waiting_among(
    tx: TenantTx | TenantsTx, sent: Sequence[tuple[TenantId, NotificationId]]
) -> set[NotificationId]:
    """Those that were not handed over yet."""
    if not sent:
        return set()
    rows = await tx.fetch(
        QUERIES.waiting_among,
        tenant_ids=[tenant_id for tenant_id, _ in sent],
        ids=[id_ for _, id_ in sent],
        created_ats=[time_of(id_) for _, id_ in sent],
    )
    return {row["id"] for row in rows}


async def admins_of(
    tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId]
) -> dict[TenantId, list[RecipientId]]:
    """The recipients that are tagged as the admins of these tenants."""
    found: dict[TenantId, list[RecipientId]] = {tenant_id: [] for tenant_id in tenant_ids}
    if not tenant_ids:
        return found
    rows = await tx.fetch(QUERIES.admins_of, tenant_ids=list(tenant_ids), most=MOST_RECIPIENTS)
    for row in rows:
        found[row["tenant_id"]].append(row["id"])
    return found


async def sweep_subjects(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many that no event speaks of any more."""
    return await tx.execute(QUERIES.sweep_subjects, now=now, limit=limit)
