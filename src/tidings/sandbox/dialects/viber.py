"""Viber as its REST Bot API speaks it: `POST /pa/send_message`, callbacks signed with the bot's token."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.contracts.callbacks import ReceiptWord
from tidings.sandbox.dialects.dialect import Dialect, InboundText, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.memory import Memory
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.receipts import SandboxReceipt

#: What every token's bot is called here.
BOT_ID: Final = "pa:sandbox"
_MOST_CHARACTERS: Final = 7000

#: Why Viber says no; its answer is a success all the same.
_REFUSALS: Final[Mapping[Trouble, tuple[int, str]]] = {
    "invalid_recipient": (5, "receiverNotRegistered"),
    "blocked": (6, "receiverNotSubscribed"),
    "throttled": (12, "tooManyRequests"),
    "unauthorised": (2, "invalidAuthToken"),
}
#: What became of a message → Viber's word; nothing where Viber tells nothing.
_TOLD: Final[Mapping[ReceiptWord, str]] = {
    "delivered": "delivered",
    "read": "seen",
    "failed": "failed",
    "rejected": "failed",
    "bounced": "failed",
    "complaint": "failed",
}


class ViberDialect(Dialect):
    """Plays Viber."""

    name = "viber"

    def __init__(self) -> None:
        self._memory = Memory()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A message; or what else a bot is asked."""
        if not request.headers.get("x-viber-auth-token", "").strip():
            return _said(*_REFUSALS["unauthorised"])
        method = request.path.strip("/")
        if request.method != "POST" or method not in {
            "pa/send_message",
            "pa/get_account_info",
            "pa/set_webhook",
        }:
            return json_answer({"status": 3, "status_message": "badData"}, status=404)
        if method == "pa/get_account_info":
            return _said(0, "ok", id=BOT_ID, name="Sandbox", uri="sandbox")
        if method == "pa/set_webhook":
            return _said(0, "ok", event_types=["delivered", "seen", "failed"])
        return _asked(request.body)

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """Taken under a number made of the id of the sandbox."""
        self._memory.keep(message_id, asked)
        return _said(0, "ok", message_token=_token(message_id), chat_hostname="SN-SANDBOX", billing_status=1)

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """Viber's number and word."""
        if trouble == "unavailable":
            return SandboxResponse(
                status=503, body=b"<html>Service Unavailable</html>", media_type="text/html; charset=utf-8"
            )
        return _said(*_REFUSALS[trouble])

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """One request for each."""
        return [self._told(receipt, hook) for receipt in receipts if receipt.beat.status in _TOLD]

    def inbound(self, said: InboundText, hook: SandboxHook, now: datetime) -> WebhookRequest | None:
        """A text, with the name of the person who wrote it."""
        body = {
            "event": "message",
            "timestamp": _moment(said.at),
            "message_token": _token(said.id),
            "sender": {
                "id": said.sender,
                "name": "Sandbox Person",
                "country": "UK",
                "language": "en",
                "api_version": 1,
            },
            "message": {"type": "text", "text": said.text},
            "silent": False,
        }
        return _call(hook, body)

    def _told(self, receipt: SandboxReceipt, hook: SandboxHook) -> WebhookRequest:
        word, asked = _TOLD[receipt.beat.status], self._memory.get(receipt.message_id)
        body = {
            "event": word,
            "timestamp": _moment(receipt.happened_at),
            "message_token": _token(receipt.message_id),
            "user_id": asked.to[0] if asked is not None else "",
        }
        if word == "failed":
            body["desc"] = receipt.beat.reason or "failure description"
        return _call(hook, body, forged=receipt.beat.forged, told=[receipt])


def _asked(body: bytes) -> SubmittedMessage | SandboxResponse:
    try:
        given = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _said(3, "badData")
    to, sender, text = given.get("receiver"), given.get("sender"), given.get("text")
    name = sender.get("name") if isinstance(sender, dict) else None
    if not isinstance(to, str) or not to or not isinstance(name, str) or not name:
        return _said(4, "missingData")
    if not isinstance(text, str) or not text or len(text) > _MOST_CHARACTERS:
        return _said(3, "badData")
    return SubmittedMessage(channel="viber", sender=name, to=(to,), text=text)


def _token(name: str) -> int:
    """Viber counts; the same name is always the same number."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=7).digest(), "big")


def _moment(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _said(status: int, words: str, **more: object) -> SandboxResponse:
    return json_answer({"status": status, "status_message": words, **more})


def _call(
    hook: SandboxHook, value: dict[str, Any], *, forged: bool = False, told: Sequence[SandboxReceipt] = ()
) -> WebhookRequest:
    body = msgspec.json.encode(value)
    secret = hook.signing_secret(forged=forged)
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-Viber-Content-Signature": digest}
    return WebhookRequest(url=hook.url, headers=headers, body=body, receipts=told)
