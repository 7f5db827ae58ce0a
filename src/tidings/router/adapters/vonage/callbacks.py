"""Vonage's webhooks: what became of texts, what they cost, and what people wrote; each with a JWT in `Authorization`.

The JWT is signed (HS256) with the account's signature secret; it has a time, and the SHA-256 of the body.

Vonage tries again for 24 hours after a 429 or a 5xx (its help centre, "How long does Vonage retry inbound messages"). Whether
each try has a JWT of its own is nowhere written, so the time is good for as long as it tries. The JWT covers the body: within
that time the same request can be sent again, and no other.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.callback_forms import (
    Canonical,
    HookReply,
    Keys,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    ReadInbound,
    UnverifiedCallback,
    VendorCost,
    VerifiedCallback,
)
from tidings.contracts.prices import MOST_MICROS
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.router.adapters.callbacks.parsing import (
    believable,
    from_seconds,
    from_text,
    json_body,
    require_json,
)
from tidings.router.adapters.callbacks.signatures import A_DAY_OF_TRYING, is_fresh
from tidings.router.adapters.callbacks.status_events import MOST_ID, status_event
from tidings.router.adapters.redaction import kept_code

#: Their word → ours.
WORDS: Final[Mapping[str, Canonical]] = {
    "submitted": "sent",
    "delivered": "delivered",
    "read": "delivered_read",
    "rejected": "rejected_by_provider",
    # Vonage could not reach the carrier.
    "undeliverable": "failed_temp",
}
_MOST_TOKEN: Final = 8192
#: Micros in one of the currency.
_A_UNIT: Final = 1_000_000
#: Numbers of fewer digits are short codes, which have no plus.
_SHORTEST_NUMBER: Final = 8

_Id = Annotated[str, Meta(min_length=1, max_length=200)]
_Text = Annotated[str, Meta(max_length=400)]


class _Usage(Struct, frozen=True, kw_only=True):
    price: str | float | None = None
    currency: str | None = None


class _Told(Struct, frozen=True, kw_only=True):
    """A webhook, as far as it is read here; what is not known is left aside."""

    message_uuid: _Id
    channel: str = "sms"
    to: _Text = ""
    from_: _Text = msgspec.field(name="from", default="")
    timestamp: _Text | None = None
    #: Of a message of ours.
    status: Annotated[str, Meta(min_length=1, max_length=60)] | None = None
    error: dict[str, Any] | None = None
    usage: _Usage | None = None
    #: Of a message to us.
    message_type: Annotated[str, Meta(max_length=60)] | None = None
    text: str | None = None


class _Claims(Struct, frozen=True, kw_only=True):
    iat: float
    payload_hash: str
    application_id: str | None = None


class VonageForm:
    """Reads status and inbound webhooks of the Messages API, version 1."""

    name = "vonage"
    #: A 429 or a 5xx is tried again for a day; another refusal is taken for an answer.
    reply: HookReply | None = HookReply(body=b"{}")

    def keys(self, settings: Struct) -> Keys | None:
        """The signature secret, and the application that it is for."""
        secret = getattr(settings, "signature_secret", None)
        if not secret:
            return None
        application = getattr(settings, "application_id", None)
        return {"secret": secret, **({"application": application.lower()} if application else {})}

    async def verify(self, request: RawCallback, keys: Keys) -> VerifiedCallback | UnverifiedCallback:
        """Whether the JWT is the account's, of now, and speaks of this body."""
        require_json(request)
        given = request.header("authorization") or ""
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return UnverifiedCallback(
                "unsigned", "send the header Authorization with Bearer and the JWT, once"
            )
        claims = claims_of(token.strip())
        if claims is None:
            return UnverifiedCallback("malformed", "the JWT must be HS256, with iat and payload_hash")
        fits = False
        for secret in secrets_of(keys["secret"]):
            fits |= token_fits(token.strip(), secret)
        if not fits:
            return UnverifiedCallback(
                "mismatch", "the JWT is signed with another secret than the account's signature_secret"
            )
        signed_at = from_seconds(claims.iat)
        if signed_at is None or not is_fresh(signed_at, request.received_at, window=A_DAY_OF_TRYING):
            return UnverifiedCallback("stale", "the JWT's iat is more than a day ago, or ahead")
        wanted = hashlib.sha256(request.body).hexdigest().encode()
        if not hmac.compare_digest(wanted, claims.payload_hash.lower().encode("utf-8", "replace")):
            return UnverifiedCallback("mismatch", "the JWT's payload_hash does not fit the body")
        told = (claims.application_id or "").lower()
        if told and told != keys.get("application", told):
            return UnverifiedCallback("mismatch", "the JWT is for another application than the account's")
        return VerifiedCallback()

    def read(self, request: RawCallback, _: Keys) -> ParsedCallback:
        """One event, or one message."""
        told = json_body(request, _Told)
        if told.status is not None:
            return ParsedCallback(events=[_event(told, request.received_at)])
        if told.channel != "sms" or not told.from_ or not told.to:
            return ParsedCallback()
        return ParsedCallback(inbound=[_inbound(told, request.received_at)])


def token_fits(token: str, secret: str) -> bool:
    """Whether this secret signed the token."""
    signed, _, proof = token.rpartition(".")
    digest = hmac.digest(secret.encode(), signed.encode("utf-8", "replace"), "sha256")
    wanted = base64.urlsafe_b64encode(digest).rstrip(b"=")
    return hmac.compare_digest(wanted, proof.encode("utf-8", "replace"))


def claims_of(token: str) -> _Claims | None:
    """What an HS256 token says, before its signature is checked; None where it is none."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > _MOST_TOKEN:
        return None
    try:
        header = msgspec.json.decode(_unpacked(parts[0]), type=dict[str, Any])
        claims = msgspec.json.decode(_unpacked(parts[1]), type=_Claims)
    except (msgspec.MsgspecError, UnicodeError, binascii.Error, ValueError):
        return None
    return claims if header.get("alg") == "HS256" else None


def code_of(error: Mapping[str, Any]) -> str | None:
    """Vonage's code: what stands behind the # of the error's address, or its title."""
    inner = error.get("error")
    if isinstance(inner, dict):
        error = inner
    kind, title = error.get("type"), error.get("title")
    found = kind.rpartition("#")[2] if isinstance(kind, str) and "#" in kind else None
    return kept_code(found or (str(title) if isinstance(title, str | int) else None))


def number(digits: str) -> str:
    """A number with its plus; a short code or a name as it is."""
    full = digits.isascii() and digits.isdecimal() and len(digits) >= _SHORTEST_NUMBER
    return f"+{digits}" if full else digits


def _event(told: _Told, received_at: datetime) -> ReadEvent:
    word = (told.status or "").lower()
    error = told.error or {}
    inner = error.get("error")
    said = (inner if isinstance(inner, dict) else error).get("detail")
    return status_event(
        message_id=told.message_uuid,
        word=word,
        status=WORDS.get(word, "unknown"),
        at=from_text(told.timestamp),
        discriminator=(told.timestamp or "once")[:MOST_ID],
        received_at=received_at,
        code=code_of(error) if error else None,
        reason=said if isinstance(said, str) else None,
        cost=_cost(told.usage),
    )


def _inbound(told: _Told, received_at: datetime) -> ReadInbound:
    return ReadInbound(
        vendor_message_id=told.message_uuid[:MOST_ID],
        channel="sms",
        sender=number(told.from_.removeprefix("+")),
        to=number(told.to.removeprefix("+")),
        text=told.text or "",
        kind=told.message_type or "text",
        occurred_at=believable(from_text(told.timestamp), received_at),
    )


def _cost(usage: _Usage | None) -> VendorCost | None:
    if usage is None or usage.price is None or usage.currency is None:
        return None
    currency = usage.currency.upper()
    try:
        price = Decimal(str(usage.price))
        # First the size: a few characters can stand for a number without end.
        believable = 0 <= price <= MOST_MICROS // _A_UNIT
    except InvalidOperation:
        return None
    if not believable or len(currency) != 3 or not (currency.isascii() and currency.isalpha()):
        return None
    return VendorCost(micros=int((price * _A_UNIT).to_integral_value()), currency=currency)


def _unpacked(part: str) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
