"""A browser's subscription: where its push service takes messages, and the keys that they are encrypted for."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import msgspec

from tidings.kernel.errors import BadValueError

_REMEDY: Final = (
    "must be a browser's subscription as JSON: an https endpoint, and keys with p256dh and auth, as "
    "PushSubscription.toJSON() gives it"
)
_MOST: Final = 4096
_POINT: Final = 65
_SECRET: Final = 16
_UNCOMPRESSED: Final = 4


class _Keys(msgspec.Struct, frozen=True):
    p256dh: str
    auth: str


class _Given(msgspec.Struct, frozen=True):
    """What `PushSubscription.toJSON()` gives; there is more in it."""

    endpoint: str
    keys: _Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSubscription:
    """One browser."""

    endpoint: str = field(repr=False)
    #: `https://push.example`: the audience of a token for the push service.
    origin: str = field(repr=False)
    #: The endpoint behind its origin.
    path: str = field(repr=False)
    #: The browser's public key: a point of P-256, uncompressed.
    public_key: bytes = field(repr=False)
    #: What only the browser and we know.
    secret: bytes = field(repr=False)


def read_subscription(text: str) -> PushSubscription:
    """The subscription; a `BadValueError` without a word of it where it is none.

    It comes from a person's browser, so it may name any place at all: only https at its usual port is taken, without user
    and password. Where the name leads to is the guard's affair.
    """
    if len(text) > _MOST:
        raise BadValueError("to", _REMEDY)
    try:
        given = msgspec.json.decode(text, type=_Given)
        parts = urlsplit(given.endpoint)
        host, port, user = parts.hostname, parts.port, parts.username
        public_key, secret = decode64(given.keys.p256dh), decode64(given.keys.auth)
    except (msgspec.MsgspecError, ValueError):
        raise BadValueError("to", _REMEDY) from None
    plain = given.endpoint.isascii() and given.endpoint.isprintable() and " " not in given.endpoint
    if not plain or parts.scheme != "https" or not host or port not in {None, 443} or user is not None:
        raise BadValueError("to", _REMEDY)
    if len(public_key) != _POINT or public_key[0] != _UNCOMPRESSED or len(secret) != _SECRET:
        raise BadValueError("to", _REMEDY)
    query = f"?{parts.query}" if parts.query else ""
    shown = f"[{host}]" if ":" in host else host
    return PushSubscription(
        endpoint=f"https://{shown}{parts.path or '/'}{query}",
        origin=f"https://{shown}",
        path=f"{parts.path or '/'}{query}",
        public_key=public_key,
        secret=secret,
    )


def decode64(text: str) -> bytes:
    """Base64 for addresses, with its padding or without; a `ValueError` where it is none."""
    try:
        return base64.b64decode(
            text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True
        )
    except binascii.Error:
        raise ValueError("not base64url") from None
