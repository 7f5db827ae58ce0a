"""The only Python here that runs SQL: reads what is new in a set of inboxes, of whatever tenants."""

from collections.abc import Mapping, Sequence

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantsTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.inbox.model import Inbox, InboxItem, InboxKey

QUERIES = Queries.beside(__file__)


async def find_news(
    tx: TenantsTx, wanted: Sequence[tuple[InboxKey, int]], *, most: int
) -> dict[InboxKey, tuple[Inbox, list[tuple[int, InboxItem]]]]:
    """The inboxes that there are, each with the last items that changed above a number, and the numbers of their changes, the oldest first."""
    asked = [(key.tenant_id, key.recipient_id, key.is_test, above) for key, above in wanted]
    rows = await tx.fetch(
        QUERIES.find_news, most=most, **tuple_columns(asked, "tenant_ids recipient_ids is_tests aboves")
    )
    found: dict[InboxKey, tuple[Inbox, list[tuple[int, InboxItem]]]] = {}
    for row in rows:
        _, changes = found.setdefault(_key(row), (_inbox(row), []))
        if row["version"] is not None:
            changes.append((row["version"], _item(row)))
    for _, changes in found.values():
        changes.sort(key=lambda change: change[0])
    return found


def _key(row: Mapping[str, object]) -> InboxKey:
    return InboxKey(
        tenant_id=TenantId(str(row["tenant_id"])),
        recipient_id=RecipientId(str(row["recipient_id"])),
        is_test=bool(row["is_test"]),
    )


_inbox = RowMapper(Inbox, [QUERIES.find_news])
_item = RowMapper(InboxItem, [QUERIES.find_news])
