"""Mailgun's webhooks: one event in a request, with the proof in its body.

Mailgun signs a time and a token, **not the event**. An attacker with one request could put another event beside its token
as long as the time is good. Against that, a token is good for one event: another one with the same token is refused. Each
process remembers the tokens that it has seen; TLS has to do the rest.

The time is good for eight hours, because that is how long Mailgun goes on trying (its manual, "Webhook retries": the last try
is seven and a half hours after the first), and it is nowhere written that a second try is signed anew. Hookdeck, who pass its
webhooks on, say that it is not. What is told again within them finds its event taken in already.
"""

import hashlib
import hmac
import re
from collections import OrderedDict
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
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.router.adapters.callbacks.mail_events import MailMeaning, mail_words
from tidings.router.adapters.callbacks.parsing import from_seconds, json_body, require_json
from tidings.router.adapters.callbacks.signatures import is_fresh, is_one_of
from tidings.router.adapters.callbacks.status_events import status_event

WINDOW: Final = timedelta(hours=8)
#: Tokens that a process remembers.
_MOST_TOKENS: Final = 50_000
_TIMESTAMP = re.compile(r"[0-9]{1,11}")
_TOKEN = re.compile(r"[!-~]{1,100}")
#: Their word → ours.
_MEANINGS: Final[dict[str, Canonical]] = {
    "accepted": "accepted",
    "delivered": "delivered",
    "opened": "opened",
    "clicked": "clicked",
    "complained": "complaint",
    "rejected": "rejected_by_provider",
}
#: Codes of Mailgun's own, for addresses that it does not write to any more. Those of other servers mean too many things:
#: 550 is also a sender that is not wanted.
EVENT_CODES: Final[dict[str, MailMeaning]] = {
    "605": MailMeaning("bounced", "hard_bounce"),
    "606": MailMeaning("rejected_by_recipient", "unsubscribed"),
    "607": MailMeaning("rejected_by_recipient", "complaint"),
    "498": MailMeaning("failed_perm", "unreachable"),
    "499": MailMeaning("failed_perm", "unreachable"),
    "602": MailMeaning("failed_perm", "unreachable"),
}
#: Why it failed for good.
_REASONS: Final[dict[str, MailMeaning]] = {
    "bounce": MailMeaning("bounced", "hard_bounce"),
    "suppress-bounce": MailMeaning("bounced", "hard_bounce"),
    "suppress-unsubscribe": MailMeaning("rejected_by_recipient", "unsubscribed"),
    "suppress-complaint": MailMeaning("rejected_by_recipient", "complaint"),
    "old": MailMeaning("failed_perm", "unreachable"),
}


class _Signature(Struct, frozen=True, kw_only=True):
    timestamp: str | int
    token: str
    signature: str


class _Signed(Struct, frozen=True, kw_only=True):
    signature: _Signature
    event_data: msgspec.Raw = field(name="event-data")


class _Status(Struct, frozen=True, kw_only=True):
    code: int | str | None = None
    message: str | None = None
    description: str | None = None


class _Headers(Struct, frozen=True, kw_only=True):
    message_id: str | None = field(default=None, name="message-id")


class _Message(Struct, frozen=True, kw_only=True):
    headers: _Headers = _Headers()


class _Rejected(Struct, frozen=True, kw_only=True):
    reason: str | None = None


class _Event(Struct, frozen=True, kw_only=True):
    event: str
    id: str | None = None
    timestamp: float | None = None
    severity: str | None = None
    reason: str | None = None
    message: _Message = _Message()
    delivery_status: _Status = field(default=_Status(), name="delivery-status")
    reject: _Rejected = _Rejected()


class _Hook(Struct, frozen=True, kw_only=True):
    signature: dict[str, Any]
    event_data: _Event = field(name="event-data")


class MailgunForm:
    """Verifies and reads them."""

    name = "mailgun"
    reply: HookReply | None = None

    def __init__(self) -> None:
        #: What came with each token.
        self._tokens: OrderedDict[bytes, bytes] = OrderedDict()

    def keys(self, settings: Struct) -> Keys | None:
        """The key that Mailgun signs with."""
        found = getattr(settings, "webhook_signing_key", None)
        return {"secret": found} if found else None

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether Mailgun signed the token, not long ago, and for this event."""
        require_json(request)
        try:
            body = json_body(request, _Signed)
        except TidingsError:
            return UnverifiedCallback("malformed", "the body must hold signature and event-data")
        proof = body.signature
        timestamp = str(proof.timestamp)
        if not _TIMESTAMP.fullmatch(timestamp) or not _TOKEN.fullmatch(proof.token):
            return UnverifiedCallback("malformed", "signature must hold whole seconds since 1970 and a token")
        signed_at = from_seconds(int(timestamp))
        if signed_at is None or not is_fresh(signed_at, request.received_at, window=WINDOW):
            return UnverifiedCallback(
                "stale", "the field signature.timestamp is more than eight hours ago, or ahead"
            )
        signed = f"{timestamp}{proof.token}".encode()
        wanted = [
            hmac.new(one.encode(), signed, hashlib.sha256).hexdigest() for one in secrets_of(keys["secret"])
        ]
        if not is_one_of(proof.signature, wanted):
            return UnverifiedCallback(
                "mismatch", "the signature does not fit the account's webhook_signing_key"
            )
        if not self._first_use(signed, keys["secret"], bytes(body.event_data)):
            return UnverifiedCallback("mismatch", "the token of the signature came with another event before")
        return VerifiedCallback()

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """The event, if it is about a message."""
        event = json_body(request, _Hook).event_data
        found = _event(event, request.received_at)
        return ParsedCallback(events=[found] if found is not None else ())

    def _first_use(self, signed: bytes, secret: str, event: bytes) -> bool:
        """Whether this token has come with no other event."""
        token = hashlib.blake2b(signed, key=secret.encode()[:64], digest_size=16).digest()
        content = hashlib.blake2b(event, digest_size=16).digest()
        known = self._tokens.setdefault(token, content)
        if len(self._tokens) > _MOST_TOKENS:
            self._tokens.popitem(last=False)
        return known == content


def bare_id(text: str | None) -> str | None:
    """A Message-ID without the brackets that only some of Mailgun's words have."""
    return (text or "").strip().removeprefix("<").removesuffix(">") or None


def _event(event: _Event, received_at: datetime) -> ReadEvent | None:
    message_id = bare_id(event.message.headers.message_id)
    if message_id is None:
        return None
    word, status = event.event.lower(), event.delivery_status
    code = str(status.code) if status.code is not None else None
    words = status.message or status.description or event.reject.reason
    meaning = MailMeaning(_MEANINGS.get(word, "unknown"), "complaint" if word == "complained" else "")
    if word == "failed":
        if event.severity == "temporary":
            # Mailgun goes on trying: nothing is lost yet.
            meaning = MailMeaning("accepted", "")
        else:
            meaning = (
                _REASONS.get((event.reason or "").lower())
                or EVENT_CODES.get(code or "")
                or MailMeaning("failed_perm", "")
            )
        word = f"failed/{event.severity}" if event.severity else word
    failed = word.startswith(("failed", "rejected"))
    return status_event(
        message_id=message_id,
        word=word,
        status=meaning.status,
        at=from_seconds(event.timestamp),
        discriminator=f"{event.timestamp}/{event.id}",
        received_at=received_at,
        code=code if failed else None,
        reason=mail_words(words) if failed else None,
        effect=meaning.effect,
    )
