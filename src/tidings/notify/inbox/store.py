"""The only Python here that runs SQL on inboxes and their items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tidings.contracts.enums import Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.inbox import InboxDelivery
from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.mapping import RowMapper, columns, tuple_columns
from tidings.kernel.sql import Queries, created_columns
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox.model import Inbox, InboxItem, InboxKey, item_of

QUERIES = Queries.beside(__file__)

#: Above every place.
TOP: Final = 2**62
#: Inboxes that one notification of Postgres names; it may have 8,000 bytes.
_NEWS_AT_ONCE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSubject:
    """The notification that an item is of."""

    category: str
    priority: Priority
    is_test: bool
    retention_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """An item that is to be stored."""

    key: InboxKey
    id: InboxItemId
    place: int
    category: str
    priority: Priority
    tags: tuple[str, ...]
    expires_at: datetime
    content: bytes = field(repr=False)

    @property
    def tag_list(self) -> str:
        """Tags have no blanks."""
        return " ".join(self.tags)


async def find_subjects(
    tx: TenantTx | TenantsTx, items: Sequence[InboxDelivery]
) -> dict[tuple[TenantId, NotificationId], ItemSubject]:
    """Those that exist."""
    rows = await tx.fetch(
        QUERIES.find_subjects,
        **columns(items, "tenant_id notification_id", reader_ids="recipient_id"),
        **created_columns([time_of(item.notification_id) for item in items]),
    )
    return {
        (TenantId(row["tenant_id"]), NotificationId(row["notification_id"])): _subject(row) for row in rows
    }


async def hold_readers(
    tx: TenantTx | TenantsTx, readers: Sequence[tuple[TenantId, RecipientId]]
) -> set[tuple[TenantId, RecipientId]]:
    """Those who were not erased, and will not be before the transaction ends."""
    rows = await tx.fetch(
        QUERIES.hold_readers, **tuple_columns(sorted(set(readers)), "tenant_ids reader_ids")
    )
    return {(TenantId(row["tenant_id"]), RecipientId(row["id"])) for row in rows}


async def lock_inboxes(tx: TenantTx | TenantsTx, keys: Sequence[InboxKey]) -> dict[InboxKey, Inbox]:
    """The inboxes, made where there are none, locked until the end of the transaction."""
    wanted = sorted(set(keys), key=lambda key: (key.tenant_id, key.recipient_id, key.is_test))
    asked = columns(wanted, "tenant_id recipient_id is_test")
    await tx.execute(QUERIES.open_inboxes, **asked)
    rows = await tx.fetch(QUERIES.lock_inboxes, **asked)
    return {_key(row): _inbox(row) for row in rows}


async def find_inbox(tx: TenantTx, key: InboxKey) -> Inbox | None:
    """The inbox as it is; None where nobody has ever needed it."""
    row = await tx.fetch_one(QUERIES.find_inbox, recipient_id=key.recipient_id, is_test=key.is_test)
    return None if row is None else _found_inbox(row)


async def store_items(
    tx: TenantTx | TenantsTx, items: Sequence[NewItem], *, now: datetime
) -> list[tuple[InboxKey, InboxItemId]]:
    """Those that were not there."""
    rows = await tx.fetch(
        QUERIES.store_items,
        now=now,
        **columns(
            items,
            "id place category priority tag_list expires_at content",
            tenant_ids="key.tenant_id",
            recipient_ids="key.recipient_id",
            is_tests="key.is_test",
        ),
        created_ats=[time_of(item.id) for item in items],
    )
    return [(_key(row), InboxItemId(row["id"])) for row in rows]


async def load_items(tx: TenantTx, key: InboxKey, ids: Sequence[InboxItemId]) -> dict[InboxItemId, InboxItem]:
    """Those of this inbox."""
    if not ids:
        return {}
    rows = await tx.fetch(
        QUERIES.load_items,
        recipient_id=key.recipient_id,
        is_test=key.is_test,
        ids=list(ids),
        **created_columns([time_of(id_) for id_ in ids]),
    )
    return {item.id: item for item in map(_item, rows)}


async def write_items(
    tx: TenantTx, key: InboxKey, items: Sequence[InboxItem], *, unread: int, unseen: int, latest: int
) -> None:
    """Write them as they are now, and add to the counts."""
    await tx.execute(
        QUERIES.write_items,
        recipient_id=key.recipient_id,
        is_test=key.is_test,
        unread=unread,
        unseen=unseen,
        latest=latest,
        **columns(
            items,
            "id place seen_at read_at archived_at acted_at removed_at due_at",
            snoozed_untils="snoozed_until",
            actions="acted",
        ),
        **created_columns([time_of(item.id) for item in items]),
    )


async def read_feed(
    tx: TenantTx, key: InboxKey, *, below: int, most: int, category: str | None = None, unread: bool = False
) -> list[InboxItem]:
    """The next items below a place, the newest first: of one category, or those that were not read, or all."""
    asked = {"recipient_id": key.recipient_id, "is_test": key.is_test, "below": below, "most": most}
    if unread:
        rows = await tx.fetch(QUERIES.read_unread, **asked)
    elif category is not None:
        rows = await tx.fetch(QUERIES.read_category, category=category, **asked)
    else:
        rows = await tx.fetch(QUERIES.read_feed, **asked)
    return [_item(row) for row in rows]


async def find_unread(
    tx: TenantTx, key: InboxKey, *, below: int, most: int, category: str | None
) -> list[tuple[InboxItemId, int]]:
    """The next that were not read, with their places."""
    rows = await tx.fetch(
        QUERIES.find_unread,
        recipient_id=key.recipient_id,
        is_test=key.is_test,
        below=below,
        most=most,
        category=category,
    )
    return [(InboxItemId(row["id"]), row["place"]) for row in rows]


async def find_unseen(tx: TenantTx, key: InboxKey, *, below: int, most: int) -> list[tuple[InboxItemId, int]]:
    """The next that were not seen, with their places."""
    rows = await tx.fetch(
        QUERIES.find_unseen, recipient_id=key.recipient_id, is_test=key.is_test, below=below, most=most
    )
    return [(InboxItemId(row["id"]), row["place"]) for row in rows]


async def announce(tx: TenantTx | TenantsTx, keys: Sequence[InboxKey]) -> None:
    """Have those who wait for news hear of these when the transaction commits."""
    names = sorted({name_of(key) for key in keys})
    await tx.fetch(
        QUERIES.announce,
        news=[
            "\n".join(names[start : start + _NEWS_AT_ONCE]) for start in range(0, len(names), _NEWS_AT_ONCE)
        ],
    )


async def void_tokens(tx: TenantTx, recipient_id: RecipientId, *, now: datetime, tests_only: bool) -> None:
    """No token that was made before now opens the inbox, or its test inbox alone."""
    await tx.execute(QUERIES.void_tokens, recipient_id=recipient_id, now=now, tests_only=tests_only)


async def find_due(tx: WorkerTx, *, now: datetime, limit: int) -> list[tuple[InboxKey, InboxItemId]]:
    """Items that something becomes of by itself now, the longest overdue first."""
    rows = await tx.fetch(QUERIES.find_due, now=now, limit=limit)
    return [(_key(row), InboxItemId(row["id"])) for row in rows]


async def next_due(tx: WorkerTx) -> datetime | None:
    """When something becomes of an item next."""
    due_at: datetime | None = await tx.fetch_value(QUERIES.next_due)
    return due_at


async def forget(tx: TenantTx, recipient_id: RecipientId) -> int:
    """Remove all items of a person who is erased, and void their tokens; how many items there were. Their inboxes are locked."""
    await tx.execute(QUERIES.forget_inboxes, recipient_id=recipient_id)
    return await tx.execute(QUERIES.forget_items, recipient_id=recipient_id)


async def find_of_notifications(
    tx: TenantTx, ids: Sequence[NotificationId]
) -> dict[NotificationId, InboxItem]:
    """By notification; those that have none are left out."""
    if not ids:
        return {}
    rows = await tx.fetch(
        QUERIES.find_of_notifications,
        ids=[item_of(id_) for id_ in ids],
        **created_columns([time_of(id_) for id_ in ids]),
    )
    return {item.notification_id: item for item in map(_item, rows)}


async def walk_items(
    tx: TenantTx, recipient_id: RecipientId, *, after: tuple[bool, int], most: int
) -> list[tuple[bool, InboxItem]]:
    """The next of a person's items, each with whether it is a test."""
    is_test, above = after
    rows = await tx.fetch(
        QUERIES.walk_items, recipient_id=recipient_id, is_test=is_test, above=above, most=most
    )
    return [(row["is_test"], _item(row)) for row in rows]


def name_of(key: InboxKey) -> str:
    """As it is announced."""
    return f"{key.tenant_id} {key.recipient_id} {'test' if key.is_test else 'live'}"


def _key(row: Mapping[str, object]) -> InboxKey:
    return InboxKey(
        tenant_id=TenantId(str(row["tenant_id"])),
        recipient_id=RecipientId(str(row["recipient_id"])),
        is_test=bool(row["is_test"]),
    )


_subject = RowMapper(ItemSubject, [QUERIES.find_subjects])
_inbox = RowMapper(Inbox, [QUERIES.lock_inboxes])
_found_inbox = RowMapper(Inbox, [QUERIES.find_inbox])
_item = RowMapper(
    InboxItem,
    [
        QUERIES.load_items,
        QUERIES.read_feed,
        QUERIES.read_category,
        QUERIES.read_unread,
        QUERIES.find_of_notifications,
        QUERIES.walk_items,
    ],
)
