"""What Amazon SES tells by way of SNS topics: one event in a notification, and a question whether we want any.

A notification is good for 65 minutes: SNS tries a web address for an hour at most, without signing anew. What is told again
within them finds its event taken in already, because an event has its own time or id.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
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
from tidings.kernel.errors import TidingsError
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.errors import WrongContentTypeError
from tidings.kernel.refusals import FieldError, InvalidError, UnavailableError
from tidings.router.adapters.callbacks.mail_events import MailMeaning, mail_words
from tidings.router.adapters.callbacks.parsing import from_text
from tidings.router.adapters.callbacks.status_events import status_event
from tidings.router.adapters.ses.sns import (
    Certificates,
    Fetch,
    SnsMessage,
    fetch,
    is_certificate_of,
    is_confirmation_of,
    is_signed_by,
)

WINDOW: Final = timedelta(minutes=65)
#: How far SNS's clock may be ahead of ours.
_AHEAD: Final = timedelta(minutes=5)
#: SNS says that its JSON is plain text, unless its delivery policy says otherwise.
_KINDS: Final = frozenset({"text/plain", "application/json"})
#: Their word → ours. What is delayed is still being tried: nothing is lost yet.
_MEANINGS: Final[dict[str, Canonical]] = {
    "send": "accepted",
    "deliverydelay": "accepted",
    "delivery": "delivered",
    "open": "opened",
    "click": "clicked",
    "complaint": "complaint",
    "reject": "rejected_by_provider",
    "rendering failure": "failed_perm",
}
#: Type and subtype of a bounce, or the word of another failure.
EVENT_CODES: Final[dict[str, MailMeaning]] = {
    "Permanent/General": MailMeaning("bounced", "hard_bounce"),
    "Permanent/NoEmail": MailMeaning("bounced", "hard_bounce"),
    "Permanent/Suppressed": MailMeaning("bounced", "hard_bounce"),
    # Of bounces or of complaints: SES does not say which.
    "Permanent/OnAccountSuppressionList": MailMeaning("rejected_by_provider", "blocked"),
    "Permanent/UnsubscribedRecipient": MailMeaning("rejected_by_recipient", "unsubscribed"),
    "Transient/General": MailMeaning("bounced", "soft_bounce"),
    "Transient/MailboxFull": MailMeaning("bounced", "soft_bounce"),
    "Transient/MessageTooLarge": MailMeaning("failed_perm", "message_too_large"),
    "Transient/CustomTimeoutExceeded": MailMeaning("failed_perm", "unreachable"),
    "Transient/ContentRejected": MailMeaning("rejected_by_recipient", "content_refused"),
    "Transient/AttachmentRejected": MailMeaning("rejected_by_recipient", "content_refused"),
    "Undetermined/Undetermined": MailMeaning("bounced", "unclassified"),
    "Reject": MailMeaning("rejected_by_provider", "content_refused"),
}
_BOUNCES: Final[dict[str, MailMeaning]] = {
    "Permanent": MailMeaning("bounced", "hard_bounce"),
    "Transient": MailMeaning("bounced", "soft_bounce"),
}
#: A complaint that is none: the reader took it out of the spam.
_NO_COMPLAINT: Final = "not-spam"


class _Mail(Struct, frozen=True, kw_only=True):
    message_id: str = field(name="messageId")
    timestamp: str | None = None


class _Recipient(Struct, frozen=True, kw_only=True):
    status: str | None = None
    diagnostic_code: str | None = field(default=None, name="diagnosticCode")


class _Part(Struct, frozen=True, kw_only=True):
    """What a bounce, a complaint, a delivery and so on say; each has some of it."""

    timestamp: str | None = None
    feedback_id: str | None = field(default=None, name="feedbackId")
    bounce_type: str | None = field(default=None, name="bounceType")
    bounce_sub_type: str | None = field(default=None, name="bounceSubType")
    bounced: Sequence[_Recipient] = field(default=(), name="bouncedRecipients")
    complaint_type: str | None = field(default=None, name="complaintFeedbackType")
    delay_type: str | None = field(default=None, name="delayType")
    reason: str | None = None


class _Event(Struct, frozen=True, kw_only=True):
    event_type: str | None = field(default=None, name="eventType")
    #: In its place where the identity itself tells, and no configuration set.
    notification_type: str | None = field(default=None, name="notificationType")
    mail: _Mail | None = None


class SesForm:
    """Verifies and reads them, and confirms subscriptions."""

    name = "ses"
    reply: HookReply | None = None

    def __init__(self, *, certificates: Certificates | None = None, visit: Fetch = fetch) -> None:
        #: What SNS signs with.
        self.certificates = certificates or Certificates()
        self._visit = visit

    def keys(self, settings: Struct) -> Keys | None:
        """The topics that are believed."""
        topics = getattr(settings, "topics", ())
        return {"topics": " ".join(topics)} if topics else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether SNS signed it, not long ago, for one of the account's topics."""
        _require_kind(request)
        message = _decoded(request)
        if isinstance(message, UnverifiedCallback):
            return message
        if message.topic_arn not in keys["topics"].split():
            return UnverifiedCallback("mismatch", "TopicArn is not one of the account's topics")
        sent_at = from_text(message.timestamp)
        if sent_at is None:
            return UnverifiedCallback("malformed", "Timestamp must be a time as ISO 8601 has it")
        if not -_AHEAD <= request.received_at - sent_at <= WINDOW:
            return UnverifiedCallback("stale", "Timestamp is more than 65 minutes ago, or ahead")
        if not is_certificate_of(message.signing_cert_url, message.topic_arn):
            return UnverifiedCallback(
                "mismatch", "SigningCertURL is not at Amazon's own host of the topic's region"
            )
        key = await self.certificates.key(message.signing_cert_url, request.received_at)
        if key is None or not is_signed_by(message, key):
            return UnverifiedCallback("mismatch", "Signature does not fit the message and SNS's certificate")
        return VerifiedCallback()

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """The event of a notification; nothing where it is none about a mail."""
        message = decode(request.body, SnsMessage)
        if message.type != "Notification":
            return ParsedCallback()
        try:
            said = msgspec.json.decode(message.message)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            # "Successfully validated SNS topic for Amazon SES event publishing."
            return ParsedCallback()
        if not isinstance(said, dict):
            return ParsedCallback()
        found = _event(message, said, request.received_at)
        return ParsedCallback(events=[found] if found is not None else ())

    async def challenge(self, request: RawCallback, keys: Keys) -> HookReply | UnverifiedCallback | None:
        """Say yes where a topic of the account asks whether we want its notifications."""
        if request.method != "POST":
            return None
        message = _decoded(request)
        if isinstance(message, UnverifiedCallback) or message.type != "SubscriptionConfirmation":
            return None
        url = message.subscribe_url or ""
        if message.topic_arn not in keys["topics"].split() or not is_confirmation_of(url, message.topic_arn):
            return UnverifiedCallback(
                "mismatch", "SubscribeURL is not at Amazon's own host, or for another topic"
            )
        status, _ = await self._visit(url)
        if status != 200:
            raise UnavailableError("the subscription could not be confirmed right now; send it again")
        return HookReply(body=b'{"confirmed":true}')


def _require_kind(request: RawCallback) -> None:
    kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if kind not in _KINDS:
        raise WrongContentTypeError(
            "the body has to be JSON: as SNS sends it, text/plain or application/json"
        )


def _decoded(request: RawCallback) -> SnsMessage | UnverifiedCallback:
    try:
        return decode(request.body, SnsMessage)
    except TidingsError:
        return UnverifiedCallback(
            "unsigned", "the body is no message of SNS with its signature; switch off raw message delivery"
        )


def _event(message: SnsMessage, said: dict[str, Any], received_at: datetime) -> ReadEvent | None:
    try:
        event = msgspec.convert(said, _Event)
        word = (event.event_type or event.notification_type or "").lower()
        # `deliveryDelay` of `DeliveryDelay`; a rendering failure is under `failure`.
        part = msgspec.convert(
            next((value for name, value in said.items() if name.lower() == word and value), {}), _Part
        )
    except msgspec.ValidationError:
        raise InvalidError([FieldError("Message", "must be an event as Amazon SES publishes it")]) from None
    if event.mail is None or not word:
        # A notification of another sender in the same topic.
        return None
    code, meaning = _meaning(word, part)
    reason = next((one.diagnostic_code or one.status for one in part.bounced), None) or part.reason
    at = part.timestamp or event.mail.timestamp
    return status_event(
        message_id=event.mail.message_id,
        word=word,
        status=meaning.status,
        at=from_text(at),
        discriminator=part.feedback_id or at or message.message_id,
        received_at=received_at,
        code=code,
        reason=mail_words(reason),
        effect=meaning.effect,
    )


def _meaning(word: str, part: _Part) -> tuple[str | None, MailMeaning]:
    if word == "bounce":
        code = f"{part.bounce_type}/{part.bounce_sub_type}"
        usual = _BOUNCES.get(part.bounce_type or "", MailMeaning("bounced", "unclassified"))
        return code, EVENT_CODES.get(code, usual)
    if word == "complaint":
        if part.complaint_type == _NO_COMPLAINT:
            return part.complaint_type, MailMeaning("unknown", "")
        return part.complaint_type, MailMeaning("complaint", "complaint")
    if word == "reject":
        return "Reject", EVENT_CODES["Reject"]
    return part.delay_type, MailMeaning(_MEANINGS.get(word, "unknown"), "")
