"""Codes of an authenticator (RFC 6238): six digits, a new one every thirty seconds. No I/O."""

import base64
import hmac
import secrets
import struct
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

#: Seconds that a code is shown for.
PERIOD: Final = 30
DIGITS: Final = 6
#: As many as the hash has (RFC 4226, 4).
_SECRET_BYTES: Final = 20
#: Clocks of telephones differ: a code of the step before or after is taken too.
_DRIFT: Final = (0, -1, 1)


def new_secret() -> bytes:
    """What an authenticator and we share."""
    return secrets.token_bytes(_SECRET_BYTES)


def step_at(moment: datetime) -> int:
    """The number of the thirty seconds that a moment is in."""
    return int(moment.timestamp()) // PERIOD


def code_of(secret: bytes, step: int, *, digits: int = DIGITS) -> str:
    """The code of one step."""
    digest = hmac.digest(secret, struct.pack(">Q", step), "sha1")
    offset = digest[-1] & 0x0F
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFF_FFFF
    return str(number % 10**digits).zfill(digits)


def matching_step(secret: bytes, code: str, *, now: datetime, after: int) -> int | None:
    """The step whose code this is; None where it is none, or of a step that was used, or one before that."""
    present = step_at(now)
    found = [
        present + drift
        for drift in _DRIFT
        if hmac.compare_digest(code_of(secret, present + drift).encode(), code.encode())
    ]
    return next((step for step in found if step > after), None)


def spelt(secret: bytes) -> str:
    """The secret as people type it into an authenticator: in groups of four."""
    text = base64.b32encode(secret).decode().rstrip("=")
    return " ".join(text[place : place + 4] for place in range(0, len(text), 4))


def otpauth_uri(secret: bytes, *, account: str, issuer: str) -> str:
    """What authenticators read."""
    label = f"{quote(issuer, safe='')}:{quote(account, safe='')}"
    given = {
        "secret": base64.b32encode(secret).decode().rstrip("="),
        "issuer": issuer,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": PERIOD,
    }
    return f"otpauth://totp/{label}?{urlencode(given, quote_via=quote)}"
