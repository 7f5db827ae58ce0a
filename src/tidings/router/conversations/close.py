"""The use case "this conversation is over", by hand."""

from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.outbox import Outbox
from tidings.router.conversations import store
from tidings.router.conversations.errors import ConversationClosedError, UnknownConversationError
from tidings.router.conversations.events import Announcer
from tidings.router.conversations.model import Conversation, ConversationId


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Closer:
    """Closes conversations."""

    #: Of the schema `chan`.
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def close(
        self, tx: TenantTx, conversation_id: ConversationId, *, reason: str | None, actor: str
    ) -> Conversation:
        """Close it; the next message of either side begins another one."""
        closed = await store.close_conversations(
            tx, [conversation_id], status="CLOSED_MANUAL", reason="by_hand", now=self.clock.now()
        )
        if not closed:
            if await store.find_conversation(tx, conversation_id) is None:
                raise UnknownConversationError(f"there is no conversation with the id {conversation_id}")
            raise ConversationClosedError
        await self.outbox.append(tx, Announcer(tx.tenant_id, self.clock).closed(closed))
        entry = Entry(
            entity_type="conversation",
            entity_id=conversation_id,
            action="closed",
            actor=actor,
            before={"status": "OPEN"},
            after={"status": closed[0].status},
            reason=reason,
        )
        await self.audit.append(tx, [entry])
        return closed[0]
