"""The country that a telephone number belongs to, as far as its calling code tells."""

from typing import Final

#: What addresses without a country have: names of people, mail addresses.
NOWHERE: Final = ""

#: The calling codes of two digits (ITU-T E.164); 1 and 7 have one digit, all others have three.
_TWO: Final = frozenset(
    [
        "20",
        "27",
        "30",
        "31",
        "32",
        "33",
        "34",
        "36",
        "39",
        "40",
        "41",
        "43",
        "44",
        "45",
        "46",
        "47",
        "48",
        "49",
        "51",
        "52",
        "53",
        "54",
        "55",
        "56",
        "57",
        "58",
        "60",
        "61",
        "62",
        "63",
        "64",
        "65",
        "66",
        "81",
        "82",
        "84",
        "86",
        "90",
        "91",
        "92",
        "93",
        "94",
        "95",
        "98",
    ]
)


def prefix_of(address: str) -> str:
    """`+93` for a number in Afghanistan; nothing for what is no number."""
    if address[:1] != "+":
        return NOWHERE
    if address[1:2] in ("1", "7"):
        return address[:2]
    return address[:3] if address[1:3] in _TWO else address[:4]
