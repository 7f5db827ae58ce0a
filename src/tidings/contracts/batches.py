"""What happens to batches, as events; ids and facts, never a name, a filter or a text."""

from msgspec import Struct


class BatchMoved(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A batch came to a new status; the subject says which."""

    batch_id: str
    status: str
    template_key: str
    channel: str
    category: str
    #: How many people it has: when it starts those that it was found to have, at its end those in its ledger.
    people: int = 0
    #: Handed to a vendor, so far.
    sent: int = 0
    delivered: int = 0
    #: Failed, expired, or refused before a message was made.
    failed: int = 0
    suppressed: int = 0
    #: Never written to, because the batch was cancelled.
    cancelled: int = 0
    #: Why it was paused or failed by itself: a code.
    reason: str | None = None


BATCH_EVENTS: dict[str, type[Struct]] = {
    f"batch.{word}.v1": BatchMoved
    for word in ("started", "paused", "resumed", "completed", "cancelled", "failed")
}
