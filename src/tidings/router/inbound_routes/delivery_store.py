"""The only Python here that runs SQL on messages on their way to webhooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.durable.claims import TableClaims
from tidings.kernel.mapping import RowMapper, columns, sparse_columns
from tidings.kernel.sql import Queries
from tidings.router.inbound_routes.model import (
    DEFAULT_ROUTE,
    DeliveryStatus,
    InboundDelivery,
    InboundDeliveryId,
    InboundRouteId,
)

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """A message that has to be told."""

    id: InboundDeliveryId
    message_id: str
    conversation_id: str
    route_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A message in our hands, sealed, with where it has to be told."""

    id: InboundDeliveryId
    #: Tries before this one.
    attempts: int
    #: None where the route is gone.
    webhook_url: str | None = field(repr=False)
    secret_ref: str | None = field(repr=False)
    message_id: str | None
    at: datetime | None
    occurred_at: datetime | None
    kind: str | None
    keyword: str | None
    action: str | None
    key_subject: str | None
    ciphertext: bytes | None = field(repr=False)
    conversation_id: str | None
    channel: Channel | None
    to: str | None
    recipient_id: str | None
    address_subject: str | None
    address: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of a try."""

    id: InboundDeliveryId
    status: DeliveryStatus
    #: When it is tried again.
    next_at: datetime | None = None
    #: What the webhook answered.
    answer: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """A message that was given up."""

    id: InboundDeliveryId
    route_id: InboundRouteId
    #: What was written to.
    to: str


#: Messages for webhooks that are to be called. What is claimed and not held may be freed at once: to tell twice is no harm.
DELIVERY_CLAIMS: Final = TableClaims[str](
    claim=QUERIES.claim_deliveries, next_due=QUERIES.next_delivery, free_orphans=QUERIES.free_deliveries
)


async def insert_deliveries(tx: TenantTx, deliveries: Sequence[NewDelivery], *, now: datetime) -> None:
    """They have to be told."""
    await tx.execute(
        QUERIES.insert_deliveries, now=now, **columns(deliveries, "id message_id conversation_id route_id")
    )


async def load_deliveries(tx: TenantTx, ids: Sequence[str], *, worker: str, now: datetime) -> list[Due]:
    """What has to be told; only what this worker has in hand."""
    rows = await tx.fetch(QUERIES.load_deliveries, ids=list(ids), worker=worker, now=now)
    return [_due(row) for row in rows]


async def end_deliveries(tx: TenantTx, tried: Sequence[Tried], *, worker: str, now: datetime) -> set[str]:
    """Write what became of them; the ids of those that were still this worker's."""
    rows = await tx.fetch(
        QUERIES.end_deliveries,
        worker=worker,
        now=now,
        **columns(tried, "id status"),
        **sparse_columns(tried, "next_at answer reason"),
    )
    return {row["id"] for row in rows}


async def list_deliveries(
    tx: TenantTx, *, after_id: str | None, status: DeliveryStatus | None, route_id: str | None, limit: int
) -> list[InboundDelivery]:
    """Some of them, the newest first."""
    rows = await tx.fetch(
        QUERIES.list_deliveries, after_id=after_id, status=status, route_id=route_id, limit=limit
    )
    return [_delivery(row) for row in rows]


async def find_delivery(tx: TenantTx, delivery_id: InboundDeliveryId) -> InboundDelivery | None:
    """One of them."""
    row = await tx.fetch_one(QUERIES.find_delivery, id=delivery_id)
    return None if row is None else _delivery(row)


async def redeliver(
    tx: TenantTx, delivery_id: InboundDeliveryId, *, route_id: InboundRouteId | None, now: datetime
) -> InboundDelivery | None:
    """Tell it again from the beginning; None where it is being told just now, or there is none."""
    row = await tx.fetch_one(QUERIES.redeliver, id=delivery_id, route_id=route_id, now=now)
    return None if row is None else _delivery(row)


async def lock_dead(
    tx: TenantTx,
    *,
    serving: Mapping[str, str],
    route_id: InboundRouteId | None,
    since: datetime | None,
    limit: int,
) -> list[Dead]:
    """Dead ones that can be told to one of the routes that serve, the oldest first, locked."""
    rows = await tx.fetch(
        QUERIES.lock_dead,
        route_id=route_id,
        since=since,
        route_ids=sorted(serving.values()),
        numbers=sorted(serving),
        anything=DEFAULT_ROUTE in serving,
        limit=limit,
    )
    return [_dead(row) for row in rows]


async def redeliver_dead(
    tx: TenantTx, again: Sequence[tuple[InboundDeliveryId, str]], *, now: datetime
) -> None:
    """Tell them again from the beginning, each to its route; under their locks."""
    await tx.execute(
        QUERIES.redeliver_dead,
        ids=[delivery_id for delivery_id, _ in again],
        route_ids=[route_id for _, route_id in again],
        now=now,
    )


async def sweep_deliveries(tx: WorkerTx, *, until: datetime, limit: int) -> int:
    """Remove what was done until then; how many went."""
    return await tx.execute(QUERIES.sweep_deliveries, until=until, limit=limit)


_due = RowMapper(
    Due,
    [QUERIES.load_deliveries],
    columns={
        "action": "keyword_action",
        "ciphertext": "text_ciphertext",
        "to": "sender_id",
        "address": "address_ciphertext",
    },
)
_dead = RowMapper(Dead, [QUERIES.lock_dead], columns={"to": "sender_id"})
_delivery = RowMapper(InboundDelivery, [QUERIES.list_deliveries, QUERIES.find_delivery, QUERIES.redeliver])
