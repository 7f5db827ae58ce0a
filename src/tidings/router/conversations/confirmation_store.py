"""The only Python here that runs SQL on confirmations that wait to be sent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.durable.claims import TableClaims
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries, sparse
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
    return [
        PendingConfirmation(
            id=row["id"],
            conversation_id=row["conversation_id"],
            attempts=row["attempts"],
            vendor=row["vendor"],
            account_id=row["account_id"],
            channel=row["channel"],
            sender_id=row["sender_id"],
            key_subject=row["key_subject"],
            ciphertext=row["text_ciphertext"],
            address_subject=row["address_subject"],
            address=row["address_ciphertext"],
        )
        for row in rows
    ]


async def end_replies(
    tx: TenantTx, ended: Sequence[ConfirmationResult], *, worker: str, now: datetime
) -> set[str]:
    """Write what became of them; the ids of those that were still this worker's."""
    rows = await tx.fetch(
        QUERIES.end_replies,
        worker=worker,
        now=now,
        ids=[e.id for e in ended],
        statuses=[e.status for e in ended],
        reasons=sparse([e.reason for e in ended]),
        provider_ids=sparse([e.provider_id for e in ended]),
        next_ats=sparse([e.next_at for e in ended]),
    )
    return {row["id"] for row in rows}


async def insert_attempts(tx: TenantTx, attempts: Sequence[ConfirmationAttempt], *, now: datetime) -> None:
    """Keep them, for receipts to find."""
    await tx.execute(
        QUERIES.insert_attempts,
        now=now,
        **columns(attempts, "id line_id channel vendor"),
        started_ats=[time_of(a.id) for a in attempts],
        account_ids=sparse([a.account_id for a in attempts]),
        provider_message_ids=sparse([a.provider_message_id for a in attempts]),
        statuses=[a.status for a in attempts],
        reasons=sparse([a.reason for a in attempts]),
        costs=[a.micros for a in attempts],
        currencies=sparse([a.currency for a in attempts]),
    )
