"""What is in a person's in-app inbox, page by page."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from tidings.kernel.db import Database
from tidings.notify.inbox import store
from tidings.notify.inbox.feed import InboxReader
from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox.wire import InboxItemView
from tidings.notify.subject_access.sent_messages import AccessRequest

_PAGE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class InboxExporter:
    """Reads inboxes whole. Every page has a transaction of its own: a slow client holds none open."""

    db: Database
    reader: InboxReader

    async def items(self, asked: AccessRequest) -> AsyncIterator[dict[str, Any]]:
        """One each, in the order in which they came; tests after what is live."""
        after = (False, 0)
        while True:
            async with self.db.tenant(asked.tenant_id, caller_role=asked.role, by_index=True) as tx:
                found = await store.walk_items(tx, asked.recipient_id, after=after, most=_PAGE)
                key = InboxKey(tenant_id=asked.tenant_id, recipient_id=asked.recipient_id)
                opened = await self.reader.opened(tx, key, [item for _, item in found])
            for (is_test, _), one in zip(found, opened, strict=True):
                yield {**msgspec.to_builtins(InboxItemView.of(one)), "is_test": is_test}
            if len(found) < _PAGE:
                return
            is_test, last = found[-1]
            after = is_test, last.place
