"""The only Python here that runs SQL on callbacks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from tidings.contracts.callback_forms import Canonical, ReadEvent
from tidings.kernel.db import PlatformTx, Row, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, sparse_columns
from tidings.kernel.sql import Queries
from tidings.router.callbacks.raw_bodies import BodyLocation
from tidings.router.dead_letter_page import DeadLetterPage
from tidings.router.ids import InboundWebhookEventId, InboundWebhookId

QUERIES = Queries.beside(__file__)

#: What becomes of a request.
RequestStatus: TypeAlias = Literal["received", "applied", "rejected", "dlq"]
#: Where an event without a tenant stands.
OpenStatus: TypeAlias = Literal["queued", "late_correlate", "dlq"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOwner:
    """The owner of an account; None: the platform."""

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
    """An event without its attempt."""

    event: ClaimedEvent
    #: None: it is dead.
    next_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEvent:
    """An event without a tenant, as operators see it."""

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
    """A request without a tenant, as operators see it."""

    id: InboundWebhookId
    received_at: datetime
    vendor: str
    account_id: str
    signature_valid: bool
    status: RequestStatus
    reason: str | None
    body: BodyLocation


async def find_owner(tx: WorkerTx, *, account_id: str) -> AccountOwner | None:
    """The owner of the account, if there is such a one in use."""
    row = await tx.fetch_one(QUERIES.find_owner, account_id=account_id)
    return None if row is None else AccountOwner(tenant_id=row["tenant_id"])


async def find_known(tx: WorkerTx, *, account_ids: Sequence[str]) -> list[str]:
    """Those of them that are accounts."""
    return [row["id"] for row in await tx.fetch(QUERIES.find_known, account_ids=list(account_ids))]


async def load_account(tx: TenantTx | PlatformTx, *, account_id: str) -> HookAccount | None:
    """The account, in a transaction of its owner."""
    row = await tx.fetch_one(QUERIES.load_account, account_id=account_id)
    return None if row is None else _hook_account(row)


async def insert_callbacks(
    tx: PlatformTx, *, vendor: str, requests: Sequence[NewRequest], events: Sequence[NewEvent], now: datetime
) -> dict[InboundWebhookId, int]:
    """Keep them; how many events of each request were new."""
    of_requests = columns(
        requests, "id account_id signature_valid body.ref body.key status"
    ) | sparse_columns(requests, "reason")
    rows = await tx.fetch(
        QUERIES.insert_callbacks,
        vendor=vendor,
        now=now,
        **columns(
            events, "id request_id account_id read.vendor_message_id read.word read.discriminator read.status"
        ),
        **sparse_columns(events, "read.occurred_at payload"),
        **{f"new_{name}": column for name, column in of_requests.items()},
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
    rows = await tx.fetch(QUERIES.load_details, **columns(events, "id received_at"))
    return {row["id"]: _details(row) for row in rows}


async def mark_applied(
    tx: WorkerTx, events: Sequence[tuple[ClaimedEvent, CorrelatedAttempt]], *, now: datetime
) -> int:
    """They stand with their attempts."""
    return await tx.execute(
        QUERIES.mark_applied,
        now=now,
        **columns([event for event, _ in events], "id received_at request_id"),
        **columns([attempt for _, attempt in events], "tenant_id attempt_id execution_id"),
    )


async def mark_waiting(tx: WorkerTx, events: Sequence[UncorrelatedEvent], *, now: datetime) -> int:
    """They are looked at again, or never."""
    return await tx.execute(
        QUERIES.mark_waiting,
        now=now,
        **columns(events, "event.id event.received_at"),
        **sparse_columns(events, "next_at"),
        statuses=["dlq" if w.next_at is None else "late_correlate" for w in events],
        looks=[w.event.looks + 1 for w in events],
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
    """The vendors that may have called, and since when."""
    return {row["provider"]: time_of(row["first_id"]) for row in await tx.fetch(QUERIES.find_vendors)}


async def list_events(tx: PlatformTx, page: DeadLetterPage, *, status: OpenStatus) -> list[OpenEvent]:
    """Events that no attempt owns, the newest first."""
    return [_open_event(row) for row in await tx.fetch(QUERIES.list_events, page, status=status)]


async def show_event(
    tx: PlatformTx, *, event_id: InboundWebhookEventId, received_at: datetime
) -> tuple[OpenEvent, BodyLocation | None] | None:
    """One of them, and where the raw body of its request is."""
    row = await tx.fetch_one(QUERIES.show_event, id=event_id, received_at=received_at)
    if row is None:
        return None
    return _open_event(row), None if row["raw_body_ref"] is None else _location(row)


async def list_requests(tx: PlatformTx, page: DeadLetterPage) -> list[KeptRequest]:
    """Requests that were refused or not read, the newest first."""
    return [_kept_request(row) for row in await tx.fetch(QUERIES.list_requests, page)]


async def show_request(
    tx: PlatformTx, *, request_id: InboundWebhookId, received_at: datetime
) -> KeptRequest | None:
    """One request."""
    row = await tx.fetch_one(QUERIES.show_request, id=request_id, received_at=received_at)
    return None if row is None else _kept_request(row)


def _claimed(row: Row) -> ClaimedEvent:
    return _claimed_event(row, found=None if row["attempt_id"] is None else _correlated(row))


def _kept_request(row: Row) -> KeptRequest:
    return _request(row, body=_location(row))


_hook_account = RowMapper(HookAccount, [QUERIES.load_account], columns={"vendor": "provider"})
_details = RowMapper(EventDetails, [QUERIES.load_details], columns={"payload": "payload_ciphertext"})
_correlated = RowMapper(CorrelatedAttempt, [QUERIES.claim_events])
_claimed_event = RowMapper(
    ClaimedEvent,
    [QUERIES.claim_events],
    columns={
        "request_id": "webhook_inbound_id",
        "account_id": "adapter",
        "status": "type",
        "looks": "correlate_attempts",
    },
    omit="found",
)
_open_event = RowMapper(
    OpenEvent,
    [QUERIES.list_events, QUERIES.show_event],
    columns={
        "request_id": "webhook_inbound_id",
        "account_id": "adapter",
        "means": "type",
        "looks": "correlate_attempts",
        "next_look_at": "next_correlate_at",
    },
)
_location = RowMapper(
    BodyLocation,
    [QUERIES.show_event, QUERIES.list_requests, QUERIES.show_request],
    columns={"ref": "raw_body_ref", "key": "body_key"},
)
_request = RowMapper(
    KeptRequest,
    [QUERIES.list_requests, QUERIES.show_request],
    columns={"account_id": "adapter"},
    omit="body",
)
