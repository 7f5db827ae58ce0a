"""Mailgun's protocol: a form with a whole mail or with its pieces, and events with the proof in their body."""

import email
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.policy import HTTP
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.mail_text import asked_of_mail
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.receipts import SandboxReceipt

_SEND = re.compile(r"/v3/[A-Za-z0-9.-]+/messages(\.mime)?")
_DOMAIN = re.compile(r"/v[34]/domains/([A-Za-z0-9.-]+)")
#: Whose Message-IDs these are.
_HOST: Final = "sandbox.mailgun.org"
#: A receipt's word → what Mailgun says of it.
_EVENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "accepted": {"event": "accepted"},
    "sent": {"event": "accepted"},
    "delivered": {"event": "delivered", "delivery-status": {"code": 250, "message": "OK"}},
    "read": {"event": "opened"},
    "failed": {
        "event": "failed",
        "severity": "permanent",
        "reason": "generic",
        "delivery-status": {"code": 550, "message": "5.7.1 it was not taken"},
    },
    "rejected": {
        "event": "failed",
        "severity": "permanent",
        "reason": "suppress-unsubscribe",
        "delivery-status": {"code": 606, "message": "Not delivering to unsubscribed address"},
    },
    "bounced": {
        "event": "failed",
        "severity": "permanent",
        "reason": "bounce",
        "delivery-status": {"code": 550, "message": "5.1.1 there is no such mailbox"},
    },
    "complaint": {"event": "complained"},
}
_REFUSALS: Final[Mapping[Trouble, tuple[int, str]]] = {
    "invalid_recipient": (400, "to parameter is not a valid address. please check documentation"),
    "blocked": (400, "the recipient is not one that is written to"),
    "throttled": (429, "Domain is not allowed to send: request limit exceeded, try again later"),
    "unavailable": (503, "service unavailable"),
    "unauthorised": (401, "Invalid private key"),
}


class MailgunDialect(Dialect):
    """Speaks as Mailgun does."""

    name = "mailgun"

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A mail, or a question about the domain."""
        if not request.headers.get("authorization", "").startswith("Basic "):
            return _error("unauthorised")
        if request.method == "GET" and (domain := _DOMAIN.fullmatch(request.path)):
            return json_answer({"domain": {"name": domain[1], "state": "active"}})
        found = _SEND.fullmatch(request.path)
        if request.method != "POST" or not found:
            # What any other address is told, with a status that says yes.
            return SandboxResponse(body=b"Mailgun Magnificent API", media_type="text/plain")
        fields = _fields(request)
        to = tuple(text for text in fields.get("to", b"").decode("utf-8", "replace").split(",") if text)
        if not to:
            return json_answer({"message": "to parameter is missing"}, status=400)
        if found[1]:
            return asked_of_mail(fields.get("message", b""), to=to)
        words = {name: value.decode("utf-8", "replace") for name, value in fields.items()}
        return SubmittedMessage(
            channel="email",
            sender=words.get("from", ""),
            to=to,
            subject=words.get("subject"),
            text=words.get("text"),
            html=words.get("html"),
        )

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:  # the same for all
        """Its Message-ID, in brackets."""
        return json_answer({"id": f"<{message_id}@{_HOST}>", "message": "Queued. Thank you."})

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """A sentence."""
        return _error(trouble, retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """Each in a request of its own."""
        return [_call(receipt, hook, now) for receipt in receipts]


def _call(receipt: SandboxReceipt, hook: SandboxHook, now: datetime) -> WebhookRequest:
    timestamp, token = str(int(now.timestamp())), hashlib.sha256(receipt.id.encode()).hexdigest()[:50]
    secret = hook.signing_secret(forged=receipt.beat.forged)
    proof = hmac.new(secret.encode(), f"{timestamp}{token}".encode(), hashlib.sha256).hexdigest()
    body = {
        "signature": {"timestamp": timestamp, "token": token, "signature": proof},
        "event-data": {
            "id": hashlib.sha256(f"id:{receipt.id}".encode()).hexdigest()[:22],
            "timestamp": receipt.happened_at.timestamp(),
            "log-level": "info",
            "recipient": "someone@example.test",
            "message": {"headers": {"message-id": f"{receipt.message_id}@{_HOST}"}},
            **_EVENTS[receipt.beat.status],
        },
    }
    return WebhookRequest(
        url=hook.url,
        headers={"Content-Type": "application/json"},
        body=msgspec.json.encode(body),
        receipts=[receipt],
    )


def _error(trouble: Trouble, retry_after: int | None = None) -> SandboxResponse:
    status, words = _REFUSALS[trouble]
    return json_answer({"message": words}, status=status, retry_after=retry_after)


def _fields(request: SandboxRequest) -> dict[str, bytes]:
    """The fields of a form, in either of the two ways that browsers have."""
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data"):
        pairs = parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        return {name: value.encode() for name, value in pairs}
    form = email.message_from_bytes(
        b"Content-Type: " + kind.encode("latin-1", "replace") + b"\r\n\r\n" + request.body, policy=HTTP
    )
    found: dict[str, bytes] = {}
    for part in form.iter_parts() if form.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        if isinstance(name, str):
            found[name] = _content(part)
    return found


def _content(part: Any) -> bytes:
    """As it came: a mail inside is parsed on the way, and written out again."""
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        return bytes(inner[0].as_bytes()) if inner else b""
    return bytes(part.get_payload(decode=True) or b"")
