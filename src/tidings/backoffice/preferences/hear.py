"""The consumer group that hears that the service `operators` has other preferences: it is asked before they are shown again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.announcements.model import NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.preferences import store
from tidings.backoffice.view_cache.changes import changes_in, is_change
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event

GROUP: Final = "backoffice.preferences"
SUBJECTS: Final = (EVENT_RECEIVED_SUBJECT,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PreferencesHearer:
    """Devices of those operators are told with the note that the event was consumed."""

    announcements: DeviceAnnouncements

    async def select(self, events: Sequence[Event]) -> Collection[Event]:
        """Those that tell of a change at a service."""
        return [event for event in events if is_change(event)]

    async def handle(self, tx: TenantTx, events: Sequence[Event]) -> None:
        """Forget what is known of these operators."""
        changed = [
            one.subject
            for one in changes_in(tx.tenant_id, events)
            if one.upstream == "operators" and one.subject
        ]
        if not await store.forget_preferences(tx, changed):
            return
        told = [
            NewAnnouncement(channel="preferences", operator_id=one, facts={"upstream": "operators"})
            for one in changed
        ]
        await self.announcements.tell_all(tx, told)
