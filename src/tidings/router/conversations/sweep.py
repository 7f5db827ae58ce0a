"""Closes conversations that ended in silence, and removes what was kept long enough."""

from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.router.conversations import queue, store
from tidings.router.conversations.events import Announcer
from tidings.router.conversations.model import CONTACTS_KEPT, KEPT, ConversationId

#: Unmatched messages, and the counts of them.
UNMATCHED_KEPT: Final = timedelta(days=7)
#: The empty rows of what stands in transcripts.
APPLIED_KEPT: Final = timedelta(days=30)


async def close_idle(db: Database, outbox: Outbox, clock: Clock, *, limit: int) -> int:
    """Close open ones that have expired, and say so; how many. `outbox` is that of the schema `chan`."""
    now = clock.now()
    async with db.worker() as tx:
        found = await store.find_expired(tx, now=now, limit=limit)
    by_tenant: dict[TenantId, list[ConversationId]] = {}
    for tenant_id, conversation_id in found:
        by_tenant.setdefault(tenant_id, []).append(conversation_id)
    closed = 0
    for tenant_id, ids in by_tenant.items():
        async with db.tenant(tenant_id) as tenant_tx:
            # A message may have come since we looked.
            over = await store.close_conversations(
                tenant_tx, ids, status="CLOSED_IDLE", reason="idle", now=now, expired_until=now
            )
            await outbox.append(tenant_tx, Announcer(tenant_id, clock).closed(over))
        closed += len(over)
    return closed


async def sweep_conversations(db: Database, clock: Clock, *, limit: int) -> int:
    """Remove closed ones that are old enough, with their transcripts, and who wrote from shared numbers long ago; how many."""
    now = clock.now()
    async with db.worker() as tx:
        gone = await store.sweep_conversations(tx, until=now - KEPT, limit=limit)
        return gone + await queue.sweep_contacts(tx, until=now - CONTACTS_KEPT, limit=limit)


async def sweep_inbound(db: Database, clock: Clock, *, limit: int) -> int:
    """Remove inbound messages that are done, and old counts of unmatched ones; how many rows."""
    now = clock.now()
    async with db.worker() as tx:
        gone = await queue.sweep_inbound(
            tx, unmatched_until=now - UNMATCHED_KEPT, done_until=now - APPLIED_KEPT, limit=limit
        )
        return gone + await queue.sweep_unmatched(tx, until=now - UNMATCHED_KEPT, limit=limit)
