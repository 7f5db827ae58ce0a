"""What is announced about conversations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.router.conversations.model import Action, Conversation, ConversationId


@dataclass(frozen=True, slots=True)
class Announcer:
    """Makes the events of one tenant's conversations; those of one conversation stay in their order."""

    tenant_id: TenantId
    clock: Clock

    def opened(
        self,
        conversation_id: ConversationId,
        *,
        channel: Channel,
        opened_by: Literal["recipient", "tenant"],
        opened_at: datetime,
        recipient_id: RecipientId | None,
        notification_id: NotificationId | None = None,
    ) -> Event:
        """It began."""
        data = ConversationOpened(
            conversation_id=conversation_id,
            channel=channel,
            opened_by=opened_by,
            opened_at=opened_at,
            recipient_id=recipient_id,
            notification_id=notification_id,
        )
        return self._event(OPENED_SUBJECT, data, conversation_id)

    def received(
        self,
        conversation: Conversation,
        *,
        message_id: str,
        kind: str,
        received_at: datetime,
        recipient_id: RecipientId | None,
        keyword: Action | None,
    ) -> Event:
        """They wrote."""
        data = ConversationMessageReceived(
            conversation_id=conversation.id,
            message_id=message_id,
            channel=conversation.channel,
            kind=kind,
            received_at=received_at,
            recipient_id=recipient_id,
            keyword=keyword,
        )
        return self._event(MESSAGE_RECEIVED_SUBJECT, data, conversation.id)

    def closed(self, conversations: Sequence[Conversation]) -> list[Event]:
        """They are over; each says how."""
        return [
            self._event(
                CLOSED_SUBJECT,
                ConversationClosed(
                    conversation_id=one.id,
                    channel=one.channel,
                    status=cast("Literal['CLOSED_STOP', 'CLOSED_IDLE', 'CLOSED_MANUAL']", one.status),
                    closed_at=one.closed_at or self.clock.now(),
                    recipient_id=one.recipient_id,
                ),
                one.id,
            )
            for one in conversations
        ]

    def _event(self, subject: str, data: Struct, conversation_id: ConversationId) -> Event:
        return new_event(
            subject,
            data,
            tenant_id=self.tenant_id,
            ordering_key=conversation_id,
            source=ROUTER_SOURCE,
            clock=self.clock,
        )
