"""The events that tell where a batch has come to."""

from tidings.contracts.batches import BatchMoved
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.events import Event, new_event
from tidings.kernel.mapping import attributes
from tidings.notify.batches.model import BatchTotals, StoredBatch


def batch_event(
    batch: StoredBatch, word: str, totals: BatchTotals, *, clock: Clock, reason: str | None = None
) -> Event:
    """`batch.{word}.v1`; the events of one batch keep their order."""
    return new_event(
        f"batch.{word}.v1",
        BatchMoved(
            batch_id=batch.id,
            status=batch.status.value,
            reason=reason,
            **attributes(batch, "template_key channel category"),
            **attributes(totals, "people sent delivered failed suppressed cancelled"),
        ),
        tenant_id=batch.tenant_id,
        ordering_key=batch.id,
        source=NOTIFY_SOURCE,
        clock=clock,
    )
