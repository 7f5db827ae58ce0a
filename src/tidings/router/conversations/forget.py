"""Forgets what somebody wrote, in the transaction that erases them."""

from collections.abc import Sequence

from tidings.contracts.conversations import CLOSED_SUBJECT, ConversationClosed
from tidings.contracts.events import ROUTER_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.outbox import Outbox
from tidings.kernel.sql import Queries

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
        await self._outbox.append(
            tx,
            [
                new_event(
                    CLOSED_SUBJECT,
                    ConversationClosed(
                        conversation_id=row["id"],
                        channel=row["channel"],
                        status=row["status"],
                        closed_at=row["closed_at"],
                        recipient_id=row["recipient_id"],
                    ),
                    tenant_id=tx.tenant_id,
                    ordering_key=row["id"],
                    source=ROUTER_SOURCE,
                    clock=self._clock,
                )
                for row in rows
                if row["was_open"]
            ],
        )
        return len(rows)
