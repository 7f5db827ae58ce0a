"""The use cases around a batch that is written: approve, start, pause, resume, cancel; and how it ends."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.contracts.channel_configs import ChannelConfigs
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import InvalidError
from tidings.notify.batches import store
from tidings.notify.batches.errors import (
    BatchApprovalMissingError,
    BatchNotReadyError,
    BatchStateError,
    OwnBatchError,
)
from tidings.notify.batches.events import batch_event
from tidings.notify.batches.model import REACHED_FROM, BatchStatus, BatchTotals, StoredBatch
from tidings.notify.batches.orders import BatchOrders
from tidings.notify.batches.paced_accounts import unknown_paced
from tidings.notify.ids import BatchId
from tidings.notify.tenants.store import find_tenant

#: Who changes a batch by itself.
SYSTEM: Final = "system"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchControl:
    """Moves batches from state to state; each move, its event and its audit row are one transaction."""

    orders: BatchOrders
    configs: ChannelConfigs
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def approve(
        self, tx: TenantTx, batch_id: BatchId, *, expect: Callable[[int], None], actor: str
    ) -> StoredBatch:
        """The batch with its approver, who neither wrote it nor changed it last; `expect` is asked about its version."""
        batch = await store.lock_batch(tx, batch_id)
        expect(batch.version)
        if batch.status is not BatchStatus.DRAFT:
            raise BatchStateError(f"{batch_id} is {batch.status.value}: only a draft is approved")
        if actor in (batch.created_by, batch.changed_by):
            raise OwnBatchError
        if batch.approved_by == actor:
            return batch
        await store.set_approval(tx, batch_id, approved_by=actor, now=self.clock.now())
        await self._note(tx, batch, "approved", actor)
        return await store.find_batch(tx, batch_id)

    async def start(self, tx: TenantTx, batch_id: BatchId, *, actor: str) -> StoredBatch:
        """The batch as it runs, or waits for its time; one that does already is answered as it is."""
        batch = await store.lock_batch(tx, batch_id)
        if batch.status in (BatchStatus.RUNNING, BatchStatus.SCHEDULED):
            return batch
        if batch.status is not BatchStatus.DRAFT:
            remedy = "resume it" if batch.status is BatchStatus.PAUSED else "clone it to send it once more"
            raise BatchStateError(f"{batch_id} is {batch.status.value}: {remedy}")
        await self.refuse_unready(tx, batch)
        await self._note(tx, batch, "started", actor)
        return await self._begin_or_wait(tx, batch, actor)

    async def pause(self, tx: TenantTx, batch_id: BatchId, *, actor: str) -> StoredBatch:
        """The batch at rest: no more messages are made."""
        batch = await store.lock_batch(tx, batch_id)
        if batch.status is BatchStatus.PAUSED:
            return batch
        _refuse_move(batch, BatchStatus.PAUSED, "paused")
        await self._note(tx, batch, "paused", actor)
        return await self.rest(tx, batch)

    async def rest(
        self, tx: TenantTx, batch: StoredBatch, *, problem: str | None = None, reason: str | None = None
    ) -> StoredBatch:
        """Pause one that is locked; `problem` is what has to be mended before it can go on."""
        now = self.clock.now()
        paused = await store.set_status(tx, batch, BatchStatus.PAUSED, now=now, due_at=None, problem=problem)
        await self._tell(tx, paused, "paused", reason=reason)
        return paused

    async def resume(self, tx: TenantTx, batch_id: BatchId, *, actor: str) -> StoredBatch:
        """The batch, which goes on where it stood."""
        batch = await store.lock_batch(tx, batch_id)
        if batch.status in (BatchStatus.RUNNING, BatchStatus.SCHEDULED):
            return batch
        if batch.status is not BatchStatus.PAUSED:
            raise BatchStateError(f"{batch_id} is {batch.status.value}: only a paused batch is resumed")
        await self.refuse_unready(tx, batch)
        await self._note(tx, batch, "resumed", actor)
        if batch.started_at is None:
            return await self._begin_or_wait(tx, batch, actor)
        now = self.clock.now()
        resumed = await store.set_status(tx, batch, BatchStatus.RUNNING, now=now, due_at=now, resumed_at=now)
        await self._tell(tx, resumed, "resumed")
        return resumed

    async def cancel(self, tx: TenantTx, batch_id: BatchId, *, actor: str) -> StoredBatch:
        """The batch at its end. Whose message waits still is not written to; what was sent stays sent."""
        batch = await store.lock_batch(tx, batch_id)
        if batch.status is BatchStatus.CANCELLED:
            return batch
        _refuse_move(batch, BatchStatus.CANCELLED, "cancelled")
        await self._note(tx, batch, "cancelled", actor)
        now = self.clock.now()
        cancelled = await store.set_status(tx, batch, BatchStatus.CANCELLED, now=now, due_at=now)
        await self._tell(tx, cancelled, "cancelled")
        return cancelled

    async def begin(self, tx: TenantTx, batch: StoredBatch, *, actor: str | None = None) -> StoredBatch:
        """It runs from now on, for those who are there now. Locked, and ready. `actor` is None where its time has come."""
        now = self.clock.now()
        expected = await store.count_people(tx, batch, as_of=now)
        begun = await store.set_status(
            tx,
            batch,
            BatchStatus.RUNNING,
            now=now,
            due_at=now,
            started_by=actor,
            started_at=now,
            expected=expected,
        )
        await self._tell(tx, begun, "started")
        return begun

    async def complete(self, tx: TenantTx, batch: StoredBatch, totals: BatchTotals) -> None:
        """Everybody has been met, and nothing is under way."""
        now = self.clock.now()
        done = await store.set_status(tx, batch, BatchStatus.COMPLETED, now=now, due_at=None)
        await store.close(tx, done, totals, now=now)
        await self._tell(tx, done, "completed")

    async def fail(self, tx: TenantTx, batch: StoredBatch, *, problem: str, reason: str) -> None:
        """It can't go on; people who were not met are not written to."""
        now = self.clock.now()
        failed = await store.set_status(tx, batch, BatchStatus.FAILED, now=now, due_at=now, problem=problem)
        await self._note(tx, failed, "failed", SYSTEM)
        await self._tell(tx, failed, "failed", reason=reason)

    async def refuse_unready(self, tx: TenantTx, batch: StoredBatch) -> None:
        """Raises where it says to nobody, nothing, or lacks an approval."""
        if not batch.audience.is_said:
            raise BatchNotReadyError(
                f"{batch.id} is for nobody yet: give it a filter, or upload a list of recipients"
            )
        if batch.approved_by is None and (batch.needs_approval or await _policy_wants_approval(tx)):
            raise BatchApprovalMissingError
        wrong = await unknown_paced(tx, self.configs, batch)
        if wrong:
            raise InvalidError(wrong)
        await self.orders.check(batch, await self.orders.open(tx, batch))

    async def _begin_or_wait(self, tx: TenantTx, batch: StoredBatch, actor: str) -> StoredBatch:
        now = self.clock.now()
        if batch.scheduled_for is None or batch.scheduled_for <= now:
            return await self.begin(tx, batch, actor=actor)
        return await store.set_status(
            tx, batch, BatchStatus.SCHEDULED, now=now, due_at=batch.scheduled_for, started_by=actor
        )

    async def _tell(self, tx: TenantTx, batch: StoredBatch, word: str, *, reason: str | None = None) -> None:
        totals = await totals_of(tx, batch)
        event = batch_event(batch, word, totals, clock=self.clock, reason=reason)
        await self.outbox.append(tx, [event])

    async def _note(self, tx: TenantTx, batch: StoredBatch, action: str, actor: str) -> None:
        entry = Entry(
            entity_type="batch",
            entity_id=batch.id,
            action=action,
            actor=actor,
            before={"status": batch.status.value},
        )
        await self.audit.append(tx, [entry])


async def totals_of(tx: TenantTx, batch: StoredBatch) -> BatchTotals:
    """How far it is."""
    counts = store.all_together((await store.sum_counts(tx, [batch.id]))[batch.id])
    return counts.totals(
        expected=batch.expected, walked=batch.walked_at is not None, cancelled=batch.has_ended
    )


def due_now(batch: StoredBatch, now: datetime) -> bool:
    """Whether the runner has something to do with it."""
    return batch.due_at is not None and batch.due_at <= now


def _refuse_move(batch: StoredBatch, to: BatchStatus, word: str) -> None:
    if batch.status not in REACHED_FROM[to]:
        possible = ", ".join(sorted(status.value for status in REACHED_FROM[to]))
        raise BatchStateError(f"{batch.id} is {batch.status.value}: a batch is {word} while it is {possible}")


async def _policy_wants_approval(tx: TenantTx) -> bool:
    tenant = await find_tenant(tx, tenant_id=tx.tenant_id)
    return tenant is not None and tenant.notification_policy.batches_need_approval
