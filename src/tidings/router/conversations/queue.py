"""The only Python here that runs SQL on inbound messages that wait."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, WorkerTx
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.router.conversations.model import InboundMessageId
from tidings.router.dead_letter_page import DeadLetterPage

QUERIES = Queries.beside(__file__)
#: Where a message stands that is in no conversation.
OpenStatus: TypeAlias = Literal["queued", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInbound:
    """A message to be kept, if it is new."""

    id: InboundMessageId
    account_id: str
    vendor_message_id: str
    channel: Channel
    destination: str
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedInbound:
    """A message in our hands."""

    id: InboundMessageId
    received_at: datetime
    vendor: str
    account_id: str
    channel: Channel
    destination: str
    #: How often it was looked at before.
    looks: int
    #: The owner of the account; None: the platform, which serves all tenants.
    owner_id: TenantId | None
    #: The tenant with a route for the number, of those that take messages of the platform's accounts.
    route_tenant_id: TenantId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredInbound:
    """A message that could not be taken on now."""

    id: InboundMessageId
    #: None: it is dead.
    next_at: datetime | None
    #: How many looks it counts for.
    looks: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationAddresses:
    """The sender and the destination of a message, as conversations are found by them."""

    channel: Channel
    destination: str
    #: Under the platform's pepper.
    hash: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInbound:
    """A message that stands in no conversation, as operators see it: nothing of who wrote what."""

    id: InboundMessageId
    received_at: datetime
    vendor: str
    account_id: str
    vendor_message_id: str
    channel: Channel
    #: What was written to.
    destination: str
    status: OpenStatus
    looks: int
    #: None where it is dead.
    next_look_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    """A number that people write to, and that is no tenant's."""

    destination: str
    messages: int
    #: The last minute in which there was one.
    last_at: datetime


async def insert_inbound(
    tx: PlatformTx, *, vendor: str, messages: Sequence[NewInbound], now: datetime
) -> set[str]:
    """Keep them; the ids of those that are new."""
    rows = await tx.fetch(
        QUERIES.insert_inbound,
        vendor=vendor,
        now=now,
        **columns(messages, "id account_id vendor_message_id channel destination payload"),
    )
    return {row["id"] for row in rows}


async def announce(tx: PlatformTx) -> None:
    """Tell other processes, when this commits."""
    await tx.fetch_value(QUERIES.announce)


async def claim_inbound(tx: WorkerTx, *, now: datetime, limit: int, least: int) -> list[ClaimedInbound]:
    """Messages that are to be looked at, locked until `tx` ends: `limit` shared by all accounts, and `least` of each."""
    rows = await tx.fetch(QUERIES.claim_inbound, now=now, limit=limit, least=least)
    return [_claimed(row) for row in rows]


async def next_inbound(tx: WorkerTx) -> datetime | None:
    """When one is to be looked at next."""
    at: datetime | None = await tx.fetch_value(QUERIES.next_inbound)
    return at


async def load_payloads(tx: PlatformTx, ids: Sequence[str]) -> dict[str, bytes]:
    """What they say, sealed, by their ids."""
    rows = await tx.fetch(QUERIES.load_payloads, ids=list(ids))
    return {row["id"]: row["payload_ciphertext"] for row in rows if row["payload_ciphertext"] is not None}


async def find_open(tx: WorkerTx, places: Sequence[ConversationAddresses]) -> dict[int, TenantId]:
    """The tenant of the conversation of then that each belongs to, by its place in the list."""
    rows = await tx.fetch(QUERIES.find_open, **columns(places, "channel destination hash at"))
    return {row["place"] - 1: row["tenant_id"] for row in rows}


async def find_last(tx: WorkerTx, places: Sequence[ConversationAddresses]) -> dict[int, TenantId]:
    """The tenant of the last conversation by then, open or not, by its place in the list."""
    rows = await tx.fetch(QUERIES.find_last, **columns(places, "channel destination hash at"))
    return {row["place"] - 1: row["tenant_id"] for row in rows}


async def find_sharers(tx: WorkerTx, places: Sequence[ConversationAddresses]) -> dict[int, list[TenantId]]:
    """Which tenants wrote to them from that number in the last 18 months, the last one first, by its place in the list."""
    rows = await tx.fetch(QUERIES.find_sharers, **columns(places, "channel destination hash at"))
    found: dict[int, list[TenantId]] = {}
    for row in rows:
        found.setdefault(row["place"] - 1, []).append(TenantId(row["tenant_id"]))
    return found


async def sweep_contacts(tx: WorkerTx, *, until: datetime, limit: int) -> int:
    """Forget who wrote from a shared number so long ago; how many rows went."""
    return await tx.execute(QUERIES.sweep_contacts, until=until, limit=limit)


async def mark_applied(tx: WorkerTx, messages: Sequence[tuple[str, TenantId]], *, now: datetime) -> int:
    """They stand in conversations."""
    return await tx.execute(
        QUERIES.mark_applied,
        now=now,
        ids=[message_id for message_id, _ in messages],
        tenant_ids=[tenant_id for _, tenant_id in messages],
    )


async def mark_unmatched(tx: WorkerTx, ids: Sequence[str], *, now: datetime) -> None:
    """They belong to no tenant."""
    await tx.execute(QUERIES.mark_unmatched, ids=list(ids), now=now)


async def mark_again(tx: WorkerTx, waiting: Sequence[DeferredInbound], *, now: datetime) -> int:
    """They are looked at again, or never."""
    return await tx.execute(
        QUERIES.mark_again,
        now=now,
        **columns(waiting, "id next_at looks"),
        statuses=["dead" if w.next_at is None else "queued" for w in waiting],
    )


async def sweep_inbound(tx: WorkerTx, *, unmatched_until: datetime, done_until: datetime, limit: int) -> int:
    """Remove what is done and old enough; how many went."""
    return await tx.execute(
        QUERIES.sweep_inbound, unmatched_until=unmatched_until, done_until=done_until, limit=limit
    )


async def list_unmatched(tx: PlatformTx, *, since: datetime, limit: int) -> list[Unmatched]:
    """Numbers that people wrote to without a tenant, the most frequent first."""
    rows = await tx.fetch(QUERIES.list_unmatched, since=since, limit=limit)
    return [_unmatched(row) for row in rows]


async def sweep_unmatched(tx: WorkerTx, *, until: datetime, limit: int) -> int:
    """Remove old counts; how many went."""
    return await tx.execute(QUERIES.sweep_unmatched, until=until, limit=limit)


async def list_inbound(tx: PlatformTx, page: DeadLetterPage, *, status: OpenStatus) -> list[OpenInbound]:
    """Messages that stand in no conversation, the newest first."""
    return [_open_inbound(row) for row in await tx.fetch(QUERIES.list_inbound, page, status=status)]


async def show_inbound(tx: PlatformTx, message_id: InboundMessageId) -> OpenInbound | None:
    """One of them."""
    row = await tx.fetch_one(QUERIES.show_inbound, id=message_id)
    return None if row is None else _open_inbound(row)


def dead_inbound(*, audit: AuditLog, clock: Clock) -> DeadLetters[InboundMessageId]:
    """The messages that were given up; what was written is not shown, because its tenant is not known.

    `audit` is of the schema `chan`.
    """
    return DeadLetters(
        QUERIES.requeue_inbound, entity_type="inbound_message", status="dead", audit=audit, clock=clock
    )


_unmatched = RowMapper(Unmatched, [QUERIES.list_unmatched])
_claimed = RowMapper(
    ClaimedInbound, [QUERIES.claim_inbound], columns={"account_id": "adapter", "looks": "attempts"}
)
_open_inbound = RowMapper(
    OpenInbound,
    [QUERIES.list_inbound, QUERIES.show_inbound],
    columns={"account_id": "adapter", "looks": "attempts"},
)
