"""Writes how a lock action ended: audit, event, alert and the answer to a repeated request, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.attestations.attest import Seat
from tidings.backoffice.ids import LOCK_AUDIT, LockAuditId
from tidings.backoffice.lock_actions import store
from tidings.backoffice.lock_actions.model import (
    AuditedAction,
    LockOrder,
    LockOutcome,
    PendingAction,
    ask_again_in,
)
from tidings.backoffice.upstreams.contract.locks import LockActionResult
from tidings.contracts.backoffice import LOCK_ACTION_PERFORMED_SUBJECT, LockActionPerformed
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.idempotency import Idempotency, ScopedKey, StoredAnswer
from tidings.kernel.ids import time_of
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent

_CATEGORY: Final = "lock_action_unknown"


class LockActionView(msgspec.Struct, frozen=True, kw_only=True):
    """How a lock action ended."""

    #: Of its row in the audit.
    id: str
    #: `unknown`: the lock service did not answer in time; it is asked again, and a repeated request gets the end.
    outcome: LockOutcome
    #: Why it failed, as the lock service says.
    error_code: str | None
    #: Who makes the lock.
    vendor: str | None
    key_id: str | None = None
    valid_until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LockLedger:
    """Each of its methods runs in the caller's transaction."""

    outbox: Outbox
    alerts: Alerts
    idempotency: Idempotency
    clock: Clock

    async def refused(
        self, tx: TenantTx, seat: Seat, order: LockOrder, code: str, *, attestation_id: str | None = None
    ) -> AuditedAction:
        """We refused it: nobody was asked."""
        id_ = LOCK_AUDIT.new(self.clock.now())
        audited = AuditedAction(
            id=id_,
            occurred_at=time_of(id_),
            property_id=order.property_id,
            operator_id=seat.operator_id,
            device_id=seat.device_id,
            reservation_id=order.reservation_id,
            action=order.action,
            vendor=None,
            outcome="refused",
            error_code=code,
            mfa_attestation_id=attestation_id,
            upstream_request_id=id_,
            upstream_latency_ms=0,
        )
        await store.insert_audited(tx, audited)
        return audited

    async def ended(
        self,
        tx: TenantTx,
        pending: PendingAction,
        outcome: LockOutcome,
        *,
        error_code: str | None = None,
        result: LockActionResult | None = None,
        request_id: str | None = None,
        latency_ms: int = 0,
        repeatable: bool = False,
    ) -> LockActionView | None:
        """How it ended; None where another process has written that. `repeatable`: nobody was asked, and the same key may ask again."""
        if await store.take_pending(tx, pending.id) is None:
            return None
        id_ = pending.id if pending.unknown_id is None else LOCK_AUDIT.new(self.clock.now())
        vendor = result.vendor if result else None
        facts = {"outcome": outcome, "error_code": error_code, "vendor": vendor}
        await self._write(tx, pending, id_, facts, request_id=request_id, latency_ms=latency_ms)
        if outcome != "unknown":
            await self.alerts.resolve(tx, [_key(pending)])
        shown = LockActionView(
            id=id_,
            outcome=outcome,
            error_code=error_code,
            vendor=vendor,
            key_id=result.key_id if result else None,
            valid_until=result.valid_until.isoformat() if result and result.valid_until else None,
        )
        key = ScopedKey(pending.tenant_id, pending.key_scope, pending.idempotency_key)
        if repeatable:
            await self.idempotency.release_many(tx, [key])
        else:
            answer = StoredAnswer(200, msgspec.json.encode(shown).decode())
            await self.idempotency.finish_many(tx, {key: answer})
        return shown

    async def unknown(
        self, tx: TenantTx, pending: PendingAction, error_code: str, *, latency_ms: int = 0
    ) -> LockActionView:
        """The answer was not learned: the lock service is asked about it soon."""
        due_at = self.clock.now() + ask_again_in(pending.attempts)
        if await store.postpone_pending(tx, pending.id, due_at=due_at, unknown_id=pending.id):
            facts = {"outcome": "unknown", "error_code": error_code, "vendor": None}
            await self._write(tx, pending, pending.id, facts, request_id=None, latency_ms=latency_ms)
            alert = NewAlert(
                dedup_key=_key(pending),
                category=_CATEGORY,
                severity="warning",
                property_id=pending.property_id,
                source="lock_actions",
                facts={"reservation_id": pending.reservation_id, "action": pending.action},
            )
            await self.alerts.raise_(tx, [alert])
        return LockActionView(id=pending.id, outcome="unknown", error_code=error_code, vendor=None)

    async def _write(
        self,
        tx: TenantTx,
        pending: PendingAction,
        id_: LockAuditId,
        ended: Mapping[str, str | None],
        *,
        request_id: str | None,
        latency_ms: int,
    ) -> None:
        facts: dict[str, Any] = {
            "property_id": pending.property_id,
            "operator_id": pending.operator_id,
            "reservation_id": pending.reservation_id,
            "action": pending.action,
            **ended,
        }
        audited = AuditedAction(
            id=id_,
            occurred_at=time_of(id_),
            device_id=pending.device_id,
            mfa_attestation_id=pending.mfa_attestation_id,
            upstream_request_id=request_id or pending.id,
            upstream_latency_ms=latency_ms,
            settles_id=pending.unknown_id if id_ != pending.id else None,
            **facts,
        )
        await store.insert_audited(tx, audited)
        event = new_event(
            LOCK_ACTION_PERFORMED_SUBJECT,
            LockActionPerformed(lock_action_id=id_, settles_id=audited.settles_id, **facts),
            tenant_id=tx.tenant_id,
            ordering_key=pending.reservation_id,
            source=BACKOFFICE_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        await self.outbox.append(tx, [event])


def _key(pending: PendingAction) -> str:
    return f"{_CATEGORY}:{pending.id}"
