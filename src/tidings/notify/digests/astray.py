"""Items that are not for the reader of their window any more: somebody else's, whose guardian the reader was when they joined."""

from collections.abc import Sequence

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.db import TenantsTx
from tidings.notify.digests.flush_store import DigestItem, FlushedWindow
from tidings.notify.facts import store as facts_store
from tidings.notify.facts.store import PersonRow


async def find_astray(
    tx: TenantsTx, held: Sequence[tuple[FlushedWindow, Sequence[DigestItem]]]
) -> set[NotificationId]:
    """Of what these windows hold; asked only where one holds something of another recipient."""
    foreign = [
        (window, item) for window, items in held for item in items if item.recipient_id != window.recipient_id
    ]
    if not foreign:
        return set()
    people = await facts_store.load_people(
        tx, {(window.tenant_id, item.recipient_id) for window, item in foreign}
    )
    return {
        item.id
        for window, item in foreign
        if not _hears(window.recipient_id, people.get((window.tenant_id, item.recipient_id)), item.category)
    }


def _hears(reader_id: RecipientId, owner: PersonRow | None, category: str) -> bool:
    routing = None if owner is None or owner.erased else owner.choices.guardian_routing
    return (
        routing is not None
        and routing.mode == "instead"
        and routing.guardian_id == reader_id
        and routing.concerns(category)
    )
