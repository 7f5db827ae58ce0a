"""A file as the list of a batch: each row is a recipient, who is made known and put on the list."""

from collections.abc import Sequence
from typing import Any

from tidings.contracts.ids import RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.notify.batches import store
from tidings.notify.batches.errors import BatchStateError
from tidings.notify.batches.model import BatchStatus
from tidings.notify.ids import BatchId
from tidings.notify.imports.recipient_target import RecipientTarget
from tidings.notify.imports.target import Author, WriteResult
from tidings.notify.recipients.upsert import RecipientUpserter


class BatchListTarget(RecipientTarget):
    """Reads rows of recipients as an import does, and puts each on the list of a batch."""

    def __init__(self, upserter: RecipientUpserter, batch_id: BatchId, *, clock: Clock) -> None:
        super().__init__(upserter)
        self._batch_id = batch_id
        self._clock = clock

    async def write(self, tx: TenantTx, specs: Sequence[tuple[int, Any]], by: Author) -> WriteResult:
        """Upsert them all, and list them; who can't be is reported."""
        batch = await store.lock_batch(tx, self._batch_id)
        if batch.status is not BatchStatus.DRAFT:
            raise BatchStateError(f"{batch.id} is {batch.status.value}: the list of a draft alone is changed")
        # Every set of a file, not the first list alone: whom an approval was for is not who is on it now.
        await store.set_listed(tx, batch.id, changed_by=by.actor, now=self._clock.now())
        return await super().write(tx, specs, by)

    async def written(self, tx: TenantTx, people: Sequence[RecipientId]) -> None:
        """Put them on the list."""
        await store.add_to_list(tx, self._batch_id, people)
