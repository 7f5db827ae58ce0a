"""The only Python here that runs SQL on confirmations that wait to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.durable.claims import TableClaims
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper, columns, sparse_columns
from tidings.kernel.sql import Queries
from tidings.router.conversations.model import ConversationId

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingConfirmation:
    """A confirmation that is about to be sent."""

    id: str
    conversation_id: ConversationId
    #: How often it was begun, this time included.
    attempts: int
    vendor: str | None
    account_id: str | None
    channel: Channel
    sender_id: str
    key_subject: str | None
    ciphertext: bytes | None = field(repr=False)
    address_subject: str | None
    address: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationResult:
    """What became of it."""

    id: str
    status: Literal["sent", "failed", "unlearned", "queued"]
    reason: str | None = None
    provider_id: str | None = None
    #: When it is tried again, where it is `queued`.
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationAttempt:
    """A call of a vendor that was made for one, as attempts of ladders are kept."""

    id: str
    line_id: str
    channel: str
    account_id: str | None
    vendor: str
    status: str
    reason: str | None
    provider_message_id: str | None
    #: What it is reckoned to cost; 0 where that is not known, or nothing was sent.
    micros: int
    currency: str | None


#: Confirmations that are due. What a dead worker was sending is never sent again.
REPLY_CLAIMS: Final = TableClaims[str](
    claim=QUERIES.claim_replies, next_due=QUERIES.next_reply, free_orphans=QUERIES.free_replies
)


async def begin_replies(
    tx: TenantTx, ids: Sequence[str], *, worker: str, now: datetime
) -> list[PendingConfirmation]:
    """Note that they are being sent; those that are this worker's to send."""
    rows = await tx.fetch(QUERIES.begin_replies, ids=list(ids), worker=worker, now=now)
    return [_pending(row) for row in rows]


async def end_replies(
    tx: TenantTx, ended: Sequence[ConfirmationResult], *, worker: str, now: datetime
) -> set[str]:
    """Write what became of them; the ids of those that were still this worker's."""
    rows = await tx.fetch(
        QUERIES.end_replies,
        worker=worker,
        now=now,
        **columns(ended, "id status"),
        **sparse_columns(ended, "reason provider_id next_at"),
    )
    return {row["id"] for row in rows}


async def insert_attempts(tx: TenantTx, attempts: Sequence[ConfirmationAttempt], *, now: datetime) -> None:
    """Keep them, for receipts to find."""
    await tx.execute(
        QUERIES.insert_attempts,
        now=now,
        **columns(attempts, "id line_id channel vendor status micros"),
        **sparse_columns(attempts, "account_id provider_message_id reason currency"),
        started_ats=[time_of(a.id) for a in attempts],
    )


_pending = RowMapper(
    PendingConfirmation,
    [QUERIES.begin_replies],
    columns={"ciphertext": "text_ciphertext", "address": "address_ciphertext"},
)
