"""What a tenant's webhook is told: one message."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.kernel.errors import TidingsError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.mapping import by_name
from tidings.router.conversations.sealing import open_address, open_words
from tidings.router.inbound_routes.delivery_store import Due

_encode = msgspec.json.Encoder().encode


class WebhookPayload(Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A message that somebody wrote."""

    #: `message.received`; `test` for one that nobody wrote.
    type: str
    #: The message's: the same however often it is told.
    id: str
    conversation_id: str | None
    channel: str | None
    from_: str | None
    to: str
    text: str | None
    kind: str
    #: What it asks for, where it is one of the keywords: `stop`, `start`, `help`.
    keyword: str | None
    received_at: Moment
    #: As the vendor says.
    occurred_at: Moment | None
    recipient_id: str | None
    #: The writer's name, as the vendor shows it.
    sender_name: str | None

    def __repr__(self) -> str:
        return f"WebhookPayload({self.id}, ***)"


def letter_of(due: Due, keys: Mapping[str, DataKey]) -> bytes | None:
    """The body; None where what was written can't be read any more, because the person was erased."""
    words_key, address_key = keys.get(due.key_subject or ""), keys.get(due.address_subject or "")
    if (
        words_key is None
        or address_key is None
        or due.ciphertext is None
        or due.address is None
        or due.message_id is None
        or due.conversation_id is None
        or due.at is None
    ):
        return None
    try:
        words = open_words(words_key, due.message_id, due.ciphertext)
        address = open_address(address_key, due.conversation_id, due.address)
    except (TidingsError, msgspec.DecodeError):
        return None
    return _encode(
        by_name(
            WebhookPayload,
            due,
            type="message.received",
            id=due.message_id,
            from_=address,
            to=due.to or "",
            text=words.text,
            kind=due.kind or "text",
            keyword=due.action,
            received_at=due.at,
            sender_name=words.name,
        )
    )


def trial_letter(message_id: str, inbound: str, *, now: datetime) -> bytes:
    """One that nobody wrote."""
    return _encode(
        WebhookPayload(
            type="test",
            id=message_id,
            conversation_id=None,
            channel=None,
            from_=None,
            to=inbound,
            text="This is a test: nobody wrote it.",
            kind="text",
            keyword=None,
            received_at=now,
            occurred_at=None,
            recipient_id=None,
            sender_name=None,
        )
    )
