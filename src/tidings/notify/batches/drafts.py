"""The use cases around a batch that is not started: write it, change it, copy it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from msgspec import structs

from tidings.contracts.channel_configs import ChannelConfigs
from tidings.contracts.ids import RecipientId
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.refusals import FieldError, InvalidError, RefusalError
from tidings.notify.accept.row import AnyChannel
from tidings.notify.batches import store
from tidings.notify.batches.errors import BatchStateError
from tidings.notify.batches.model import (
    BatchAudience,
    BatchPriority,
    BatchStatus,
    BatchVariables,
    BatchVariant,
    Pacing,
    SendingWindow,
    StoredBatch,
)
from tidings.notify.batches.orders import BatchOrders
from tidings.notify.batches.paced_accounts import unknown_paced
from tidings.notify.ids import BATCH, BatchId
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.recipients.upsert import RecipientUpserter


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDraft:
    """What a batch is to be; nothing of it is wrong in itself."""

    name: str
    template: str
    channel: AnyChannel
    audience: BatchAudience
    #: The list, where one is given with it.
    people: Sequence[RecipientSpec] | None
    variables: BatchVariables
    category: str | None
    priority: BatchPriority
    scheduled_for: datetime | None
    local_time: str | None
    window: SendingWindow | None
    pacing: Pacing | None
    variants: tuple[BatchVariant, ...]
    needs_approval: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchDrafts:
    """Writes drafts."""

    orders: BatchOrders
    configs: ChannelConfigs
    upserter: RecipientUpserter
    audit: AuditLog
    clock: Clock

    async def create(self, tx: TenantTx, draft: BatchDraft, *, actor: str) -> StoredBatch:
        """A new draft."""
        batch_id = BATCH.new(self.clock.now())
        batch = await self.as_batch(tx, draft, batch_id, actor=actor)
        await store.insert_batch(tx, batch)
        await self._list(tx, batch, draft)
        await self._note(tx, batch, "created", actor)
        return await store.find_batch(tx, batch_id)

    async def change(
        self,
        tx: TenantTx,
        batch_id: BatchId,
        draft: BatchDraft,
        *,
        expect: Callable[[int], None],
        actor: str,
    ) -> StoredBatch:
        """The draft as it is now; `expect` is asked about the version that is there."""
        known = await store.lock_batch(tx, batch_id)
        expect(known.version)
        if known.status is not BatchStatus.DRAFT:
            raise BatchStateError(
                f"{batch_id} is {known.status.value}: only a draft is changed; clone it to write another"
            )
        listed = draft.people is not None or (known.audience.listed and draft.audience.filter is None)
        kept = known.audience.variables if listed and draft.people is None else ()
        audience = structs.replace(draft.audience, listed=listed, variables=kept)
        batch = await self.as_batch(tx, replace(draft, audience=audience), batch_id, actor=actor)
        await store.update_draft(tx, batch, now=self.clock.now())
        if draft.people is not None or not listed:
            await store.clear_list(tx, batch_id)
        await self._list(tx, batch, draft)
        await self._note(tx, batch, "changed", actor)
        return await store.find_batch(tx, batch_id)

    async def clone(self, tx: TenantTx, batch_id: BatchId, *, name: str | None, actor: str) -> StoredBatch:
        """A draft that says the same to the same people, whatever became of the first one."""
        known = await store.find_batch(tx, batch_id)
        now = self.clock.now()
        past = known.scheduled_for is not None and known.scheduled_for <= now
        copy_id = BATCH.new(now)
        copy = structs.replace(
            known,
            id=copy_id,
            name=name or known.name,
            scheduled_for=None if past else known.scheduled_for,
            created_by=actor,
            changed_by=actor,
            created_at=time_of(copy_id),
            cloned_from=batch_id,
        )
        await store.insert_batch(tx, copy)
        if known.audience.listed:
            await store.copy_list(tx, from_id=batch_id, to_id=copy_id)
        await self._note(tx, copy, "created", actor)
        return await store.find_batch(tx, copy_id)

    async def as_batch(
        self, tx: TenantTx, draft: BatchDraft, batch_id: BatchId, *, actor: str, seal: bool = True
    ) -> StoredBatch:
        """The batch that a draft makes; an `InvalidError` where its words can't be said. Without `seal` it is not for storing."""
        now = self.clock.now()
        batch = StoredBatch(
            tenant_id=tx.tenant_id,
            id=batch_id,
            name=draft.name,
            status=BatchStatus.DRAFT,
            template_key=draft.template,
            channel=draft.channel,
            category=draft.category or "",
            priority=draft.priority,
            audience=draft.audience,
            variables_ciphertext=await self.orders.seal(tx, draft.variables) if seal else b"",
            scheduled_for=draft.scheduled_for,
            local_time=draft.local_time,
            window=draft.window,
            pacing=draft.pacing,
            variants=draft.variants,
            needs_approval=draft.needs_approval,
            created_by=actor,
            changed_by=actor,
            created_at=time_of(batch_id),
            updated_at=now,
            version=1,
        )
        wrong = await unknown_paced(tx, self.configs, batch)
        if wrong:
            raise InvalidError(wrong)
        valid = await self.orders.check(batch, draft.variables, choose_category=draft.category is None)
        return structs.replace(batch, category=valid.category.category)

    async def _list(self, tx: TenantTx, batch: StoredBatch, draft: BatchDraft) -> None:
        if draft.people is None:
            return
        await store.add_to_list(tx, batch.id, dict.fromkeys(await self.known_people(tx, draft.people)))

    async def known_people(self, tx: TenantTx, people: Sequence[RecipientSpec]) -> list[RecipientId]:
        """Their ids; an `InvalidError` that names every one who can't be meant."""
        done = await self.upserter.upsert(tx, people)
        wrong = [
            FieldError(f"recipients[{place}]", str(result))
            for place, result in enumerate(done.results)
            if isinstance(result, RefusalError)
        ]
        if wrong:
            raise InvalidError(wrong)
        return [result.recipient.id for result in done.results if not isinstance(result, RefusalError)]

    async def _note(self, tx: TenantTx, batch: StoredBatch, action: str, actor: str) -> None:
        entry = Entry(
            entity_type="batch",
            entity_id=batch.id,
            action=action,
            actor=actor,
            after={"name": batch.name, "template": batch.template_key, "channel": batch.channel},
        )
        await self.audit.append(tx, [entry])
