"""Answers within a conversation: ordinary notifications, by the ordinary way in, so that every gate and every question holds."""

from typing import Final

from tidings.contracts.correspondence import ConversationReply, ReplyKey, ReplyResult
from tidings.kernel.db import CallerRole
from tidings.kernel.idempotency import IdempotencyKey, hash_request
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.order import AcceptedOrder, Order, OrderedBy, accepted, is_written
from tidings.notify.accept.row import Pin
from tidings.notify.recipients.recipient_input import RecipientSpec

#: The platform's, unless the tenant has one of its own with this key.
TEMPLATE: Final = "conversation_reply"
#: Characters; the least that any of these channels takes in one message.
MOST_TEXT: Final = 4000
_CHANNELS: Final = frozenset({"sms", "whatsapp", "telegram", "viber"})
#: Who answers may write notifications; what they may answer was checked by the access guard.
_ROLE: Final[CallerRole] = "tenant.admin"


class NotificationReplier:
    """The contract's `Replier`."""

    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor

    async def reply(self, tenant_id: TenantId, reply: ConversationReply) -> ReplyResult:
        """Order it; it is accepted when this returns. A refusal says what is wrong with it."""
        _refuse(reply)
        key = ReplyKey(conversation_id=reply.conversation_id, idempotency_key=reply.idempotency_key)
        order = Order(
            by=OrderedBy(tenant_id, _ROLE, is_test=reply.is_test),
            recipient=RecipientSpec(id=reply.recipient_id),
            template=TEMPLATE,
            channel=reply.channel,
            variables={"text": reply.text},
            use_case="conversational",
            # A person waits for it.
            priority="high",
            correlation_id=reply.conversation_id,
            pin=Pin(address_id=reply.address_id, vendor=reply.vendor, sender=reply.sender),
            once=_once(key, reply.text),
        )
        [outcome] = await self._acceptor.accept([order])
        return _replied(accepted(outcome))

    async def replied(self, tenant_id: TenantId, *, key: ReplyKey, text: str) -> ReplyResult | None:
        """What became of the same order when it was given before; nothing is ordered."""
        found = await self._acceptor.earlier(OrderedBy(tenant_id, _ROLE), _once(key, text))
        return None if found is None else _replied(found)


def _replied(done: AcceptedOrder) -> ReplyResult:
    return ReplyResult(
        notification_id=done.id,
        created=is_written(done),
        # A new one waits for its turn; an old one has had it, and says by itself what came of it.
        status="scheduled" if done.status == "scheduled" else "queued",
    )


def _refuse(reply: ConversationReply) -> None:
    if reply.channel not in _CHANNELS:
        raise InvalidError(
            [FieldError("channel", f"must be one that people answer on: {', '.join(sorted(_CHANNELS))}")]
        )
    if not reply.text.strip() or len(reply.text) > MOST_TEXT:
        raise InvalidError(
            [FieldError("text", f"must have 1 to {MOST_TEXT} characters, and not blanks alone")]
        )


def _once(key: ReplyKey, text: str) -> IdempotencyKey:
    """Its own keys: one that a caller uses for notifications too means another thing there.

    The conversation says who it goes to, also when that is known no longer.
    """
    said = [part.encode() for part in (key.conversation_id, key.idempotency_key)]
    return IdempotencyKey(
        key=f"reply:{hash_request(*said)}", request_hash=hash_request(b"reply", *said, text.encode())
    )
