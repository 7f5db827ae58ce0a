"""The only Python here that runs SQL on announcements."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tidings.backoffice.announcements.model import ANNOUNCEMENT, Announcement, NewAnnouncement
from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, tuple_columns
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def insert_announcements(
    tx: TenantTx | PlatformTx, announcements: Sequence[NewAnnouncement], *, now: datetime
) -> None:
    """Tell them when the transaction commits."""
    rows = [
        (ANNOUNCEMENT.new(now), one.channel, one.property_id, one.operator_id, one.device_id, one.encoded())
        for one in announcements
    ]
    columns = tuple_columns(rows, "ids channels property_ids operator_ids device_ids facts")
    await tx.execute(QUERIES.insert_announcements, now=now, **columns)


async def find_heads(tx: TenantsTx, tenant_ids: Sequence[TenantId]) -> dict[TenantId | None, int]:
    """The numbers of the last announcements; 0 where there never was one."""
    rows = await tx.fetch(QUERIES.find_heads, tenant_ids=list(tenant_ids))
    return {**dict.fromkeys(tenant_ids, 0), **{row["tenant_id"]: row["latest"] for row in rows}}


async def find_platform_head(tx: PlatformTx) -> int:
    """The same for the platform."""
    return int(await tx.fetch_value(QUERIES.find_platform_head) or 0)


async def find_after(tx: TenantsTx, wanted: Mapping[TenantId, int], *, most: int) -> list[Announcement]:
    """What came after a number in each tenant, in order."""
    rows = await tx.fetch(
        QUERIES.find_after, most=most, **tuple_columns(list(wanted.items()), "tenant_ids numbers")
    )
    return [_from_row(row) for row in rows]


async def find_platform_after(tx: PlatformTx, number: int, *, most: int) -> list[Announcement]:
    """The same for the platform."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_platform_after, number=number, most=most)]


async def sweep_announcements(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove those that were told before that."""
    return await tx.execute(QUERIES.sweep_announcements, before=before, limit=limit)


_from_row = RowMapper(Announcement, [QUERIES.find_after, QUERIES.find_platform_after])
