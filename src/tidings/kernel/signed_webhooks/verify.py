"""Verifies the signature of Standard Webhooks, as a receiver does."""

import hmac
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import product
from typing import Final

from tidings.kernel.signed_webhooks.signature import sign

#: How far the sender's clock may be from ours.
WINDOW: Final = timedelta(minutes=5)
_MOST_SIGNATURES: Final = 10
# A dot in the id would let one signature stand for two requests.
_ID: Final = re.compile(r"[!-\-/-~]{1,256}")
_TIMESTAMP: Final = re.compile(r"[0-9]{1,11}")


class SignatureVerdict(StrEnum):
    """What a receiver finds of a signature."""

    FITS = "fits"
    #: One of the three headers is missing.
    UNSIGNED = "unsigned"
    BAD_ID = "bad_id"
    BAD_TIMESTAMP = "bad_timestamp"
    #: It was signed more than five minutes ago, or so much later.
    STALE = "stale"
    #: It does not fit the body and the secret.
    MISMATCH = "mismatch"


def verdict_of(
    secrets: Sequence[str],
    *,
    webhook_id: str | None,
    timestamp: str | None,
    signature: str | None,
    body: bytes,
    received_at: datetime,
) -> SignatureVerdict:
    """Whether one of the signatures is made with one of the secrets, and not too long ago."""
    if webhook_id is None or timestamp is None or signature is None:
        return SignatureVerdict.UNSIGNED
    if not _ID.fullmatch(webhook_id):
        return SignatureVerdict.BAD_ID
    if not _TIMESTAMP.fullmatch(timestamp):
        return SignatureVerdict.BAD_TIMESTAMP
    if abs(datetime.fromtimestamp(int(timestamp), UTC) - received_at) > WINDOW:
        return SignatureVerdict.STALE
    offered = [word for word in signature.split()[:_MOST_SIGNATURES] if word.startswith("v1,")]
    fits = False
    for secret in secrets:
        wanted = sign(secret, webhook_id=webhook_id, timestamp=timestamp, body=body).split()
        for one, word in product(wanted, offered):
            fits |= hmac.compare_digest(one.encode(), word.encode("latin-1", "replace"))
    return SignatureVerdict.FITS if fits else SignatureVerdict.MISMATCH
