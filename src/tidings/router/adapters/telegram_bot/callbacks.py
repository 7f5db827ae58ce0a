"""What Telegram tells a bot: what people write to it, and which buttons they press.

Telegram sends the account's secret itself in a header, and signs nothing. Edited messages are left aside, so that nothing is
done twice. So is `my_chat_member`, with which Telegram says that a person blocked the bot: it is no message and names none; the
next message to them is refused with 403.
"""

import hmac
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from tidings.contracts.callback_forms import (
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadInbound,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.router.adapters.callbacks.parsing import json_body, require_json, since_1970
from tidings.router.adapters.callbacks.signatures import is_one_of

# How a bot's messages are called here: Telegram counts them chat by chat, and a chat's number is a person's address.
#
# So a message is called by a mark of the chat, made with a key that only the bot's token yields, and by its number in the chat.
_PURPOSE: Final = b"tidings telegram chat marks"


def bot_id(token: str) -> str:
    """The bot's own number, which is no secret."""
    return token.partition(":")[0]


def marking_key(token: str) -> str:
    """What chats are marked with; it tells nothing about the token."""
    return hmac.digest(token.encode(), _PURPOSE, "sha256").hex()


def message_name(key: str, chat: str, number: str) -> str:
    """The same for the same message, another one for every other of the bot."""
    mark = hmac.digest(bytes.fromhex(key), chat.encode(), "sha256")[:10].hex()
    return f"{mark}:{number}"


SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"  # noqa: S105  # the name of a header
#: What a message can be, by the field that makes it so; in this order, because some have two of them. A message with none of
#: these was not written by a person: a member joined, something was pinned.
_KINDS: Final = (
    "text",
    "photo",
    "voice",
    "video",
    "video_note",
    "audio",
    "animation",
    "document",
    "sticker",
    "contact",
    "venue",
    "location",
    "poll",
    "dice",
    "story",
    "paid_media",
    "checklist",
)


class _Person(Struct, frozen=True):
    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""


class _Chat(Struct, frozen=True):
    id: int


class _Earlier(Struct, frozen=True):
    """The message that is answered, or that has the pressed button."""

    message_id: int
    chat: _Chat


class _Message(Struct, frozen=True):
    message_id: int
    chat: _Chat
    date: int
    from_: _Person | None = msgspec.field(default=None, name="from")
    reply_to_message: _Earlier | None = None
    text: str | None = None
    caption: str | None = None
    photo: Any = None
    voice: Any = None
    video: Any = None
    video_note: Any = None
    audio: Any = None
    animation: Any = None
    document: Any = None
    sticker: Any = None
    contact: Any = None
    venue: Any = None
    location: Any = None
    poll: Any = None
    dice: Any = None
    story: Any = None
    paid_media: Any = None
    checklist: Any = None


class _Pressed(Struct, frozen=True):
    id: str
    from_: _Person = msgspec.field(name="from")
    message: _Earlier | None = None
    data: str = ""


class _Update(Struct, frozen=True):
    update_id: int
    message: _Message | None = None
    callback_query: _Pressed | None = None


class TelegramForm:
    """Reads a bot's updates."""

    name = "telegram_bot"
    #: An answer is an order to the bot: nothing is said, but for a button that was pressed.
    reply: HookReply | None = HookReply()

    def keys(self, settings: Struct) -> Keys | None:
        """The secret; and what the bot and its messages are called."""
        secret, token = getattr(settings, "webhook_secret", None), getattr(settings, "token", "")
        if not secret:
            return None
        return {"secret": secret, "bot": bot_id(token), "marking": marking_key(token)}

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether the sender knows the secret."""
        require_json(request)
        given = request.header(SECRET_HEADER)
        if not given:
            return UnverifiedCallback(
                "unsigned",
                "send the header X-Telegram-Bot-Api-Secret-Token: call setWebhook with secret_token",
            )
        if is_one_of(given, secrets_of(keys["secret"])):
            return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch",
            "the secret is not the account's webhook_secret; call setWebhook with that one as secret_token",
        )

    def read(self, request: RawCallback, keys: Keys) -> ParsedCallback:
        """The one thing that an update says."""
        update = json_body(request, _Update)
        if update.message is not None:
            written = _written(update.message, keys, request.received_at)
            return ParsedCallback(inbound=[written] if written is not None else [])
        if update.callback_query is not None:
            pressed = update.callback_query
            return ParsedCallback(inbound=[_pressed(pressed, keys)], reply=_acknowledged(pressed))
        return ParsedCallback()


def _written(message: _Message, keys: Keys, received_at: datetime) -> ReadInbound | None:
    kind = next((name for name in _KINDS if getattr(message, name) is not None), None)
    if kind is None or (message.from_ is not None and message.from_.is_bot):
        return None
    earlier = message.reply_to_message
    return ReadInbound(
        vendor_message_id=message_name(keys["marking"], str(message.chat.id), str(message.message_id)),
        channel="telegram",
        sender=str(message.chat.id),
        to=keys["bot"],
        text=message.text or message.caption or "",
        kind=kind,
        occurred_at=since_1970(message.date, received_at),
        sender_name=_name(message.from_),
        answers=_named(earlier, keys),
    )


def _pressed(pressed: _Pressed, keys: Keys) -> ReadInbound:
    """A button; Telegram does not say when it was pressed."""
    chat = pressed.message.chat.id if pressed.message is not None else pressed.from_.id
    return ReadInbound(
        vendor_message_id=f"callback:{pressed.id}"[:200],
        channel="telegram",
        sender=str(chat),
        to=keys["bot"],
        text=pressed.data,
        kind="button",
        occurred_at=None,
        sender_name=_name(pressed.from_),
        answers=_named(pressed.message, keys),
    )


def _acknowledged(pressed: _Pressed) -> HookReply:
    """Until then the button turns. What answers a webhook is carried out as a call would be (core.telegram.org/bots/api,
    "Making requests when getting updates")."""
    said = {"method": "answerCallbackQuery", "callback_query_id": pressed.id}
    return HookReply(body=msgspec.json.encode(said))


def _named(earlier: _Earlier | None, keys: Keys) -> str | None:
    return message_name(keys["marking"], str(earlier.chat.id), str(earlier.message_id)) if earlier else None


def _name(person: _Person | None) -> str | None:
    return " ".join(f"{person.first_name} {person.last_name}".split()) or None if person is not None else None
