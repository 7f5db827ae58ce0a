"""Telegram as its Bot API speaks it: `POST /bot{token}/sendMessage`, updates with the secret of the hook."""

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.kernel.clock import SystemClock
from tidings.sandbox.dialects.dialect import Dialect, InboundText, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer

_PATH = re.compile(r"/bot(?P<token>[^/]+)/(?P<method>[A-Za-z]+)/?")
_TOKEN = re.compile(r"(?P<bot>[0-9]{3,20}):[A-Za-z0-9_-]{20,200}")
_CHAT = re.compile(r"-?[0-9]{1,19}|@[A-Za-z0-9_]+")
_MOST_CHARACTERS: Final = 4096

#: Why Telegram says no, as github.com/tdlib/telegram-bot-api words it.
_REFUSALS: Final[Mapping[Trouble, tuple[int, str]]] = {
    "invalid_recipient": (400, "Bad Request: chat not found"),
    "blocked": (403, "Forbidden: bot was blocked by the user"),
    "unavailable": (503, "Service Unavailable"),
    "unauthorised": (401, "Unauthorized"),
}


class TelegramDialect(Dialect):
    """Plays Telegram."""

    name = "telegram_bot"
    tells = False

    def __init__(self) -> None:
        self._clock = SystemClock()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A message; or what else a bot is asked."""
        path = _PATH.fullmatch(request.path)
        token = _TOKEN.fullmatch(path["token"]) if path is not None else None
        if path is None:
            return _error(404, "Not Found")
        if token is None:
            return _error(*_REFUSALS["unauthorised"])
        bot, method = token["bot"], path["method"].lower()
        if method == "getme":
            return _ok(_bot(bot))
        if method in {"setwebhook", "deletewebhook", "answercallbackquery"}:
            return _ok(True)
        return _asked(bot, request) if method == "sendmessage" else _error(404, "Not Found: method not found")

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """The message as the bot has sent it."""
        (chat,) = asked.to
        return _ok(
            {
                "message_id": _number(message_id),
                "from": _bot(asked.sender),
                "chat": {"id": _chat(chat), "first_name": "Sandbox", "type": "private"},
                "date": int(self._clock.now().timestamp()),
                "text": asked.text,
            }
        )

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """Telegram's number and words."""
        if trouble == "throttled":
            wait = retry_after or 1
            return _error(429, f"Too Many Requests: retry after {wait}", parameters={"retry_after": wait})
        return _error(*_REFUSALS[trouble])

    def inbound(self, said: InboundText, hook: SandboxHook, now: datetime) -> WebhookRequest | None:
        """An update with a text."""
        if not _CHAT.fullmatch(said.sender):
            return None
        chat = _chat(said.sender)
        update = {
            "update_id": _number(f"update {said.id}"),
            "message": {
                "message_id": _number(said.id),
                "from": {"id": chat, "is_bot": False, "first_name": "Sandbox", "last_name": "Person"},
                "chat": {"id": chat, "first_name": "Sandbox", "last_name": "Person", "type": "private"},
                "date": int(said.at.timestamp()),
                "text": said.text,
            },
        }
        headers = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": hook.secret}
        return WebhookRequest(url=hook.url, headers=headers, body=msgspec.json.encode(update))


def _asked(bot: str, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
    try:
        given = msgspec.json.decode(request.body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _error(400, "Bad Request: can't parse JSON object")
    chat, text = str(given.get("chat_id", "")), given.get("text")
    if not chat:
        return _error(400, "Bad Request: chat_id is empty")
    if not _CHAT.fullmatch(chat):
        return _error(*_REFUSALS["invalid_recipient"])
    if not isinstance(text, str) or not text.strip():
        return _error(400, "Bad Request: message text is empty")
    if len(text) > _MOST_CHARACTERS:
        return _error(400, "Bad Request: message is too long")
    return SubmittedMessage(channel="telegram", sender=bot, to=(chat,), text=text)


def _number(name: str) -> int:
    """Telegram counts; the same name is always the same number."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big") & 0x7FFFFFFF


def _chat(text: str) -> int | str:
    return text if text.startswith("@") else int(text)


def _bot(bot: str) -> dict[str, Any]:
    return {"id": int(bot), "is_bot": True, "first_name": "Sandbox", "username": "sandbox_bot"}


def _ok(result: object) -> SandboxResponse:
    return json_answer({"ok": True, "result": result})


def _error(status: int, words: str, *, parameters: dict[str, int] | None = None) -> SandboxResponse:
    error: dict[str, Any] = {"ok": False, "error_code": status, "description": words}
    if parameters is not None:
        error["parameters"] = parameters
    return json_answer(error, status=status)
