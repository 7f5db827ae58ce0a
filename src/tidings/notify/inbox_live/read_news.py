"""Reads what is new in a set of inboxes of whatever tenants: one statement for all of them, and each item is opened once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from tidings.kernel.db import Database
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring, Subject
from tidings.notify.inbox.feed import OpenedItem, content_of
from tidings.notify.inbox.model import Inbox, InboxItem, InboxKey
from tidings.notify.inbox.wire import InboxItemView
from tidings.notify.inbox_live import store
from tidings.notify.inbox_live.model import MOST_CHANGES, LiveChange, LiveNews

#: Inboxes that are read in one transaction.
AT_ONCE: Final = 250

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LiveNewsReader:
    """Reads for the streams of a process."""

    db: Database
    keyring: Keyring

    async def read(self, wanted: Mapping[InboxKey, int]) -> dict[InboxKey, LiveNews]:
        """Every inbox that is wanted, with what has changed above its number."""
        keys = sorted(wanted, key=lambda key: (key.tenant_id, key.recipient_id, key.is_test))
        async with self.db.tenants({key.tenant_id for key in keys}, by_index=True) as tx:
            found = await store.find_news(tx, [(key, wanted[key]) for key in keys], most=MOST_CHANGES + 1)
            readers = [(key.tenant_id, key.recipient_id) for key, (_, changes) in found.items() if changes]
            opens = await self.keyring.data_keys_of(tx, readers, create=False) if readers else {}
        nothing: tuple[Inbox, list[tuple[int, InboxItem]]] = (Inbox(), [])
        return {key: _news(key, *found.get(key, nothing), opens) for key in keys}


def _news(
    key: InboxKey,
    inbox: Inbox,
    changes: Sequence[tuple[int, InboxItem]],
    opens: Mapping[Subject, DataKey],
) -> LiveNews:
    data_key = opens.get((key.tenant_id, key.recipient_id))
    cut = len(changes) > MOST_CHANGES
    return LiveNews(
        inbox=inbox,
        changes=tuple(_change(version, item, data_key) for version, item in changes[1 if cut else 0 :]),
        cut=cut,
    )


def _change(version: int, item: InboxItem, key: DataKey | None) -> LiveChange:
    shown = None
    if item.removed_at is None:
        shown = _encode(InboxItemView.of(OpenedItem(item=item, content=content_of(item, key)))).decode()
    return LiveChange(version, item.place, item.id, shown)
