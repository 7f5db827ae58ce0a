"""What happened to a set of ladders, as the columns of one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.contracts.delivery import OUTCOME_SUBJECT, AttemptTold, DeliveryOutcome, SkipStep
from tidings.contracts.messages import Accepted
from tidings.kernel.events import Event, envelope_of
from tidings.kernel.ids import EVENT, TenantId
from tidings.router.executions.model import ATTEMPT, Note
from tidings.router.executions.snapshot import past_text
from tidings.router.ladder.decide import moved, told_as
from tidings.router.ladder.model import End, Move, Past

#: Where the router's own events come from.
SOURCE: Final = "/tidings/router"

_NAMES: Final = (
    "ids", "fences",
    "steps", "triess", "step_deadline_ats", "due_ats", "paths",
    "results", "evidences", "final_channels", "event_ids", "payloads", "envelopes",
    "attempt_ids", "attempt_started_ats", "attempt_steps", "channels", "account_ids", "vendors",
    "provider_message_ids", "statuses", "reasons",
)  # fmt: skip
_NO_ATTEMPT: Final = (None,) * 9
_NO_END: Final = (None,) * 6
_NO_MOVE: Final = (None,) * 5

_encode = msgspec.json.Encoder().encode


def columns_of(tenant_id: TenantId, notes: Sequence[Note], *, now: datetime) -> dict[str, list[Any]]:
    """By the names that the statement gives them."""
    rows = [_row(tenant_id, note, now) for note in notes]
    return dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True))


def _row(tenant_id: TenantId, note: Note, now: datetime) -> tuple[Any, ...]:
    live, decision = note.live, note.decision
    past = _past(note, now)
    attempt = _NO_ATTEMPT if past is None else _attempt(note, past)
    if isinstance(decision, End):
        return (live.id, live.attempt_id, *_NO_MOVE, *_end(tenant_id, note, decision, past, now), *attempt)
    return (live.id, live.attempt_id, *_move(note, decision, past, now), *_NO_END, *attempt)


def _past(note: Note, now: datetime) -> Past | None:
    """The call or the skipped step that this is about."""
    happened, live = note.happened, note.live
    told = None if happened is None else told_as(happened)
    if told is None:
        return None
    return Past(
        id=live.attempt_id or ATTEMPT.new(now),
        step=live.here.step,
        channel=live.here.steps[live.here.step - 1].channel,
        status=told[0],
        started_at=live.attempt_started_at or now,
        ended_at=now,
        vendor=note.vendor,
        reason=told[1],
        provider_message_id=happened.provider_message_id if isinstance(happened, Accepted) else None,
        result=happened.result if isinstance(happened, SkipStep) else None,
    )


def _attempt(note: Note, past: Past) -> tuple[Any, ...]:
    return (
        past.id,
        past.started_at,
        past.step,
        past.channel,
        note.account_id,
        past.vendor,
        past.provider_message_id,
        past.status,
        past.reason,
    )


def _move(note: Note, decision: Move, past: Past | None, now: datetime) -> tuple[Any, ...]:
    there, due_at = moved(note.live.here, decision, past, now=now)
    return there.step, there.tries, there.step_deadline_at, due_at, past_text(there.past)


def _end(tenant_id: TenantId, note: Note, decision: End, past: Past | None, now: datetime) -> tuple[Any, ...]:
    live = note.live
    before = live.here.past
    all_of_them = before if past is None else (*before, past)
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
                result=decision.result,
                ended_at=now,
                evidence=decision.evidence,
                final_channel=decision.final_channel,
                reason=decision.reason,
                attempts=tuple(_told(one) for one in all_of_them),
            )
        ).decode(),
        source=SOURCE,
        time=now,
    )
    return (
        decision.result,
        decision.evidence,
        decision.final_channel,
        event.id,
        event.data,
        envelope_of(event),
    )


def _told(past: Past) -> AttemptTold:
    return AttemptTold(
        id=past.id,
        step=past.step,
        channel=past.channel,
        status=past.status,
        started_at=past.started_at,
        ended_at=past.ended_at,
        vendor=past.vendor,
        reason=past.reason,
        provider_message_id=past.provider_message_id,
    )
