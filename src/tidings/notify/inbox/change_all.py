"""The use case "all of it is read", or seen: in sets, each in a transaction of its own, so that a full inbox holds up nobody."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from tidings.kernel.db import TenantTx
from tidings.notify.inbox import store
from tidings.notify.inbox.change import InboxChanger
from tidings.notify.inbox.model import Inbox, InboxKey

_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AllChanged:
    """What came of it."""

    inbox: Inbox
    #: How many items were changed.
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WholeInboxChanger:
    """Marks all items of an inbox that were there when it began; what arrives meanwhile stays as it is."""

    changer: InboxChanger

    async def read(
        self,
        begin: Callable[[], AbstractAsyncContextManager[TenantTx]],
        key: InboxKey,
        *,
        category: str | None = None,
    ) -> AllChanged:
        """Mark all as read, or all of one category."""
        below, changed = store.TOP, 0
        while True:
            async with begin() as tx:
                inbox, _ = await self.changer.open(tx, key, ())
                below = min(below, inbox.latest + 1)
                found = await store.find_unread(tx, key, below=below, most=_AT_ONCE, category=category)
                if not found:
                    return AllChanged(inbox=inbox, changed=changed)
                changed += (await self.changer.do(tx, key, [id_ for id_, _ in found], "read")).changed
            below = found[-1][1]

    async def see(
        self, begin: Callable[[], AbstractAsyncContextManager[TenantTx]], key: InboxKey
    ) -> AllChanged:
        """Mark all as seen."""
        below, changed = store.TOP, 0
        while True:
            async with begin() as tx:
                inbox, _ = await self.changer.open(tx, key, ())
                below = min(below, inbox.latest + 1)
                found = await store.find_unseen(tx, key, below=below, most=_AT_ONCE)
                if not found:
                    return AllChanged(inbox=inbox, changed=changed)
                changed += (await self.changer.do(tx, key, [id_ for id_, _ in found], "see")).changed
            below = found[-1][1]
