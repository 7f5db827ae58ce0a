"""Counts messages that came back softly, by address; the only Python that runs SQL on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.ids import NotificationId, RecipientAddressId
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.mapping import columns, tuple_columns
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)

#: So many messages within this time suppress an address. A full mailbox or a server that is down for a day is no reason to
#: give an address up; one that bounces again and again harms the reputation of a sender that goes on writing to it.
ENOUGH: Final = 3
WITHIN: Final = timedelta(days=30)
#: For so long after the last of them: what is soft may pass.
LASTS: Final = timedelta(days=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftBounce:
    """One message that came back softly."""

    channel: str
    #: Under the tenant's pepper.
    address_hash: str
    address_id: RecipientAddressId
    notification_id: NotificationId
    at: datetime

    @property
    def place(self) -> tuple[str, str]:
        """What is counted by."""
        return self.channel, self.address_hash


async def count_bounces(
    tx: TenantTx, bounces: Sequence[SoftBounce]
) -> dict[tuple[str, str], tuple[datetime, NotificationId]]:
    """Keep them; of the addresses that have enough now, when the last was that makes it so, and of which message."""
    if not bounces:
        return {}
    places = sorted({bounce.place for bounce in bounces})
    addresses = tuple_columns(places, "channels hashes")
    await tx.fetch(QUERIES.lock_addresses, **addresses)
    earliest: dict[tuple[RecipientAddressId, NotificationId], SoftBounce] = {}
    for bounce in sorted(bounces, key=lambda bounce: (bounce.address_id, bounce.notification_id, bounce.at)):
        earliest.setdefault((bounce.address_id, bounce.notification_id), bounce)
    ordered = list(earliest.values())
    await tx.execute(
        QUERIES.add_bounces,
        **columns(
            ordered,
            "channel notification_id",
            hashes="address_hash",
            target_ids="address_id",
            bounced_ats="at",
        ),
    )
    rows = await tx.fetch(QUERIES.find_full, others=ENOUGH - 1, within=WITHIN, **addresses)
    return {
        places[row["place"] - 1]: (row["bounced_at"], NotificationId(row["notification_id"])) for row in rows
    }


async def sweep_bounces(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many that count no more."""
    return await tx.execute(QUERIES.sweep_bounces, before=now - WITHIN, limit=limit)
