"""Vonage's dialect: the Messages API, version 1, and webhooks with a JWT over the hash of their body."""

import base64
import hashlib
import hmac
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import msgspec

from tidings.sandbox.dialects.dialect import Dialect, InboundText, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.memory import Memory
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.reading import read_object
from tidings.sandbox.receipts import SandboxReceipt, moment

_ERRORS: Final = "https://developer.vonage.com/api-errors"
#: Status, the error's address, title, words.
_TROUBLES: Final[Mapping[Trouble, tuple[int, str, str, str]]] = {
    "invalid_recipient": (
        422,
        "messages#1170",
        "Invalid or Missing Msisdn Param",
        "The phone number you supplied in the to parameter of your request was either missing or invalid.",
    ),
    "blocked": (422, "messages#1240", "Illegal Number", "The user has already sent a STOP opt-out message."),
    "throttled": (429, "messages#1000", "Throttled", "You have exceeded the submission capacity."),
    "unavailable": (503, "messages#1030", "Internal error", "There was an error processing your request."),
    "unauthorised": (401, "#unauthorized", "Unauthorized", "You did not provide correct credentials."),
}
#: A receipt's word → Vonage's; what is missing Vonage does not tell of texts.
_WORDS: Final = {"sent": "submitted", "delivered": "delivered", "failed": "rejected", "rejected": "rejected"}
#: What a text costs where the script does not say.
_USUAL: Final = {"currency": "EUR", "price": "0.0333"}


class VonageDialect(Dialect):
    """Speaks as Vonage does."""

    name = "vonage"

    def __init__(self) -> None:
        self._memory = Memory()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A text, or the list of applications."""
        if not request.headers.get("authorization", "").startswith(("Basic ", "Bearer ")):
            return _problem("unauthorised")
        if request.method == "GET" and request.path == "/v2/applications":
            return json_answer(
                {"page_size": 1, "page": 1, "total_items": 0, "_embedded": {"applications": []}}
            )
        if request.method != "POST" or request.path != "/v1/messages":
            return json_answer({"type": f"{_ERRORS}#not-found", "title": "Not Found"}, status=404)
        body = read_object(request.body)
        to, sender, text = body.get("to"), body.get("from"), body.get("text")
        if not (isinstance(to, str) and isinstance(sender, str) and isinstance(text, str) and text):
            return _invalid("to, from and text are needed")
        if body.get("channel") != "sms" or body.get("message_type") != "text":
            return _invalid("channel must be sms, message_type text")
        if to.startswith("+"):
            return _invalid("to must not have a leading +")
        return SubmittedMessage(channel="sms", sender=sender, to=(f"+{to}",), text=text)

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """202 with the id."""
        self._memory.keep(message_id, asked)
        return json_answer({"message_uuid": _uuid(message_id)}, status=202)

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """A problem with its code."""
        return _problem(trouble, retry_after=retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """A webhook for each."""
        calls = []
        for receipt in receipts:
            told = _told(receipt, self._memory.get(receipt.message_id))
            if told is not None:
                calls.append(_signed(told, hook, now, forged=receipt.beat.forged, receipts=(receipt,)))
        return calls

    def inbound(self, said: InboundText, hook: SandboxHook, now: datetime) -> WebhookRequest | None:
        """A text that a person wrote."""
        if said.channel != "sms":
            return None
        words = said.text.split()
        told = {
            "channel": "sms",
            "message_uuid": _uuid(said.id),
            "to": said.to.removeprefix("+"),
            "from": said.sender.removeprefix("+"),
            "timestamp": moment(said.at),
            "message_type": "text",
            "text": said.text,
            "sms": {"num_messages": "1", "keyword": words[0].upper() if words else ""},
        }
        return _signed(told, hook, now)


def _told(receipt: SandboxReceipt, asked: SubmittedMessage | None) -> dict[str, Any] | None:
    beat = receipt.beat
    word = _WORDS.get(beat.status)
    if word is None:
        return None
    told: dict[str, Any] = {
        "message_uuid": _uuid(receipt.message_id),
        "to": asked.to[0].removeprefix("+") if asked is not None else "",
        "from": asked.sender if asked is not None else "",
        "timestamp": moment(receipt.happened_at),
        "status": word,
        "channel": "sms",
    }
    if beat.cost is not None:
        price = Decimal(beat.cost.micros) / 1_000_000
        told["usage"] = {"currency": beat.cost.currency, "price": f"{price:f}"}
    elif word == "submitted":
        told |= {"usage": _USUAL, "sms": {"count_total": "1"}}
    if word == "rejected":
        usual = "1260" if beat.status == "failed" else "1280"
        code = beat.code if beat.code is not None and beat.code.isdecimal() else usual
        words = beat.reason or "The message could not be delivered."
        told["error"] = {"type": f"{_ERRORS}/messages#{code}", "title": code, "detail": words}
    return told


def _signed(
    told: Mapping[str, Any],
    hook: SandboxHook,
    now: datetime,
    *,
    forged: bool = False,
    receipts: Sequence[SandboxReceipt] = (),
) -> WebhookRequest:
    body = msgspec.json.encode(told)
    secret = hook.signing_secret(forged=forged).split()[0]
    claims = {
        "iat": int(now.timestamp()),
        "jti": _uuid(body.decode()),
        "iss": "Vonage",
        "payload_hash": hashlib.sha256(body).hexdigest(),
        "api_key": "a1b2c3d4",
    }
    signed = _packed(b'{"alg":"HS256","typ":"JWT"}') + b"." + _packed(msgspec.json.encode(claims))
    token = signed + b"." + _packed(hmac.digest(secret.encode(), signed, "sha256"))
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token.decode()}"}
    return WebhookRequest(url=hook.url, headers=headers, body=body, receipts=receipts)


def _problem(trouble: Trouble, *, retry_after: int | None = None) -> SandboxResponse:
    status, where, title, words = _TROUBLES[trouble]
    address = f"{_ERRORS}{where}" if where.startswith("#") else f"{_ERRORS}/{where}"
    return json_answer(
        {"type": address, "title": title, "detail": words}, status=status, retry_after=retry_after
    )


def _invalid(words: str) -> SandboxResponse:
    said = {"type": f"{_ERRORS}/messages#1020", "title": "Invalid params", "detail": words}
    return json_answer(said, status=422)


def _uuid(name: str) -> str:
    return str(uuid.UUID(bytes=hashlib.blake2b(name.encode(), digest_size=16).digest(), version=4))


def _packed(content: bytes) -> bytes:
    return base64.urlsafe_b64encode(content).rstrip(b"=")
