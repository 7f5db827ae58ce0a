"""Twilio's callbacks: what became of messages and calls, and what people wrote; forms with an `X-Twilio-Signature`.

The signature is HMAC-SHA1 under the auth token, over the address as Twilio called it and every field. It has no time in
it: a request that is sent again later is known by its events alone.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import parse_qs, parse_qsl, urlsplit

from msgspec import Struct

from tidings.contracts.callback_forms import (
    Canonical,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    ReadInbound,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.kernel.http.errors import MalformedBodyError, WrongContentTypeError
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.router.adapters.callbacks.status_events import MOST_ID, status_event
from tidings.router.adapters.redaction import kept_words

SIGNATURE_HEADER: Final = "x-twilio-signature"
#: A message's word → ours.
MESSAGE_WORDS: Final[Mapping[str, Canonical]] = {
    "accepted": "accepted",
    "scheduled": "accepted",
    "queued": "accepted",
    "sending": "accepted",
    "sent": "sent",
    "delivered": "delivered",
    "read": "delivered_read",
    "undelivered": "failed_perm",
    "failed": "failed_perm",
    "canceled": "cancelled",
}
#: A call's word → ours. Who has answered is listening, or has hung up on it: nothing more is tried meanwhile.
CALL_WORDS: Final[Mapping[str, Canonical]] = {
    "queued": "accepted",
    "initiated": "accepted",
    "ringing": "sent",
    "in-progress": "delivered",
    "completed": "delivered",
    "busy": "failed_temp",
    "no-answer": "failed_temp",
    "failed": "failed_perm",
    "canceled": "cancelled",
}
#: Words of a call that are looked up in the status map as codes are.
_CODES: Final = frozenset({"busy", "no-answer"})
_FORM: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 1000
_PORTS: Final = {"https": 443, "http": 80}


class TwilioForm:
    """Reads status callbacks and incoming messages."""

    name = "twilio"
    #: Twilio reads the answer to an incoming message as instructions: there are none.
    reply: HookReply | None = HookReply(media_type="text/xml", body=b"<Response/>")

    def keys(self, settings: Struct) -> Keys | None:
        """The auth token, and the messaging service that gets its own answers."""
        token = getattr(settings, "callback_auth_token", None) or getattr(settings, "auth_token", None)
        if not token:
            return None
        service = getattr(settings, "messaging_service_sid", None)
        if not service:
            return {"secret": token}
        # What goes out from a sender of the account's own is answered to that sender, though it is in the service.
        own = (getattr(settings, name, None) or "" for name in ("sms_from", "whatsapp_from"))
        senders = " ".join(bare for one in own if (bare := one.removeprefix("whatsapp:")) and " " not in bare)
        return {"secret": token, "service": service, **({"senders": senders} if senders else {})}

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether the account's auth token signed this address with these fields."""
        given = request.header(SIGNATURE_HEADER)
        kind = _kind(request)
        if given is None:
            return UnverifiedCallback("unsigned", "send the header X-Twilio-Signature, once")
        fields: Mapping[str, Sequence[str]] = {}
        if kind == _FORM:
            try:
                fields = _fields(request.body)
            except MalformedBodyError:
                return UnverifiedCallback("malformed", "the body must be a form in UTF-8")
        elif not _body_fits(request):
            return UnverifiedCallback(
                "mismatch", "the body does not fit bodySHA256 in the address; send both as they were signed"
            )
        fits = False
        for token in secrets_of(keys["secret"]):
            for address in _spellings(request.url):
                wanted = signature(token, address, fields).encode()
                fits |= hmac.compare_digest(wanted, given.encode("latin-1", "replace"))
        if fits:
            return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch",
            "the signature does not fit; the address that Twilio calls must be this one, letter by letter, "
            "and auth_token the account's primary one",
        )

    def read(self, request: RawCallback, keys: Keys) -> ParsedCallback:
        """One event or one message; nothing of a call that comes in."""
        if _kind(request) != _FORM:
            return ParsedCallback()
        # A zero character is in no text that people write, and in none that can be kept.
        form = {name: values[-1].replace("\0", "") for name, values in _fields(request.body).items()}
        if form.get("CallSid"):
            return _call(form, request.received_at)
        sid = form.get("MessageSid") or form.get("SmsSid")
        if not sid:
            return ParsedCallback()
        word = form.get("MessageStatus", "").lower()
        if word:
            return ParsedCallback(events=[_event(sid, word, form, request.received_at)])
        if (
            form.get("SmsStatus", "received").lower() != "received"
            or not form.get("From")
            or not form.get("To")
        ):
            return ParsedCallback()
        return ParsedCallback(inbound=[_inbound(sid, form, keys)])


def signature(token: str, address: str, fields: Mapping[str, Sequence[str]]) -> str:
    """What Twilio signs: the address, then each field's name and value, by name; a value that is sent twice counts once."""
    signed = address + "".join(name + value for name in sorted(fields) for value in sorted(set(fields[name])))
    return base64.b64encode(hmac.digest(token.encode(), signed.encode(), "sha1")).decode()


def _event(sid: str, word: str, form: Mapping[str, str], received_at: datetime) -> ReadEvent:
    return status_event(
        message_id=sid,
        word=word,
        status=MESSAGE_WORDS.get(word, "unknown"),
        # RawDlrDoneDate is in the carrier's own time, whichever that is.
        at=None,
        # A message has each status once.
        discriminator="once",
        received_at=received_at,
        code=form.get("ErrorCode"),
        reason=form.get("ErrorMessage") or form.get("ChannelStatusMessage"),
    )


def _call(form: Mapping[str, str], received_at: datetime) -> ParsedCallback:
    word = form.get("CallStatus", "").lower()
    if not word or form.get("Direction", "outbound-api").lower() == "inbound":
        return ParsedCallback()
    stamp = form.get("Timestamp")
    code = form.get("ErrorCode")
    sip = form.get("SipResponseCode")
    if not code and sip and word == "failed":
        code = f"sip-{sip}"
    if not code and word in _CODES:
        code = word
    seconds = form.get("CallDuration", "")
    said = f"lasted {int(seconds)} s" if word == "completed" and re.fullmatch("[0-9]{1,6}", seconds) else None
    event = status_event(
        message_id=form["CallSid"],
        word=word,
        status=CALL_WORDS.get(word, "unknown"),
        at=_moment(stamp),
        discriminator=(form.get("SequenceNumber") or stamp or "once")[:MOST_ID],
        received_at=received_at,
        code=code,
        reason=kept_words(form.get("ErrorMessage")) or said,
    )
    return ParsedCallback(events=[event])


def _inbound(sid: str, form: Mapping[str, str], keys: Keys) -> ReadInbound:
    whatsapp = form["From"].startswith("whatsapp:")
    to = form["To"].removeprefix("whatsapp:")
    service = keys.get("service")
    of_service = service is not None and form.get("MessagingServiceSid") == service
    return ReadInbound(
        vendor_message_id=sid[:MOST_ID],
        channel="whatsapp" if whatsapp else "sms",
        sender=form["From"].removeprefix("whatsapp:")[:MOST_ID],
        to=service if service and of_service and to not in keys.get("senders", "").split() else to[:MOST_ID],
        text=form.get("Body", ""),
        kind=_kind_of(form),
        occurred_at=None,
        sender_name=form.get("ProfileName", "")[:MOST_ID] or None,
        answers=form.get("OriginalRepliedMessageSid", "")[:MOST_ID] or None,
    )


def _kind_of(form: Mapping[str, str]) -> str:
    if form.get("ButtonText") or form.get("ButtonPayload"):
        return "button"
    if form.get("NumMedia", "0") != "0":
        return form.get("MediaContentType0", "media").partition("/")[0][:30] or "media"
    return "location" if form.get("Latitude") else "text"


def _moment(text: str | None) -> datetime | None:
    """A call's time: `Sun, 25 Mar 2018 09:53:19 +0000`."""
    try:
        found = parsedate_to_datetime(text or "")
        return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None


def _kind(request: RawCallback) -> str:
    kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if kind not in {_FORM, "application/json"}:
        raise WrongContentTypeError(f"the body has to be a form: send `Content-Type: {_FORM}`")
    return kind


def _fields(body: bytes) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(
            body.decode(),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise MalformedBodyError("the body must be a form in UTF-8 with at most 1000 fields") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _body_fits(request: RawCallback) -> bool:
    """Of JSON the address holds the hash."""
    try:
        given = parse_qs(urlsplit(request.url).query, max_num_fields=_MOST_FIELDS).get("bodySHA256", [])
    except ValueError:
        return False
    wanted = hashlib.sha256(request.body).hexdigest().encode()
    return len(given) == 1 and hmac.compare_digest(wanted, given[0].lower().encode("utf-8", "replace"))


def _spellings(url: str) -> Iterator[str]:
    """As it is, and with or without its port: Twilio is not of one mind whether it is part of the address."""
    yield url
    parts = urlsplit(url)
    usual = _PORTS.get(parts.scheme)
    if usual is None or parts.hostname is None or not parts.netloc:
        return
    host, colon, port = parts.netloc.rpartition(":")
    if colon and port.isdecimal():
        yield url.replace(parts.netloc, host, 1)
    else:
        yield url.replace(parts.netloc, f"{parts.netloc}:{usual}", 1)
