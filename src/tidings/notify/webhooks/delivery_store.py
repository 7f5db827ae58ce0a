"""The only Python here that reads and writes deliveries, and the endpoints that they wait for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.durable.claims import TableClaims
from tidings.kernel.ids import EventId, TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, optional
from tidings.kernel.sql import Queries
from tidings.notify.ids import WebhookDeliveryId, WebhookId
from tidings.notify.webhooks.model import (
    DisabledReason,
    WebhookCallRecord,
    WebhookDelivery,
    WebhookDeliveryStatus,
)

QUERIES = Queries.beside(__file__)
ENDPOINT_CLAIMS: Final[TableClaims[WebhookId]] = TableClaims(
    claim=QUERIES.claim_endpoints, next_due=QUERIES.next_due, free_orphans=QUERIES.free_orphans
)
#: A subscription of a tenant.
Place = tuple[TenantId, WebhookId]
_read_calls = msgspec.json.Decoder(tuple[WebhookCallRecord, ...]).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWebhookDelivery:
    """An event that is about to wait for an endpoint."""

    tenant_id: TenantId
    id: WebhookDeliveryId
    subscription_id: WebhookId
    ordered: bool
    event_id: EventId
    event_type: str
    ordering_key: str
    happened_at: datetime
    #: Sealed.
    payload: bytes = field(repr=False)

    @property
    def created_at(self) -> datetime:
        """The time inside its id."""
        return time_of(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedEndpoint:
    """An endpoint in this worker's hands."""

    tenant_id: TenantId
    id: WebhookId
    next_slot_at: datetime | None
    consecutive_failures: int
    is_proven: bool
    target_url: str = field(repr=False)
    is_test: bool
    ordered: bool
    max_in_flight: int
    max_per_minute: int | None
    timeout_seconds: int
    disable_after: int
    signing_secret_ciphertext: bytes = field(repr=False)
    signing_secret_prev_ciphertext: bytes | None = field(repr=False)
    signing_secret_prev_until: datetime | None
    headers_ciphertext: bytes | None = field(repr=False)
    credentials_ciphertext: bytes | None = field(repr=False)
    transform: Mapping[str, Any] | None
    version: int
    #: Its tenant is suspended, or being deleted: it is not called.
    is_held: bool

    @property
    def place(self) -> Place:
        """Whose it is, and which."""
        return self.tenant_id, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """An event that is to be told now."""

    tenant_id: TenantId
    subscription_id: WebhookId
    id: WebhookDeliveryId
    created_at: datetime
    event_id: EventId
    event_type: str
    ordering_key: str
    happened_at: datetime
    payload_ciphertext: bytes = field(repr=False)
    attempts: int
    calls: tuple[WebhookCallRecord, ...]


@dataclass(frozen=True, slots=True)
class EndedCall:
    """What became of a call."""

    due: DueDelivery
    _: KW_ONLY
    status: WebhookDeliveryStatus
    next_at: datetime | None
    answer: int | None
    reason: str | None
    #: Of the delivery, with this one.
    calls: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftEndpoint:
    """How an endpoint is left after some calls."""

    tenant_id: TenantId
    id: WebhookId
    failures: int
    proven: bool
    next_slot_at: datetime | None
    resting_until: datetime | None
    success_at: datetime | None
    failure_at: datetime | None
    disables: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenDeliveries:
    """Which deliveries of a webhook somebody means; None: whichever."""

    statuses: Sequence[WebhookDeliveryStatus]
    ids: Sequence[WebhookDeliveryId] | None = None
    event_types: Sequence[str] | None = None
    since: datetime | None = None
    until: datetime | None = None


_endpoint = RowMapper(
    ClaimedEndpoint, [QUERIES.load_endpoints], read={"transform": optional(msgspec.json.decode)}
)
_due = RowMapper(DueDelivery, [QUERIES.load_due], read={"calls": _read_calls})
_delivery = RowMapper(
    WebhookDelivery,
    [QUERIES.list_deliveries, QUERIES.find_delivery],
    columns={"last_reason": "last_error"},
    read={"calls": _read_calls},
)


async def lock_endpoints(tx: TenantsTx, places: Iterable[Place]) -> set[Place]:
    """Hold these until the commit; those that are there."""
    rows = await tx.fetch(QUERIES.lock_endpoints, **_places(sorted(places)))
    return {(row["tenant_id"], row["id"]) for row in rows}


async def insert_deliveries(tx: TenantsTx, fresh: Sequence[NewWebhookDelivery], *, now: datetime) -> None:
    """Add them, in the order given, and have their endpoints called; their endpoints are held."""
    await tx.execute(
        QUERIES.insert_deliveries,
        **columns(
            fresh,
            "tenant_id id created_at subscription_id event_id event_type ordering_key happened_at payload ordered",
        ),
        now=now,
    )
    places = sorted({(one.tenant_id, one.subscription_id) for one in fresh})
    await tx.execute(QUERIES.expect_calls, **_places(places), now=now)
    await tx.execute(QUERIES.wake_callers)


async def load_endpoints(tx: TenantsTx, places: Sequence[Place], *, worker: str) -> list[ClaimedEndpoint]:
    """Those of them that this worker has."""
    rows = await tx.fetch(QUERIES.load_endpoints, **_places(places), worker=worker)
    return [_endpoint(row) for row in rows]


async def load_due(
    tx: TenantsTx, wanted: Sequence[tuple[Place, int]], *, now: datetime
) -> dict[Place, list[DueDelivery]]:
    """What each of them is to be told now, so many at most."""
    found: dict[Place, list[DueDelivery]] = {place: [] for place, _ in wanted}
    rows = await tx.fetch(
        QUERIES.load_due,
        **_places([place for place, _ in wanted]),
        limits=[most for _, most in wanted],
        now=now,
    )
    for row in rows:
        due = _due(row)
        found[due.tenant_id, due.subscription_id].append(due)
    return found


async def longest_due(tx: WorkerTx) -> datetime | None:
    """Since when an endpoint has been due that no worker has; None where none is waiting."""
    at: datetime | None = await tx.fetch_value(QUERIES.next_due)
    return at


async def lock_claimed(tx: TenantsTx, places: Iterable[Place], *, worker: str) -> set[Place]:
    """Hold those that this worker still has."""
    rows = await tx.fetch(QUERIES.lock_claimed, **_places(sorted(places)), worker=worker)
    return {(row["tenant_id"], row["id"]) for row in rows}


async def end_calls(
    tx: TenantsTx, ended: Sequence[EndedCall], ordered: Mapping[Place, bool], *, now: datetime
) -> None:
    """Write what became of each, and let the next of their keys come, where order is asked for."""
    await tx.execute(
        QUERIES.end_calls,
        **columns(
            ended,
            "due.tenant_id due.created_at due.id status answer reason calls next_at",
        ),
        now=now,
    )
    lanes = {
        (one.due.tenant_id, one.due.subscription_id, one.due.ordering_key)
        for one in ended
        if one.status is not WebhookDeliveryStatus.QUEUED
        and ordered[one.due.tenant_id, one.due.subscription_id]
    }
    if lanes:
        await tx.execute(
            QUERIES.unblock_next,
            tenant_ids=[lane[0] for lane in lanes],
            subscription_ids=[lane[1] for lane in lanes],
            ordering_keys=[lane[2] for lane in lanes],
            now=now,
        )


async def leave_endpoints(tx: TenantsTx, left: Sequence[LeftEndpoint]) -> datetime | None:
    """Leave them to whoever is next; when the first of them is due again."""
    rows = await tx.fetch(
        QUERIES.leave_endpoints,
        **columns(
            left,
            "tenant_id id proven next_slot_at resting_until success_at failure_at",
            failures="failures",
            disables="disables",
        ),
    )
    return min((row["due_at"] for row in rows if row["due_at"] is not None), default=None)


async def disable_webhooks(
    tx: TenantsTx, failed: Sequence[tuple[Place, DisabledReason]], *, now: datetime
) -> set[Place]:
    """Call them no more; those that were called until now."""
    rows = await tx.fetch(
        QUERIES.disable_webhooks,
        **_places([place for place, _ in failed]),
        reasons=[reason for _, reason in failed],
        now=now,
    )
    return {(row["tenant_id"], row["id"]) for row in rows}


async def list_deliveries(
    tx: TenantTx,
    webhook_id: WebhookId,
    *,
    after_id: str | None,
    status: WebhookDeliveryStatus | None,
    event_type: str | None,
    event_id: str | None,
    limit: int,
) -> list[WebhookDelivery]:
    """The newest first."""
    rows = await tx.fetch(
        QUERIES.list_deliveries,
        webhook_id=webhook_id,
        after_id=after_id,
        after_at=None if after_id is None else time_of(after_id),
        status=status,
        event_type=event_type,
        event_id=event_id,
        limit=limit,
    )
    return [_delivery(row) for row in rows]


async def find_delivery(
    tx: TenantTx, webhook_id: WebhookId, delivery_id: WebhookDeliveryId
) -> tuple[WebhookDelivery, bytes] | None:
    """One, with what is told, sealed."""
    row = await tx.fetch_one(
        QUERIES.find_delivery, webhook_id=webhook_id, created_at=time_of(delivery_id), id=delivery_id
    )
    return None if row is None else (_delivery(row), row["payload_ciphertext"])


async def count_chosen(tx: TenantTx, webhook_id: WebhookId, chosen: ChosenDeliveries, *, limit: int) -> int:
    """How many they are, up to the limit."""
    count: int = await tx.fetch_value(
        QUERIES.count_chosen, **_chosen(chosen), webhook_id=webhook_id, limit=limit
    )
    return count


async def redeliver(
    tx: TenantTx,
    webhook_id: WebhookId,
    chosen: ChosenDeliveries,
    *,
    ordered: bool,
    limit: int,
    now: datetime,
) -> int:
    """Tell them again from the beginning, under the endpoint's lock; how many."""
    count = await tx.execute(
        QUERIES.redeliver, **_chosen(chosen), webhook_id=webhook_id, ordered=ordered, limit=limit, now=now
    )
    if ordered and count:
        await tx.execute(QUERIES.unblock_heads, webhook_id=webhook_id, now=now)
    return count


async def hasten(tx: TenantTx, webhook_id: WebhookId, *, since: datetime, now: datetime) -> int:
    """What waits for its next attempt is due at once; how many."""
    return await tx.execute(QUERIES.hasten, webhook_id=webhook_id, since=since, now=now)


async def change_order(tx: TenantTx, webhook_id: WebhookId, *, ordered: bool, now: datetime) -> None:
    """What waits is put in line, or let go, under the endpoint's lock."""
    query = QUERIES.block_behind if ordered else QUERIES.unblock_all
    await tx.execute(query, webhook_id=webhook_id, now=now)


async def discard_waiting(tx: TenantTx, webhook_id: WebhookId, *, now: datetime) -> int:
    """What has waited is not told; how many that were."""
    return await tx.execute(QUERIES.discard_waiting, webhook_id=webhook_id, now=now)


async def call_soon(tx: TenantTx, webhook_id: WebhookId, *, now: datetime) -> None:
    """There is something to tell now."""
    await tx.execute(QUERIES.call_soon, webhook_id=webhook_id, now=now)
    await tx.execute(QUERIES.wake_callers)


def _places(places: Sequence[Place]) -> dict[str, list[str]]:
    return {"tenant_ids": [place[0] for place in places], "ids": [place[1] for place in places]}


def _chosen(chosen: ChosenDeliveries) -> dict[str, object]:
    return {
        "statuses": list(chosen.statuses),
        "ids": None if chosen.ids is None else list(chosen.ids),
        "event_types": None if chosen.event_types is None else list(chosen.event_types),
        "since": chosen.since,
        "until": chosen.until,
    }
