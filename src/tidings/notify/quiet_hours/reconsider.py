"""Quiet hours or a time zone changed: what waits for their end, or for an hour of the day, is decided anew at once.

It goes, or waits for the time that holds by now.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import UNSET

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import TenantUpdated
from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)

#: Hears of tenants whose own quiet hours, or whose time zone, may have changed.
GROUP: Final = "notify.quiet-hours"
SUBJECTS: Final = ("tenant.updated.v1",)


async def reconsider_quiet(
    tx: TenantTx, recipient_ids: Sequence[RecipientId] | None, *, now: datetime
) -> int:
    """Decide anew what waits for the quiet hours of these recipients, or of all; how many notifications that are.

    What is planned for an hour of these recipients' days is reckoned anew too, where they are by now.
    """
    if recipient_ids is not None:
        await tx.execute(QUERIES.reconsider_local_times, recipient_ids=list(recipient_ids), now=now)
    return await tx.execute(
        QUERIES.reconsider_quiet,
        recipient_ids=None if recipient_ids is None else list(recipient_ids),
        now=now,
    )


def handler(clock: Clock) -> TenantHandler:
    """Looks at a tenant's notifications again when its policy or its time zone changed."""

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        changes = [event.payload_as(TenantUpdated) for event in events]
        if any(
            change.notification_policy is not UNSET or change.default_timezone is not UNSET
            for change in changes
        ):
            await reconsider_quiet(tx, None, now=clock.now())

    return handle
