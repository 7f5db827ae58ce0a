"""Lets notifications rest when the router says what became of them: with its record, or when its event arrives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from opentelemetry.trace import SpanKind

from tidings.contracts.delivery import (
    ANSWER_NEVER_LEARNED,
    OUTCOME_SUBJECT,
    DeliveryOutcome,
    TenantOutcome,
)
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import NotificationId, RecipientAddressId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.events import Event, usual_attributes
from tidings.kernel.ids import EVENT, TenantId, time_of
from tidings.kernel.mapping import columns
from tidings.kernel.outbox import Outbox
from tidings.kernel.sql import Queries, created_columns
from tidings.kernel.tracing import span_of_set
from tidings.notify.decide.reasons import GateReason
from tidings.notify.receipts.address_effects import AddressEffects, EffectReport
from tidings.notify.receipts.bounces import Bounces

GROUP: Final = "notify.outcomes"
SUBJECTS: Final = (OUTCOME_SUBJECT,)

QUERIES = Queries.beside(__file__)

_EXPIRED: Final = frozenset(
    {GateReason.EXPIRED, GateReason.EXPIRES_BEFORE_QUIET_ENDS, GateReason.EXPIRES_BEFORE_LIMIT_FREES}
)
#: The router's words for an attempt whose message a vendor took.
_TAKEN: Final = frozenset({"accepted", "sent", "delivered", "delivered_read"})


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

    async def apply(self, tx: TenantTx | TenantsTx, events: Sequence[Event]) -> None:
        """Apply events of one tenant or of several, all in one transaction."""
        traceparents = (event.traceparent for event in events)
        tenants = sorted({event.tenant_id for event in events if event.tenant_id is not None})
        with span_of_set(
            "outcomes",
            "outcomes apply",
            traceparents,
            kind=SpanKind.CONSUMER,
            tenant_ids=tenants,
            event_ids=[event.id for event in events],
        ):
            outcomes = [
                TenantOutcome(
                    tenant_id=event.tenant_id,
                    outcome=event.payload_as(DeliveryOutcome),
                    traceparent=event.traceparent,
                )
                for event in events
                if event.tenant_id is not None
            ]
            await self._settle(tx, outcomes)
            if self.effects is None:
                return
            for tenant_id in tenants:
                told = _effects([one.outcome for one in outcomes if one.tenant_id == tenant_id])
                if told:
                    await self.effects.apply(tx.of(tenant_id), told)

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
            "unreads": [_unread(one.outcome) for one in ordered],
            "attempt_ids": [_delivering_attempt(one.outcome) for one in ordered],
            "event_ids": [EVENT.new(now) for _ in ordered],
            "event_envelopes": [usual_attributes(NOTIFY_SOURCE, one.traceparent) for one in ordered],
        }
        moved = await tx.fetch(QUERIES.settle, **given)
        if len(moved) < len({(one.tenant_id, one.outcome.notification_id) for one in ordered}):
            # Over before, or waited for. The latter are locked by now, and a new statement sees them.
            moved += await tx.fetch(QUERIES.settle, **given)
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


def _delivering_attempt(outcome: DeliveryOutcome) -> str | None:
    """The last that a vendor took on the channel that delivered it."""
    if outcome.result != "DELIVERED":
        return None
    return next(
        (
            attempt.id
            for attempt in reversed(outcome.attempts)
            if attempt.channel == outcome.final_channel
            and attempt.vendor is not None
            and attempt.status in _TAKEN
        ),
        None,
    )


def _unread(outcome: DeliveryOutcome) -> int:
    """Calls whose answer was never read: their messages may have gone out beside the one that is known."""
    return sum(attempt.reason == ANSWER_NEVER_LEARNED for attempt in outcome.attempts)


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
