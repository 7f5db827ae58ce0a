"""What Viber tells a bot: what became of messages, and what people write.

Viber signs the bytes of the body with the bot's token, and no time: what is sent again finds its events taken in. That a person
subscribes is taken as something they wrote, without words: from then on they can be reached. That a person unsubscribes or opens
the chat names no message and is left aside; to a person who has unsubscribed the next message is refused with status 6.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from tidings.contracts.callback_forms import (
    Canonical,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    ReadInbound,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.router.adapters.callbacks.parsing import json_body, require_json, since_1970
from tidings.router.adapters.callbacks.signatures import hex_digest_fits, is_hex_digest
from tidings.router.adapters.callbacks.status_events import MOST_ID, status_event

SIGNATURE_HEADER: Final = "x-viber-content-signature"
#: Their word → ours; events of other names are about no message.
_MEANINGS: Final[Mapping[str, Canonical]] = {
    "delivered": "delivered",
    "seen": "delivered_read",
    "failed": "failed_perm",
}
#: The event of a new subscriber, and the kind of the message that it becomes.
SUBSCRIBED: Final = "subscribed"
#: Viber counts thousandths.
_A_SECOND: Final = 1000


class _Sender(Struct, frozen=True):
    id: str
    name: str | None = None


class _Message(Struct, frozen=True):
    type: str = "text"
    text: str | None = None


class _Callback(Struct, frozen=True):
    event: str
    timestamp: int | None = None
    #: A number, as a rule; a client that can't count so far is sent a text.
    message_token: int | str | None = None
    #: Why it failed.
    desc: str | None = None
    sender: _Sender | None = None
    #: Who subscribed.
    user: _Sender | None = None
    message: _Message | None = None


class ViberForm:
    """Reads a bot's callbacks."""

    name = "viber"
    #: An answer could be a message to the person who opens the chat: nothing is said.
    reply: HookReply | None = HookReply()

    def keys(self, settings: Struct) -> Keys | None:
        """The bot's token; and what the bot is called."""
        token = getattr(settings, "auth_token", None)
        return {"secret": token, "bot": getattr(settings, "bot_id", "")} if token else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether the bot's token signed the body."""
        require_json(request)
        given = request.header(SIGNATURE_HEADER)
        if given is None:
            return UnverifiedCallback("unsigned", "send the header X-Viber-Content-Signature, once")
        if not is_hex_digest(given.strip()):
            return UnverifiedCallback(
                "malformed", "the header X-Viber-Content-Signature must be 64 hexadecimal digits"
            )
        if hex_digest_fits(given.strip(), request.body, keys["secret"]):
            return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch", "the signature does not fit the body and the account's auth_token"
        )

    def read(self, request: RawCallback, keys: Keys) -> ParsedCallback:
        """The one thing that a request says; nothing, where it is about no message."""
        callback = json_body(request, _Callback)
        word = callback.event.lower()
        if word in _MEANINGS:
            return ParsedCallback(events=[_event(callback, word, request.received_at)])
        if word in {"message", SUBSCRIBED}:
            return ParsedCallback(inbound=[_written(callback, keys, request.received_at)])
        return ParsedCallback()


def _event(callback: _Callback, word: str, received_at: datetime) -> ReadEvent:
    return status_event(
        message_id=_token(callback),
        word=word,
        status=_MEANINGS[word],
        at=since_1970(callback.timestamp, received_at, a_second=_A_SECOND),
        discriminator=str(callback.timestamp) if callback.timestamp is not None else word,
        received_at=received_at,
        # Viber has no codes for it: the word is one, so that a line of the status map can say what it means.
        code=word if word == "failed" else None,
        reason=callback.desc,
    )


def _written(callback: _Callback, keys: Keys, received_at: datetime) -> ReadInbound:
    subscribed = callback.event.lower() == SUBSCRIBED
    who = callback.user if subscribed else callback.sender
    if who is None:
        raise InvalidError([FieldError("user" if subscribed else "sender", "is missing")])
    message = _Message(type=SUBSCRIBED) if subscribed else callback.message or _Message()
    return ReadInbound(
        vendor_message_id=_token(callback),
        channel="viber",
        sender=who.id,
        to=keys["bot"],
        text=message.text or "",
        kind=message.type,
        occurred_at=since_1970(callback.timestamp, received_at, a_second=_A_SECOND),
        sender_name=who.name,
    )


def _token(callback: _Callback) -> str:
    if callback.message_token is None:
        raise InvalidError([FieldError("message_token", "is missing")])
    return str(callback.message_token)[:MOST_ID]
