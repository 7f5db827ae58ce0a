"""How a text travels as an SMS: its encoding, its segments, and what plainer characters would save."""

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

#: GSM 03.38: the characters that take seven bits, and those that take an escape and seven bits.
_BASIC: Final = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED: Final = frozenset("\f^{}\\[~]|€")
#: What people's keyboards make of plain characters.
_PLAINER: Final = {
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "′": "'", "`": "'", "´": "'",
    "“": '"', "”": '"', "„": '"', "″": '"', "«": '"', "»": '"',
    "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-", "•": "-", "·": "-",
    "…": "...", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u200b": "", "\u200c": "", "\u200d": "", "\u00ad": "",
    "\t": " ", "×": "x", "œ": "oe", "Œ": "OE", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "™": "TM", "©": "(c)",
}  # fmt: skip
#: Vendors take no more; 1,530 characters or 670.
MOST_SEGMENTS: Final = 10
MANY_SEGMENTS: Final = 3

Encoding = Literal["GSM-7", "UCS-2"]
#: Encoding → units in a message by itself, units in a part of several.
_ROOM: Final[dict[Encoding, tuple[int, int]]] = {"GSM-7": (160, 153), "UCS-2": (70, 67)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmsMeasure:
    """What one text needs."""

    encoding: Encoding
    #: As people count them.
    characters: int
    segments: int
    #: How many more plain characters fit into the last segment.
    left: int


def measure(text: str) -> SmsMeasure:
    """The encoding and the segments of a text."""
    encoding: Encoding = "GSM-7" if all(c in _BASIC or c in _EXTENDED for c in text) else "UCS-2"
    sizes = [_size(character, encoding) for character in text]
    alone, part = _ROOM[encoding]
    total = sum(sizes)
    if total <= alone:
        return SmsMeasure(encoding=encoding, characters=len(text), segments=1, left=alone - total)
    # No character is cut in two: an escape or a pair goes over to the next part as a whole.
    segments, used = 1, 0
    for size in sizes:
        if used + size > part:
            segments, used = segments + 1, 0
        used += size
    return SmsMeasure(encoding=encoding, characters=len(text), segments=segments, left=part - used)


def plainer(text: str) -> dict[str, str]:
    """What transliteration would change to get a text into GSM-7, by character; those it can't help stay out."""
    found: dict[str, str] = {}
    for character in dict.fromkeys(text):
        if character in _BASIC or character in _EXTENDED:
            continue
        replacement = _PLAINER.get(character)
        if replacement is None:
            bare = "".join(
                c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c)
            )
            replacement = bare if bare and all(c in _BASIC for c in bare) else None
        if replacement is not None:
            found[character] = replacement
    return found


def transliterated(text: str) -> str:
    """The text with all those changes made."""
    changes = plainer(text)
    return "".join(changes.get(character, character) for character in text)


def _size(character: str, encoding: Encoding) -> int:
    if encoding == "GSM-7":
        return 2 if character in _EXTENDED else 1
    return 2 if ord(character) > 0xFFFF else 1
