"""Whether a body was signed with one of an account's secrets: HMAC-SHA256 in hexadecimal digits, as several vendors do it."""

import hmac
import re

from tidings.router.adapters.secret_rotation import secrets_of

_HEX = re.compile(r"[0-9a-fA-F]{64}")


def is_hex_digest(text: str) -> bool:
    """Whether it has the form of one."""
    return _HEX.fullmatch(text) is not None


def hex_digest_fits(given: str, body: bytes, secrets: str) -> bool:
    """Whether one of the secrets makes this digest of the body."""
    offered = given.lower().encode()
    fits = False
    for secret in secrets_of(secrets):
        fits |= hmac.compare_digest(hmac.digest(secret.encode(), body, "sha256").hex().encode(), offered)
    return fits


def one_fits(given: str, secrets: str) -> bool:
    """Whether it is one of the secrets, where the vendor sends the secret itself."""
    offered = given.encode("utf-8", "replace")
    fits = False
    for secret in secrets_of(secrets):
        fits |= hmac.compare_digest(secret.encode(), offered)
    return fits
