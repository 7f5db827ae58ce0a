"""The use case "forget this person": key, plain words and what waits, in one transaction with its signed receipt.

What a worker holds in memory at that moment is not called back: a message that a vendor is just being given may arrive,
and the receipt says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.erasure import (
    RAW_CALLBACKS_KEPT,
    CallbackForgetter,
    Forgetter,
    RecipientErased,
)
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.execution_history import AttemptRecord, ExecutionHistory
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent
from tidings.notify.accept.events import moved_event
from tidings.notify.decide import trace
from tidings.notify.decide.model import Gate, Stop
from tidings.notify.decide.reasons import GateReason
from tidings.notify.erasure import store
from tidings.notify.erasure.errors import NotErasedError
from tidings.notify.erasure.model import (
    ERASURE,
    FORMAT,
    Cause,
    DestroyedData,
    ErasureStatement,
    InFlight,
    RetainedData,
    StoredReceipt,
)
from tidings.notify.erasure.receipt import ErasureReceipt, Signer, as_held, canonical, signed_bytes
from tidings.notify.inbox import store as inbox_store
from tidings.notify.inbox.model import InboxKey
from tidings.notify.notifications import store as notification_store
from tidings.notify.recipients import consent_store
from tidings.notify.recipients import store as recipient_store
from tidings.notify.recipients.errors import UnknownRecipientError
from tidings.notify.recipients.model import Recipient

_REASON = GateReason.RECIPIENT_ERASED
#: What explain shows: the gate that asks who is written to, and its answer.
_TRACE = trace.encode([trace.line_of(Gate.RECIPIENT, Stop(NotificationStatus.SUPPRESSED, _REASON))])
_CHUNK = 1000
#: A notification that nothing has happened to for longer has no callback any more: a call is looked for 35 days long.
_RECENT = timedelta(days=40)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Eraser:
    """Erases recipients."""

    keyring: Keyring
    signer: Signer
    history: ExecutionHistory
    router: Forgetter
    callbacks: CallbackForgetter
    outbox: Outbox
    audit: AuditLog
    clock: Clock
    #: How long the oldest backup of the database is kept.
    backups_kept: timedelta
    #: Which of the counts this process adds to.
    stripe: int = 0

    async def erase(
        self,
        tx: TenantTx,
        recipient_id: RecipientId,
        *,
        actor: str,
        cause: Cause = "request",
        reason: str | None = None,
    ) -> ErasureReceipt:
        """The receipt; for a recipient who was erased before, the receipt of then."""
        recipient = (await recipient_store.lock_recipients(tx, ids=[recipient_id])).get(recipient_id)
        if recipient is None:
            raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
        known = await store.find_receipt(tx, recipient_id)
        if known is not None:
            # What was just being accepted at the time of the erasure came after it, sealed with a key that is gone; all but this.
            await store.forget_metadata(tx, recipient_id)
            return _held(known)
        statement = await self._destroy(tx, recipient, actor=actor, cause=cause)
        receipt = await self._sign(statement)
        await store.insert_receipt(tx, receipt)
        await self._tell(tx, statement, actor=actor, reason=reason)
        return _held(receipt)

    async def _destroy(
        self, tx: TenantTx, recipient: Recipient, *, actor: str, cause: Cause
    ) -> ErasureStatement:
        now, recipient_id = self.clock.now(), recipient.id
        # Before any notification is locked, as those do who read what is in it.
        inbox_items = await _forget_inboxes(tx, recipient_id)
        await store.forget_digests(tx, recipient_id, now=now)
        survey = await store.survey_notifications(tx, recipient_id)
        stopped = await self._stop(tx, survey.waiting, now)
        # Those that were handed over while we waited for their rows are under way now.
        if stopped < len(survey.waiting):
            survey = await store.survey_notifications(tx, recipient_id)
        attempts = await self._attempts(tx, survey.under_way)
        vendors = _vendors(attempts) | _vendors(await self._attempts(tx, survey.over))
        cleared = await store.forget_metadata(tx, recipient_id) if survey.with_metadata else 0
        keys = (await self.keyring.data_keys(tx, [recipient_id], create=False)).get(recipient_id)
        await self.keyring.destroy(tx, [recipient_id])
        hashes = await store.forget_addresses(tx, recipient_id)
        copies, holding = await store.forget_in_suppressions(tx, hashes) if hashes else (0, 0)
        preferences = await store.forget_preferences(tx, recipient_id, now=now)
        evidence = await consent_store.forget_evidence(tx, recipient_id)
        profiles = await self.router.forget(tx, [recipient_id])
        bodies = await self._forget_callbacks(tx, recipient_id, now)
        await store.forget_planned(tx, recipient_id, now=now)
        await store.forget_recipient(tx, recipient_id, now=now)
        return ErasureStatement(
            format=FORMAT,
            id=ERASURE.new(now),
            tenant_id=tx.tenant_id,
            recipient_id=recipient_id,
            erased_at=now,
            cause=cause,
            requested_by=actor,
            destroyed=DestroyedData(
                data_keys=len(keys.versions) if keys is not None else 0,
                addresses=len(hashes),
                display_name=recipient.display_name_ciphertext is not None,
                identity=recipient.identity is not None,
                tags=len(recipient.tags),
                attributes=len(recipient.attributes),
                preferences=preferences,
                consent_evidence=evidence,
                suppressed_addresses=copies,
                profiles=profiles,
                notifications_unreadable=survey.total,
                metadata_cleared=cleared,
                raw_callbacks=bodies,
                inbox_items=inbox_items,
            ),
            kept=RetainedData(suppressions=holding, notifications=survey.total),
            stopped=stopped,
            under_way=len(survey.under_way),
            in_flight=_in_flight(attempts),
            vendors=sorted(vendors),
            backups_until=(now + self.backups_kept).date(),
            # The sweeper takes whole days, once the last moment of one is old enough.
            raw_callbacks_until=(now + RAW_CALLBACKS_KEPT).date() + timedelta(days=1),
        )

    async def _stop(self, tx: TenantTx, waiting: Sequence[NotificationId], now: datetime) -> int:
        stopped = 0
        for start in range(0, len(waiting), _CHUNK):
            found = await notification_store.find_notifications(tx, ids=waiting[start : start + _CHUNK])
            events = [
                moved_event(
                    tx.tenant_id,
                    one,
                    NotificationStatus.SUPPRESSED.value,
                    reason=_REASON.value,
                    clock=self.clock,
                )
                for one in found.values()
            ]
            stopped += await store.stop_waiting(
                tx,
                list(found),
                events,
                reason=_REASON.value,
                trace=_TRACE,
                now=now,
                stripe=self.stripe,
            )
        return stopped

    async def _forget_callbacks(self, tx: TenantTx, recipient_id: RecipientId, now: datetime) -> int:
        """Of what was sent lately; all that is older has no raw body any more."""
        recent = await store.find_recent(tx, recipient_id, since=now - _RECENT)
        bodies = 0
        for start in range(0, len(recent), _CHUNK):
            bodies += await self.callbacks.forget(tx, recent[start : start + _CHUNK])
        return bodies

    async def _attempts(
        self, tx: TenantTx, ids: Sequence[NotificationId]
    ) -> list[tuple[NotificationId, AttemptRecord]]:
        """What the router has called vendors for."""
        found: list[tuple[NotificationId, AttemptRecord]] = []
        for start in range(0, len(ids), _CHUNK):
            ladders = await self.history.of_notifications(tx, ids[start : start + _CHUNK])
            found += [
                (notification_id, attempt)
                for notification_id, several in ladders.items()
                for ladder in several
                for attempt in ladder.attempts
            ]
        return found

    async def _sign(self, statement: ErasureStatement) -> StoredReceipt:
        text = canonical(statement)
        token = await self.signer.sign(signed_bytes(text))
        return StoredReceipt(
            id=ERASURE.parse(statement.id),
            recipient_id=RecipientId(statement.recipient_id),
            erased_at=statement.erased_at,
            statement=text.decode(),
            key_id=self.signer.key_id_of(token),
            signature=token,
        )

    async def _tell(
        self, tx: TenantTx, statement: ErasureStatement, *, actor: str, reason: str | None
    ) -> None:
        event = new_event(
            "recipient.erased.v1",
            RecipientErased(
                recipient_id=statement.recipient_id, erasure_id=statement.id, erased_at=statement.erased_at
            ),
            tenant_id=tx.tenant_id,
            ordering_key=statement.recipient_id,
            source=NOTIFY_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        await self.outbox.append(tx, [event])
        entry = Entry(
            entity_type="recipient",
            entity_id=statement.recipient_id,
            action="erased",
            actor=actor,
            after={"receipt_id": statement.id, "cause": statement.cause, "stopped": statement.stopped},
            reason=reason,
        )
        await self.audit.append(tx, [entry])


async def _forget_inboxes(tx: TenantTx, recipient_id: RecipientId) -> int:
    keys = [
        InboxKey(tenant_id=tx.tenant_id, recipient_id=recipient_id, is_test=is_test)
        for is_test in (False, True)
    ]
    await inbox_store.lock_inboxes(tx, keys)
    # Whoever has it open hears that their token is void.
    await inbox_store.announce(tx, keys)
    return await inbox_store.forget(tx, recipient_id)


async def find_receipt(tx: TenantTx, recipient_id: RecipientId) -> ErasureReceipt:
    """The receipt of then; a `NotErasedError` where the recipient is still known."""
    known = await store.find_receipt(tx, recipient_id)
    if known is None:
        if not await recipient_store.find_recipients(tx, ids=[recipient_id]):
            raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
        raise NotErasedError(f"recipient {recipient_id} was not erased; there is no receipt")
    return _held(known)


def _in_flight(attempts: Sequence[tuple[NotificationId, AttemptRecord]]) -> list[InFlight]:
    return [
        InFlight(
            notification_id=notification_id,
            channel=attempt.channel,
            vendor=attempt.vendor,
            since=attempt.started_at,
        )
        for notification_id, attempt in attempts
        if attempt.ended_at is None
    ]


def _vendors(attempts: Sequence[tuple[NotificationId, AttemptRecord]]) -> set[str]:
    """Who was called; a step that was skipped gave nothing to a vendor."""
    return {a.vendor for _, a in attempts if a.vendor is not None and a.status != "step_skipped"}


def _held(receipt: StoredReceipt) -> ErasureReceipt:
    return as_held(receipt.statement, receipt.key_id, receipt.signature)
