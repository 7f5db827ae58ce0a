"""What happened to a set of ladders, as the columns of one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.contracts.delivery import OUTCOME_SUBJECT, AttemptTold, DeliveryOutcome
from tidings.kernel.events import Event, envelope_of
from tidings.kernel.ids import EVENT, TenantId
from tidings.router.executions.model import Note
from tidings.router.executions.snapshot import path_text, state_text
from tidings.router.ladder.model import CIRCUIT_OPEN, End, Past

#: Where the router's own events come from.
SOURCE: Final = "/tidings/router"

_NAMES: Final = (
    "ids", "versions", "keeps", "reserveds", "spents", "currencies", "states", "due_ats", "waits",
    "results", "evidences", "final_channels", "paths", "event_ids", "payloads", "envelopes",
)  # fmt: skip
_ATTEMPT_NAMES: Final = (
    "attempt_executions", "attempt_ids", "attempt_started_ats", "attempt_steps", "channels", "account_ids", "vendors",
    "provider_message_ids", "statuses", "reasons", "meanings", "costs", "cost_currencies",
    "http_statuses", "retry_afters", "errors", "answer_refs", "address_hashes", "addresses", "senders", "digests",
)  # fmt: skip
_NO_END: Final = (None,) * 7
_NO_RECORD: Final = (None,) * 4

_encode = msgspec.json.Encoder().encode


def columns_of(tenant_id: TenantId, notes: Sequence[Note], *, now: datetime) -> dict[str, list[Any]]:
    """By the names that the statement gives them."""
    rows = [_row(tenant_id, note, now) for note in notes]
    made = [_attempt(note, past) for note in notes for past in note.turn.fresh]
    attempts = list(map(list, zip(*made, strict=True))) if made else [[] for _ in _ATTEMPT_NAMES]
    return {
        **dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True)),
        **dict(zip(_ATTEMPT_NAMES, attempts, strict=True)),
    }


def _row(tenant_id: TenantId, note: Note, now: datetime) -> tuple[Any, ...]:
    live, turn = note.live, note.turn
    purse = turn.there.purse
    known = (live.id, live.version, note.keep, purse.reserved, purse.spent, note.currency)
    if turn.end is not None:
        return (*known, None, None, None, *_end(tenant_id, note, turn.end, now))
    # What is asked for and not taken up in the same go is due at once.
    due_at = now if turn.ask else turn.due_at
    waits = CIRCUIT_OPEN if any(leg.waits == CIRCUIT_OPEN for leg in turn.there.legs) else None
    return (*known, state_text(turn.there), due_at, waits, *_NO_END)


def _attempt(note: Note, past: Past) -> tuple[Any, ...]:
    return (
        note.live.id,
        past.id,
        past.started_at,
        past.step,
        past.channel,
        past.account,
        past.vendor,
        past.provider_message_id,
        past.status,
        past.reason,
        past.meaning,
        past.cost,
        (note.currency or note.live.currency) if past.cost else None,
        past.http_status,
        past.retry_after_ms,
        past.error,
        past.answer_ref,
        *_record(note, past),
    )


def _record(note: Note, past: Past) -> tuple[Any, ...]:
    """What was noted before the call; a step that was skipped has nothing."""
    calls = (leg.calling for leg in note.live.here.legs)
    record = next((call.record for call in calls if call is not None and call.id == past.id), None)
    if record is None:
        return _NO_RECORD
    sender = _encode(record.sender).decode()
    return record.address_hash, record.address_ciphertext, sender, record.digest


def _end(tenant_id: TenantId, note: Note, end: End, now: datetime) -> tuple[Any, ...]:
    live, past = note.live, note.turn.there.past
    event = Event(
        id=EVENT.new(now),
        tenant_id=tenant_id,
        subject=OUTCOME_SUBJECT,
        ordering_key=live.notification_id,
        data=_encode(
            DeliveryOutcome(
                notification_id=live.notification_id,
                recipient_id=live.recipient_id,
                execution_id=live.id,
                result=end.result,
                ended_at=now,
                evidence=end.evidence,
                final_channel=end.final_channel,
                reason=end.reason,
                attempts=tuple(told_attempt(one) for one in past),
            )
        ).decode(),
        source=SOURCE,
        time=now,
        traceparent=live.traceparent,
    )
    return (
        end.result,
        end.evidence,
        end.final_channel,
        path_text(past),
        event.id,
        event.data,
        envelope_of(event),
    )


def told_attempt(past: Past) -> AttemptTold:
    """An attempt as an outcome tells of it."""
    return AttemptTold(
        id=past.id,
        step=past.step,
        channel=past.channel,
        status=past.receipt if past.receipt in _BETTER else past.status,
        started_at=past.started_at,
        ended_at=past.ended_at,
        vendor=past.vendor,
        reason=past.reason,
        provider_message_id=past.provider_message_id,
        effect=past.effect,
        others=past.others,
        http_status=past.http_status,
        retry_after_ms=past.retry_after_ms,
        error=past.error,
        answer_ref=past.answer_ref,
    )


#: Receipts that say more than the call's own answer did.
_BETTER: Final = frozenset(
    {"sent", "delivered", "delivered_read", "failed_perm", "rejected_by_provider", "rejected_by_recipient"}
)
