"""Numbers, short codes and names as SMPP types them, and back to the one spelling that all other parts have."""

import re
from typing import Final

from tidings.kernel.errors import BadValueError
from tidings.router.adapters.smpp.pdu import SmppAddress

_E164: Final = re.compile(r"\+[1-9][0-9]{5,14}")
_DIGITS: Final = re.compile(r"[0-9]{3,15}")
#: Letters that every network shows; eleven of them fit (GSM 03.40, 9.1.2.5).
_NAME: Final = re.compile(r"[A-Za-z0-9 !\"#%&'()*+,\-./:;<=>?_]{1,11}")
#: A number without a plus that is longer than this is no short code.
_LONGEST_SHORT: Final = 8
_INTERNATIONAL: Final = 1
_ALPHANUMERIC: Final = 5


def destination_of(number: str) -> SmppAddress:
    """A person's number."""
    if _E164.fullmatch(number) is None:
        raise BadValueError("to", "must be a number such as +447700900123")
    return SmppAddress(_INTERNATIONAL, 1, number[1:])


def source_of(
    sender: str, *, short_ton: int, short_npi: int, field: str = "sender"
) -> tuple[SmppAddress, str | None]:
    """Who it comes from, and where an answer will arrive; None where it can't be answered."""
    text = sender.strip()
    if _E164.fullmatch(text):
        return SmppAddress(_INTERNATIONAL, 1, text[1:]), text
    if _DIGITS.fullmatch(text):
        if len(text) > _LONGEST_SHORT:
            return SmppAddress(_INTERNATIONAL, 1, text), f"+{text}"
        return SmppAddress(short_ton, short_npi, text), text
    if _NAME.fullmatch(text):
        return SmppAddress(_ALPHANUMERIC, 0, text), None
    raise BadValueError(
        field, "must be a number such as +447700900123, a short code, or a name of up to 11 plain letters"
    )


def spelled(place: SmppAddress) -> str:
    """A number with its plus, a short code as it is: however the SMSC types them."""
    text = place.digits.strip()
    bare = text.removeprefix("+")
    if not (bare.isascii() and bare.isdecimal()):
        return text
    if text.startswith("+"):
        return text
    if place.ton == _INTERNATIONAL:
        # Short codes come as international numbers from careless networks.
        return f"+{bare}" if len(bare) > _LONGEST_SHORT else bare
    return f"+{bare}" if place.ton == 0 and len(bare) > _LONGEST_SHORT and not bare.startswith("0") else bare
