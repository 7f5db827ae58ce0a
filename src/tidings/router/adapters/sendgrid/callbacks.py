"""SendGrid's signed event webhook: many events in one request, signed over the time and the bytes of the body.

SendGrid tries again for up to 24 hours after an event, until it hears a 2xx (docs.sendgrid.com, "Troubleshooting the Event
Webhook"). It is nowhere written whether a second try is signed anew or has the time of the first, so the time is good for as long
as it tries. The signature covers the body: within that time the same request can be sent again, and no other.
"""

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key
from msgspec import Struct, field

from tidings.contracts.callback_forms import (
    Canonical,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.router.adapters.callbacks.mail_events import MailMeaning, mail_words
from tidings.router.adapters.callbacks.parsing import from_seconds, json_body, require_json
from tidings.router.adapters.callbacks.signatures import A_DAY_OF_TRYING, exact_base64, is_fresh
from tidings.router.adapters.callbacks.status_events import status_event

SIGNATURE_HEADER: Final = "x-twilio-email-event-webhook-signature"
TIMESTAMP_HEADER: Final = "x-twilio-email-event-webhook-timestamp"
WINDOW: Final = A_DAY_OF_TRYING
_MOST_KEYS = 4
#: Letters of a Message-ID that are looked at; longer ones are none of SendGrid's.
_MOST_MAIL_ID = 400
_TIMESTAMP = re.compile(r"[0-9]{1,11}")
#: Their word → ours. What is deferred is still being tried: nothing is lost yet.
_MEANINGS: Final[dict[str, Canonical]] = {
    "processed": "accepted",
    "deferred": "accepted",
    "delivered": "delivered",
    "open": "opened",
    "click": "clicked",
    "spamreport": "complaint",
}
#: The type of a bounce, or the reason of a drop in small letters with underscores.
EVENT_CODES: Final[dict[str, MailMeaning]] = {
    "bounce": MailMeaning("bounced", "hard_bounce"),
    # For a while, or because of who sends: another sender may do better.
    "blocked": MailMeaning("failed_perm", "blocked"),
    "expired": MailMeaning("failed_perm", "unreachable"),
    "invalid": MailMeaning("failed_perm", "invalid_address"),
    "bounced_address": MailMeaning("bounced", "hard_bounce"),
    "spam_reporting_address": MailMeaning("rejected_by_recipient", "complaint"),
    "unsubscribed_address": MailMeaning("rejected_by_recipient", "unsubscribed"),
    "spam_content": MailMeaning("rejected_by_provider", "content_refused"),
    "invalid_smtpapi_header": MailMeaning("rejected_by_provider", "invalid_request"),
    "recipient_list_over_package_quota": MailMeaning("rejected_by_provider", "insufficient_credit"),
}
_FAILED: Final[dict[str, MailMeaning]] = {
    "bounce": MailMeaning("failed_perm", "unclassified"),
    "dropped": MailMeaning("rejected_by_provider", "unclassified"),
}
# Where it does not begin with the id of the answer (a message that was dropped at once), the id of the mail does.
_MAIL_ID = re.compile(r"<([A-Za-z0-9_.-]{6,100})@[A-Za-z0-9.-]*ismtpd[A-Za-z0-9.-]*>")
# The id of the answer, then where it was handled: `LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-….0`.
_MESSAGE_ID = re.compile(r"(.+?)\.(?:filter|recv)|([^.]+)")


class _Event(Struct, frozen=True, kw_only=True):
    event: str
    timestamp: float | None = None
    sg_event_id: str | None = None
    sg_message_id: str | None = None
    smtp_id: str | None = field(default=None, name="smtp-id")
    #: Why it was dropped or came back.
    reason: str | None = None
    #: What the other server said.
    response: str | None = None
    #: `bounce` or `blocked`.
    type: str | None = None
    #: `5.1.1`.
    status: str | int | None = None


class SendgridForm:
    """Verifies and reads them."""

    name = "sendgrid"
    reply: HookReply | None = None

    def keys(self, settings: Struct) -> Keys | None:
        """The public keys."""
        found = getattr(settings, "webhook_public_key", None)
        return {"public_key": found} if found else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether SendGrid's key signed the time and the body."""
        require_json(request)
        timestamp, given = request.header(TIMESTAMP_HEADER), request.header(SIGNATURE_HEADER)
        if timestamp is None or given is None:
            return UnverifiedCallback(
                "unsigned", "switch on the Signed Event Webhook at SendGrid, so that its two headers are sent"
            )
        signature = exact_base64(given)
        if not _TIMESTAMP.fullmatch(timestamp) or signature is None:
            return UnverifiedCallback(
                "malformed", "the headers must be whole seconds since 1970 and a signature in base64"
            )
        signed_at = from_seconds(int(timestamp))
        if signed_at is None or not is_fresh(signed_at, request.received_at, window=WINDOW):
            return UnverifiedCallback("stale", f"{TIMESTAMP_HEADER} is more than a day ago, or ahead")
        signed = timestamp.encode() + request.body
        for text in keys["public_key"].split()[:_MOST_KEYS]:
            if _signed_by(public_key(text), signature, signed):
                return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch", "the signature does not fit the body and the account's webhook_public_key"
        )

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """The events that are about a message, in the order in which they stand."""
        events = json_body(request, list[_Event])
        return ParsedCallback(
            events=[found for event in events if (found := _event(event, request.received_at)) is not None]
        )


@lru_cache(maxsize=256)
def public_key(text: str) -> EllipticCurvePublicKey | None:
    """A key as SendGrid shows it; None where it is none for P-256."""
    data = exact_base64(text)
    try:
        key = load_der_public_key(data) if data is not None else None
    except (ValueError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1) else None


def _signed_by(key: EllipticCurvePublicKey | None, signature: bytes, signed: bytes) -> bool:
    if key is None:
        return False
    try:
        key.verify(signature, signed, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _event(event: _Event, received_at: datetime) -> ReadEvent | None:
    """None for what is about no message: changes of the account."""
    message_id = _message_id(event)
    if message_id is None:
        return None
    word = event.event.lower()
    status, code, effect = _MEANINGS.get(word, "unknown"), None, None
    if word in _FAILED:
        code = "_".join((event.type or event.reason or "").lower().split()) or None
        meaning = EVENT_CODES.get(code or "", _FAILED[word])
        status, effect = meaning.status, meaning.effect
    elif word == "spamreport":
        effect = MailMeaning("complaint", "complaint").effect
    elif word == "deferred" and event.status is not None:
        code = str(event.status)
    return status_event(
        message_id=message_id,
        word=word,
        status=status,
        at=from_seconds(event.timestamp),
        discriminator=event.sg_event_id or str(event.timestamp),
        received_at=received_at,
        code=code,
        reason=mail_words(_reason(event)) if word in _FAILED or word == "deferred" else None,
        effect=effect,
    )


def _reason(event: _Event) -> str | None:
    words = event.reason or event.response
    status = str(event.status) if event.status is not None else ""
    return words if not status or (words and status in words) else f"{status}: {words or ''}".rstrip(": ")


def _message_id(event: _Event) -> str | None:
    if event.smtp_id and (found := _MAIL_ID.fullmatch(event.smtp_id[:_MOST_MAIL_ID])):
        return found[1]
    found = _MESSAGE_ID.match(event.sg_message_id or "")
    return (found[1] or found[2]) if found else None
