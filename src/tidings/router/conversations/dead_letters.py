"""What people wrote and nobody could take on: operators look at it, and give it new patience.

As with callbacks that found no message. What an operator orders is in the platform's audit before it is done; what was
written is shown to nobody, because nobody knows whose it is.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx
from tidings.router.conversations import queue
from tidings.router.conversations.errors import UnknownInboundMessageError
from tidings.router.conversations.model import InboundMessageId
from tidings.router.conversations.queue import OpenInbound

#: Messages that are given new patience in one transaction.
MOST_AT_ONCE: Final = 1000
_ENTITY: Final = "inbound_message"


class DeadInbound:
    """What operators do with inbound messages that stand in no conversation."""

    def __init__(self, *, audit: AuditLog, clock: Clock) -> None:
        """`audit` is of the schema `chan`."""
        self._audit = audit
        self._clock = clock

    async def show(self, tx: PlatformTx, message_id: InboundMessageId) -> OpenInbound:
        """One of them; an `UnknownInboundMessageError` where none has this id."""
        found = await queue.show_inbound(tx, message_id)
        if found is None:
            raise UnknownInboundMessageError
        return found

    async def requeue(
        self,
        tx: PlatformTx,
        *,
        actor: str,
        ids: Sequence[InboundMessageId] | None = None,
        vendor: str | None = None,
        since: datetime | None = None,
    ) -> list[InboundMessageId]:
        """Take dead ones up again, at most `MOST_AT_ONCE`, at once and then as if they had just come; which."""
        again = await queue.requeue_inbound(
            tx, ids=ids, vendor=vendor, since=since, now=self._clock.now(), limit=MOST_AT_ONCE
        )
        await self._audit.append(
            tx,
            [
                Entry(
                    entity_type=_ENTITY,
                    entity_id=message_id,
                    action="requeued",
                    actor=actor,
                    before={"status": "dead", "vendor": its_vendor},
                )
                for message_id, its_vendor in again
            ],
        )
        return [message_id for message_id, _ in again]
