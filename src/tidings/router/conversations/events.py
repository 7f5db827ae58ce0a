"""What is announced about conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from msgspec import Struct

from tidings.contracts.conversations import (
    CLOSED_SUBJECT,
    MESSAGE_RECEIVED_SUBJECT,
    OPENED_SUBJECT,
    ConversationClosed,
    ConversationMessageReceived,
    ConversationOpened,
)
from tidings.contracts.events import ROUTER_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.router.conversations.model import Conversation


@dataclass(frozen=True, slots=True)
class Announcer:
    """Makes the events of one tenant's conversations; those of one conversation stay in their order."""

    tenant_id: TenantId
    clock: Clock

    def opened(self, data: ConversationOpened) -> Event:
        """It began."""
        return self._event(OPENED_SUBJECT, data, data.conversation_id)

    def received(self, data: ConversationMessageReceived) -> Event:
        """They wrote."""
        return self._event(MESSAGE_RECEIVED_SUBJECT, data, data.conversation_id)

    def closed(self, conversations: Sequence[Conversation]) -> list[Event]:
        """They are over; each says how."""
        return [
            self.ended(
                by_name(
                    ConversationClosed,
                    one,
                    conversation_id=one.id,
                    status=cast("Literal['CLOSED_STOP', 'CLOSED_IDLE', 'CLOSED_MANUAL']", one.status),
                    closed_at=one.closed_at or self.clock.now(),
                )
            )
            for one in conversations
        ]

    def ended(self, data: ConversationClosed) -> Event:
        """One is over."""
        return self._event(CLOSED_SUBJECT, data, data.conversation_id)

    def _event(self, subject: str, data: Struct, conversation_id: str) -> Event:
        return new_event(
            subject,
            data,
            tenant_id=self.tenant_id,
            ordering_key=conversation_id,
            source=ROUTER_SOURCE,
            clock=self.clock,
        )
