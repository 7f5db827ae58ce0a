"""Twilio's dialect: forms to its REST API of 2010-04-01, forms back with an `X-Twilio-Signature`."""

import base64
import hashlib
import hmac
import html
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import Final
from urllib.parse import parse_qsl, urlencode

import msgspec

from tidings.sandbox.dialects.dialect import Dialect, InboundText, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.memory import Memory
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.receipts import SandboxReceipt

_PATH: Final = re.compile(r"/2010-04-01/Accounts/(AC[0-9a-fA-F]{32})(?:/(Messages|Calls))?\.json")
_BROKEN: Final = re.compile(r"[\n\r\t]| {5}")
_TAG: Final = re.compile(r"<[^>]*>")
_ACCOUNT: Final = "AC" + "5a" * 16
_VERSION: Final = "2010-04-01"
#: The number of ours to which a messaging service's answers go.
_OF_SERVICE: Final = "+15005550006"
#: Status, code, words.
_TROUBLES: Final[Mapping[Trouble, tuple[int, int, str]]] = {
    "invalid_recipient": (400, 21211, "The 'To' number {to} is not a valid phone number."),
    "blocked": (400, 21610, "Attempt to send to unsubscribed recipient"),
    "throttled": (429, 20429, "Too Many Requests"),
    "unavailable": (503, 20503, "Service is unavailable"),
    "unauthorised": (401, 20003, "Authenticate"),
}
#: A receipt's word → Twilio's, for messages and for calls; what is missing Twilio has no word for.
_MESSAGES: Final = {
    "accepted": "queued",
    "sent": "sent",
    "delivered": "delivered",
    "read": "read",
    "failed": "undelivered",
    "rejected": "undelivered",
}
_CALLS: Final = {
    "accepted": "initiated",
    "sent": "ringing",
    "delivered": "completed",
    "failed": "failed",
    "rejected": "no-answer",
}
_SEQUENCE: Final = ("initiated", "ringing", "in-progress")


class TwilioDialect(Dialect):
    """Speaks as Twilio does."""

    name = "twilio"

    def __init__(self) -> None:
        self._memory = Memory()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A message, a call, or a question about the account."""
        found = _PATH.fullmatch(request.path)
        if found is None:
            return _error(404, 20404, f"The requested resource {request.path} was not found")
        if not request.headers.get("authorization", "").startswith("Basic "):
            return _error(*_TROUBLES["unauthorised"])
        account, kind = found.groups()
        if request.method == "GET":
            if kind is not None:
                return json_answer({kind.lower(): [], "page": 0, "page_size": 1})
            return json_answer(
                {"sid": account, "friendly_name": "Sandbox", "status": "active", "type": "Full"}
            )
        if request.method != "POST" or kind is None:
            return _error(405, 20004, "Method not allowed")
        form = dict(parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
        return _call(form) if kind == "Calls" else _message(form)

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """201 with the resource, as far as the adapter reads it."""
        self._memory.keep(message_id, asked)
        sid = _sid(message_id, asked.channel)
        whatsapp = "whatsapp:" if asked.channel == "whatsapp" else ""
        made = {
            "sid": sid,
            "account_sid": _ACCOUNT,
            "to": whatsapp + asked.to[0],
            "from": whatsapp + asked.sender if not asked.sender.startswith("MG") else None,
            "status": "queued",
            "direction": "outbound-api",
            "api_version": _VERSION,
            "price": None,
            "price_unit": "USD",
            "error_code": None,
            "error_message": None,
        }
        return json_answer(made, status=201)

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """An error with its code."""
        status, code, words = _TROUBLES[trouble]
        return _error(status, code, words.format(to=asked.to[0]), retry_after=retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """A form for each."""
        calls = []
        for receipt in receipts:
            asked = self._memory.get(receipt.message_id)
            form = _told(receipt, asked)
            if form is not None:
                calls.append(_signed(form, hook, forged=receipt.beat.forged, receipts=(receipt,)))
        return calls

    def inbound(self, said: InboundText, hook: SandboxHook, now: datetime) -> WebhookRequest | None:
        """An incoming text or WhatsApp message."""
        if said.channel not in {"sms", "whatsapp"}:
            return None
        sid = _sid(said.id, said.channel)
        before = "whatsapp:" if said.channel == "whatsapp" else ""
        form = {
            "AccountSid": _ACCOUNT,
            "ApiVersion": _VERSION,
            "MessageSid": sid,
            "SmsMessageSid": sid,
            "SmsSid": sid,
            "SmsStatus": "received",
            "NumMedia": "0",
            "NumSegments": "1",
            "From": before + said.sender,
            "To": before + _number(said.to),
            "Body": said.text,
        }
        if said.to.startswith("MG"):
            form["MessagingServiceSid"] = said.to
        if said.channel == "whatsapp":
            form |= {"ProfileName": "Sandbox person", "WaId": said.sender.removeprefix("+")}
        return _signed(form, hook)


def _message(form: Mapping[str, str]) -> SubmittedMessage | SandboxResponse:
    to = form.get("To", "")
    if not to:
        return _error(400, 21604, "A 'To' phone number is required.")
    if not form.get("From") and not form.get("MessagingServiceSid"):
        return _error(400, 21603, "A 'From' phone number is required.")
    if not form.get("Body") and not form.get("ContentSid"):
        return _error(400, 21602, "Message body is required.")
    if not _variables_fit(form.get("ContentVariables", "{}")):
        return _error(400, 21656, "The ContentVariables Parameter is invalid")
    text = form.get("Body") or f"{form.get('ContentSid')} {form.get('ContentVariables', '')}".strip()
    return SubmittedMessage(
        channel="whatsapp" if to.startswith("whatsapp:") else "sms",
        sender=(form.get("From") or form["MessagingServiceSid"]).removeprefix("whatsapp:"),
        to=(to.removeprefix("whatsapp:"),),
        text=text,
    )


def _variables_fit(text: str) -> bool:
    """As Twilio: an object of texts, none of them empty, none with a line break, a tab or five blanks in a row."""
    try:
        given = msgspec.json.decode(text, type=dict[str, str])
    except msgspec.MsgspecError:
        return False
    return all(value.strip() and not _BROKEN.search(value) for value in given.values())


def _call(form: Mapping[str, str]) -> SubmittedMessage | SandboxResponse:
    if not form.get("To"):
        return _error(400, 21201, "No 'To' number is specified")
    if not form.get("From"):
        return _error(400, 21213, "'From' phone number is required")
    if not form.get("Twiml") and not form.get("Url"):
        return _error(400, 21205, "Url parameter is required.")
    spoken = html.unescape(_TAG.sub(" ", form.get("Twiml", ""))).strip()
    return SubmittedMessage(channel="voice", sender=form["From"], to=(form["To"],), text=spoken)


def _told(receipt: SandboxReceipt, asked: SubmittedMessage | None) -> dict[str, str] | None:
    """The form of a status callback; None where Twilio has no word for it."""
    channel = asked.channel if asked is not None else "sms"
    words = _CALLS if channel == "voice" else _MESSAGES
    word = words.get(receipt.beat.status)
    if word is None or (word == "read" and channel != "whatsapp"):
        return None
    before = "whatsapp:" if channel == "whatsapp" else ""
    form = {"AccountSid": _ACCOUNT, "ApiVersion": _VERSION}
    if asked is not None:
        form |= {"From": before + _number(asked.sender), "To": before + asked.to[0]}
    sid = _sid(receipt.message_id, channel)
    if channel == "voice":
        place = _SEQUENCE.index(word) if word in _SEQUENCE else len(_SEQUENCE)
        form |= {
            "CallSid": sid,
            "CallStatus": word,
            "Direction": "outbound-api",
            "Timestamp": format_datetime(receipt.happened_at),
            "CallbackSource": "call-progress-events",
            "SequenceNumber": str(place),
        }
        if word == "completed":
            form |= {"CallDuration": "21", "Duration": "1"}
        return form
    form |= {"MessageSid": sid, "SmsSid": sid, "MessageStatus": word, "SmsStatus": word}
    if word == "undelivered":
        form["ErrorCode"] = _code(receipt, channel)
    if channel == "whatsapp":
        form["ChannelPrefix"] = "whatsapp"
    return form


def _code(receipt: SandboxReceipt, channel: str) -> str:
    given = receipt.beat.code
    if given is not None and given.isdecimal():
        return given
    if receipt.beat.status == "failed":
        return "30008"
    return "63024" if channel == "whatsapp" else "30004"


def _signed(
    form: Mapping[str, str],
    hook: SandboxHook,
    *,
    forged: bool = False,
    receipts: Sequence[SandboxReceipt] = (),
) -> WebhookRequest:
    token = hook.signing_secret(forged=forged).split()[0]
    signed = hook.url + "".join(name + form[name] for name in sorted(form))
    proof = base64.b64encode(hmac.digest(token.encode(), signed.encode(), "sha1")).decode()
    headers = {
        "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
        "X-Twilio-Signature": proof,
    }
    return WebhookRequest(url=hook.url, headers=headers, body=urlencode(form).encode(), receipts=receipts)


def _number(sender: str) -> str:
    """A sender as a number: that of a messaging service is one of its own."""
    return _OF_SERVICE if sender.startswith("MG") else sender


def _sid(message_id: str, channel: str) -> str:
    digest = hashlib.blake2b(message_id.encode(), digest_size=16).hexdigest()
    return ("CA" if channel == "voice" else "SM") + digest


def _error(status: int, code: int, words: str, *, retry_after: int | None = None) -> SandboxResponse:
    said = {
        "code": code,
        "message": words,
        "more_info": f"https://www.twilio.com/docs/errors/{code}",
        "status": status,
    }
    return json_answer(said, status=status, retry_after=retry_after)
