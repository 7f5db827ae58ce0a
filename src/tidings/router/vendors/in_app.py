"""The adapter of the in-app inbox: hands items to notify, which stores them. Delivered is what is stored."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from tidings.contracts.adapters import Capabilities
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.inbox import (
    IN_APP,
    InboxDeliveries,
    InboxDelivery,
    InboxResult,
    ItemPostponed,
    ItemRefused,
)
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.ids import TenantId

#: Items of one call: one transaction, or one request, stores them.
_AT_ONCE: Final = 100
_AGAIN: Final = timedelta(seconds=2)


class InAppAdapter:
    """Stores by notify's port; a message that is handed over again is stored once."""

    name: Final[str] = IN_APP
    channels: Final[frozenset[str]] = frozenset({IN_APP})
    #: What is read is heard of later.
    capabilities = Capabilities(idempotent=True, receipts=True)
    longest_send = timedelta(seconds=60)

    def __init__(self, deliveries: InboxDeliveries) -> None:
        self._deliveries = deliveries

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,  # noqa: ARG002  # nothing outside is waited for
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        outcomes: list[Outcome] = [] if learned is None else learned
        del outcomes[len(messages) :]
        for start in range(0, len(messages), _AT_ONCE):
            some = messages[start : start + _AT_ONCE]
            results = await self._deliveries.deliver([_delivery(message) for message in some])
            outcomes[start : start + len(some)] = [_outcome(result) for result in results]
        return outcomes

    async def check(self) -> Outcome | None:
        """There is nobody to ask."""
        return None

    async def close(self) -> None:
        """There is nothing to close."""


def _delivery(message: OutboundMessage) -> InboxDelivery:
    return InboxDelivery(
        tenant_id=TenantId(message.tenant_id),
        # A later step's message is named after its notification too.
        notification_id=NotificationId(message.message_id.partition(".")[0]),
        recipient_id=RecipientId(message.to),
        content=message.text or "",
    )


def _outcome(result: InboxResult) -> Outcome:
    match result:
        case ItemRefused(reason=reason):
            return Refused(reason=reason.replace("_", " "), code=reason)
        case ItemPostponed(reason=reason):
            return TryLater(reason=reason.replace("_", " "), code=reason, after=_AGAIN)
    return Accepted(provider_message_id=result.item_id, delivered=True)
