"""SendGrid's protocol: `POST /v3/mail/send`, and signed events."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.reading import read_object
from tidings.sandbox.receipts import SandboxReceipt

#: A receipt's word → what SendGrid says of it.
_EVENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "accepted": {"event": "processed"},
    "sent": {"event": "processed"},
    "delivered": {"event": "delivered", "response": "250 2.0.0 OK"},
    "read": {"event": "open", "useragent": "Mozilla/5.0"},
    "failed": {"event": "bounce", "type": "blocked", "status": "5.7.1"},
    "rejected": {"event": "dropped", "reason": "Unsubscribed Address"},
    "bounced": {"event": "bounce", "type": "bounce", "status": "5.1.1"},
    "complaint": {"event": "spamreport"},
}
_REFUSALS: Final[Mapping[Trouble, tuple[int, str, str | None]]] = {
    "invalid_recipient": (400, "Does not contain a valid address.", "personalizations.0.to.0.email"),
    "blocked": (400, "The recipient is not one that is written to.", None),
    "throttled": (429, "too many requests", None),
    "unavailable": (503, "service unavailable", None),
    "unauthorised": (401, "The provided authorization grant is invalid, expired, or revoked", None),
}
#: Of the curve's points; a key is between one and this.
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class SendgridDialect(Dialect):
    """Speaks as SendGrid does."""

    name = "sendgrid"

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A mail, or what the key may do."""
        if not request.headers.get("authorization", "").startswith("Bearer "):
            return _error(*_REFUSALS["unauthorised"])
        if (request.method, request.path) == ("GET", "/v3/scopes"):
            return json_answer({"scopes": ["mail.send"]})
        if (request.method, request.path) != ("POST", "/v3/mail/send"):
            return json_answer({"errors": [{"message": "not found", "field": None}]}, status=404)
        body = read_object(request.body)
        to = [
            str(one["email"])
            for person in _objects(body.get("personalizations"))
            for one in _objects(person.get("to"))
            if "email" in one
        ]
        if not to:
            return _error(400, "The personalizations field is required.", "personalizations")
        contents = {str(one.get("type")): str(one.get("value")) for one in _objects(body.get("content"))}
        if not contents:
            return _error(400, "Unless a valid template_id is provided, the content is required.", "content")
        sender = body.get("from")
        return SubmittedMessage(
            channel="email",
            sender=str(sender.get("email", "")) if isinstance(sender, dict) else "",
            to=tuple(to),
            subject=str(body.get("subject", "")),
            text=contents.get("text/plain"),
            html=contents.get("text/html"),
        )

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:  # the same for all
        """202, nothing in it, and the id in a header."""
        return SandboxResponse(status=202, media_type="text/plain", headers={"x-message-id": message_id})

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """A list of errors."""
        return _error(*_REFUSALS[trouble], retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """All in one request, and the forged ones in another."""
        calls = []
        for forged in (False, True):
            told = [receipt for receipt in receipts if receipt.beat.forged is forged]
            if told:
                body = msgspec.json.encode([_event(receipt) for receipt in told]) + b"\r\n"
                secret = hook.signing_secret(forged=forged)
                headers = _signed(secret, body, now)
                calls.append(WebhookRequest(url=hook.url, headers=headers, body=body, receipts=told))
        return calls


def verification_key(secret: str) -> str:
    """What an account verifies with, where the hook has this secret."""
    key = _key(secret).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(key).decode("ascii")


def _key(secret: str) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(hashlib.sha512(secret.encode()).digest(), "big") % (_ORDER - 1) + 1
    return ec.derive_private_key(number, ec.SECP256R1())


def _signed(secret: str, body: bytes, now: datetime) -> dict[str, str]:
    timestamp = str(int(now.timestamp()))
    signature = _key(secret).sign(timestamp.encode() + body, ec.ECDSA(SHA256()))
    return {
        "Content-Type": "application/json",
        "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
        "X-Twilio-Email-Event-Webhook-Signature": base64.b64encode(signature).decode("ascii"),
    }


def _event(receipt: SandboxReceipt) -> dict[str, Any]:
    event: dict[str, Any] = {
        "email": "someone@example.test",
        "timestamp": int(receipt.happened_at.timestamp()),
        "sg_event_id": base64.urlsafe_b64encode(receipt.id.encode()).decode("ascii"),
        "sg_message_id": f"{receipt.message_id}.recvd-5f54b5d587-pczjm-1-67BADEEA-6.0",
        **_EVENTS[receipt.beat.status],
    }
    if receipt.beat.reason is not None and event["event"] == "bounce":
        event["reason"] = receipt.beat.reason
    return event


def _error(status: int, words: str, where: str | None, retry_after: int | None = None) -> SandboxResponse:
    error = {"message": words, "field": where, "help": None}
    return json_answer({"errors": [error]}, status=status, retry_after=retry_after)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
