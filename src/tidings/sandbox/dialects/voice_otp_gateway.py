"""The dialect of a voice gateway, as docs/vendors/voice-otp-gateway.md describes it."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.hooks import SandboxHook, signed
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.reading import read_object
from tidings.sandbox.receipts import SandboxReceipt, moment

#: Status, code, words.
_TROUBLES: Final[Mapping[Trouble, tuple[int, str, str]]] = {
    "invalid_recipient": (422, "invalid_number", "there is no such number"),
    "blocked": (422, "blocked", "this number takes no calls from here"),
    "throttled": (429, "rate_limited", "too many calls, slow down"),
    "unavailable": (503, "unavailable", "try again later"),
    "unauthorised": (401, "unauthorised", "the token is not known"),
}
#: A receipt's word → the gateway's, and its code where it fails.
_WORDS: Final = {"accepted": "queued", "sent": "ringing", "delivered": "completed", "failed": "failed"}
#: What a call costs where the script does not say.
_USUAL: Final = {"micros": 50_000, "currency": "USD"}


class VoiceOtpDialect(Dialect):
    """Speaks as the gateway's owner would have it."""

    name = "voice_otp_gateway"

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A call, or a question about the account."""
        if not request.headers.get("authorization", "").startswith("Bearer "):
            return _error("unauthorised")
        if request.method == "GET" and request.path == "/account":
            return json_answer({"status": "active"})
        if request.method != "POST" or request.path != "/calls":
            error = {"code": "not_found", "message": "there is POST /calls and GET /account"}
            return json_answer({"error": error}, status=404)
        body = read_object(request.body)
        reference, to, text = (body.get(name) for name in ("reference", "to", "text"))
        if not all(isinstance(value, str) and value for value in (reference, to, text)):
            error = {"code": "invalid_request", "message": "reference, to and text are needed"}
            return json_answer({"error": error}, status=400)
        return SubmittedMessage(
            channel="voice",
            sender=str(body.get("from") or ""),
            to=(str(to),),
            key=str(reference),
            text=str(text),
        )

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """202 with the call's id."""
        return json_answer({"id": f"call_{message_id}", "status": "queued"}, status=202)

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """An error with its code."""
        return _error(trouble, retry_after=retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """All of them in one request."""
        told = [(receipt, event) for receipt in receipts if (event := _told(receipt)) is not None]
        if not told:
            return []
        body = msgspec.json.encode({"events": [event for _, event in told]})
        # Another id for every request, the same for the same one.
        webhook_id = "hook_" + hashlib.blake2b(body, digest_size=12).hexdigest()
        headers = signed(
            hook, webhook_id=webhook_id, body=body, now=now, forged=any(r.beat.forged for r, _ in told)
        )
        return [
            WebhookRequest(
                url=hook.url, headers=headers, body=body, receipts=[receipt for receipt, _ in told]
            )
        ]


def _told(receipt: SandboxReceipt) -> dict[str, Any] | None:
    beat = receipt.beat
    word = "failed" if beat.status == "rejected" else _WORDS.get(beat.status)
    if word is None:
        return None
    event: dict[str, Any] = {
        "id": receipt.id,
        "call_id": f"call_{receipt.message_id}",
        "status": word,
        "occurred_at": moment(receipt.happened_at),
    }
    if beat.status == "rejected":
        event["code"] = "blocked"
    elif beat.status == "failed":
        event["code"] = beat.code or "network_error"
    if beat.reason is not None:
        event["reason"] = beat.reason
    if beat.cost is not None:
        event["cost"] = {"micros": beat.cost.micros, "currency": beat.cost.currency}
    elif word == "completed":
        event |= {"duration_seconds": 21, "cost": _USUAL}
    return event


def _error(trouble: Trouble, *, retry_after: int | None = None) -> SandboxResponse:
    status, code, words = _TROUBLES[trouble]
    return json_answer({"error": {"code": code, "message": words}}, status=status, retry_after=retry_after)
