"""The signature of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, in three headers."""

import base64
import hmac
import re
from collections.abc import Sequence
from typing import Final

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"
#: Stands before a secret that is written in base64.
SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # no secret, the mark of one
#: With its padding or without.
BASE64: Final = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=?|[A-Za-z0-9+/]{2}(?:==)?)"
_BASE64: Final = re.compile(BASE64)


def sign(secret: str, *, webhook_id: str, timestamp: int | str, body: bytes) -> str:
    """What the signature header says: `v1,` and the digest in base64, for each key that the secret can mean."""
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in signing_keys(secret)
    )


def signed_headers(secret: str, *, webhook_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a signed request."""
    return {
        ID_HEADER: webhook_id,
        TIMESTAMP_HEADER: str(timestamp),
        SIGNATURE_HEADER: sign(secret, webhook_id=webhook_id, timestamp=timestamp, body=body),
    }


def signing_keys(secret: str) -> tuple[bytes, ...]:
    """The bytes that sign: of `whsec_…` what the base64 stands for, padded or not; otherwise the text itself.

    The libraries of Standard Webhooks read base64 without the prefix too, and other receivers take the same letters as they
    are. Which is meant can't be known, so that both sign and both are taken: who has the secret has either.
    """
    decoded = _decoded(secret.removeprefix(SECRET_PREFIX))
    if decoded is None:
        return (secret.encode(),)
    return (decoded,) if secret.startswith(SECRET_PREFIX) else (decoded, secret.encode())


def _decoded(text: str) -> bytes | None:
    if not _BASE64.fullmatch(text):
        return None
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def signed_by_each(secrets: Sequence[str], *, webhook_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The same headers, signed with several secrets: one takes the place of another, and receivers may have either."""
    first, *others = secrets
    headers = signed_headers(first, webhook_id=webhook_id, timestamp=timestamp, body=body)
    signatures = [sign(other, webhook_id=webhook_id, timestamp=timestamp, body=body) for other in others]
    headers[SIGNATURE_HEADER] = " ".join([headers[SIGNATURE_HEADER], *signatures])
    return headers
