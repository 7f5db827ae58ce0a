"""What Meta tells of a WhatsApp number: what became of messages, and what people write.

One request may hold several of both. Meta signs the bytes of the body, and no time: what is sent again finds its events taken in.
"""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Raw, Struct

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
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.router.adapters.callbacks.parsing import json_body, read_json, require_json, since_1970
from tidings.router.adapters.callbacks.signatures import hex_digest_fits, is_hex_digest, is_one_of
from tidings.router.adapters.callbacks.status_events import MOST_ID, status_event
from tidings.router.adapters.whatsapp_cloud.error_codes import MEANINGS

# How WhatsApp's messages are called here: Meta's own id of one is base64, and holds the person's telephone number.
#
# So a message is called by a mark of that id. The random half of the id keeps the number from being found by trying.
_LENGTH: Final = 40


def message_name(wamid: str) -> str:
    """The same for the same message, another one for every other."""
    digest = hashlib.sha256(wamid.encode("utf-8", "replace")).hexdigest()
    return f"wa-{digest[:_LENGTH]}"


SIGNATURE_HEADER: Final = "x-hub-signature-256"
_PREFIX: Final = "sha256="
#: The one field that messages and their statuses come under. `user_preferences` (a person stopped marketing messages) names
#: no message; the next one of that kind is refused with 131050.
_FIELD: Final = "messages"
#: Their word → ours. `delivered` is left out by Meta where `read` comes at once.
_MEANINGS: Final[Mapping[str, Canonical]] = {
    "sent": "sent",
    "delivered": "delivered",
    "read": "delivered_read",
    # A voice message was listened to.
    "played": "delivered_read",
    "failed": "failed_perm",
}
#: What is no message: a person has another number now, or opened the chat for the first time.
_NOT_WRITTEN: Final = frozenset({"system", "request_welcome"})
_MOST_CHALLENGE: Final = 200


class _Error(Struct, frozen=True):
    code: int | None = None
    title: str | None = None
    message: str | None = None
    error_data: dict[str, object] | None = None


class _Status(Struct, frozen=True):
    id: str
    status: str
    timestamp: str | int
    errors: list[_Error] = []


class _Words(Struct, frozen=True):
    """Wherever a message has words, under one of these names."""

    body: str | None = None
    text: str | None = None
    title: str | None = None
    caption: str | None = None
    emoji: str | None = None
    #: Of a reaction: what it reacts to.
    message_id: str | None = None


class _Interactive(Struct, frozen=True):
    type: str
    button_reply: _Words | None = None
    list_reply: _Words | None = None
    nfm_reply: _Words | None = None


class _Context(Struct, frozen=True):
    id: str | None = None


class _Message(Struct, frozen=True):
    id: str
    type: str
    timestamp: str | int | None = None
    #: Their number without +; missing where they show a name instead, and then there is the id alone.
    from_: str | None = msgspec.field(default=None, name="from")
    from_user_id: str | None = None
    context: _Context | None = None
    text: _Words | None = None
    button: _Words | None = None
    interactive: _Interactive | None = None
    image: _Words | None = None
    video: _Words | None = None
    document: _Words | None = None
    reaction: _Words | None = None


class _Profile(Struct, frozen=True):
    name: str | None = None


class _Contact(Struct, frozen=True):
    wa_id: str | None = None
    user_id: str | None = None
    profile: _Profile | None = None


class _Metadata(Struct, frozen=True):
    phone_number_id: str = ""


class _Value(Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    contacts: list[_Contact] = []
    messages: list[_Message] = []
    statuses: list[_Status] = []


class _Change(Struct, frozen=True):
    field: str
    value: Raw = Raw(b"{}")


class _Entry(Struct, frozen=True):
    changes: list[_Change] = []


class _Callback(Struct, frozen=True):
    entry: list[_Entry]


class WhatsAppForm:
    """Reads Meta's callbacks of WhatsApp."""

    name = "whatsapp_cloud"
    reply: HookReply | None = None

    def keys(self, settings: Struct) -> Keys | None:
        """The app's secret, and the word that Meta asks for first."""
        secret = getattr(settings, "app_secret", None)
        if not secret:
            return None
        return {"secret": secret, "verify_token": getattr(settings, "verify_token", None) or ""}

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether the app's secret signed the body."""
        require_json(request)
        given = request.header(SIGNATURE_HEADER)
        if given is None:
            return UnverifiedCallback("unsigned", "send the header X-Hub-Signature-256, once")
        digest = given.strip().removeprefix(_PREFIX)
        if not given.strip().startswith(_PREFIX) or not is_hex_digest(digest):
            return UnverifiedCallback(
                "malformed", "the header X-Hub-Signature-256 must be sha256= and 64 hexadecimal digits"
            )
        if hex_digest_fits(digest, request.body, keys["secret"]):
            return VerifiedCallback()
        return UnverifiedCallback(
            "mismatch",
            "the signature does not fit the body and the account's app_secret; that is the secret of the Meta app whose hook this is",
        )

    async def challenge(self, request: RawCallback, keys: Keys) -> HookReply | UnverifiedCallback | None:
        """Meta asks once, when the hook's address is entered: the answer is what it asks with."""
        if request.method != "GET":
            return None
        asked = parse_qs(urlsplit(request.url).query)
        if asked.get("hub.mode") != ["subscribe"]:
            return UnverifiedCallback("unsigned", "ask with hub.mode=subscribe")
        token, challenge = asked.get("hub.verify_token", []), asked.get("hub.challenge", [])
        if len(token) != 1 or len(challenge) != 1 or len(challenge[0]) > _MOST_CHALLENGE:
            return UnverifiedCallback("malformed", "ask with one hub.verify_token and one hub.challenge")
        if not is_one_of(token[0], secrets_of(keys.get("verify_token", ""))):
            return UnverifiedCallback(
                "mismatch", "the query's hub.verify_token is not the account's verify_token"
            )
        return HookReply(media_type="text/plain", body=challenge[0].encode())

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """Statuses and messages, in the order in which they stand."""
        events: list[ReadEvent] = []
        inbound: list[ReadInbound] = []
        for value in _values(json_body(request, _Callback)):
            events += [_event(status, request.received_at) for status in value.statuses]
            names = {
                who: contact.profile.name
                for contact in value.contacts
                if contact.profile is not None
                for who in (contact.wa_id, contact.user_id)
                if who
            }
            for message in value.messages:
                who = message.from_ or message.from_user_id
                if who and message.type not in _NOT_WRITTEN:
                    to = value.metadata.phone_number_id
                    inbound.append(_written(message, who, to, names.get(who), request.received_at))
        return ParsedCallback(events=events, inbound=inbound)


def _values(callback: _Callback) -> Iterator[_Value]:
    for entry in callback.entry:
        for change in entry.changes:
            if change.field == _FIELD:
                yield read_json(bytes(change.value), _Value)


def _event(status: _Status, received_at: datetime) -> ReadEvent:
    word = status.status.lower()
    error = status.errors[0] if status.errors else None
    canonical: Canonical = _MEANINGS.get(word, "unknown")
    code = words = None
    if error is not None:
        known = MEANINGS.get(error.code) if error.code is not None else None
        if known is not None and word == "failed":
            canonical = known.canonical
        said = (error.error_data or {}).get("details")
        words = said if isinstance(said, str) else error.message or error.title
        code = str(error.code) if error.code is not None else None
    return status_event(
        message_id=message_name(status.id),
        word=word,
        status=canonical,
        at=since_1970(status.timestamp, received_at),
        discriminator=str(status.timestamp)[:MOST_ID],
        received_at=received_at,
        code=code,
        reason=words,
    )


def _written(message: _Message, who: str, to: str, name: str | None, received_at: datetime) -> ReadInbound:
    words, kind = _words(message)
    answers = message.context.id if message.context is not None else None
    if words is not None and words.message_id is not None:
        answers = words.message_id
    text = "" if words is None else words.body or words.text or words.title or words.caption or words.emoji
    return ReadInbound(
        vendor_message_id=message_name(message.id),
        channel="whatsapp",
        sender=f"+{who}" if who.isascii() and who.isdecimal() else who,
        to=to,
        text=text or "",
        kind=kind,
        occurred_at=since_1970(message.timestamp, received_at),
        sender_name=name,
        answers=message_name(answers) if answers else None,
    )


def _words(message: _Message) -> tuple[_Words | None, str]:
    """Where its words stand, and what it is; a button of a list is what was chosen."""
    if message.interactive is not None:
        chosen = message.interactive
        return chosen.button_reply or chosen.list_reply or chosen.nfm_reply, chosen.type
    found: _Words | None = getattr(message, message.type, None) if message.type in _WITH_WORDS else None
    return found, message.type


_WITH_WORDS: Final = frozenset({"text", "button", "image", "video", "document", "reaction"})
