"""Postmark's webhooks: one record in a request, with a user name and a password.

Postmark signs nothing. What proves a request is the password in the webhook's address, which Postmark sends along every time:
it is as good as TLS keeps it, and it says nothing about when a request was made.
"""

from datetime import datetime
from typing import Final

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
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.router.adapters.callbacks.mail_events import MailMeaning, mail_words
from tidings.router.adapters.callbacks.parsing import from_text, json_body, require_json
from tidings.router.adapters.callbacks.signatures import exact_base64, is_one_of
from tidings.router.adapters.callbacks.status_events import status_event

#: Their word → ours; what came back has a type that says more.
_MEANINGS: Final[dict[str, Canonical]] = {
    "delivery": "delivered",
    "open": "opened",
    "click": "clicked",
    "spamcomplaint": "complaint",
}
#: The type of a bounce.
EVENT_CODES: Final[dict[str, MailMeaning]] = {
    "HardBounce": MailMeaning("bounced", "hard_bounce"),
    "SoftBounce": MailMeaning("bounced", "soft_bounce"),
    "BadEmailAddress": MailMeaning("failed_perm", "invalid_address"),
    "SpamComplaint": MailMeaning("complaint", "complaint"),
    "SpamNotification": MailMeaning("rejected_by_recipient", "content_refused"),
    "VirusNotification": MailMeaning("rejected_by_recipient", "content_refused"),
    # Because of who sends: another sender may do better.
    "Blocked": MailMeaning("failed_perm", "blocked"),
    "DMARCPolicy": MailMeaning("failed_perm", "sender_refused"),
    "DnsError": MailMeaning("failed_perm", "unreachable"),
    "ManuallyDeactivated": MailMeaning("rejected_by_provider", "blocked"),
    "SMTPApiError": MailMeaning("failed_perm", "invalid_request"),
    "TemplateRenderingFailed": MailMeaning("failed_perm", "invalid_request"),
    "Unknown": MailMeaning("failed_perm", "unclassified"),
}
#: Types of a bounce that are none: Postmark goes on trying, or a program answered.
_NO_BOUNCES: Final[dict[str, Canonical]] = {
    "Transient": "accepted",
    "AutoResponder": "unknown",
    "AddressChange": "unknown",
    "ChallengeVerification": "unknown",
    "OpenRelayTest": "unknown",
    "Subscribe": "unknown",
    "Unsubscribe": "unknown",
    "Unconfirmed": "unknown",
    "InboundError": "unknown",
}


class _Record(Struct, frozen=True, kw_only=True):
    record_type: str = field(name="RecordType")
    message_id: str | None = field(default=None, name="MessageID")
    id: int | str | None = field(default=None, name="ID")
    type: str | None = field(default=None, name="Type")
    description: str | None = field(default=None, name="Description")
    details: str | None = field(default=None, name="Details")
    delivered_at: str | None = field(default=None, name="DeliveredAt")
    bounced_at: str | None = field(default=None, name="BouncedAt")
    #: Of an open or a click.
    received_at: str | None = field(default=None, name="ReceivedAt")
    changed_at: str | None = field(default=None, name="ChangedAt")


class PostmarkForm:
    """Verifies and reads them."""

    name = "postmark"
    reply: HookReply | None = None

    def keys(self, settings: Struct) -> Keys | None:
        """User name and password."""
        user = getattr(settings, "webhook_user", None)
        password = getattr(settings, "webhook_password", None)
        return {"user": user, "password": password} if user and password else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether it knows the password."""
        require_json(request)
        given = request.header("authorization")
        if given is None:
            return UnverifiedCallback(
                "unsigned",
                "give Postmark the webhook's address as https://user:password@…, so that it sends them",
            )
        scheme, _, pair = given.partition(" ")
        told_pair = exact_base64(pair.strip()) if scheme.lower() == "basic" else None
        if told_pair is None:
            return UnverifiedCallback("malformed", "the header authorization must be Basic and base64")
        wanted = [f"{keys['user']}:{one}" for one in secrets_of(keys["password"])]
        if is_one_of(told_pair.decode("utf-8", "surrogateescape"), wanted):
            return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch", "user and password do not fit the account's webhook_user and webhook_password"
        )

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """The record, if it is about a message."""
        found = _event(json_body(request, _Record), request.received_at)
        return ParsedCallback(events=[found] if found is not None else ())


def _event(record: _Record, received_at: datetime) -> ReadEvent | None:
    if not record.message_id:
        return None
    word = record.record_type.lower()
    at = record.delivered_at or record.bounced_at or record.received_at or record.changed_at
    status, effect, came_back = _MEANINGS.get(word, "unknown"), None, word in {"bounce", "spamcomplaint"}
    if came_back:
        type_ = record.type or ("SpamComplaint" if word == "spamcomplaint" else "")
        meaning = EVENT_CODES.get(type_, MailMeaning(_NO_BOUNCES.get(type_, "unknown"), ""))
        status, effect = meaning.status, meaning.effect
    return status_event(
        message_id=record.message_id,
        word=word,
        status=status,
        at=from_text(at),
        discriminator=f"{record.id or ''}/{at or ''}",
        received_at=received_at,
        code=record.type if came_back else None,
        reason=mail_words(record.details or record.description) if came_back else None,
        effect=effect,
    )
