"""Proofs as mail vendors write them: read in one way only, compared in constant time."""

import base64
import binascii
import hmac
from collections.abc import Iterable


def exact_base64(text: str) -> bytes | None:
    """What stands in the text; None where it is not the one way to write it."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if data and base64.b64encode(data).decode("ascii") == text else None


def is_one_of(given: str, wanted: Iterable[str]) -> bool:
    """Whether it is one of these; how long that takes tells nothing about any of them but its length."""
    told = given.encode("utf-8", "surrogatepass")
    fits = False
    for one in wanted:
        fits |= hmac.compare_digest(told, one.encode())
    return fits
