"""Whether a callback is its vendor's: digests, secrets and base64, compared in constant time, and how old a proof may be."""

import base64
import binascii
import hmac
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.signed_webhooks.secrets import secrets_of

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
#: So much a vendor's clock may be before ours.
CLOCK_AHEAD: Final = timedelta(minutes=5)
#: What a vendor tries again for a day may carry the proof of its first try: a receipt after an outage of ours must not be
#: refused for its age. The hour is for clocks, and for the time until the first try. A request that is told twice within it
#: does no harm: its events are known for 90 days.
A_DAY_OF_TRYING: Final = timedelta(hours=25)


def is_fresh(signed_at: datetime, received_at: datetime, *, window: timedelta) -> bool:
    """Whether it was signed within the window, and not ahead of now."""
    return -CLOCK_AHEAD <= received_at - signed_at <= window


def is_hex_digest(text: str) -> bool:
    """Whether it has the form of a SHA-256 digest in hexadecimal digits."""
    return _HEX.fullmatch(text) is not None


def hex_digest_fits(given: str, body: bytes, secrets: str) -> bool:
    """Whether one of the secrets makes this HMAC-SHA256 of the body."""
    digests = [hmac.digest(secret.encode(), body, "sha256").hex() for secret in secrets_of(secrets)]
    return is_one_of(given.lower(), digests)


def is_one_of(given: str, wanted: Iterable[str]) -> bool:
    """Whether it is one of these; how long that takes tells nothing about any of them but its length."""
    told = given.encode("utf-8", "surrogatepass")
    fits = False
    for one in wanted:
        fits |= hmac.compare_digest(told, one.encode())
    return fits


def exact_base64(text: str) -> bytes | None:
    """What stands in the text; None where it is not the one way to write it."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if data and base64.b64encode(data).decode("ascii") == text else None
