"""What can be asked of an inbox over HTTP, by its owner or by the tenant: the same things, the same answers."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.paging import Paging
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import UnauthenticatedError
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox import store
from tidings.notify.inbox.act import ActedBy, ActionListeners, InboxActor
from tidings.notify.inbox.change import ChangedInbox, InboxChanger
from tidings.notify.inbox.change_all import WholeInboxChanger
from tidings.notify.inbox.feed import InboxQuery, InboxReader
from tidings.notify.inbox.model import Inbox, InboxKey, Verb
from tidings.notify.inbox.wire import (
    InboxActionChosen,
    InboxAllChanged,
    InboxCounts,
    InboxItemChanged,
    InboxItemView,
    InboxPage,
    ReadInbox,
)
from tidings.notify.recipients import store as recipient_store

_LONGEST_SNOOZE: Final = timedelta(days=366)
_VOID: Final = "this inbox token was voided; ask the application for a new one"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxVisitor:
    """Somebody at an inbox."""

    key: InboxKey
    #: When their token was made; None: it is the tenant.
    since: datetime | None = None
    #: When it ends.
    until: datetime | None = None

    @classmethod
    def owner(cls, caller: Caller, tenant_id: TenantId) -> "InboxVisitor":
        """The person whose inbox it is."""
        return cls(
            key=InboxKey(
                tenant_id=tenant_id,
                recipient_id=RECIPIENT.parse(caller.id),
                is_test=caller.environment == "test",
            ),
            since=caller.since,
            until=caller.until,
        )

    @classmethod
    def tenant(cls, caller: Caller, tenant_id: TenantId, recipient_id: RecipientId) -> "InboxVisitor":
        """The tenant, for a person; a test key sees tests."""
        return cls(
            key=InboxKey(tenant_id=tenant_id, recipient_id=recipient_id, is_test=caller.environment == "test")
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxDesk:
    """Serves visitors; the first thing is always to see whether they may."""

    reader: InboxReader
    changer: InboxChanger
    actor: InboxActor
    listeners: ActionListeners
    clock: Clock

    async def admit(self, tx: TenantTx, visitor: InboxVisitor) -> Inbox:
        """The inbox; an `UnauthenticatedError` for a token that was voided, an `UnknownRecipientError` where there is nobody."""
        inbox = await store.find_inbox(tx, visitor.key) or Inbox()
        if visitor.since is None:
            await recipient_store.find_recipient(tx, visitor.key.recipient_id)
        elif inbox.tokens_from is not None and visitor.since <= inbox.tokens_from:
            raise UnauthenticatedError(_VOID)
        return inbox

    async def page(self, tx: TenantTx, visitor: InboxVisitor, query: ReadInbox, paging: Paging) -> InboxPage:
        """A page of the feed."""
        await self.admit(tx, visitor)
        after = paging.after_id
        asked = InboxQuery(
            view=query.view,
            category=query.category,
            tag=query.tag,
            below=store.TOP if after is None else int(after),
            limit=query.limit,
        )
        page = await self.reader.page(tx, visitor.key, asked)
        goes_on = None if page.goes_on is None else f"{page.goes_on:026d}"
        shown = paging.page_until(goes_on, [InboxItemView.of(one) for one in page.items])
        return InboxPage(
            items=shown.items,
            unread=page.inbox.unread,
            unseen=page.inbox.unseen,
            next_cursor=shown.next_cursor,
        )

    async def counts(self, tx: TenantTx, visitor: InboxVisitor) -> InboxCounts:
        """The counts alone."""
        return InboxCounts.of(await self.admit(tx, visitor))

    async def show(self, tx: TenantTx, visitor: InboxVisitor, item_id: InboxItemId) -> InboxItemView:
        """One item."""
        await self.admit(tx, visitor)
        return InboxItemView.of(await self.reader.one(tx, visitor.key, item_id))

    async def do(
        self, tx: TenantTx, visitor: InboxVisitor, item_id: InboxItemId, verb: Verb
    ) -> InboxItemChanged:
        """Do one thing with an item."""
        await self.admit(tx, visitor)
        return await self._shown(tx, visitor, await self.changer.do(tx, visitor.key, [item_id], verb))

    async def snooze(
        self, tx: TenantTx, visitor: InboxVisitor, item_id: InboxItemId, until: datetime
    ) -> InboxItemChanged:
        """Take an item out of view for a while."""
        await self.admit(tx, visitor)
        now = self.clock.now()
        if until.tzinfo is None or not now < until <= now + _LONGEST_SNOOZE:
            raise BadValueError("until", "must be a moment with an offset, in the future and within a year")
        done = await self.changer.do(tx, visitor.key, [item_id], "snooze", until=until)
        return await self._shown(tx, visitor, done)

    async def delete(self, tx: TenantTx, visitor: InboxVisitor, item_id: InboxItemId) -> None:
        """Remove an item for good."""
        await self.admit(tx, visitor)
        await self.changer.do(tx, visitor.key, [item_id], "delete")

    async def act(
        self,
        begin: Callable[[], AbstractAsyncContextManager[TenantTx]],
        visitor: InboxVisitor,
        item_id: InboxItemId,
        action: str,
    ) -> InboxActionChosen:
        """Choose an action of an item; who is called is counted when it is committed."""
        by: ActedBy = "tenant" if visitor.since is None else "recipient"
        async with begin() as tx:
            await self.admit(tx, visitor)
            chosen = await self.actor.act(tx, visitor.key, item_id, action, by=by)
            shown = await self._shown(tx, visitor, chosen.changed)
        webhooks = None if chosen.event is None else await self.listeners.count_wanting(chosen.event)
        return InboxActionChosen.of_change(shown, webhooks=webhooks)

    async def read_all(
        self,
        begin: Callable[[], AbstractAsyncContextManager[TenantTx]],
        visitor: InboxVisitor,
        category: str | None,
    ) -> InboxAllChanged:
        """Mark all as read, or all of one category."""
        async with begin() as tx:
            await self.admit(tx, visitor)
        done = await WholeInboxChanger(changer=self.changer).read(begin, visitor.key, category=category)
        return InboxAllChanged.of(done)

    async def see_all(
        self, begin: Callable[[], AbstractAsyncContextManager[TenantTx]], visitor: InboxVisitor
    ) -> InboxAllChanged:
        """Mark all as seen."""
        async with begin() as tx:
            await self.admit(tx, visitor)
        return InboxAllChanged.of(await WholeInboxChanger(changer=self.changer).see(begin, visitor.key))

    async def _shown(self, tx: TenantTx, visitor: InboxVisitor, done: ChangedInbox) -> InboxItemChanged:
        [opened] = await self.reader.opened(tx, visitor.key, done.items)
        return InboxItemChanged.of(opened, done)
