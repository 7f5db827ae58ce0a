"""The only Python here that runs SQL on suppressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tidings.contracts.ids import NotificationId
from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper, columns, sparse_columns, tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import AddressRefusalId, SuppressionId
from tidings.notify.suppressions.model import (
    Suppression,
    SuppressionFilter,
    SuppressionLookup,
    SuppressionMatch,
    SuppressionQuestion,
    SuppressionReason,
)

QUERIES = Queries.beside(__file__)

#: Columns that are not called as what they hold.
_COLUMNS: Final = {"ciphertexts": "address_ciphertext", "reasons": "reason.value", "notes": "notes"}

#: Which suppression is named where several hold an address back: the tenant's own first.
_OWNER = "owner"
_ORDER = ("tenant", "platform", "domain", _OWNER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSuppression:
    """An address, or a whole mail domain, that no tenant may write to."""

    id: SuppressionId
    channel: str
    #: Under the platform's pepper; this or the domain.
    address_hash: str | None
    mail_domain: str | None
    reason: SuppressionReason
    notes: str | None = None
    expires_at: datetime | None = None


async def notification_exists(tx: TenantTx, notification_id: NotificationId) -> bool:
    """Whether a notification is the tenant's own, and still kept."""
    return bool(
        await tx.fetch_value(
            QUERIES.notification_exists, created_at=time_of(notification_id), id=notification_id
        )
    )


async def add_suppressions(
    tx: TenantTx, fresh: Sequence[Suppression], *, now: datetime
) -> dict[tuple[str, str], Suppression]:
    """The suppressions that hold now, by channel and hash: these, or those that were there before."""
    addresses = columns(fresh, "channel", hashes="address_hash")
    await tx.execute(QUERIES.retire_expired, **addresses, now=now)
    rows = await tx.fetch(
        QUERIES.add_suppressions,
        **addresses,
        **columns(fresh, "id expires_at created_at", **_COLUMNS, sources="source_notification_id"),
        **sparse_columns(fresh, "occurred_at"),
    )
    return {(s.channel, s.address_hash): s for s in map(from_row, rows)}


async def find_places(
    tx: TenantTx, places: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], datetime | None]:
    """Of those channels and hashes that have a suppression which was not released: when it runs out."""
    rows = await tx.fetch(QUERIES.find_places, **tuple_columns(places, "channels hashes"))
    return {places[row["n"] - 1]: row["expires_at"] for row in rows}


async def import_suppressions(
    tx: TenantTx, fresh: Sequence[Suppression], *, retire: bool, now: datetime
) -> tuple[list[Suppression], int]:
    """Those of them that are new, and how many others last longer now; `retire`: some may meet one that ran out and has to make room."""
    addresses = columns(fresh, "channel", hashes="address_hash")
    if retire:
        await tx.execute(QUERIES.retire_expired, **addresses, now=now)
    rows = await tx.fetch(
        QUERIES.import_suppressions,
        **addresses,
        **columns(fresh, "id", **_COLUMNS),
        **sparse_columns(fresh, "expires_at occurred_at"),
        created_at=time_of(fresh[0].id),
    )
    made = {row["id"] for row in rows}
    new = [s for s in fresh if s.id in made]
    return new, len(rows) - len(new)


async def lock_suppressions(
    tx: TenantTx, *, ids: Sequence[SuppressionId]
) -> dict[SuppressionId, Suppression]:
    """Those that exist, locked until the end of the transaction."""
    rows = await tx.fetch(QUERIES.lock_suppressions, ids=list(ids))
    return {s.id: s for s in map(from_row, rows)}


async def release_suppressions(
    tx: TenantTx, *, ids: Sequence[SuppressionId], released_by: str, now: datetime
) -> int:
    """They hold nothing back any more; how many did."""
    return await tx.execute(QUERIES.release_suppressions, ids=list(ids), released_by=released_by, now=now)


async def list_suppressions(
    tx: TenantTx,
    wanted: SuppressionFilter,
    *,
    after_id: str | None,
    now: datetime,
    limit: int,
    oldest_first: bool = False,
) -> list[Suppression]:
    """The newest first, from a cursor on; or the oldest first, as an export reads them."""
    rows = await tx.fetch(
        QUERIES.export_suppressions if oldest_first else QUERIES.list_suppressions,
        wanted,
        after_id=after_id,
        now=now,
        limit=limit,
    )
    return [from_row(row) for row in rows]


async def find_by_target(
    tx: TenantTx, *, channels: Sequence[str], hashes: Sequence[str], limit: int
) -> list[Suppression]:
    """All about these targets: in force first, then the newest."""
    rows = await tx.fetch(QUERIES.find_by_target, channels=list(channels), hashes=list(hashes), limit=limit)
    return [from_row(row) for row in rows]


async def find_suppression(tx: TenantTx, suppression_id: SuppressionId) -> Suppression | None:
    """As it stands."""
    row = await tx.fetch_one(QUERIES.find_suppression, id=suppression_id)
    return None if row is None else from_row(row)


async def find_suppressions(tx: TenantTx, ids: Sequence[SuppressionId]) -> dict[SuppressionId, Suppression]:
    """Those that exist, in force or not."""
    if not ids:
        return {}
    rows = await tx.fetch(QUERIES.find_suppressions, ids=list(ids))
    return {s.id: s for s in map(from_row, rows)}


async def lock_in_force(
    tx: TenantTx, places: Sequence[tuple[str, str]], *, now: datetime
) -> dict[tuple[str, str], Suppression]:
    """What holds these addresses back, by channel and hash; locked until the end of the transaction."""
    rows = await tx.fetch(QUERIES.lock_in_force, **tuple_columns(places, "channels hashes"), now=now)
    return {(s.channel, s.address_hash): s for s in map(from_row, rows)}


async def find_held(
    tx: TenantTx | TenantsTx, questions: Sequence[SuppressionQuestion], *, now: datetime
) -> SuppressionLookup:
    """Which of these addresses must not be written to, and about what, by their place in the question."""
    rows = await tx.fetch(
        QUERIES.find_held,
        now=now,
        places=list(range(len(questions))),
        **columns(
            questions, "tenant_id channel mail_domain", hashes="address_hash", platform_hashes="platform_hash"
        ),
        **sparse_columns(questions, domain_hashes="domain_hash"),
    )
    held: dict[int, SuppressionMatch] = {}
    refused: dict[int, dict[str, AddressRefusalId]] = {}
    for row in sorted(rows, key=lambda row: _ORDER.index(row["held_by"])):
        if row["held_by"] == _OWNER:
            refused.setdefault(row["place"], {})[row["reason"]] = AddressRefusalId(row["id"])
            continue
        found = SuppressionMatch(
            by=row["held_by"],
            suppression_id=SuppressionId(row["id"]),
            reason=SuppressionReason(row["reason"]),
        )
        held.setdefault(row["place"], found)
    return SuppressionLookup(held=held, refused=refused)


async def add_platform_suppressions(
    tx: PlatformTx, fresh: Sequence[PlatformSuppression], *, created_by: str
) -> list[SuppressionId]:
    """The ids of those that are new."""
    rows = await tx.fetch(
        QUERIES.add_platform_suppressions,
        created_by=created_by,
        **columns(
            fresh,
            "id channel mail_domain expires_at",
            hashes="address_hash",
            reasons="reason.value",
            notes="notes",
        ),
        created_ats=[time_of(s.id) for s in fresh],
    )
    return [SuppressionId(row["id"]) for row in rows]


#: A suppression as the database gives it.
from_row = RowMapper(
    Suppression,
    [
        QUERIES.add_suppressions,
        QUERIES.lock_suppressions,
        QUERIES.list_suppressions,
        QUERIES.find_by_target,
        QUERIES.find_suppression,
        QUERIES.find_suppressions,
        QUERIES.lock_in_force,
        QUERIES.export_suppressions,
    ],
)
