"""The consumer group that hears that the service `assistant` suggests something else: it is asked at the next look."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.ai_inbox import store
from tidings.backoffice.announcements.model import NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.view_cache.changes import changes_in, is_change
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event

GROUP: Final = "backoffice.suggestions"
SUBJECTS: Final = (EVENT_RECEIVED_SUBJECT,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SuggestionHearer:
    """Open inboxes are told with the note that the event was consumed."""

    announcements: DeviceAnnouncements

    async def select(self, events: Sequence[Event]) -> Collection[Event]:
        """Those that tell of a change at a service."""
        return [event for event in events if is_change(event)]

    async def handle(self, tx: TenantTx, events: Sequence[Event]) -> None:
        """Forget that these properties were asked for lately; one that is not named stands for all."""
        changed = [one.subject for one in changes_in(tx.tenant_id, events) if one.upstream == "assistant"]
        if not changed:
            return
        named = list(await store.list_places(tx)) if "" in changed else changed
        await store.forget_places(tx, named)
        told = [
            NewAnnouncement(channel="ai_inbox", property_id=one, facts={"upstream": "assistant"})
            for one in named
        ]
        await self.announcements.tell_all(tx, told)
