"""The only Python here that runs SQL on callbacks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from tidings.contracts.callback_forms import Canonical, ReadEvent
from tidings.kernel.db import PlatformTx, Row, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.sql import Queries, sparse
from tidings.router.callbacks.raw_bodies import BodyLocation
from tidings.router.ids import InboundWebhookEventId, InboundWebhookId

QUERIES = Queries.beside(__file__)

#: What becomes of a request.
RequestStatus: TypeAlias = Literal["received", "applied", "rejected", "dlq"]
#: Where an event stands that nobody owns yet.
OpenStatus: TypeAlias = Literal["queued", "late_correlate", "dlq"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOwner:
    """Whose account it is; None: the platform's."""

    tenant_id: TenantId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAccount:
    """What is known of the account behind a hook."""

    id: str
    tenant_id: TenantId | None
    vendor: str
    secret_ref: str = field(repr=False)
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """A request to be kept."""

    id: InboundWebhookId
    account_id: str
    signature_valid: bool
    body: BodyLocation
    status: RequestStatus
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to be kept, if it is new."""

    id: InboundWebhookEventId
    request_id: InboundWebhookId
    account_id: str
    read: ReadEvent
    payload: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelatedAttempt:
    """The attempt that an event is about."""

    tenant_id: TenantId
    attempt_id: str
    execution_id: str
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedEvent:
    """An event in our hands."""

    id: InboundWebhookEventId
    received_at: datetime
    request_id: InboundWebhookId
    vendor: str
    account_id: str
    status: Canonical
    #: How often its attempt was looked for before.
    looks: int
    #: Never looked at before.
    fresh: bool
    found: CorrelatedAttempt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetails:
    """What an event said beside its status."""

    occurred_at: datetime | None
    payload: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UncorrelatedEvent:
    """An event whose attempt was not found."""

    event: ClaimedEvent
    #: None: it is dead.
    next_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEvent:
    """An event that nobody owns yet, as operators see it."""

    id: InboundWebhookEventId
    received_at: datetime
    request_id: InboundWebhookId
    vendor: str
    account_id: str
    vendor_message_id: str
    means: Canonical
    occurred_at: datetime | None
    status: OpenStatus
    looks: int
    next_look_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRequest:
    """A request that nobody owns, as operators see it."""

    id: InboundWebhookId
    received_at: datetime
    vendor: str
    account_id: str
    signature_valid: bool
    status: RequestStatus
    reason: str | None
    body: BodyLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackFilter:
    """Which of them are wanted."""

    vendor: str | None = None
    account_id: str | None = None
    since: datetime | None = None


async def find_owner(tx: WorkerTx, *, account_id: str) -> AccountOwner | None:
    """Whose account it is, if there is such a one in use."""
    row = await tx.fetch_one(QUERIES.find_owner, account_id=account_id)
    return None if row is None else AccountOwner(tenant_id=row["tenant_id"])


async def find_known(tx: WorkerTx, *, account_ids: Sequence[str]) -> list[str]:
    """Those of them that are accounts."""
    return [row["id"] for row in await tx.fetch(QUERIES.find_known, account_ids=list(account_ids))]


async def load_account(tx: TenantTx | PlatformTx, *, account_id: str) -> HookAccount | None:
    """The account, in a transaction of its owner."""
    row = await tx.fetch_one(QUERIES.load_account, account_id=account_id)
    if row is None:
        return None
    return HookAccount(
        id=row["id"],
        tenant_id=row["tenant_id"],
        vendor=row["provider"],
        secret_ref=row["secret_ref"],
        version=row["version"],
    )


async def insert_callbacks(
    tx: PlatformTx, *, vendor: str, requests: Sequence[NewRequest], events: Sequence[NewEvent], now: datetime
) -> dict[InboundWebhookId, int]:
    """Keep them; how many events of each request were new."""
    rows = await tx.fetch(
        QUERIES.insert_callbacks,
        vendor=vendor,
        now=now,
        request_ids=[r.id for r in requests],
        request_accounts=[r.account_id for r in requests],
        signature_valids=[r.signature_valid for r in requests],
        refs=[r.body.ref for r in requests],
        body_keys=[r.body.key for r in requests],
        request_statuses=[r.status for r in requests],
        reasons=sparse([r.reason for r in requests]),
        event_ids=[e.id for e in events],
        event_requests=[e.request_id for e in events],
        accounts=[e.account_id for e in events],
        message_ids=[e.read.vendor_message_id for e in events],
        words=[e.read.word for e in events],
        discriminators=[e.read.discriminator for e in events],
        statuses=[e.read.status for e in events],
        occurred_ats=sparse([e.read.occurred_at for e in events]),
        payloads=sparse([e.payload for e in events]),
    )
    return {row["request_id"]: row["events"] for row in rows}


async def announce(tx: PlatformTx) -> None:
    """Tell other processes, when this commits."""
    await tx.fetch_value(QUERIES.announce)


async def claim_events(
    tx: WorkerTx, *, now: datetime, since: datetime, oldest_attempt: datetime, limit: int
) -> list[ClaimedEvent]:
    """Events that are to be looked at, locked until `tx` ends, with the attempts that they are about."""
    rows = await tx.fetch(
        QUERIES.claim_events, now=now, since=since, oldest_attempt=oldest_attempt, limit=limit
    )
    return [_claimed(row) for row in rows]


async def next_late(tx: WorkerTx, *, since: datetime) -> datetime | None:
    """When one that waits, and came after `since`, is to be looked at next."""
    at: datetime | None = await tx.fetch_value(QUERIES.next_late, since=since)
    return at


async def load_details(tx: PlatformTx, events: Sequence[ClaimedEvent]) -> dict[str, EventDetails]:
    """What they said beside their status, by their ids."""
    rows = await tx.fetch(
        QUERIES.load_details, ids=[e.id for e in events], received_ats=[e.received_at for e in events]
    )
    return {
        row["id"]: EventDetails(occurred_at=row["occurred_at"], payload=row["payload_ciphertext"])
        for row in rows
    }


async def mark_applied(
    tx: WorkerTx, events: Sequence[tuple[ClaimedEvent, CorrelatedAttempt]], *, now: datetime
) -> int:
    """They stand with their attempts."""
    return await tx.execute(
        QUERIES.mark_applied,
        now=now,
        ids=[e.id for e, _ in events],
        received_ats=[e.received_at for e, _ in events],
        tenant_ids=[found.tenant_id for _, found in events],
        attempt_ids=[found.attempt_id for _, found in events],
        request_ids=[e.request_id for e, _ in events],
        execution_ids=[found.execution_id for _, found in events],
    )


async def mark_waiting(tx: WorkerTx, events: Sequence[UncorrelatedEvent], *, now: datetime) -> int:
    """They are looked at again, or never."""
    return await tx.execute(
        QUERIES.mark_waiting,
        now=now,
        ids=[w.event.id for w in events],
        received_ats=[w.event.received_at for w in events],
        statuses=["dlq" if w.next_at is None else "late_correlate" for w in events],
        lookss=[w.event.looks + 1 for w in events],
        next_ats=sparse([w.next_at for w in events]),
    )


async def settle_requests(
    tx: WorkerTx, requests: Sequence[tuple[InboundWebhookId, datetime]], *, now: datetime
) -> int:
    """Close those that have no open event left; how many that were."""
    return await tx.execute(
        QUERIES.settle_requests,
        now=now,
        ids=[request_id for request_id, _ in requests],
        received_ats=[received_at for _, received_at in requests],
    )


async def find_unsettled(
    tx: WorkerTx, *, after: datetime, before: datetime, limit: int
) -> list[tuple[InboundWebhookId, datetime]]:
    """Requests that are open without an open event, received between the two."""
    rows = await tx.fetch(QUERIES.find_unsettled, after=after, before=before, limit=limit)
    return [(row["id"], row["received_at"]) for row in rows]


async def give_up_old(
    tx: WorkerTx, *, until: datetime, now: datetime, limit: int
) -> list[tuple[InboundWebhookId, datetime]]:
    """Give up open ones received until then; their requests, one for each event."""
    rows = await tx.fetch(QUERIES.give_up_old, until=until, now=now, limit=limit)
    return [(row["webhook_inbound_id"], row["received_at"]) for row in rows]


async def sweep_dedup(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Forget what can't be told again; how many went."""
    return await tx.execute(QUERIES.sweep_dedup, now=now, limit=limit)


async def find_vendors(tx: WorkerTx) -> dict[str, datetime]:
    """Everybody who may have called, and since when."""
    return {row["provider"]: time_of(row["first_id"]) for row in await tx.fetch(QUERIES.find_vendors)}


async def list_events(
    tx: PlatformTx,
    *,
    status: OpenStatus,
    chosen: CallbackFilter,
    after: tuple[datetime, str] | None,
    limit: int,
) -> list[OpenEvent]:
    """Events that nobody owns, the newest first."""
    rows = await tx.fetch(
        QUERIES.list_events,
        chosen,
        status=status,
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=limit,
    )
    return [_open_event(row) for row in rows]


async def show_event(
    tx: PlatformTx, *, event_id: InboundWebhookEventId, received_at: datetime
) -> tuple[OpenEvent, BodyLocation | None] | None:
    """One of them, and where the raw body of its request is."""
    row = await tx.fetch_one(QUERIES.show_event, id=event_id, received_at=received_at)
    if row is None:
        return None
    return _open_event(row), None if row["raw_body_ref"] is None else _place(row)


async def list_requests(
    tx: PlatformTx, *, chosen: CallbackFilter, after: tuple[datetime, str] | None, limit: int
) -> list[KeptRequest]:
    """Requests that were refused or not read, the newest first."""
    rows = await tx.fetch(
        QUERIES.list_requests,
        chosen,
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=limit,
    )
    return [_kept_request(row) for row in rows]


async def show_request(
    tx: PlatformTx, *, request_id: InboundWebhookId, received_at: datetime
) -> KeptRequest | None:
    """One request."""
    row = await tx.fetch_one(QUERIES.show_request, id=request_id, received_at=received_at)
    return None if row is None else _kept_request(row)


def _claimed(row: Row) -> ClaimedEvent:
    found = None
    if row["attempt_id"] is not None:
        found = CorrelatedAttempt(
            tenant_id=row["tenant_id"],
            attempt_id=row["attempt_id"],
            execution_id=row["execution_id"],
            started_at=row["started_at"],
        )
    return ClaimedEvent(
        id=row["id"],
        received_at=row["received_at"],
        request_id=row["webhook_inbound_id"],
        vendor=row["vendor"],
        account_id=row["adapter"],
        status=row["type"],
        looks=row["correlate_attempts"],
        fresh=row["fresh"],
        found=found,
    )


def _open_event(row: Row) -> OpenEvent:
    return OpenEvent(
        id=row["id"],
        received_at=row["received_at"],
        request_id=row["webhook_inbound_id"],
        vendor=row["vendor"],
        account_id=row["adapter"],
        vendor_message_id=row["vendor_message_id"],
        means=row["type"],
        occurred_at=row["occurred_at"],
        status=row["status"],
        looks=row["correlate_attempts"],
        next_look_at=row["next_correlate_at"],
        updated_at=row["updated_at"],
    )


def _place(row: Row) -> BodyLocation:
    return BodyLocation(ref=row["raw_body_ref"], key=row["body_key"])


def _kept_request(row: Row) -> KeptRequest:
    return KeptRequest(
        id=row["id"],
        received_at=row["received_at"],
        vendor=row["vendor"],
        account_id=row["adapter"],
        signature_valid=row["signature_valid"],
        status=row["status"],
        reason=row["reason"],
        body=_place(row),
    )
