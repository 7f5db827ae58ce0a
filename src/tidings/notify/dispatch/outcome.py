"""Lets notifications rest when the router says what became of them: with its record, or when its event arrives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.trace import SpanKind

from tidings.contracts.delivery import OUTCOME_SUBJECT, AttemptTold, DeliveryOutcome, TenantOutcome
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import NotificationId, RecipientAddressId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NotificationSettler:
    """Settles sets of notifications; the contract's `OutcomeSettler`, and the handler of the consumer group."""

    outbox: Outbox
    clock: Clock
    #: Without it, no address is suppressed by an outcome.
    effects: AddressEffects | None = None
    #: Which of the counts of a day it adds to.
    stripe: int = 0

    @property
    def group(self) -> str:
        """The consumer group that need not apply the events of what `settle_in` settles."""
        return GROUP

    def settles(self, outcome: DeliveryOutcome) -> bool:
        """All but those that say something about an address: that takes keys, which may be a call to a key service."""
        return not _effects([outcome])

    async def settle_in(self, tx: TenantTx | TenantsTx, outcomes: Sequence[TenantOutcome]) -> None:
        """Settle a set in the router's own transaction, of whatever tenants that is for."""
        with span_of_set("outcomes", "outcomes apply", (one.traceparent for one in outcomes)):
            await self._settle(tx, outcomes)

    async def apply(self, tx: TenantTx, events: Sequence[Event]) -> None:
        """Apply one tenant's events, all in one transaction."""
        traceparents = (event.traceparent for event in events)
        with span_of_set(
            "outcomes",
            "outcomes apply",
            traceparents,
            kind=SpanKind.CONSUMER,
            tenant_id=tx.tenant_id,
            event_ids=[event.id for event in events],
        ):
            outcomes = [
                TenantOutcome(
                    tenant_id=tx.tenant_id,
                    outcome=event.payload_as(DeliveryOutcome),
                    traceparent=event.traceparent,
                )
                for event in events
            ]
            await self._settle(tx, outcomes)
            told = _effects([one.outcome for one in outcomes])
            if told and self.effects is not None:
                await self.effects.apply(tx, told)

    async def _settle(self, tx: TenantTx | TenantsTx, outcomes: Sequence[TenantOutcome]) -> None:
        # In one order with all who lock notifications: no deadlock.
        ordered = sorted(outcomes, key=lambda one: (one.tenant_id, one.outcome.notification_id))
        now = self.clock.now()
        given = {
            "now": now,
            "day": now.date(),
            "stripe": self.stripe,
            **created_columns([time_of(one.outcome.notification_id) for one in ordered]),
            **columns(
                ordered,
                "tenant_id outcome.reason outcome.ended_at outcome.evidence outcome.final_channel",
                ids="outcome.notification_id",
            ),
            "statuses": [status_of(one.outcome).value for one in ordered],
        }
        by_key = {(one.tenant_id, one.outcome.notification_id): one for one in ordered}
        moved = await tx.fetch(QUERIES.settle, **given, **_attempts(ordered))
        if len(moved) < len(by_key):
            # Over before, or waited for. The latter are locked by now, and a new statement sees them.
            moved += await tx.fetch(QUERIES.settle, **given, **_attempts([]))
        await self.outbox.append(
            tx, [_event(row, by_key[row["tenant_id"], row["id"]], clock=self.clock) for row in moved]
        )
        came_back: dict[TenantId, list[str]] = {}
        for row in moved:
            if row["came_back"]:
                came_back.setdefault(row["tenant_id"], []).append(row["id"])
        bounces = Bounces(outbox=self.outbox, clock=self.clock, stripe=self.stripe)
        for tenant_id in sorted(came_back):
            await bounces.settled(tx.of(tenant_id), came_back[tenant_id])


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


def _event(row: Any, told: TenantOutcome, *, clock: Clock) -> Event:
    return moved_event(
        row["tenant_id"],
        facts_of(row),
        row["status"],
        reason=told.outcome.reason,
        clock=clock,
        traceparent=told.traceparent,
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


def _attempts(outcomes: Sequence[TenantOutcome]) -> dict[str, list[Any]]:
    made: list[tuple[int, TenantOutcome, AttemptTold]] = []
    for outcome in outcomes:
        calls = [a for a in outcome.outcome.attempts if a.status in _OUTCOMES and a.vendor is not None]
        made += [(number, outcome, attempt) for number, attempt in enumerate(calls, start=1)]
    attempts = [attempt for _, _, attempt in made]
    # The router's own, under another name: the same when it is told again.
    ids = [f"{DELIVERY_ATTEMPT.prefix}_{attempt.id[-26:]}" for attempt in attempts]
    return {
        "attempt_tenants": [o.tenant_id for _, o, _ in made],
        "attempt_ids": ids,
        "attempt_starts": [time_of(id_) for id_ in ids],
        "attempt_numbers": [number for number, _, _ in made],
        "attempt_latencies": [
            max(0, int((a.ended_at - a.started_at).total_seconds() * 1000)) for _, _, a in made
        ],
        "attempt_notifications": [o.outcome.notification_id for _, o, _ in made],
        "attempt_executions": [o.outcome.execution_id for _, o, _ in made],
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
