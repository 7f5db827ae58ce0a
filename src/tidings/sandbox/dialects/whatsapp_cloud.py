"""WhatsApp as Meta's Cloud API speaks it: `POST /{phone_number_id}/messages`, statuses and messages signed by the app."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.contracts.callbacks import ReceiptWord
from tidings.sandbox.dialects.dialect import Dialect, InboundText, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.memory import Memory
from tidings.sandbox.dialects.whatsapp_templates import RegisteredTemplates, objects
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.receipts import SandboxReceipt

_PATH = re.compile(r"(?:/v[0-9]+\.[0-9]+)?/(?P<number>[0-9]{1,32})(?P<what>/messages|/message_templates)?/?")
_ASKED: Final = frozenset({("POST", "/messages"), ("POST", "/message_templates"), ("GET", None)})
_BEARER = re.compile(r"(?i)bearer +\S+")
_DISPLAYED: Final = "15550100000"
_ERRORS_PAGE: Final = "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/"

#: Why Meta says no: the status of the answer, its code, its title, what it says more.
_REFUSALS: Final[Mapping[Trouble, tuple[int, int, str, str]]] = {
    "invalid_recipient": (400, 131026, "Message undeliverable", "Message Undeliverable."),
    "blocked": (
        400,
        131050,
        "Unable to deliver the message",
        "This recipient has chosen to stop receiving marketing messages on WhatsApp from your business.",
    ),
    "throttled": (
        400,
        130429,
        "Rate limit hit",
        "Message failed to send because there were too many messages sent from this phone number in a short period of time.",
    ),
    "unavailable": (500, 131016, "Service unavailable", "A service is temporarily unavailable."),
    "unauthorised": (401, 190, "Invalid OAuth access token - Cannot parse access token", ""),
}
#: What became of a message → Meta's word, and its code where it failed; nothing where Meta tells nothing.
_TOLD: Final[Mapping[ReceiptWord, tuple[str, int | None]]] = {
    "sent": ("sent", None),
    "delivered": ("delivered", None),
    "read": ("read", None),
    "failed": ("failed", 131049),
    "rejected": ("failed", 131026),
    "bounced": ("failed", 131026),
    "complaint": ("failed", 131050),
}


class WhatsAppDialect(Dialect):
    """Plays Meta."""

    name = "whatsapp_cloud"

    def __init__(self) -> None:
        self._memory = Memory()
        self._templates = RegisteredTemplates()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A message, a template that is registered, or a question about the number."""
        if not _BEARER.fullmatch(request.headers.get("authorization", "")):
            return _refusal("unauthorised")
        path = _PATH.fullmatch(request.path)
        if path is None or (request.method, path["what"]) not in _ASKED:
            return _error(
                400, 100, "Unsupported request - method type or object: check the path", "", subcode=33
            )
        if request.method == "GET":
            return json_answer(
                {
                    "id": path["number"],
                    "display_phone_number": _DISPLAYED,
                    "verified_name": "Sandbox",
                    "quality_rating": "GREEN",
                }
            )
        try:
            given = msgspec.json.decode(request.body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return _error(400, 100, "Invalid parameter", "The body is not JSON")
        if path["what"] == "/messages":
            return self._message(path["number"], given)
        if (complaint := self._templates.register(given)) is not None:
            return _error(400, *complaint)
        return json_answer({"id": "594425479261596", "status": "APPROVED", "category": given.get("category")})

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """Taken under the id of the sandbox, written as Meta writes ids."""
        (to,) = asked.to
        self._memory.keep(message_id, asked)
        return json_answer(
            {
                "messaging_product": "whatsapp",
                "contacts": [{"input": to, "wa_id": to.lstrip("+")}],
                "messages": [{"id": _wamid(message_id), "message_status": "accepted"}],
            }
        )

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """Meta's error; it names no time to wait."""
        return _refusal(trouble)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """All of one number in one request; forged ones by themselves."""
        groups: dict[tuple[str, bool], list[SandboxReceipt]] = {}
        for receipt in receipts:
            if receipt.beat.status in _TOLD:
                asked = self._memory.get(receipt.message_id)
                number = asked.sender if asked is not None else "0"
                groups.setdefault((number, receipt.beat.forged), []).append(receipt)
        return [
            _call(hook, number, {"statuses": [self._status(one) for one in some]}, forged=forged, told=some)
            for (number, forged), some in groups.items()
        ]

    def inbound(self, said: InboundText, hook: SandboxHook, now: datetime) -> WebhookRequest | None:
        """A text, with the name of the person who wrote it."""
        number = said.sender.lstrip("+")
        value = {
            "contacts": [{"profile": {"name": "Sandbox Person"}, "wa_id": number}],
            "messages": [
                {
                    "from": number,
                    "id": _wamid(said.id),
                    "timestamp": str(int(said.at.timestamp())),
                    "type": "text",
                    "text": {"body": said.text},
                }
            ],
        }
        return _call(hook, said.to, value)

    def _message(self, number: str, given: Mapping[str, Any]) -> SubmittedMessage | SandboxResponse:
        to, kind = given.get("to"), given.get("type", "text")
        if given.get("messaging_product") != "whatsapp" or not isinstance(to, str) or not to:
            return _error(400, 100, "Invalid parameter", "messaging_product and to are required")
        content = given.get(kind) if isinstance(kind, str) else None
        if not isinstance(content, dict):
            return _error(400, 131008, "Required parameter is missing", f"Parameter {kind!s:.20} is missing")
        if kind == "template" and (complaint := self._templates.complaint(content)) is not None:
            return _error(400, *complaint)
        return SubmittedMessage(
            channel="whatsapp", sender=number, to=("+" + to.lstrip("+"),), text=_shown(kind, content)
        )

    def _status(self, receipt: SandboxReceipt) -> dict[str, Any]:
        word, usual = _TOLD[receipt.beat.status]
        asked = self._memory.get(receipt.message_id)
        status: dict[str, Any] = {
            "id": _wamid(receipt.message_id),
            "status": word,
            "timestamp": str(int(receipt.happened_at.timestamp())),
            "recipient_id": asked.to[0].lstrip("+") if asked is not None else "",
        }
        if word in {"sent", "delivered"}:
            status["pricing"] = {
                "billable": True,
                "pricing_model": "PMP",
                "type": "regular",
                "category": "utility",
            }
        if usual is not None:
            code = receipt.beat.code
            words = receipt.beat.reason or "Message undeliverable"
            status["errors"] = [
                {
                    "code": int(code) if code is not None and code.isascii() and code.isdecimal() else usual,
                    "title": words,
                    "message": words,
                    "error_data": {"details": words},
                    "href": _ERRORS_PAGE,
                }
            ]
        return status


def _shown(kind: str, content: Mapping[str, Any]) -> str:
    """What the page shows: the text, or the template with what is filled in."""
    if kind == "template":
        components = [one for one in objects(content.get("components")) if one.get("type") == "body"]
        filled = [str(p.get("text", "")) for one in components for p in objects(one.get("parameters"))]
        return " · ".join([f"[{content.get('name', '')}]", *filled])
    return str(content.get("body", "") if kind == "text" else content.get("caption", ""))


def _wamid(message_id: str) -> str:
    return f"wamid.{message_id}"


def _call(
    hook: SandboxHook,
    number: str,
    value: dict[str, Any],
    *,
    forged: bool = False,
    told: Sequence[SandboxReceipt] = (),
) -> WebhookRequest:
    body = msgspec.json.encode(
        {
            "object": "whatsapp_business_account",
            "entry": [
                {
                    "id": "102290129340398",
                    "changes": [
                        {
                            "value": {
                                "messaging_product": "whatsapp",
                                "metadata": {"display_phone_number": _DISPLAYED, "phone_number_id": number},
                                **value,
                            },
                            "field": "messages",
                        }
                    ],
                }
            ],
        }
    )
    secret = hook.signing_secret(forged=forged)
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={digest}"}
    return WebhookRequest(url=hook.url, headers=headers, body=body, receipts=told)


def _refusal(trouble: Trouble) -> SandboxResponse:
    status, code, title, details = _REFUSALS[trouble]
    return _error(status, code, title, details)


def _error(
    status: int, code: int, title: str, details: str, *, subcode: int | None = None
) -> SandboxResponse:
    error: dict[str, Any] = {"message": f"(#{code}) {title}", "type": "OAuthException", "code": code}
    if details:
        error["error_data"] = {"messaging_product": "whatsapp", "details": details}
    if subcode is not None:
        error["error_subcode"] = subcode
    return json_answer({"error": {**error, "fbtrace_id": "Asandbox"}}, status=status)
