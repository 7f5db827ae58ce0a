"""Performs a lock action: refused or asked for once, and audited whatever becomes of it.

What is wanted is committed before the lock service is asked, and no transaction is open meanwhile. The lock service knows a
request again by its Idempotency-Key, the id of the row; where its answer was not learned, `settle.py` asks what came of it.
"""

from dataclasses import dataclass
from typing import Final

from tidings.backoffice.attestations.attest import Attestor, Seat, seat_of
from tidings.backoffice.ids import LOCK_AUDIT, LockAuditId
from tidings.backoffice.lock_actions import store
from tidings.backoffice.lock_actions.ledger import LockActionView, LockLedger
from tidings.backoffice.lock_actions.model import ATTESTED, LOST_AFTER, LockOrder, PendingAction
from tidings.backoffice.properties.access import check_property
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.locks import LockActionRequest, LockActionResult
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.callers import Caller
from tidings.kernel.idempotency import Replay, StoredAnswer, refusal_of
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import MissingScopeError, NotAllowedError, NotFoundError

ACTIONS_PATH: Final = "/v1/properties/{}/lock-actions"
SCOPE: Final = "locks:write"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedOnce:
    """A caller's Idempotency-Key, and what tells their request from another one."""

    key: str
    request_hash: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LockActor:
    """Every lock action passes here."""

    db: Database
    attestor: Attestor
    upstreams: Upstreams
    ledger: LockLedger
    clock: Clock

    async def perform(
        self,
        caller: Caller,
        tenant_id: TenantId,
        order: LockOrder,
        *,
        once: WantedOnce,
        attestation: str | None,
    ) -> LockActionView | StoredAnswer:
        """How it ended; of a repeated request what the first one was answered."""
        seat = seat_of(caller)
        scope = f"{seat.operator_id}:{seat.device_id}:locks:{order.action}:{order.reservation_id}"
        async with self.db.tenant(tenant_id) as tx:
            # A repeated request brings the attestation that the first one has used: it gets the first one's answer all the same.
            before = await self.ledger.idempotency.find(tx, scope, once.key, once.request_hash)
        if before is not None:
            return StoredAnswer(before.status, before.response, replayed=True)
        attestation_id = await self._check(caller, seat, tenant_id, order, attestation)
        now = self.clock.now()
        pending = PendingAction(
            id=LOCK_AUDIT.new(now),
            tenant_id=tenant_id,
            property_id=order.property_id,
            operator_id=seat.operator_id,
            device_id=seat.device_id,
            reservation_id=order.reservation_id,
            action=order.action,
            mfa_attestation_id=attestation_id,
            asked_at=now,
            unknown_id=None,
            due_at=now + LOST_AFTER,
            attempts=0,
            key_scope=scope,
            idempotency_key=once.key,
        )
        async with self.db.tenant(tenant_id) as tx:
            begun = await self.ledger.idempotency.begin(tx, scope, once.key, once.request_hash)
            if isinstance(begun, Replay):
                return StoredAnswer(begun.status, begun.response, replayed=True)
            if (refusal := refusal_of(begun)) is not None:
                raise refusal
            await store.insert_pending(tx, pending)
        return await self._ask(pending, order)

    async def _check(
        self, caller: Caller, seat: Seat, tenant_id: TenantId, order: LockOrder, attestation: str | None
    ) -> str:
        """The attestation that was used up; what is refused is audited."""
        try:
            if SCOPE not in caller.scopes:
                raise MissingScopeError(SCOPE)
            check_property(caller, order.property_id)
            await self.attestor.take(caller, ATTESTED[order.action], attestation)
        except (NotAllowedError, NotFoundError) as error:
            async with self.db.tenant(tenant_id) as tx:
                await self.ledger.refused(tx, seat, order, error.code)
            raise
        return attestation or ""

    async def _ask(self, pending: PendingAction, order: LockOrder) -> LockActionView:
        wanted = LockActionRequest(
            action=order.action,
            reservation_id=order.reservation_id,
            operator_id=pending.operator_id,
            attestation_id=pending.mfa_attestation_id,
            credential=order.credential,
            room=order.room,
            valid_until=order.valid_until,
        )
        began = self.clock.monotonic()
        try:
            answer = await self.upstreams.call(
                "locks",
                "POST",
                at(ACTIONS_PATH, order.property_id),
                tenant_id=pending.tenant_id,
                body=wanted,
                idempotency_key=pending.id,
            )
            result = answer.read(LockActionResult) if answer.status == 200 else None
        except UpstreamAwayError as error:
            waited = round((self.clock.monotonic() - began) * 1000)
            return await self._not_answered(pending, error, waited)
        async with self.db.tenant(pending.tenant_id) as tx:
            shown = await self.ledger.ended(
                tx,
                pending,
                "failure" if result is None else result.outcome,
                error_code=result.error_code if result else answer.error_code or f"http_{answer.status}",
                result=result,
                request_id=answer.request_id,
                latency_ms=answer.latency_ms,
            )
        return shown or _settled_meanwhile(pending.id)

    async def _not_answered(
        self, pending: PendingAction, error: UpstreamAwayError, waited: int
    ) -> LockActionView:
        code = f"upstream_{error.reason}"
        async with self.db.tenant(pending.tenant_id) as tx:
            if error.was_asked and error.reason != "refused":
                return await self.ledger.unknown(tx, pending, code, latency_ms=waited)
            await self.ledger.ended(
                tx, pending, "failure", error_code=code, latency_ms=waited, repeatable=True
            )
        raise error


def _settled_meanwhile(action_id: LockAuditId) -> LockActionView:
    """The job was quicker: whoever asks again with the same key gets the end."""
    return LockActionView(id=action_id, outcome="unknown", error_code=None, vendor=None)
