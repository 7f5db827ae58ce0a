"""The use case "I never got it": a page of notifications by the list's filters, and by what a person can say on the telephone."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeAlias

from tidings.contracts.ids import RECIPIENT, NotificationId
from tidings.kernel.bounded_scan import AHEAD, BEGINNING, CHUNK, MOST_LOOKED_AT, ScannedPage, scan_back
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import After, read_cursor
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import attributes
from tidings.notify.accept.searchable import search_hash, spelt
from tidings.notify.ids import BATCH
from tidings.notify.notifications import store
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.store import NotificationCriteria
from tidings.notify.notifications.view import LookUpNotifications, NotificationFilter
from tidings.notify.recipients.lookup import MOST_FOUND, AddressFinder
from tidings.notify.tenants.store import find_tenant

#: Cursors of the list serve the look-up, and the other way round: both walk the same way.
LISTING = "notifications"

FoundNotifications: TypeAlias = ScannedPage[NotificationId, Notification]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationFinder:
    """Finds notifications."""

    addresses: AddressFinder
    keyring: Keyring
    clock: Clock

    async def list(
        self, tx: TenantTx, query: NotificationFilter, *, tests_only: bool = False
    ) -> FoundNotifications:
        """By filters alone."""
        return await self._page(tx, query, await self._filter(tx, query, tests_only=tests_only))

    async def look_up(
        self, tx: TenantTx, query: LookUpNotifications, *, actor: str, tests_only: bool = False
    ) -> FoundNotifications:
        """The same among those of all recipients who have an address; the look-up is audited."""
        wanted = await self._filter(tx, query, tests_only=tests_only)
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
            return ScannedPage(items=[], next_id=None)
        return await self._page(tx, query, replace(wanted, recipient_ids=tuple(owners.ids)))

    async def _filter(
        self, tx: TenantTx, query: NotificationFilter, *, tests_only: bool
    ) -> NotificationCriteria:
        wanted = replace(_filter(query), tests_only=tests_only)
        for key, value in query.metadata.items():
            await _check_declared(tx, key)
            text = spelt(value)
            if text is None:
                raise BadValueError(f"metadata.{key}", "must not be blanks alone")
            wanted = replace(wanted, found_by=(key, search_hash(await self.keyring.pepper(tx), key, text)))
        return wanted

    async def _page(
        self, tx: TenantTx, query: NotificationFilter, wanted: NotificationCriteria
    ) -> FoundNotifications:
        return await find_recent(
            tx,
            wanted,
            since=query.since,
            until=query.until,
            after=read_cursor(query.cursor, listing=LISTING),
            limit=query.limit,
            now=self.clock.now(),
        )


async def find_recent(
    tx: TenantTx,
    wanted: NotificationCriteria,
    *,
    since: datetime | None,
    until: datetime | None,
    after: After | None,
    limit: int,
    now: datetime,
    chunk: int = CHUNK,
    most: int = MOST_LOOKED_AT,
) -> FoundNotifications:
    """Up to `limit` that were made in `since` ≤ t < `until`, from a cursor on."""
    # No id is smaller than the empty one: everything before that moment.
    start = until or now + AHEAD, ""
    if after is not None and (until is None or after.created_at < until):
        start = after.created_at, after.id
    return await scan_back(
        partial(store.look_back, tx, wanted, since=since or BEGINNING),
        lambda ids: store.find_notifications(tx, ids=ids),
        start=start,
        limit=limit,
        filtered=wanted.narrows,
        chunk=chunk,
        most=most,
    )


async def _check_declared(tx: TenantTx, key: str) -> None:
    tenant = await find_tenant(tx, tenant_id=tx.tenant_id)
    declared = tenant.notification_policy.searchable_metadata if tenant is not None else ()
    if key not in declared:
        there = f"those are {', '.join(declared)}" if declared else "it declares none"
        raise BadValueError(
            f"metadata.{key}",
            f"must be a name that the tenant's policy lists in searchable_metadata; {there}",
        )


def _filter(query: NotificationFilter) -> NotificationCriteria:
    if query.since is not None and query.until is not None and query.since >= query.until:
        raise BadValueError("until", "must be later than since")
    return NotificationCriteria(
        **attributes(query, "status channel category template correlation_id"),
        recipient_id=RECIPIENT.parse(query.recipient, field="recipient") if query.recipient else None,
        batch_id=BATCH.parse(query.batch, field="batch") if query.batch else None,
    )
