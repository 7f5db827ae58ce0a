"""Hears from the router what became of notifications, and lets them rest: a consumer of its outcome events."""

from collections.abc import Sequence
from typing import Any, Final

from opentelemetry.trace import SpanKind

from tidings.contracts.delivery import OUTCOME_SUBJECT, AttemptTold, DeliveryOutcome
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId, RecipientAddressId, RecipientId
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import columns, sparse_columns
from tidings.kernel.outbox import Outbox
from tidings.kernel.sql import Queries, created_columns
from tidings.kernel.tracing import span_of_set
from tidings.notify.accept.events import facts_of, moved_event
from tidings.notify.decide.reasons import GateReason
from tidings.notify.ids import DELIVERY_ATTEMPT
from tidings.notify.receipts.address_effects import AddressEffects, EffectReport
from tidings.notify.receipts.bounces import Bounces

GROUP: Final = "notify.outcomes"
SUBJECTS: Final = (OUTCOME_SUBJECT,)

QUERIES = Queries.beside(__file__)

_EXPIRED: Final = frozenset(
    {GateReason.EXPIRED, GateReason.EXPIRES_BEFORE_QUIET_ENDS, GateReason.EXPIRES_BEFORE_LIMIT_FREES}
)
#: The router's word for an attempt → the word in notify's own log. Steps that were skipped are in the trace.
_OUTCOMES: Final = {
    "accepted": "accepted",
    "sent": "accepted",
    "delivered": "delivered",
    "delivered_read": "delivered",
    "failed_temp": "rejected_retryable",
    "failed_perm": "rejected_terminal",
    "rejected_by_provider": "rejected_terminal",
    "rejected_by_recipient": "rejected_terminal",
    "timed_out": "timeout",
    "cancelled": "failed",
}


def handler(
    *, outbox: Outbox, clock: Clock, stripe: int = 0, effects: AddressEffects | None = None
) -> TenantHandler:
    """Applies one tenant's outcomes, all in one transaction; without `effects`, no address is suppressed by one."""
    bounces = Bounces(outbox=outbox, clock=clock, stripe=stripe)

    async def apply(tx: TenantTx, events: Sequence[Event]) -> None:
        traceparents = (event.traceparent for event in events)
        with span_of_set(
            "outcomes",
            "outcomes apply",
            traceparents,
            kind=SpanKind.CONSUMER,
            tenant_id=tx.tenant_id,
            event_ids=[event.id for event in events],
        ):
            await settle(tx, events)

    async def settle(tx: TenantTx, events: Sequence[Event]) -> None:
        outcomes = [event.payload_as(DeliveryOutcome) for event in events]
        now = clock.now()
        given = {
            "now": now,
            "day": now.date(),
            "stripe": stripe,
            **created_columns([time_of(o.notification_id) for o in outcomes]),
            **columns(outcomes, "reason ended_at evidence final_channel", ids="notification_id"),
            "statuses": [status_of(o).value for o in outcomes],
        }
        reasons = {o.notification_id: o.reason for o in outcomes}
        traces = {o.notification_id: event.traceparent for o, event in zip(outcomes, events, strict=True)}
        moved = await tx.fetch(QUERIES.settle, **given, **_attempts(outcomes))
        if len(moved) < len(reasons):
            # Over before, or waited for. The latter are locked by now, and a new statement sees them.
            moved += await tx.fetch(QUERIES.settle, **given, **_attempts([]))
        await outbox.append(
            tx,
            [
                _event(
                    tx.tenant_id, row, reasons.get(row["id"]), clock=clock, traceparent=traces.get(row["id"])
                )
                for row in moved
            ],
        )
        await bounces.settled(tx, [row["id"] for row in moved if row["came_back"]])
        told = _effects(outcomes)
        if told and effects is not None:
            await effects.apply(tx, told)

    return apply


def status_of(outcome: DeliveryOutcome) -> NotificationStatus:
    """Where an outcome brings a notification."""
    if outcome.result == "DELIVERED":
        return NotificationStatus.DELIVERED
    if outcome.reason in _EXPIRED:
        return NotificationStatus.EXPIRED
    if outcome.reason in (GateReason.CANCELLED, GateReason.TENANT_DELETING):
        return NotificationStatus.CANCELLED
    if outcome.result == "REFUSED_CONSENT" or outcome.reason == GateReason.RECIPIENT_ERASED:
        return NotificationStatus.SUPPRESSED
    return NotificationStatus.FAILED


def _event(
    tenant_id: TenantId, row: Any, reason: str | None, *, clock: Clock, traceparent: str | None
) -> Event:
    return moved_event(
        tenant_id, facts_of(row), row["status"], reason=reason, clock=clock, traceparent=traceparent
    )


def _effects(outcomes: Sequence[DeliveryOutcome]) -> list[EffectReport]:
    return [
        EffectReport(
            notification_id=NotificationId(outcome.notification_id),
            recipient_id=RecipientId(outcome.recipient_id),
            channel=attempt.channel,
            effect=effect,
            attempted_at=attempt.started_at,
            at=attempt.ended_at,
            address_id=address_id,
        )
        for outcome in outcomes
        for attempt in outcome.attempts
        for effect, address_id in (
            (attempt.effect, None),
            *((other.effect, RecipientAddressId(other.address_id)) for other in attempt.others),
        )
        if effect is not None
    ]


def _attempts(outcomes: Sequence[DeliveryOutcome]) -> dict[str, list[Any]]:
    made: list[tuple[int, DeliveryOutcome, AttemptTold]] = []
    for outcome in outcomes:
        calls = [a for a in outcome.attempts if a.status in _OUTCOMES and a.vendor is not None]
        made += [(number, outcome, attempt) for number, attempt in enumerate(calls, start=1)]
    attempts = [attempt for _, _, attempt in made]
    ids = [DELIVERY_ATTEMPT.new(attempt.started_at) for attempt in attempts]
    return {
        "attempt_ids": ids,
        "attempt_starts": [time_of(id_) for id_ in ids],
        "attempt_numbers": [number for number, _, _ in made],
        "attempt_latencies": [
            max(0, int((a.ended_at - a.started_at).total_seconds() * 1000)) for _, _, a in made
        ],
        "attempt_notifications": [o.notification_id for _, o, _ in made],
        "attempt_executions": [o.execution_id for _, o, _ in made],
        "attempt_outcomes": [_OUTCOMES[a.status] for _, _, a in made],
        **columns(
            attempts,
            attempt_ends="ended_at",
            attempt_router_ids="id",
            attempt_channels="channel",
            attempt_vendors="vendor",
            attempt_messages="provider_message_id",
            attempt_codes="reason",
        ),
        **sparse_columns(
            attempts,
            attempt_http_statuses="http_status",
            attempt_retry_afters="retry_after_ms",
            attempt_errors="error",
            attempt_answers="answer_ref",
        ),
    }
