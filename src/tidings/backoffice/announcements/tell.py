"""Tells open streams of a change, in the transaction of the change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.backoffice.announcements import store
from tidings.backoffice.announcements.model import Channel, Facts, NewAnnouncement
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.ids import TenantId

#: How long a device may be away and miss nothing.
WINDOW: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceAnnouncements:
    """Each is told to every process when the transaction commits, and to nobody where it does not."""

    clock: Clock

    async def tell(
        self,
        tx: TenantTx | PlatformTx,
        channel: Channel,
        *,
        tenant_id: TenantId | None,
        facts: Facts,
        property_id: str | None = None,
        operator_id: str | None = None,
        device_id: str | None = None,
    ) -> None:
        """Tell who is named: those with a right to the property, the operator, the device; with nobody named the whole tenant.

        Facts are ids and counts, never a text about people: whoever hears them asks the API for the rest.
        """
        if tenant_id != tx.tenant_id:
            raise ValueError("an announcement is of the tenant of its transaction")
        told = NewAnnouncement(
            channel=channel,
            property_id=property_id,
            operator_id=operator_id,
            device_id=device_id,
            facts=facts,
        )
        await self.tell_all(tx, [told])

    async def tell_all(self, tx: TenantTx | PlatformTx, announcements: Sequence[NewAnnouncement]) -> None:
        """Tell several, in this order."""
        if announcements:
            await store.insert_announcements(tx, announcements, now=self.clock.now())
