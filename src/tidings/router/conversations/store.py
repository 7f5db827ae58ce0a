"""The only Python here that runs SQL on conversations and their transcripts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tidings.contracts.enums import UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns, sparse_columns
from tidings.kernel.sql import Queries
from tidings.router.conversations.hashes import Hashed
from tidings.router.conversations.keywords import Keyword
from tidings.router.conversations.model import (
    Action,
    Conversation,
    ConversationId,
    ConversationStatus,
    OutboundLineId,
    TranscriptLine,
)

QUERIES = Queries.beside(__file__)
#: The columns of the two sides of conversations.
_SIDES = "channel sender_id hashed.hash"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSides:
    """The two sides of a conversation."""

    channel: Channel
    sender_id: str
    #: The other side.
    hashed: Hashed


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A conversation to be opened, unless there is one."""

    id: ConversationId
    between: ConversationSides
    ttl_seconds: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTranscriptLine:
    """What was said in a conversation."""

    id: ConversationId
    recipient_id: RecipientId | None
    turns: int
    last_message_id: str
    at: datetime
    vendor: str
    account_id: str
    stopped: bool
    key_subject: str
    address: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerableMessage:
    """A message of ours that can be answered, with the ids that it would begin."""

    id: ConversationId
    line_id: OutboundLineId
    between: ConversationSides
    recipient_id: RecipientId | None
    notification_id: NotificationId
    vendor: str | None
    account_id: str | None
    use_case: UseCase | None
    ttl_seconds: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFilter:
    """Which conversations are wanted."""

    status: ConversationStatus | None = None
    channel: Channel | None = None
    recipient_id: str | None = None
    since: datetime | None = None
    #: Only those in which the person spoke last.
    unanswered: bool = False


async def find_taken(tx: TenantTx, ids: Sequence[str]) -> dict[str, Keyword | None]:
    """Those of these messages that stand in a transcript, each with the keyword that it was."""
    rows = await tx.fetch(QUERIES.find_taken, ids=list(ids))
    return {
        row["id"]: Keyword(action=row["keyword_action"], language=row["language"], word=row["keyword"])
        if row["keyword_action"] is not None
        else None
        for row in rows
    }


async def close_expired(
    tx: TenantTx, people: Sequence[tuple[ConversationSides, datetime]]
) -> list[Conversation]:
    """Close those that had ended before the person wrote again."""
    rows = await tx.fetch(
        QUERIES.close_expired,
        ats=[at for _, at in people],
        **columns([between for between, _ in people], _SIDES),
    )
    return [_conversation(row) for row in rows]


async def find_latest(
    tx: TenantTx, people: Sequence[ConversationSides], *, besides: Sequence[ConversationId] = ()
) -> dict[int, Conversation]:
    """The last conversation with each, but for those `besides`, by its place in the list."""
    rows = await tx.fetch(QUERIES.find_latest, besides=list(besides), **columns(people, _SIDES))
    return {row["place"] - 1: _conversation(row) for row in rows}


async def lock_opt_changes(tx: TenantTx, people: Sequence[ConversationSides]) -> None:
    """Until the transaction ends, no other one decides what the last STOP or START of these people was."""
    if people:
        await tx.fetch(QUERIES.lock_opt_changes, **columns(people, "channel hashed.platform_hash"))


async def find_last_opt_changes(
    tx: TenantTx, people: Sequence[ConversationSides]
) -> dict[int, dict[Action, str]]:
    """The messages by which each said STOP and START last, by their place in the list."""
    rows = await tx.fetch(QUERIES.find_last_opt_changes, **columns(people, "channel hashed.platform_hash"))
    found: dict[int, dict[Action, str]] = {}
    for row in rows:
        found.setdefault(row["place"] - 1, {})[row["keyword_action"]] = row["id"]
    return found


async def open_conversations(
    tx: TenantTx, openings: Sequence[Opening]
) -> dict[tuple[str, str, str], Conversation]:
    """The open conversation of each, by channel, sender and hash; one with the opening's own id is new."""
    rows = await tx.fetch(
        QUERIES.open_conversations,
        **columns(openings, "id ttl_seconds at between.hashed.platform_hash"),
        **columns([opening.between for opening in openings], _SIDES),
    )
    return {(row["channel"], row["sender_id"], row["address_hash"]): _conversation(row) for row in rows}


async def go_on(tx: TenantTx, said: Sequence[NewTranscriptLine], *, now: datetime) -> list[Conversation]:
    """Write what was said; as they are now."""
    rows = await tx.fetch(
        QUERIES.go_on,
        now=now,
        **columns(
            said, "id recipient_id turns last_message_id at vendor account_id key_subject address stopped"
        ),
    )
    return [_conversation(row) for row in rows]


async def insert_lines(tx: TenantTx, lines: Sequence[TranscriptLine], *, now: datetime) -> None:
    """Write lines of transcripts."""
    await tx.execute(
        QUERIES.insert_lines,
        now=now,
        **columns(
            lines, "id conversation_id at direction kind status vendor account_id key_subject ciphertext"
        ),
        **sparse_columns(lines, "occurred_at keyword action language"),
    )


async def note_sent(tx: TenantTx, turns: Sequence[AnswerableMessage], *, now: datetime) -> dict[str, str]:
    """Write them; the conversations that are new, each with the line that began it."""
    rows = await tx.fetch(
        QUERIES.note_sent,
        now=now,
        **columns(turns, "id line_id notification_id ttl_seconds at between.hashed.platform_hash"),
        **sparse_columns(turns, "recipient_id vendor account_id use_case"),
        **columns([turn.between for turn in turns], _SIDES),
    )
    return {row["id"]: row["line_id"] for row in rows}


async def list_conversations(
    tx: TenantTx, *, chosen: ConversationFilter, after_id: str | None, limit: int
) -> list[Conversation]:
    """Some of them, the newest first."""
    rows = await tx.fetch(QUERIES.list_conversations, chosen, after_id=after_id, limit=limit)
    return [_conversation(row) for row in rows]


async def find_conversation(tx: TenantTx, conversation_id: ConversationId) -> Conversation | None:
    """One of them."""
    row = await tx.fetch_one(QUERIES.find_conversation, id=conversation_id)
    return None if row is None else _conversation(row)


async def lock_conversation(tx: TenantTx, conversation_id: ConversationId) -> Conversation | None:
    """The same, to be changed."""
    row = await tx.fetch_one(QUERIES.lock_conversation, id=conversation_id)
    return None if row is None else _conversation(row)


async def find_address_hash(tx: TenantTx, conversation_id: ConversationId) -> str | None:
    """The other side of one, under the tenant's pepper; None where the person was erased."""
    found: str | None = await tx.fetch_value(QUERIES.find_address_hash, id=conversation_id)
    return found


async def set_recipient(tx: TenantTx, conversation_id: ConversationId, recipient_id: RecipientId) -> None:
    """Who it is with is known now."""
    await tx.execute(QUERIES.set_recipient, id=conversation_id, recipient_id=recipient_id)


async def close_conversations(
    tx: TenantTx,
    ids: Sequence[ConversationId],
    *,
    status: ConversationStatus,
    reason: str,
    now: datetime,
    expired_until: datetime | None = None,
) -> list[Conversation]:
    """Close those that are open, and over where `expired_until` is given; those that were."""
    rows = await tx.fetch(
        QUERIES.close_conversations,
        ids=list(ids),
        status=status,
        reason=reason,
        now=now,
        expired_until=expired_until,
    )
    return [_conversation(row) for row in rows]


async def list_lines(
    tx: TenantTx, conversation_id: ConversationId, *, after: tuple[datetime, str] | None, limit: int
) -> list[TranscriptLine]:
    """A transcript, as it was said."""
    rows = await tx.fetch(
        QUERIES.list_lines,
        conversation_id=conversation_id,
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=limit,
    )
    return [line_of(row) for row in rows]


async def find_expired(tx: WorkerTx, *, now: datetime, limit: int) -> list[tuple[TenantId, ConversationId]]:
    """Open ones that have come to their end."""
    rows = await tx.fetch(QUERIES.find_expired, now=now, limit=limit)
    return [(row["tenant_id"], row["id"]) for row in rows]


async def sweep_conversations(tx: WorkerTx, *, until: datetime, limit: int) -> int:
    """Remove those that were closed until then, with all that was said; how many conversations went."""
    return await tx.execute(QUERIES.sweep_conversations, until=until, limit=limit)


_conversation = RowMapper(
    Conversation,
    [
        QUERIES.close_expired,
        QUERIES.find_latest,
        QUERIES.open_conversations,
        QUERIES.go_on,
        QUERIES.list_conversations,
        QUERIES.find_conversation,
        QUERIES.lock_conversation,
        QUERIES.close_conversations,
    ],
    columns={"turns": "turn_count"},
)
#: A line of a transcript, as its row has it.
line_of = RowMapper(
    TranscriptLine,
    [QUERIES.list_lines],
    columns={"action": "keyword_action", "ciphertext": "text_ciphertext"},
)
