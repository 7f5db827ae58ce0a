"""The only Python that keeps and finds received events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import msgspec

from tidings.kernel.bounded_scan import AHEAD, CHUNK, MOST_LOOKED_AT, Glance, ScannedPage, scan_back
from tidings.kernel.db import PlatformTx, Row, TenantsTx, TenantTx, WorkerTx
from tidings.kernel.events import Event, attributes_of
from tidings.kernel.ids import EventId, TenantId, time_of
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.notify.received_events.errors import SetTooLargeError
from tidings.notify.received_events.model import SEALED_FOR, EventContent, ReceivedEvent

QUERIES = Queries.beside(__file__)
_PURPOSE = "event"
#: Greater than every id.
_NEWEST: Final = "evt_~"
#: What several events say together at most where they are loaded at once; read, it takes five times as much memory.
MOST_LOADED_BYTES: Final = 16 * 1024 * 1024
_decode_content = msgspec.json.Decoder(EventContent).decode
_encode = msgspec.json.Encoder().encode
_event_of = RowMapper(
    ReceivedEvent, [QUERIES.load_received_events, QUERIES.find_received_events], omit="content"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReceivedEvent:
    """An event that is about to be kept, with the event that announces it."""

    event: ReceivedEvent
    identity_hash: bytes
    announcement: Event

    @property
    def tenant_id(self) -> TenantId:
        """Whose it is."""
        return self.event.tenant_id


async def insert_received_events(
    tx: TenantsTx,
    fresh: Sequence[NewReceivedEvent],
    keys: Mapping[TenantId, DataKey],
    *,
    expires_at: datetime,
) -> set[EventId]:
    """Keep those that were never received before, and announce them; their ids."""
    rows = await tx.fetch(
        QUERIES.insert_received_events,
        **columns(fresh, "event.tenant_id event.id identity_hash"),
        **columns(
            fresh,
            "event.received_at event.source event.source_event_id event.type event.subject event.happened_at",
            are_tests="event.is_test",
            ordering_keys="announcement.ordering_key",
            event_subjects="announcement.subject",
            event_payloads="announcement.data",
        ),
        contents=[keys[one.tenant_id].seal(_encode(one.event.content), _PURPOSE) for one in fresh],
        event_envelopes=[attributes_of(one.announcement) for one in fresh],
        expires_at=expires_at,
    )
    return {row["event_id"] for row in rows}


async def enter_ledger(
    tx: PlatformTx, given: Sequence[tuple[TenantId, bytes, EventId]], *, expires_at: datetime
) -> set[EventId]:
    """Note that these came; the ids of those that never did before."""
    rows = await tx.fetch(QUERIES.enter_ledger, **_identities(given), expires_at=expires_at)
    return {row["event_id"] for row in rows}


async def find_in_ledger(
    tx: TenantsTx | PlatformTx, wanted: Sequence[tuple[TenantId, bytes]]
) -> dict[int, EventId]:
    """Under which ids these events came the first time, by their places."""
    rows = await tx.fetch(
        QUERIES.find_in_ledger,
        places=list(range(len(wanted))),
        tenant_ids=[tenant_id for tenant_id, _ in wanted],
        identity_hashes=[identity for _, identity in wanted],
    )
    return {row["place"]: row["event_id"] for row in rows}


async def load(
    tx: TenantTx | TenantsTx, keyring: Keyring, wanted: Sequence[tuple[TenantId, EventId]]
) -> list[ReceivedEvent]:
    """These events, with what they say; those that are no longer kept are left out.

    A `SetTooLargeError` where several of them say too much together.
    """
    rows = await tx.fetch(
        QUERIES.load_received_events,
        tenant_ids=[tenant_id for tenant_id, _ in wanted],
        ids=[id_ for _, id_ in wanted],
        received_ats=[time_of(id_) for _, id_ in wanted],
        most_bytes=MOST_LOADED_BYTES,
    )
    if any(row["content_ciphertext"] is None for row in rows):
        raise SetTooLargeError
    keys = await event_keys(tx, keyring, {TenantId(row["tenant_id"]) for row in rows}, create=False)
    return [_opened(row, keys) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedCriteria:
    """Which received events are asked for; None: any."""

    type: str | None = None
    source: str | None = None
    subject: str | None = None
    tests_only: bool = False


async def list_received_events(
    tx: TenantTx,
    wanted: ReceivedCriteria,
    *,
    before: EventId | None,
    now: datetime,
    limit: int,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> ScannedPage[EventId, ReceivedEvent]:
    """The newest first, without what they say, by a bounded scan."""
    return await scan_back(
        partial(_look_back, tx, wanted),
        partial(_find, tx),
        start=(time_of(before), before) if before else (now + AHEAD, _NEWEST),
        limit=limit,
        filtered=wanted != ReceivedCriteria(),
        chunk=chunk,
        most=most,
    )


async def _look_back(
    tx: TenantTx, wanted: ReceivedCriteria, *, before_at: datetime, before_id: str, most: int
) -> Glance[EventId]:
    return Glance.of(
        await tx.fetch_one(QUERIES.look_back, wanted, before_at=before_at, before_id=before_id, most=most)
    )


async def _find(tx: TenantTx, ids: Sequence[EventId]) -> dict[EventId, ReceivedEvent]:
    if not ids:
        return {}
    rows = await tx.fetch(
        QUERIES.find_received_events, ids=list(ids), received_ats=[time_of(id_) for id_ in ids]
    )
    return {EventId(row["id"]): _event_of(row, content=EventContent()) for row in rows}


async def event_keys(
    tx: TenantTx | TenantsTx, keyring: Keyring, tenant_ids: set[TenantId], *, create: bool = True
) -> dict[TenantId, DataKey]:
    """The keys that seal what these tenants' events say."""
    subjects = [(tenant_id, SEALED_FOR) for tenant_id in tenant_ids]
    found = await keyring.data_keys_of(tx, subjects, create=create) if subjects else {}
    return {tenant_id: key for (tenant_id, _), key in found.items()}


async def sweep_ledger(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many entries that have expired; how many went."""
    return await tx.execute(QUERIES.sweep_ledger, now=now, limit=limit)


def _identities(given: Sequence[tuple[TenantId, bytes, EventId]]) -> dict[str, list[object]]:
    return {
        "tenant_ids": [tenant_id for tenant_id, _, _ in given],
        "identity_hashes": [identity for _, identity, _ in given],
        "ids": [id_ for _, _, id_ in given],
    }


def _opened(row: Row, keys: Mapping[TenantId, DataKey]) -> ReceivedEvent:
    key = keys[TenantId(row["tenant_id"])]
    return _event_of(row, content=_decode_content(key.unseal(row["content_ciphertext"], _PURPOSE)))
