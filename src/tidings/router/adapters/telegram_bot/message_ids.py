"""How a bot's messages are called here: Telegram counts them chat by chat, and a chat's number is somebody's address.

So a message is called by a mark of the chat, made with a key that only the bot's token yields, and by its number in the chat.
"""

import hmac
from typing import Final

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
