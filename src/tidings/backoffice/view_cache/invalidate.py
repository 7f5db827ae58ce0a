"""The consumer group that hears what upstream services tell: views that are known are forgotten, and open pages are told."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.announcements.model import Channel, NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.view_cache import store
from tidings.backoffice.view_cache.changes import UpstreamChange, changes_in, is_change
from tidings.backoffice.view_cache.shared import SharedViews
from tidings.contracts.received_events import EVENT_RECEIVED_SUBJECT
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.ids import IdKind

GROUP: Final = "backoffice.view-invalidation"
SUBJECTS: Final = (EVENT_RECEIVED_SUBJECT,)
_MARK: Final = IdKind("chg", str)
#: Which pages show what of which service.
_CHANNELS: Final[dict[str, tuple[Channel, ...]]] = {
    "reservations": ("workbench", "dashboard"),
    "housekeeping": ("workbench", "dashboard"),
    "maintenance": ("workbench", "dashboard"),
    "locks": ("dashboard",),
    "assistant": ("dashboard",),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ViewInvalidator:
    """Handles each event once; what it announces commits with the note that it was consumed."""

    announcements: DeviceAnnouncements
    clock: Clock
    shared: SharedViews | None = None

    async def select(self, events: Sequence[Event]) -> Collection[Event]:
        """Those that tell of a change at a service; of all that others send they are few."""
        return [event for event in events if is_change(event)]

    async def handle(self, tx: TenantTx, events: Sequence[Event]) -> None:
        """Forget in the shared cache now, in every process when this commits."""
        changes = changes_in(tx.tenant_id, events)
        if self.shared is not None:
            # Before the commit: what is made from now on asks services that have changed already.
            await self.shared.mark(changes, _MARK.new(self.clock.now()))
        await store.announce_changes(tx, [change.key for change in changes])
        await self.announcements.tell_all(tx, [one for change in changes for one in _told(change)])


def _told(change: UpstreamChange) -> list[NewAnnouncement]:
    facts = {"upstream": change.upstream}
    return [
        NewAnnouncement(channel=channel, property_id=change.subject or None, facts=facts)
        for channel in _CHANNELS.get(change.upstream, ())
    ]
