"""The use case "this conversation is over", by hand."""

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.outbox import Outbox
from tidings.router.conversations import store
from tidings.router.conversations.errors import ConversationClosedError, UnknownConversationError
from tidings.router.conversations.events import Announcer
from tidings.router.conversations.model import Conversation, ConversationId


class Closer:
    """Closes conversations."""

    def __init__(self, *, outbox: Outbox, audit: AuditLog, clock: Clock) -> None:
        """Both are of the schema `chan`."""
        self._outbox = outbox
        self._audit = audit
        self._clock = clock

    async def close(
        self, tx: TenantTx, conversation_id: ConversationId, *, reason: str | None, actor: str
    ) -> Conversation:
        """Close it; the next message of either side begins another one."""
        closed = await store.close_conversations(
            tx, [conversation_id], status="CLOSED_MANUAL", reason="by_hand", now=self._clock.now()
        )
        if not closed:
            if await store.find_conversation(tx, conversation_id) is None:
                raise UnknownConversationError(f"there is no conversation with the id {conversation_id}")
            raise ConversationClosedError
        await self._outbox.append(tx, Announcer(tx.tenant_id, self._clock).closed(closed))
        entry = Entry(
            entity_type="conversation",
            entity_id=conversation_id,
            action="closed",
            actor=actor,
            before={"status": "OPEN"},
            after={"status": closed[0].status},
            reason=reason,
        )
        await self._audit.append(tx, [entry])
        return closed[0]
