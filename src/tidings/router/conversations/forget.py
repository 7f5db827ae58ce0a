"""Forgets what a person wrote, in the transaction that erases them."""

from collections.abc import Sequence

from tidings.contracts.conversations import ConversationClosed
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.outbox import Outbox
from tidings.kernel.sql import Queries
from tidings.router.conversations.events import Announcer

_QUERIES = Queries.beside(__file__)


class ConversationForgetter:
    """The contract's `Forgetter`."""

    def __init__(self, *, outbox: Outbox, clock: Clock) -> None:
        """`outbox` is that of the schema `chan`."""
        self._outbox = outbox
        self._clock = clock

    async def forget(self, tx: TenantTx, recipient_ids: Sequence[str]) -> int:
        """Leave no word and no hash of theirs, and close what is open; how many conversations there were."""
        rows = await tx.fetch(
            _QUERIES.forget_conversations, recipient_ids=sorted(set(recipient_ids)), now=self._clock.now()
        )
        announcer = Announcer(tx.tenant_id, self._clock)
        await self._outbox.append(tx, [announcer.ended(_closed(row)) for row in rows if row["was_open"]])
        return len(rows)


_closed = RowMapper(ConversationClosed, [_QUERIES.forget_conversations], columns={"conversation_id": "id"})
