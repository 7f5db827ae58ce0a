"""Answers within a conversation: ordinary notifications, by the ordinary way in, so that every gate and every question holds."""

from dataclasses import replace
from typing import Final

import msgspec

from tidings.contracts.correspondence import Replied, Reply, ReplyKey
from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole
from tidings.kernel.idempotency import hash_request
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.notifications.accept import incoming
from tidings.notify.notifications.intake import Intake, Lane, Once, Ticket
from tidings.notify.notifications.intake import Reply as Answer
from tidings.notify.notifications.model import Pin
from tidings.notify.notifications.order import OrderDesk
from tidings.notify.notifications.wire import AcceptedView, NotificationInput

#: The platform's, unless the tenant has one of its own with this key.
TEMPLATE: Final = "conversation_reply"
#: Characters; the least that any of these channels takes in one message.
MOST_TEXT: Final = 4000
_CHANNELS: Final = frozenset({"sms", "whatsapp", "telegram", "viber"})
#: Who answers may write notifications; what they may answer was asked at the door.
_ROLE: Final[CallerRole] = "tenant.admin"

_read = msgspec.json.Decoder(AcceptedView, strict=False).decode


class IntakeReplier:
    """The contract's `Replier`."""

    def __init__(self, *, desk: OrderDesk, intake: Intake, clock: Clock) -> None:
        self._desk = desk
        self._intake = intake
        self._clock = clock

    async def reply(self, tenant_id: TenantId, reply: Reply) -> Replied:
        """Order it; it is accepted when this returns. A refusal says what is wrong with it."""
        _refuse(reply)
        order = await self._desk.check(
            tenant_id,
            NotificationInput(
                recipient=reply.recipient_id,
                template=TEMPLATE,
                channel=reply.channel,
                variables={"text": reply.text},
                use_case="conversational",
                # Somebody waits for it.
                priority="high",
                correlation_id=reply.conversation_id,
            ),
        )
        pin = Pin(address_id=reply.address_id, vendor=reply.vendor, sender=reply.sender)
        item = incoming(replace(order, pin=pin), now=self._clock.now(), is_test=reply.is_test)
        key = ReplyKey(conversation_id=reply.conversation_id, idempotency_key=reply.idempotency_key)
        once = _once(key, reply.text)
        return _replied(
            await self._intake.one(
                Lane(tenant_id, _ROLE, is_test=reply.is_test), Ticket(item=item, once=once)
            )
        )

    async def replied(self, tenant_id: TenantId, *, key: ReplyKey, text: str) -> Replied | None:
        """What became of the same order when it was given before; nothing is ordered."""
        answer = await self._intake.earlier(Lane(tenant_id, _ROLE), _once(key, text))
        return None if answer is None else _replied(answer)


def _replied(answer: Answer) -> Replied:
    accepted = _read(answer.body)
    return Replied(
        notification_id=NotificationId(accepted.id),
        created=answer.wrote,
        # A new one waits for its turn; an old one has had it, and says by itself what came of it.
        status="scheduled" if accepted.status == "scheduled" else "queued",
    )


def _refuse(reply: Reply) -> None:
    if reply.channel not in _CHANNELS:
        raise InvalidError(
            [FieldError("channel", f"must be one that people answer on: {', '.join(sorted(_CHANNELS))}")]
        )
    if not reply.text.strip() or len(reply.text) > MOST_TEXT:
        raise InvalidError(
            [FieldError("text", f"must have 1 to {MOST_TEXT} characters, and not blanks alone")]
        )


def _once(key: ReplyKey, text: str) -> Once:
    """Its own keys: one that a caller uses for notifications too means another thing there.

    Whom it goes to is the conversation's to say, also when that is known no longer.
    """
    said = [part.encode() for part in (key.conversation_id, key.idempotency_key)]
    return Once(key=f"reply:{hash_request(*said)}", request_hash=hash_request(b"reply", *said, text.encode()))
