"""The use case "I never got it": a page of notifications by the list's filters, and by what a person can say on the telephone."""

from dataclasses import dataclass, replace

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import read_cursor
from tidings.kernel.ids import RECIPIENT
from tidings.notify.notifications.listing import Found, find_recent
from tidings.notify.notifications.read_store import Filter
from tidings.notify.notifications.view import LookUpNotifications, NotificationFilter
from tidings.notify.recipients.lookup import MOST_FOUND, AddressFinder

#: Cursors of the list serve the look-up, and the other way round: both walk the same way.
LISTING = "notifications"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationFinder:
    """Finds notifications."""

    addresses: AddressFinder
    clock: Clock

    async def list(self, tx: TenantTx, query: NotificationFilter) -> Found:
        """By filters alone."""
        return await self._page(tx, query, _filter(query))

    async def look_up(self, tx: TenantTx, query: LookUpNotifications, *, actor: str) -> Found:
        """The same among those of everybody who has an address; that somebody asked for it is audited."""
        wanted = _filter(query)
        if query.address is None:
            return await self._page(tx, query, wanted)
        owners = await self.addresses.owners(
            tx,
            channel=query.address.channel,
            address=query.address.address,
            actor=actor,
            field="address.address",
        )
        if owners.more:
            raise BadValueError(
                "address", f"belongs to more than {MOST_FOUND} recipients; name one with recipient instead"
            )
        if not owners.ids:
            return Found(items=[], next_id=None)
        return await self._page(tx, query, replace(wanted, recipient_ids=tuple(owners.ids)))

    async def _page(self, tx: TenantTx, query: NotificationFilter, wanted: Filter) -> Found:
        return await find_recent(
            tx,
            wanted,
            since=query.since,
            until=query.until,
            after=read_cursor(query.cursor, listing=LISTING),
            limit=query.limit,
            now=self.clock.now(),
        )


def _filter(query: NotificationFilter) -> Filter:
    if query.since is not None and query.until is not None and query.since >= query.until:
        raise BadValueError("until", "must be later than since")
    return Filter(
        status=query.status,
        channel=query.channel,
        category=query.category,
        recipient_id=RECIPIENT.parse(query.recipient, field="recipient") if query.recipient else None,
        template=query.template,
        correlation_id=query.correlation_id,
    )
